//! `coldpress record --vm`: a boot seen from outside is what the system is known to read.

use std::collections::BTreeSet;
use std::fs;

use super::system::System;
use super::{TIMEOUT, finish};
use crate::run::Session;
use crate::skip;

/// A session with a system in its directory.
fn session() -> Option<Session> {
    let parts = skip::guest()?;
    let session = Session::beside_others();
    System::of(&parts).write(session.directory());
    Some(session)
}

fn words<'a>(source: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["record", "--vm", source, "-o", "boot.trace"];
    words.extend(["--guest-memory", "256M", "--cpus", "1"]);
    words.extend(["--timeout", TIMEOUT]);
    words.extend_from_slice(more);
    words
}

/// Pages of a file of which a trace says that they were read.
fn pages(trace: &str, path: &str) -> BTreeSet<u64> {
    pages_of("R", trace, path)
}

/// Pages of a file in events of a kind.
fn pages_of(kind: &str, trace: &str, path: &str) -> BTreeSet<u64> {
    let mut pages = BTreeSet::new();
    for line in trace.lines().filter(|line| line.ends_with(path)) {
        let fields: Vec<&str> = line.split(' ').collect();
        if fields.get(2) == Some(&kind) {
            let (first, last) = fields[3].split_once('-').unwrap();
            pages.extend(first.parse::<u64>().unwrap()..=last.parse().unwrap());
        }
    }
    pages
}

#[test]
fn a_boot_from_outside_has_the_pages_that_the_system_reads_and_no_others() {
    let Some(session) = session() else { return };
    let given = ["--kernel", "vmlinuz", "--initrd", "initrd"];
    let mut command = session.command(words("root", &given));
    let ran = finish(session.start(&mut command));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let trace = fs::read_to_string(session.at("boot.trace")).unwrap();
    let read_pages = u64::from(System::READ_BYTES) / 4096;
    assert_eq!(pages(&trace, " /read"), (0..read_pages).collect());
    assert_eq!(pages(&trace, " /pages"), BTreeSet::from([5, 40, 41, 42]));
    // What the kernel adds to a read of single pages is told from what was wanted.
    assert_eq!(pages_of("M", &trace, " /pages"), BTreeSet::from([6, 43]));
    assert_eq!(pages(&trace, " /unread"), BTreeSet::new());
    let program = pages(&trace, " /bin/busybox");
    let all = fs::metadata(session.at("root/bin/busybox")).unwrap().len() / 4096;
    assert!(
        program.contains(&0) && (program.len() as u64) < all,
        "{} of {all} pages",
        program.len()
    );
    let told = |event: &str| trace.lines().any(|line| line.ends_with(event));
    for event in [" L /sbin/init", " L /bin/sh", " D /", " D /bin", " L /read"] {
        assert!(told(event), "{event} in {trace}");
    }
    assert!(!told(" L /unread"));
    // From the initrd on: its own mount looks up the root first.
    let first = trace
        .lines()
        .find(|line| !line.starts_with('#') && line.contains(" L "));
    assert!(first.is_some_and(|line| line.ends_with(" L /")), "{trace}");
    assert!(trace.contains("# recorder: vm: ") && trace.contains("# read-ahead-kib: 0"));

    // It is a trace as others.
    session.done([
        "-q",
        "profile",
        "merge",
        "boot.trace",
        "--source",
        "root",
        "-o",
        "boot.profile",
    ]);
    session.done([
        "-q",
        "build",
        "root",
        "pressed.sqfs",
        "--profile",
        "boot.profile",
    ]);
    assert!(session.leftovers().is_empty(), "{:?}", session.leftovers());
}

#[test]
fn what_boots_nothing_is_refused_before_a_machine_is_made() {
    let session = Session::beside_others();
    fs::create_dir(session.at("root")).unwrap();
    fs::write(session.at("root/file"), "x").unwrap();
    let ran = session.run(words("root", &[]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("--kernel"), "{}", ran.stderr);
    for more in [&["--", "true"][..], &[]] {
        let words = ["record", "root", "--kernel", "k", "-o", "t"];
        let ran = session.run([&words, more].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("--vm"), "{}", ran.stderr);
    }
    assert!(!session.at("boot.trace").exists());
}
