//! `coldpress timings`, what it keeps, and `--timings FILE`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::run::{Ran, Stage, comes_true, command, repository};

/// A directory with a history of its own and a source.
struct Workshop(Stage);

impl Workshop {
    fn new() -> Self {
        let stage = Stage::new();
        fs::create_dir(stage.at("source")).unwrap();
        fs::write(stage.at("source/file"), "content ".repeat(25_000)).unwrap();
        fs::write(stage.at("source/again"), "content ".repeat(25_000)).unwrap();
        Self(stage)
    }

    /// Runs the binary with this history; words are separated by blanks.
    fn run(&self, line: &str) -> Ran {
        let mut command = command();
        command.env("COLDPRESS_HISTORY", self.0.at("history.sqlite"));
        command
            .args(line.split(' '))
            .current_dir(self.0.directory());
        Ran::of(command.output().unwrap())
    }

    fn done(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
        ran
    }

    /// The newest change, as JSON.
    fn newest(&self) -> serde_json::Value {
        self.done("timings --json").json()[0].clone()
    }
}

/// The levels and labels of the tasks of a change.
fn labels(change: &serde_json::Value) -> Vec<(u64, String)> {
    let tasks = change["tasks"].as_array().unwrap();
    let label = |task: &serde_json::Value| task["label"].as_str().unwrap().to_owned();
    tasks
        .iter()
        .map(|task| (task["level"].as_u64().unwrap(), label(task)))
        .collect()
}

fn owned(labels: &[(u64, &str)]) -> Vec<(u64, String)> {
    labels
        .iter()
        .map(|(level, label)| (*level, (*label).to_owned()))
        .collect()
}

#[test]
fn a_build_is_kept_with_its_tasks() {
    let shop = Workshop::new();
    shop.done("build source image --verify");
    let change = shop.newest();
    assert_eq!(
        (&change["verb"], &change["status"]),
        (&"build".into(), &"Done".into())
    );
    assert_eq!(change["summary"], "Build `image`");
    let expected = [
        (0, "scanning"),
        (0, "comparing"),
        (1, "read"),
        (1, "hash"),
        (0, "ordering"),
        (0, "compressing"),
        (1, "read"),
        (1, "compress"),
        (1, "write"),
        (1, "tables"),
        (0, "verifying"),
        (0, "commit"),
    ];
    let found: Vec<_> = labels(&change);
    assert_eq!(found, owned(&expected));
    // Parts lie within the whole, and the whole within the change.
    let number = |task: &serde_json::Value, name: &str| task[name].as_u64().unwrap();
    let took_us = number(&change, "took_us");
    for task in change["tasks"].as_array().unwrap() {
        let threads = task["threads"].as_u64().unwrap_or(1);
        let end_us = number(task, "began_us") + number(task, "doing_us") / threads;
        assert!(end_us <= took_us, "{task} in {took_us}");
    }
    let text = shop.done("timings").text();
    assert!(
        text.starts_with("ID   Status        Doing      Undoing  Summary\n1    Done "),
        "{text}"
    );
    assert!(
        text.contains("  Compressing: 391 KiB of content, 3 inodes\n"),
        "{text}"
    );
    let verbose = shop.done("timings 1 --verbose --all").text();
    assert_eq!(verbose.lines().count(), 1 + expected.len(), "{verbose}");
    assert!(verbose.contains("\n ^  "), "{verbose}");
}

#[test]
fn extraction_check_and_the_tools_are_kept_and_found_by_verb() {
    let shop = Workshop::new();
    shop.done("-q build source image");
    shop.done("-q extract image out");
    shop.done("-q check image");
    shop.done("mksquashfs source again -quiet -no-progress");
    shop.done("unsquashfs -d out2 -q -n again");
    // What only looks keeps nothing.
    shop.done("ls image");
    shop.done("unsquashfs -ls again");
    let changes = shop.done("timings --changes").text();
    let summaries: Vec<_> = changes
        .lines()
        .skip(1)
        .map(|line| line.split("  ").last().unwrap())
        .collect();
    let expected = [
        "Build `image`",
        "Extract `image` to `out`",
        "Check `image`",
        "Build `again`",
        "Extract `again` to `out2`",
    ];
    assert_eq!(summaries, expected, "{changes}");
    let last = shop.done("timings --last=extract --json").json();
    assert_eq!(last[0]["id"], 2);
    let found = labels(&last[0]);
    assert_eq!(found[0], (0, "extracting".to_owned()));
    for part in ["open", "read", "write", "metadata"] {
        assert!(found.contains(&(1, part.to_owned())), "{part}: {found:?}");
    }
    let activity = shop.done("timings --startup=unsquashfs --all").text();
    let mut lines = activity.lines().skip(1);
    assert!(
        lines.next().unwrap().starts_with("unsquashfs  "),
        "{activity}"
    );
    assert!(lines.all(|line| line.starts_with(' ')), "{activity}");
}

#[test]
fn failures_and_kills_are_kept_too() {
    let shop = Workshop::new();
    assert_eq!(shop.run("check missing").code, Some(2));
    assert_eq!(shop.newest()["status"], "Error");
    // It waits for a tar archive that never comes.
    let start = || {
        let mut build = command();
        build.env("COLDPRESS_HISTORY", shop.0.at("history.sqlite"));
        build
            .args(["build", "-", "image"])
            .current_dir(shop.0.directory());
        build.stdin(Stdio::piped()).stderr(Stdio::null());
        build.spawn().unwrap()
    };
    for (signal, status) in [(Signal::INT, "Abort"), (Signal::KILL, "Doing")] {
        let mut child = start();
        let is_begun = || {
            let newest = shop.newest();
            newest["verb"] == "build" && newest["status"] == "Doing"
        };
        assert!(comes_true(is_begun));
        // The change is stated a moment before signals are held back.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(shop.newest()["status"], status);
    }
}

#[test]
fn a_history_that_cannot_be_written_is_a_warning_and_off_is_silent() {
    let shop = Workshop::new();
    let build = |history: &Path| {
        let mut command = command();
        command.env("COLDPRESS_HISTORY", history);
        command.args(["-q", "build", "source", "image"]);
        command.current_dir(shop.0.directory());
        Ran::of(command.output().unwrap())
    };
    for history in ["off", ""] {
        let ran = build(Path::new(history));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    }
    fs::write(
        shop.0.at("text"),
        "no database at all, but a text ".repeat(9),
    )
    .unwrap();
    for history in ["missing/history.sqlite", "text", "source"] {
        let ran = build(&shop.0.at(history));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(
            ran.stderr
                .starts_with("warning: the timings are not kept: "),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn what_is_not_there_is_told() {
    let shop = Workshop::new();
    for (line, told) in [
        ("timings", "no change is kept"),
        ("timings --last=press", "no change of `press` is kept"),
        ("timings 7", "there is no change 7"),
        ("timings --import missing", "cannot read `missing`"),
        (
            "timings --import source/file",
            "cannot import `source/file`: line 1: it lacks two times",
        ),
    ] {
        let ran = shop.run(line);
        assert_eq!((ran.code, ran.stdout.len()), (Some(2), 0), "{line}");
        assert!(
            ran.stderr.starts_with(&format!("error: {told}")),
            "{line}: {}",
            ran.stderr
        );
    }
}

#[test]
fn what_snapd_printed_is_listed_as_snapd_does() {
    let shop = Workshop::new();
    let fixtures = repository().join("crates/cli/tests/it/timings");
    let as_published: fn(&str) -> String = str::to_owned;
    for (name, flag, mend) in [
        ("chromium-cached", " --verbose", as_published),
        ("chromium-cold", " --verbose", mended),
        ("ensure", "", as_published),
        ("startup", "", titled),
    ] {
        let published = fixtures.join(format!("snap-debug-timings-{name}.txt"));
        fs::copy(&published, shop.0.at("printed")).unwrap();
        let text = fs::read_to_string(&published).unwrap();
        let expected = mend(&text);
        let imported = shop.done(&format!("timings --import printed{flag}")).text();
        assert_eq!(imported, expected, "{name}");
        // It was kept, and what was printed is read as well as what was published.
        let kept = shop.done(&format!("timings{flag}")).text();
        assert_eq!(kept, expected, "{name}");
        fs::write(shop.0.at("printed"), kept).unwrap();
        let again = shop.done(&format!("timings --import printed{flag}")).text();
        assert_eq!(again, expected, "{name}");
    }
    let ifacemgr = shop.done("timings --startup=ifacemgr").text();
    assert!(ifacemgr.contains("\nifacemgr  "), "{ifacemgr}");
    let origin = &shop.newest()["origin"]["published"]["citation"];
    assert_eq!(origin, "snap debug timings, from `printed`");
}

/// The published text with the titles that it lacks.
fn titled(text: &str) -> String {
    format!("ID        Status        Doing      Undoing  Summary\n{text}")
}

/// The published text with the blanks that it lacks, and with its broken lines put together; what
/// was nested twice at its end was published as nested once.
fn mended(text: &str) -> String {
    let text = text.replace("system-fi\nles\n", "system-files\n");
    let text = text.replace("screen-inhibit-c\nontrol\n", "screen-inhibit-control\n");
    let mend = |line: &str| match line.trim_start_matches(' ').strip_prefix("^ ") {
        // The blank that is added to the mark is one of those behind it.
        Some(rest) => {
            let blanks = line.len() - rest.len() - 2;
            format!("{:blanks$} ^{rest}\n", "")
        }
        None => format!("{line}\n"),
    };
    text.lines().map(mend).collect()
}

#[test]
fn names_and_readers_are_any() {
    let shop = Workshop::new();
    let image = OsStr::from_bytes(b"two words\n\xff\x1b[31m");
    let mut build = command();
    build.env("COLDPRESS_HISTORY", shop.0.at("history.sqlite"));
    build
        .args(["-q", "build", "source"])
        .arg(image)
        .arg("--timings")
        .arg("a b\n.json");
    let output = build.current_dir(shop.0.directory()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(shop.0.at("a b\n.json").exists());
    let listed = shop.done("timings --changes").text();
    assert!(
        listed.ends_with("  Build `two words\\x0a\\xff\\x1b[31m`\n"),
        "{listed}"
    );
    let mut child = command();
    child.env("COLDPRESS_HISTORY", shop.0.at("history.sqlite"));
    child
        .args(["-q", "timings", "--all", "--json"])
        .stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn any_verb_writes_trace_events_whose_tasks_are_nested() {
    let shop = Workshop::new();
    shop.done("-q build source image --timings build.json");
    shop.done("ls image --timings ls.json");
    assert_eq!(shop.run("check missing --timings error.json").code, Some(2));
    let events = |name: &str| {
        let json: serde_json::Value =
            serde_json::from_slice(&fs::read(shop.0.at(name)).unwrap()).unwrap();
        assert_eq!(json["displayTimeUnit"], "ms");
        json["traceEvents"].as_array().unwrap().clone()
    };
    for (name, verb, status) in [
        ("build.json", "coldpress build", "Done"),
        ("ls.json", "coldpress", "Done"),
        ("error.json", "coldpress check", "Error"),
    ] {
        let events = events(name);
        let whole = events.iter().find(|event| event["ph"] == "X").unwrap();
        assert_eq!(
            (&whole["name"], &whole["args"]["status"]),
            (&verb.into(), &status.into())
        );
        let span = |event: &serde_json::Value| {
            let number = |name: &str| event[name].as_u64().unwrap();
            (number("tid"), number("ts"), number("ts") + number("dur"))
        };
        let (main, _, end) = span(whole);
        // On one lane, an event lies within another or behind it.
        let mut open: Vec<(u64, u64)> = Vec::new();
        for event in events.iter().filter(|event| event["ph"] == "X") {
            let (lane, from, to) = span(event);
            assert!(to <= end, "{event}");
            if lane == main {
                open.retain(|(_, open_to)| *open_to > from);
                assert!(
                    open.iter()
                        .all(|(open_from, open_to)| *open_from <= from && to <= *open_to),
                    "{event}"
                );
                open.push((from, to));
            }
        }
    }
    let build = events("build.json");
    let compress = build
        .iter()
        .find(|event| event["name"] == "compress")
        .unwrap();
    assert!(
        compress["args"]["threads"].as_u64().unwrap() >= 1,
        "{compress}"
    );
    // An older file of the kind is replaced, and nothing else.
    shop.done("ls image --timings build.json");
    let image = fs::read(shop.0.at("image")).unwrap();
    for line in [
        "ls image --timings image",
        "build source new --timings new",
        "ls image --timings source",
    ] {
        let ran = shop.run(line);
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
    }
    assert!(fs::read(shop.0.at("image")).unwrap() == image);
    assert!(fs::read(shop.0.at("new")).unwrap().starts_with(b"hsqs"));
}
