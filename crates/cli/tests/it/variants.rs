//! `variants` and `pick`: a set of images, its index, and the image for one machine.

use std::fs;
use std::process::Command;

use coldpress_testkit::without_peer;
use serde_json::{Value, json};

use crate::diff::text;
use crate::run::{Stage, program};

/// A tree with a trace of a start that reads three of its files, and looks for one in vain.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir(stage.at("tree")).unwrap();
    for number in 0..20 {
        let content = text(number, 20_000 + 9000 * number as usize);
        fs::write(stage.at(format!("tree/file{number:02}")), content).unwrap();
    }
    let trace = "coldpress-trace 1\n0 1 D /\n5 1 L /file03\n10 1 R 0-6 /file03\n20 1 R 0-30 /file12\n\
                 25 1 L /missing\n30 1 F 2 /file17\n";
    fs::write(stage.at("trace"), trace).unwrap();
    stage
}

/// A set of two: one of the clients reads xz only.
fn build(stage: &Stage, options: &[&str]) -> Value {
    let mut args = vec![
        "-q",
        "variants",
        "build",
        "tree",
        "-o",
        "set",
        "--trace",
        "trace",
        "--compressors",
        "xz,lz4",
        "--block-sizes",
        "128K",
        "--warm",
        "0.01",
        "--count",
        "2",
        "--client",
        "share=3,ssd",
        "--client",
        "usb2,target=openwrt",
        "--json",
    ];
    args.extend(options);
    stage.done(args).json()
}

fn pick(stage: &Stage, options: &[&str]) -> Value {
    let mut args = vec!["-q", "pick", "set/index.json", "--default-speeds", "--json"];
    args.extend(options);
    stage.done(args).json()
}

fn taken(choice: &Value) -> String {
    let number = usize::try_from(choice["taken"].as_u64().unwrap()).unwrap();
    choice["options"][number]["file"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_set_serves_its_clients_and_each_machine_takes_its_image() {
    let stage = stage();
    let index = build(&stage, &[]);
    assert_eq!(index["images"].as_array().unwrap().len(), 2);
    let chosen = &index["chosen_for"];
    let number = |name: &str| chosen[name].as_f64().unwrap();
    assert!((number("predicted_s") - number("least_expected_s")).abs() < 1e-12);
    // What samples foretold of the set holds of the images.
    let ratio = number("expected_start_s") / number("predicted_s");
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
    let takes = |client: usize| {
        chosen["clients"][client]["takes"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(takes(1).starts_with("xz-"), "{chosen}");
    assert!(!takes(0).starts_with("xz-"), "{chosen}");
    let by_client = pick(
        &stage,
        &["--device", "usb2", "--target", "openwrt", "-o", "mine"],
    );
    assert_eq!(taken(&by_client), takes(1));
    let file = |name: &str| fs::read(stage.at(name)).unwrap();
    assert_eq!(file("mine"), file(&format!("set/{}", takes(1))));
    // The index alone gives the prediction that the image gives.
    let any = pick(&stage, &["--device", "usb2", "--fuse"]);
    for option in any["options"].as_array().unwrap() {
        let image = format!("set/{}", option["file"].as_str().unwrap());
        let predicted = stage.run([
            "-q", "predict", &image, "--trace", "trace", "--warm", "0.01", "--device", "usb2",
            "--reader", "fuse", "--json",
        ]);
        for figure in ["reads", "read_bytes", "page_cache_bytes"] {
            assert_eq!(predicted.json()[figure], option[figure], "{figure}");
        }
    }
    // A slow download of the larger image counts, unless there are many starts for each.
    let sizes: Vec<u64> = index["images"]
        .as_array()
        .unwrap()
        .iter()
        .map(|image| image["size_bytes"].as_u64().unwrap())
        .collect();
    let smallest = usize::from(sizes[1] < sizes[0]);
    let slow = pick(&stage, &["--fuse", "--download", "64K"]);
    assert_eq!(slow["taken"], json!(smallest));
    let nobody = stage.run([
        "pick",
        "set/index.json",
        "--target",
        "openwrt",
        "--page-cache",
        "1K",
    ]);
    assert_eq!(nobody.code, Some(2));
    assert!(
        nobody
            .stderr
            .contains("no image of `set/index.json` suits openwrt"),
        "{}",
        nobody.stderr
    );
}

#[test]
fn an_image_that_is_not_what_its_index_says_is_not_taken() {
    let stage = stage();
    build(&stage, &[]);
    let sound = fs::read_to_string(stage.at("set/index.json")).unwrap();
    let number = taken_number(&stage);
    let other = 1 - number;
    let document: Value = serde_json::from_str(&sound).unwrap();
    let image = |number: usize| document["images"][number].clone();
    fs::write(stage.at("mine"), "what was there").unwrap();
    let mut lies: Vec<(&str, Value, &str)> = vec![
        (
            "size_bytes",
            json!(image(number)["size_bytes"].as_u64().unwrap() + 4096),
            "bytes, not",
        ),
        (
            "digest",
            image(other)["digest"].clone(),
            "its digest is sha256:",
        ),
        ("geometry", image(other)["geometry"].clone(), "`images["),
        ("file", json!("none"), "cannot open"),
    ];
    let mut demands = image(number)["demands"].clone();
    demands["window_bytes"] = json!(7);
    lies.push(("demands", demands, "it asks its readers for other things"));
    for (field, value, expected) in lies {
        let mut lying = document.clone();
        lying["images"][number][field] = value;
        fs::write(stage.at("set/index.json"), lying.to_string()).unwrap();
        let ran = stage.run([
            "pick",
            "set/index.json",
            "--default-speeds",
            "--fuse",
            "-o",
            "mine",
        ]);
        assert_eq!(ran.code, Some(2), "{field}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{field}: {}", ran.stderr);
        assert_eq!(
            fs::read_to_string(stage.at("mine")).unwrap(),
            "what was there"
        );
    }
    for (text, expected) in [
        ("", "is not one of variants"),
        ("{}", "missing field"),
        ("[1", "is not one of variants"),
    ] {
        fs::write(stage.at("set/index.json"), text).unwrap();
        let ran = stage.run(["pick", "set/index.json"]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

fn taken_number(stage: &Stage) -> usize {
    let choice = pick(stage, &["--fuse"]);
    usize::try_from(choice["taken"].as_u64().unwrap()).unwrap()
}

#[test]
fn an_oci_layout_carries_a_set() {
    let stage = stage();
    build(&stage, &["--oci", "oci:layout:app"]);
    let by_layout = [
        "-q",
        "pick",
        "oci:layout:app",
        "--default-speeds",
        "--fuse",
        "--json",
        "-o",
        "mine",
    ];
    let by_layout = stage.done(by_layout).json();
    assert_eq!(by_layout, pick(&stage, &["--fuse"]));
    let file = |name: &str| fs::read(stage.at(name)).unwrap();
    assert_eq!(file("mine"), file(&format!("set/{}", taken(&by_layout))));
    let unnamed = stage.run(["pick", "oci:layout:other", "--fuse"]);
    assert!(
        unnamed.stderr.contains("has no image of this name"),
        "{}",
        unnamed.stderr
    );
    let wrong = stage.run([
        "variants", "index", "mine", "-o", "i", "--trace", "trace", "--oci", "x",
    ]);
    assert!(
        wrong.stderr.contains("--oci is `oci:DIR:NAME`"),
        "{}",
        wrong.stderr
    );
    if without_peer("skopeo") {
        return;
    }
    let mut skopeo = Command::new("skopeo");
    skopeo
        .args(["inspect", "--raw", "oci:layout:app"])
        .current_dir(stage.directory());
    let raw = program(&mut skopeo).json();
    let manifests = raw["manifests"].as_array().unwrap();
    assert_eq!(manifests.len(), 2);
    assert!(manifests[0]["annotations"]["coldpress.variant"].is_string());
    assert!(raw["annotations"]["coldpress.variants"].is_string());
    // Another tool copies the set with everything that is said of it.
    let mut copy = Command::new("skopeo");
    copy.args(["copy", "-q", "--all", "oci:layout:app", "oci:copied:app"]);
    assert_eq!(program(copy.current_dir(stage.directory())).code, Some(0));
    let copied = [
        "-q",
        "pick",
        "oci:copied:app",
        "--default-speeds",
        "--fuse",
        "--json",
    ];
    assert_eq!(stage.done(copied).json(), by_layout);
}

#[test]
fn images_that_are_there_get_an_index() {
    let stage = stage();
    for (image, compressor) in [("a.sqfs", "gzip"), ("b.sqfs", "xz")] {
        stage.done(["-q", "build", "tree", image, "-c", compressor]);
    }
    stage.done([
        "-q", "variants", "index", "a.sqfs", "b.sqfs", "-o", "i", "--trace", "trace",
    ]);
    let read = |reader: &str| {
        let ran = stage.done([
            "-q",
            "pick",
            "i",
            "--default-speeds",
            "--json",
            "--target",
            reader,
        ]);
        taken(&ran.json())
    };
    assert_eq!(read("openwrt"), "b.sqfs");
    assert_eq!(read("appimage"), "a.sqfs");
    fs::create_dir(stage.at("other")).unwrap();
    let apart = stage.run([
        "variants", "index", "a.sqfs", "-o", "other/i", "--trace", "trace",
    ]);
    assert!(
        apart
            .stderr
            .contains("`a.sqfs` does not stand beside the index"),
        "{}",
        apart.stderr
    );
}
