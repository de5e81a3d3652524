//! `coldpress report`: studies of files and of the history as one page. What a browser makes of it
//! is tested with the page.

use std::fs;

use crate::run::{Stage, command, program};

const LAUNCHES: &str = "app,format,launch1_ms_median,launch2_ms_median,size_mb\n\
                        chromium,try,2032,1655,\n\
                        chromium,xz,5659,5049,167\n\
                        mari0,try,2130,1115,\n\
                        mari0,xz,2634,1594,47\n";

const BOOTS: &str = "computer,usb_stick,xz_s,zstd22_s,seconds_saved,percent_saved\n\
                     ThinkPad X201,Kingston,102,75,27,26\n";

/// An export of one study of two contestants.
fn ours() -> String {
    let run = |contestant: u32, turn: u32, cold_s: f64| {
        serde_json::json!({
            "contestant": contestant, "turn": turn, "excluded": null, "figures": { "cold_s": cold_s },
        })
    };
    let contestant = |name: &str, compressor: &str| serde_json::json!({ "name": name, "facts": { "compressor": compressor }, "figures": {} });
    let runs: Vec<_> = (0..7)
        .flat_map(|turn| [run(0, turn, 1.0), run(1, turn, 2.0 + f64::from(turn) / 8.0)])
        .collect();
    serde_json::json!({
        "kind": "launch", "title": "our <starts>", "began_unix_ms": 1_780_000_000_000_u64, "origin": "measured",
        "state": "done", "facts": {}, "contestants": [contestant("try", "try"), contestant("xz-128K", "xz")], "runs": runs,
    })
    .to_string()
}

#[test]
fn published_studies_stand_beside_ours_on_one_page() {
    let stage = Stage::new();
    fs::write(stage.at("launches.csv"), LAUNCHES).unwrap();
    fs::write(stage.at("boots.csv"), BOOTS).unwrap();
    let export = format!("{{\"coldpress_history\":1,\"studies\":[{}]}}", ours());
    fs::write(stage.at("ours.json"), export).unwrap();
    fs::create_dir(stage.at("tree")).unwrap();
    fs::write(stage.at("tree/a file"), [1; 3000]).unwrap();
    fs::hard_link(stage.at("tree/a file"), stage.at("tree/its other name")).unwrap();
    fs::write(stage.at("tree/empty"), "").unwrap();
    let files = "--samples ours.json --samples launches.csv --samples boots.csv --source tree";
    let ran = stage.done(
        ["report"]
            .into_iter()
            .chain(files.split(' '))
            .chain(["-o", "page.html"]),
    );
    assert!(
        ran.stderr.starts_with("`page.html`: 3 studies, "),
        "{}",
        ran.stderr
    );
    let html = fs::read_to_string(stage.at("page.html")).unwrap();
    let told = [
        "<title>3 studies</title>",
        "xz-128K starts cold in 2.38 s instead of 1.00 s",
        "our &lt;starts&gt;",
        "as they were published: I. Johnson",
        "<td>102 s</td><td>75.0 s</td><td>27.0 s</td><td>26 %</td>",
        "Beside published figures",
        "<td>5.66 s, ratio 2.78</td><td>xz-128K: 2.38 s, ratio 2.38</td>",
        "of 2 files with 2.93 KiB.",
    ];
    for told in told {
        assert!(html.contains(told), "{told}");
    }
}

#[test]
fn what_a_measuring_verb_prints_is_read_again() {
    let stage = Stage::new();
    let measured = format!("{{\"study\":{},\"summary\":[]}}", ours());
    fs::write(stage.at("measured.json"), measured).unwrap();
    let words = "report --samples measured.json -o page.html";
    stage.done(words.split(' '));
    let html = fs::read_to_string(stage.at("page.html")).unwrap();
    assert!(html.contains("our &lt;starts&gt;"));
    let words = "bench compare measured.json measured.json --json";
    let compared = stage.done(words.split(' ')).json();
    assert!(compared.is_object(), "{compared}");
}

#[test]
fn what_cannot_be_shown_is_refused_and_leaves_no_page() {
    let stage = Stage::new();
    fs::write(stage.at("boots.csv"), BOOTS).unwrap();
    fs::write(stage.at("noise"), [0xFF; 99]).unwrap();
    for (args, expected) in [
        ("-o page.html", "required"),
        ("--samples missing -o page.html", "cannot read `missing`"),
        ("--samples noise -o page.html", "cannot use `noise`"),
        (
            "--samples boots.csv --source missing -o page.html",
            "cannot read `missing`",
        ),
        (
            "--samples boots.csv -o boots.csv",
            "`boots.csv` is a source itself",
        ),
        (
            "--samples boots.csv -o no/page.html",
            "cannot create `no/page.html`",
        ),
    ] {
        let ran = stage.run(["report"].into_iter().chain(args.split(' ')));
        assert_eq!(ran.code, Some(2), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args}: {}", ran.stderr);
        assert!(!stage.at("page.html").exists(), "{args}");
    }
    assert_eq!(fs::read_to_string(stage.at("boots.csv")).unwrap(), BOOTS);
}

#[test]
fn a_change_is_drawn_as_a_waterfall() {
    let stage = Stage::new();
    let timings = "ID      Status        Doing      Undoing  Label             Summary\n\
                   160165  Done         2177ms            -  mount-snap        Mount snap \"chromium\" (2556)\n\
                   ^                    2048ms            -  setup-snap        setup snap \"chromium\"\n";
    fs::write(stage.at("timings.txt"), timings).unwrap();
    let run = |args: &[&str]| {
        let mut command = command();
        command.args(args).current_dir(stage.directory());
        program(command.env("COLDPRESS_HISTORY", stage.at("history.sqlite")))
    };
    run(&["timings", "--import", "timings.txt"]);
    let ran = run(&["report", "--change", "1", "-o", "page.html"]);
    assert!(ran.stderr.starts_with("`page.html`: "), "{}", ran.stderr);
    let html = fs::read_to_string(stage.at("page.html")).unwrap();
    assert!(html.contains("<title>setup-snap: 2.05 s, from "), "{html}");
}
