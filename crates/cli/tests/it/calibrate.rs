//! `coldpress calibrate`: what is measured can be, is kept, and nothing else stays.

use std::fs;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::press::unprivileged::as_nobody;
use crate::run::{Ran, Session, Stage, comes_true};
use crate::skip;

/// Where calibrations of a session are kept.
fn place(session: &Session) -> PathBuf {
    session.at("state/kept.json")
}

fn calibrate(session: &Session, args: &[&str]) -> Ran {
    let mut command = session.command(["calibrate"].iter().chain(args));
    command.env("COLDPRESS_CALIBRATION", place(session));
    Ran::of(session.start(&mut command).wait_with_output().unwrap())
}

fn number(value: &Value) -> f64 {
    let number = value.as_f64().unwrap_or_else(|| panic!("{value}"));
    assert!(number.is_finite() && number >= 0.0, "{value}");
    number
}

fn positive(value: &Value) -> f64 {
    let number = number(value);
    assert!(number > 0.0, "{value}");
    number
}

/// What physics demands of figures.
fn assert_possible(kept: &Value) {
    let medium = &kept["media"]["calibrated"];
    assert!(positive(&medium["request_s"]) < positive(&medium["huge_request_s"]));
    positive(&medium["bandwidth_bytes_per_s"]);
    positive(&medium["reads_per_s"]);
    positive(&kept["memory"]["copy_bytes_per_s"]);
    let reader = &kept["reader"];
    positive(&reader["fill_page_s"]);
    number(&reader["stored_block_s"]);
    positive(&reader["threads_gain"]);
    for of in reader["decompression"].as_array().unwrap() {
        number(&of["block_s"]);
        positive(&of["bytes_per_s"]);
        let blocks = of["blocks"].as_array().unwrap();
        assert_eq!(blocks.len(), 3, "{of}");
        let (small, large) = (&blocks[0], &blocks[2]);
        assert_eq!(
            (&small["block_bytes"], &large["block_bytes"]),
            (&16384.into(), &1_048_576.into())
        );
        assert!(
            positive(&small["time_s"]) < positive(&large["time_s"]),
            "{of}"
        );
        // Which of them compresses better is the files' of this machine.
        for block in [small, large] {
            assert!((0.05..=1.0).contains(&positive(&block["ratio"])), "{of}");
        }
    }
}

/// A machine that is busy all the time hides what a compressor takes, and is told so.
fn is_told_of_noise(ran: &Ran) -> bool {
    ran.code == Some(1) && ran.stderr.contains("other programs disturbed")
}

fn compressors(kept: &Value) -> Vec<&str> {
    let all = kept["reader"]["decompression"].as_array().unwrap();
    all.iter()
        .map(|of| of["compressor"].as_str().unwrap())
        .collect()
}

#[test]
fn the_kernel_is_measured_and_kept() {
    if skip::without_root() || skip::without_kernel() {
        return;
    }
    let session = Session::new();
    fs::create_dir(session.at("state")).unwrap();
    fs::write(place(&session), "no calibration").unwrap();
    let ran = calibrate(&session, &[".", "--seconds", "3", "--json"]);
    assert!(
        ran.code == Some(0) || is_told_of_noise(&ran),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("not the JSON of a calibration"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("kept in"), "{}", ran.stderr);
    let kept = ran.json();
    assert_possible(&kept);
    let reader = &kept["reader"];
    assert_eq!(reader["is_kernel"], true);
    positive(&reader["lookup_s"]);
    // Many inodes are in a metadata block, which is read once for them.
    assert!(number(&reader["lookup_reads"]) < 1.0);
    assert!(!compressors(&kept).is_empty() || is_told_of_noise(&ran));
    let directory = session.directory().canonicalize().unwrap();
    assert_eq!(
        kept["media"]["calibrated"]["path"],
        directory.to_str().unwrap()
    );
    let text = fs::read_to_string(place(&session)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), kept);

    // Shown as it was kept, and told if it is of another kernel.
    let shown = calibrate(&session, &["--show", "--json"]);
    assert_eq!((shown.code, shown.json()), (Some(0), kept.clone()));
    assert_eq!(shown.stderr, "");
    let shown = calibrate(&session, &["--show"]);
    for word in compressors(&kept)
        .into_iter()
        .chain(["the kernel", "128 KiB"])
    {
        assert!(shown.text().contains(word), "{word}: {}", shown.text());
    }
    let kernel = kept["machine"]["kernel"].as_str().unwrap();
    fs::write(place(&session), text.replace(kernel, "2.6.29")).unwrap();
    let shown = calibrate(&session, &["--show"]);
    assert_eq!(shown.code, Some(0));
    assert!(
        shown.stderr.contains("another machine or kernel"),
        "{}",
        shown.stderr
    );

    // A throttle is kept beside the rest.
    fs::write(place(&session), text).unwrap();
    if skip::without_measuring() {
        return;
    }
    let ran = calibrate(
        &session,
        &["--device", "bw=16M,iops=400", "--seconds", "2", "--json"],
    );
    // 1 if it lets a little more through than it says.
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
    let with_throttle = ran.json();
    let throttle = &with_throttle["media"]["bw=16M,iops=400"];
    assert!(
        positive(&throttle["bandwidth_bytes_per_s"]) < 24e6,
        "{throttle}"
    );
    assert!(positive(&throttle["reads_per_s"]) < 600.0, "{throttle}");
    assert_eq!(with_throttle["reader"], kept["reader"]);
    assert_eq!(
        with_throttle["media"]["calibrated"],
        kept["media"]["calibrated"]
    );
}

#[test]
fn without_root_decompression_is_said_to_be_that_of_user_space() {
    if skip::without_root() {
        return;
    }
    let session = Session::new();
    let ran = as_nobody(&session, ["calibrate", ".", "--seconds", "3", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("speeds other than the kernel"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("not kept"), "{}", ran.stderr);
    let found = ran.json();
    assert_possible(&found);
    assert_eq!(found["reader"]["is_kernel"], false);
    let all = ["gzip", "lzo", "lz4", "xz", "zstd"];
    assert!(compressors(&found) == all || is_told_of_noise(&ran));
    let throttled = as_nobody(&session, ["calibrate", ".", "--device", "usb2"]);
    assert_eq!(throttled.code, Some(2));
    assert!(
        throttled.stderr.contains("run it as root"),
        "{}",
        throttled.stderr
    );
}

#[test]
fn nothing_stays_of_a_measurement_that_ends_early() {
    if skip::without_measuring() {
        return;
    }
    for (signal, code) in [(Signal::KILL, None), (Signal::INT, Some(130))] {
        for device in [None, Some("usb2")] {
            let session = Session::new();
            let mut args = vec!["calibrate", ".", "--seconds", "30"];
            args.extend(device.map(|name| ["--device", name]).into_iter().flatten());
            let mut command = session.command(args);
            command.env("COLDPRESS_CALIBRATION", place(&session));
            let child = session.start(&mut command);
            // It holds a file of the directory that has no name.
            let open = format!("/proc/{}/fd", child.id());
            let holds = || {
                let open = fs::read_dir(&open).into_iter().flatten().flatten();
                let mut targets = open.flat_map(|entry| fs::read_link(entry.path()));
                targets.any(|target| target.starts_with(session.directory()))
            };
            assert!(comes_true(holds), "{device:?}");
            let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
            kill_process(pid, signal).unwrap();
            let ran = Session::end(child);
            assert_eq!(ran.code, code, "{device:?}: {}", ran.stderr);
            assert!(!place(&session).exists());
        }
    }
}

#[test]
fn what_cannot_be_measured_or_shown_is_told() {
    let stage = Stage::new();
    fs::write(stage.at("small"), "x").unwrap();
    for (args, told) in [
        (&["missing"][..], "cannot find `missing`"),
        (&["small"], "less than 4 MiB"),
        (&["/dev/null"], "neither a directory nor"),
        (&["--device", "floppy"], "is not a known device"),
        (&["--device", "host"], "there is no throttle"),
        (&["--seconds", "0"], "at least 1"),
        (&["--show"], "nothing was calibrated"),
        (&["--show", "--seconds", "3"], "cannot be used with"),
    ] {
        let ran = stage.run(["calibrate"].iter().chain(args));
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{args:?}: {}", ran.stderr);
        assert!(ran.stdout.is_empty());
    }
}
