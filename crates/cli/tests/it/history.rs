//! `coldpress history`: studies kept, listed, shown, given away and taken in.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::run::{Ran, Stage, command, program};
use crate::skip;

/// A directory with a history of its own.
pub(crate) struct Desk {
    pub(crate) stage: Stage,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self {
            stage: Stage::new(),
        }
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = command();
        command.args(args).current_dir(self.stage.directory());
        command
            .env("COLDPRESS_HISTORY", "history.sqlite")
            .env("TZ", "UTC");
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    pub(crate) fn done<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    }

    /// Writes a file with studies.
    pub(crate) fn file(&self, name: &str, studies: &[Value]) {
        let text = json!({ "coldpress_history": 1, "studies": studies }).to_string();
        fs::write(self.stage.at(name), text).unwrap();
    }
}

/// A study of starts: a contestant for each name, size and list of cold starts.
pub(crate) fn study(title: &str, contestants: &[(&str, f64, &[f64])]) -> Value {
    let runs = contestants
        .iter()
        .enumerate()
        .flat_map(|(contestant, (_, _, starts))| {
            starts.iter().enumerate().map(move |(turn, cold_s)| {
                json!({
                    "contestant": contestant, "turn": turn, "excluded": null,
                    "figures": { "cold_s": cold_s },
                })
            })
        });
    json!({
        "kind": "launch",
        "title": title,
        "began_unix_ms": 1_700_000_000_123_u64,
        "origin": "measured",
        "state": "done",
        "facts": { "kernel": "6.18.0", "seed": "7" },
        "contestants": contestants.iter().map(|(name, size_bytes, _)| json!({
            "name": name, "facts": {}, "figures": { "size_bytes": size_bytes },
        })).collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
    })
}

/// Nearly a second each.
pub(crate) const STARTS: [f64; 8] = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.02, 0.99];

fn example() -> Value {
    let faster = STARTS.map(|start_s| start_s * 0.6);
    let mut study = study(
        "a start",
        &[("plain", 1e6, &STARTS), ("ordered\n", 1.1e6, &faster)],
    );
    study["runs"][3]["excluded"] = json!("the command failed");
    study["runs"][4]["excluded"] = json!("the command failed");
    study
}

#[test]
fn a_study_is_taken_in_listed_shown_given_away_and_forgotten() {
    let desk = Desk::new();
    assert_eq!(desk.done(["history"]).stdout, b"");
    desk.file("in.json", &[example()]);
    let ran = desk.done(["history", "import", "in.json"]);
    assert_eq!(ran.stderr, "`in.json`: a start is study 1\n");
    let ran = desk.done(["history", "import", "in.json", "--json"]);
    assert_eq!(ran.stderr, "`in.json`: a start was already study 1\n");
    assert_eq!(ran.json()[0]["became"], "known");
    insta::assert_snapshot!("list", desk.done(["history", "list"]).text());
    assert_eq!(
        desk.done(["history"]).stdout,
        desk.done(["history", "list"]).stdout
    );
    let listed = desk.done(["history", "--json"]).json();
    assert_eq!(
        (&listed[0]["runs"], &listed[0]["excluded"]),
        (&json!(14), &json!(2))
    );
    insta::assert_snapshot!("show", desk.done(["history", "show", "1"]).text());
    assert_eq!(
        desk.done(["history", "show", "1", "--json"]).json(),
        example()
    );
    desk.done([
        "history", "export", "1", "--format", "json", "-o", "out.json",
    ]);
    let exported = fs::read(desk.stage.at("out.json")).unwrap();
    assert_eq!(
        desk.done(["history", "export", "--format", "json"]).stdout,
        exported
    );
    let ran = desk.run(["history", "forget", "1", "5"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.stderr,
        "error: there is no study 5 in the history\n1 study removed\n"
    );
    desk.done(["history", "import", "out.json"]);
    let listed = desk.done(["history", "list", "--json"]).json();
    assert_eq!(listed[0]["id"], 2, "its number is its own");
}

#[test]
fn figures_are_written_in_long_form() {
    let desk = Desk::new();
    desk.file("in.json", &[example()]);
    desk.done(["history", "import", "in.json"]);
    let csv = desk.done(["history", "export", "--format", "csv"]).text();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "study,kind,title,began,contestant,turn,excluded,figure,unit,value"
    );
    assert_eq!(
        lines[1],
        "1,launch,a start,2023-11-14T22:13:20.123Z,plain,,,size_bytes,bytes,1000000"
    );
    assert!(
        csv.contains(",plain,3,the command failed,cold_s,s,1.05\n"),
        "{csv}"
    );
    assert!(
        csv.contains(",\"ordered\n\",,,size_bytes,bytes,1100000\n"),
        "{csv}"
    );
    desk.done([
        "history",
        "export",
        "--format",
        "parquet",
        "-o",
        "out.parquet",
    ]);
    let parquet = fs::read(desk.stage.at("out.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
}

#[test]
fn wrong_uses_are_told() {
    let desk = Desk::new();
    fs::write(desk.stage.at("text"), "no study\n").unwrap();
    fs::write(
        desk.stage.at("table.csv"),
        "system,compressor,preset,compress_s\na,xz,fast,-3\n",
    )
    .unwrap();
    for (args, expected) in [
        (
            &["history", "show", "1"][..],
            "error: there is no study 1 in the history\n\nhint: `coldpress history` lists the studies\n",
        ),
        (
            &["history", "export", "3", "--format", "csv"],
            "error: there is no study 3 in the history\n\nhint: `coldpress history` lists the studies\n",
        ),
        (
            &["history", "import", "none"],
            "error: cannot read `none`: No such file or directory\n",
        ),
        (
            &["history", "import", "text"],
            "error: cannot use `text`: it is neither an export of a history as JSON, nor a published table with a \
             first line that is known\n",
        ),
        (
            &["history", "import", "table.csv"],
            "error: cannot use `table.csv`: line 2, column compress_s: `-3` must be a number of 0 or more\n",
        ),
    ] {
        let ran = desk.run(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), expected));
    }
    let mut off = desk.command(["history"]);
    let ran = Ran::of(off.env("COLDPRESS_HISTORY", "off").output().unwrap());
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr
            .starts_with("error: there is no history: COLDPRESS_HISTORY turns it off"),
        "{}",
        ran.stderr
    );
    let mut lost = desk.command(["history"]);
    let ran = Ran::of(
        lost.env("COLDPRESS_HISTORY", "none/h.sqlite")
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("unable to open database file"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_history_is_private_and_made_where_it_belongs() {
    let desk = Desk::new();
    let mut first = desk.command(["history"]);
    first
        .env_remove("COLDPRESS_HISTORY")
        .env_remove("XDG_STATE_HOME");
    program(first.env("HOME", desk.stage.directory()));
    let directory = desk.stage.at(".local/state/coldpress");
    assert!(directory.join("history.sqlite").is_file());
    let mode = fs::metadata(&directory).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
}

#[test]
fn a_study_whose_process_was_killed_is_told_from_one_under_way() {
    let desk = Desk::new();
    let mut running = example();
    running["state"] = json!("running");
    desk.file("in.json", &[running]);
    desk.done(["history", "import", "in.json"]);
    let state = || {
        let state = desk.done(["history", "--json"]).json()[0]["state"].clone();
        let shown = desk.done(["history", "show", "1"]).text();
        let line = format!("\nstate        {}\n", state.as_str().unwrap());
        assert!(shown.contains(&line), "{shown}");
        state
    };
    assert_eq!(state(), "unfinished");
    let database = Connection::open(desk.stage.at("history.sqlite")).unwrap();
    let sign = |writer: &str| {
        database
            .execute("UPDATE study SET writer = ?1", [writer])
            .unwrap()
    };
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap();
    let this = fs::read_to_string("/proc/self/stat").unwrap();
    let start = this
        .rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(19)
        .unwrap();
    let place = format!("{} {}", boot.trim(), namespace.display());
    sign(&format!("{place} {} {start}", std::process::id()));
    assert_eq!(state(), "running");
    sign(&format!("{place} {} 1", std::process::id()));
    assert_eq!(state(), "killed");
    sign("nobody that is known");
    assert_eq!(state(), "running");
}

#[test]
fn a_closed_standard_output_is_success() {
    let desk = Desk::new();
    desk.file("in.json", &[example()]);
    desk.done(["history", "import", "in.json"]);
    for args in [
        &["history", "export", "--format", "csv"][..],
        &["history", "list"],
        &["history", "show", "1"],
        &["bench", "compare", "1", "in.json"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = desk.command(args);
        let output = command.stdout(Stdio::from(writer)).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

/// In a mount namespace of its own: a full disk, and one that cannot be written.
#[test]
fn a_full_or_read_only_disk_is_an_error_and_keeps_what_was_there() {
    if skip::without_root() || skip::without_peer("unshare") {
        return;
    }
    let desk = Desk::new();
    desk.file("small.json", &[example()]);
    let many = vec![0.5; 20_000];
    desk.file("large.json", &[study("too much", &[("plain", 1.0, &many)])]);
    fs::create_dir(desk.stage.at("disk")).unwrap();
    let script = "
        mount -t tmpfs -o size=400k tmpfs disk || exit 10
        export COLDPRESS_HISTORY=disk/history.sqlite
        \"$0\" history import small.json || exit 11
        \"$0\" history import large.json; [ $? = 2 ] || exit 12
        \"$0\" history show 1 --json > kept.json || exit 13
        \"$0\" history --json > list.json || exit 14
        mount -o remount,ro disk || exit 15
        \"$0\" history import small.json; [ $? = 2 ] || exit 16
    ";
    let mut shell = Command::new("unshare");
    shell.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_coldpress")]);
    let ran = program(shell.current_dir(desk.stage.directory()));
    assert!(
        ran.stderr.contains("database or disk is full"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("hint: set COLDPRESS_HISTORY to another file"),
        "{}",
        ran.stderr
    );
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(desk.stage.at(name)).unwrap()).unwrap()
    };
    assert_eq!(read("kept.json"), example());
    assert_eq!(read("list.json").as_array().map(Vec::len), Some(1));
}
