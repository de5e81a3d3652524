//! `coldpress bench boot`: small systems booted in real virtual machines, and what is told of those
//! that do not boot.

mod recorded;
mod system;
mod verity;

use std::fs;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::run::{Ran, Session, Stage, comes_true};
use crate::skip;
pub(crate) use system::Parts;
use system::System;

/// How long a small system takes at most where the processor is imitated, and others use it too.
const TIMEOUT: &str = "240";

/// A session with a system in its directory, and a history of its own. The caches are those of the
/// virtual machine.
fn prepare(parts: &Parts) -> Session {
    let session = Session::beside_others();
    System::of(parts).write(session.directory());
    session.done(["-q", "build", "root", "root.sqfs", "-c", "gzip"]);
    session
}

/// Begins `bench boot` of the image `root.sqfs`.
fn begin(session: &Session, more: &[&str]) -> Child {
    let mut words = vec!["bench", "boot", "root.sqfs"];
    words.extend([
        "--kernel",
        "vmlinuz",
        "--initrd",
        "initrd",
        "--guest-memory",
        "256M",
        "--cpus",
        "1",
    ]);
    words.extend_from_slice(more);
    let mut command = session.command(words);
    command.env("COLDPRESS_HISTORY", session.at("history"));
    session.start(&mut command)
}

fn finish(child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap())
}

/// The first study of the history; null if there is none yet.
fn kept(session: &Session) -> Value {
    let mut command = session.command(["history", "show", "1", "--json"]);
    command.env("COLDPRESS_HISTORY", session.at("history"));
    let shown = finish(session.start(&mut command));
    serde_json::from_slice(&shown.stdout).unwrap_or_default()
}

#[test]
fn a_boot_is_measured_drawn_and_kept() {
    let Some(parts) = skip::guest() else { return };
    let session = prepare(&parts);
    let more = [
        "--runs",
        "1",
        "--json",
        "--chart",
        "charts",
        "--device",
        "usb2",
        "--timeout",
        TIMEOUT,
        "--seed",
        "5",
        "--report",
        "report.html",
        "--samples",
        "samples.json",
        "--name",
        "it's <b>",
    ];
    let ran = finish(begin(&session, &more));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let study = &ran.json()["study"];
    let figures = &study["runs"][0]["figures"];
    let figure = |name: &str| figures[name].as_f64().unwrap();
    assert!(figure("boot_s") > figure("kernel_s"), "{figures}");
    assert!(figure("cpu_s") > 0.0, "{figures}");
    // All of the file that the system reads, and not the other one.
    let (read, not_read) = (
        f64::from(System::READ_BYTES),
        f64::from(System::NOT_READ_BYTES),
    );
    assert!(
        (read..read + not_read).contains(&figure("read_bytes")),
        "{figures}"
    );
    // Not faster than the device lets it, but for what QEMU lets through at once: a tenth of a
    // second's bytes.
    assert!(figure("boot_s") > read / 25e6 - 0.1, "{figures}");
    for (fact, value) in [
        ("device", "usb2"),
        ("seed", "5"),
        ("guest_kernel", "vmlinuz"),
    ] {
        assert_eq!(study["facts"][fact], value);
    }
    let samples = fs::read(session.at("samples.json")).unwrap();
    let samples: Value = serde_json::from_slice(&samples).unwrap();
    assert_eq!(samples["studies"][0], *study);
    let report = fs::read_to_string(session.at("report.html")).unwrap();
    assert!(report.contains("it&#39;s &lt;b&gt;") || report.contains("it's &lt;b&gt;"));
    assert_eq!(kept(&session)["runs"], study["runs"]);
    assert_eq!(kept(&session)["state"], "done");
    let chart =
        |suffix| fs::read_to_string(session.at("charts").join(format!("1-it_s__b_.{suffix}")));
    let drawn = chart("svg").unwrap();
    let data: Value = serde_json::from_str(&chart("json").unwrap()).unwrap();
    let names = |list: &str| {
        let spans = data[list].as_array().unwrap().iter();
        spans
            .map(|span| span["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("units"), ["data.service"]);
    let processes = names("processes");
    for program in ["init", "cat"] {
        assert!(
            processes.iter().any(|name| name == program),
            "{processes:?}"
        );
    }
    assert!(
        drawn.contains("data.service") && drawn.contains("it&apos;s &lt;b&gt;"),
        "{drawn}"
    );
}

#[test]
fn a_guest_that_panics_is_a_failure_with_its_last_words() {
    let Some(parts) = skip::guest() else { return };
    let session = prepare(&parts);
    let ran = finish(begin(
        &session,
        &[
            "--append",
            "rdinit=/bin/nothing init=/bin/nothing",
            "--timeout",
            TIMEOUT,
        ],
    ));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("`root.sqfs` does not boot: the guest gave up"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("Kernel panic - not syncing"),
        "{}",
        ran.stderr
    );
    let study = kept(&session);
    assert_eq!(study["state"], "failed");
    assert!(study["runs"][0]["excluded"].is_string(), "{study}");
}

#[test]
fn a_guest_that_is_never_ready_is_a_failure() {
    let Some(parts) = skip::guest() else { return };
    let session = prepare(&parts);
    let ran = finish(begin(
        &session,
        &["--ready-line", "^never$", "--timeout", "1", "--no-store"],
    ));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the guest was not ready after 1 s"),
        "{}",
        ran.stderr
    );
    assert!(!session.at("history").exists());
}

#[test]
fn ctrl_c_keeps_the_finished_boots_and_a_kill_leaves_no_machine() {
    let Some(parts) = skip::guest() else { return };
    let session = prepare(&parts);
    let more = ["--runs", "99", "--timeout", TIMEOUT];
    // The session looks for what is left when it is dropped.
    for (signal, is_kept) in [(Signal::INT, true), (Signal::KILL, false)] {
        let child = begin(&session, &more);
        let has_machine = || {
            session
                .leftovers()
                .iter()
                .any(|left| left.contains("-kernel vmlinuz"))
        };
        assert!(comes_true(has_machine), "{:#?}", session.leftovers());
        if is_kept {
            let has_run = || kept(&session)["runs"][0].is_object();
            assert!((0..12).any(|_| comes_true(has_run)), "{}", kept(&session));
        }
        let pid = Pid::from_child(&child);
        kill_process(pid, signal).unwrap();
        let ran = Session::end(child);
        assert!(comes_true(|| !has_machine()), "{:#?}", session.leftovers());
        if is_kept {
            assert_eq!(ran.code, Some(130), "{}", ran.stderr);
            assert_eq!(kept(&session)["state"], "interrupted");
        }
    }
}

#[test]
fn what_cannot_be_booted_is_told_before_anything_is() {
    let stage = Stage::new();
    fs::write(stage.at("a"), [0; 512]).unwrap();
    for (words, expected) in [
        (
            &["a", "--qemu", "./none"][..],
            "cannot run `./none`: No such file or directory; QEMU makes the virtual machines",
        ),
        (
            &["a", "--qemu", "true"],
            "`true` has no virtual machine: it said nothing and did not open its control",
        ),
        (&["missing"], "cannot look at `missing`"),
        (&["."], "`.` is neither a file nor a disk"),
        (&["a", "./a"], "two images are called `a`"),
        (&["a", "--name", "x", "--name", "y"], "2 names for 1 images"),
        (
            &["a", "--ready-line", "("],
            "the pattern of the line that shows that a guest is ready",
        ),
        (&["a", "--device", "floppy"], "device `floppy`"),
        (
            &["a", "--guest-memory", "1M"],
            "a machine of 1 MiB boots no kernel",
        ),
    ] {
        let ran = stage.run(["bench", "boot", "--no-store"].iter().chain(words));
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
    }
}
