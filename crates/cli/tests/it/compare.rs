//! `coldpress bench compare`: a study beside an older one, in CI.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::history::{Desk, STARTS, study};
use crate::run::program;
use crate::skip;

/// `base.json`, and `new.json`, which is slower by half and larger by a byte.
fn desk() -> Desk {
    let desk = Desk::new();
    let slower = STARTS.map(|start_s| start_s * 1.5);
    desk.file(
        "base.json",
        &[study(
            "main",
            &[("plain | <b>", 1e6, &STARTS), ("few", 5.0, &STARTS[..3])],
        )],
    );
    let mut new = study(
        "branch",
        &[
            ("plain | <b>", 1_000_001.0, &slower),
            ("few", 5.0, &slower[..3]),
        ],
    );
    new["facts"] = json!({ "kernel": "6.19.0", "seed": "8" });
    desk.file("new.json", &[new]);
    desk
}

#[test]
fn differences_are_told_with_their_intervals() {
    let desk = desk();
    let ran = desk.done(["bench", "compare", "base.json", "new.json"]);
    insta::assert_snapshot!("table", ran.text());
    assert_eq!(
        ran.stderr,
        "warning: the studies were made under other conditions: kernel (6.18.0, then 6.19.0)\n"
    );
    let found = desk
        .done(["bench", "compare", "base.json", "new.json", "--json"])
        .json();
    assert_eq!(found["differences"][0]["evidence"], "sampled");
    assert_eq!(found["differences"][0]["ratio"], 1.5);
    assert_eq!(found["differences"][1]["evidence"], "exact");
    assert_eq!(found["differences"][2]["interval"], json!(null));
    // Numbers of the history are the same as files.
    desk.done(["history", "import", "base.json", "new.json"]);
    let by_number = desk.done(["bench", "compare", "1", "2"]);
    assert_eq!(by_number.stdout, ran.stdout);
    let same = desk.done([
        "bench",
        "compare",
        "1",
        "1",
        "--fail-if",
        "cold > 0%",
        "--fail-if",
        "size > 0%",
    ]);
    assert!(
        same.text().contains("no difference shown"),
        "{}",
        same.text()
    );
    assert!(same.text().contains("the same"), "{}", same.text());
}

#[test]
fn a_condition_that_holds_is_a_failure() {
    let desk = desk();
    for (conditions, code) in [
        (&["cold > +5%"][..], 1),
        (&["cold_s>5%"], 1),
        (&["cold > +60%"], 0),
        (&["cold < -5%"], 0),
        (&["size > 0%"], 1),
        (&["size > 1%"], 0),
        (&["cold > 100%", "size_bytes > 0%"], 1),
    ] {
        let flags = conditions
            .iter()
            .flat_map(|condition| ["--fail-if", condition]);
        let args = ["bench", "compare", "base.json", "new.json"]
            .into_iter()
            .chain(flags);
        let ran = desk.run(args);
        assert_eq!(ran.code, Some(code), "{conditions:?}: {}", ran.stderr);
        assert_eq!(
            ran.stderr.contains("error: plain | <b>: "),
            code == 1,
            "{}",
            ran.stderr
        );
    }
    let ran = desk.run([
        "bench",
        "compare",
        "base.json",
        "new.json",
        "--fail-if",
        "cold > 5%",
    ]);
    assert!(
        ran.stderr
            .contains("error: plain | <b>: cold_s changed by +50.0 % (95 % interval "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("warning: 1 judgement has too few runs: six of each study are needed\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_failure_is_one_if_nobody_reads_the_table() {
    let desk = desk();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = desk.command(["bench", "compare", "base.json", "new.json"]);
    command.args(["--fail-if", "size > 0%"]).stdout(writer);
    assert_eq!(command.output().unwrap().status.code(), Some(1));
}

#[test]
fn ci_servers_and_pull_requests_are_told() {
    let desk = desk();
    let ran = desk.run([
        "bench",
        "compare",
        "base.json",
        "new.json",
        "--fail-if",
        "cold > +5%",
        "--fail-if",
        "size > +1%",
        "--junit",
        "out.xml",
        "--markdown",
        "out.md",
    ]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let read = |name: &str| fs::read_to_string(desk.stage.at(name)).unwrap();
    insta::assert_snapshot!("junit", read("out.xml"));
    insta::assert_snapshot!("markdown", read("out.md"));
    if skip::without_peer("python3") {
        return;
    }
    // Well-formed, and its counts are those of its tests.
    let script = "\
import sys
from xml.etree import ElementTree
suite, = ElementTree.parse(sys.argv[1]).getroot()
cases = suite.findall('testcase')
assert suite.tag == 'testsuite' and int(suite.get('tests')) == len(cases) == 4
for name, tag in ('failures', 'failure'), ('skipped', 'skipped'):
    assert int(suite.get(name)) == sum(case.find(tag) is not None for case in cases) == 1, name
assert cases[0].get('classname') == 'plain | <b>'
";
    program(
        Command::new("python3")
            .args(["-c", script])
            .arg(desk.stage.at("out.xml")),
    );
}

#[test]
fn wrong_uses_are_told() {
    let desk = desk();
    desk.file("two.json", &[study("a", &[]), study("b", &[])]);
    desk.file("none.json", &[]);
    desk.file("other.json", &[study("other", &[("other", 1.0, &STARTS)])]);
    for (args, expected) in [
        (
            &["base.json", "77"][..],
            "error: there is no study 77 in the history\n\nhint: `coldpress history` lists the studies; `./NUMBER` is a \
             file of that name\n",
        ),
        (
            &["base.json", "missing"],
            "error: cannot read `missing`: No such file or directory\n",
        ),
        (
            &["base.json", "two.json"],
            "error: there are 2 studies in `two.json`, must be one\n\nhint: `coldpress history export ID --format \
             json` writes one\n",
        ),
        (
            &["base.json", "none.json"],
            "error: there is no study in `none.json`\n",
        ),
        (
            &["other.json", "base.json"],
            "error: the two studies have no figure of a contestant in common\n\nhint: the contestants are other in \
             the one, plain | <b>, few in the other\n",
        ),
        (
            &["base.json", "new.json", "--fail-if", "boot > 5%"],
            "error: the condition `boot > +5%` names no figure that both studies have\n\nhint: \
             they have cold_s, \
             size_bytes\n",
        ),
    ] {
        let ran = desk.run(["bench", "compare"].iter().chain(args));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), expected));
    }
    let ran = desk.run([
        "bench",
        "compare",
        "base.json",
        "new.json",
        "--fail-if",
        "cold 5%",
    ]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr
            .contains("must be FIGURE > PERCENT% or FIGURE < PERCENT%"),
        "{}",
        ran.stderr
    );
    let ran = desk.run([
        "bench",
        "compare",
        "base.json",
        "new.json",
        "--junit",
        "out.xml",
    ]);
    assert_eq!(ran.code, Some(2), "no condition, no test");
    assert!(!desk.stage.at("out.xml").exists());
}
