//! The runner on the running Linux.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use coldpress_bench::{Error, Exit, Progress, Scenario, Step, compare, rows};
use coldpress_history::{Kind, Study};
use coldpress_host::{Command, Device, Janitor, Ready, backing_disk};
use tempfile::TempDir;

use crate::{images, require};

static ALONE: Mutex<()> = Mutex::new(());

fn scenario(script: &str, device: &str, runs: u32) -> Scenario {
    let args = ["/bin/sh", "-c", script, "sh", "{root}"];
    Scenario {
        kind: Kind::Launch,
        title: "a start".to_owned(),
        command: Command {
            args: args.iter().map(Into::into).collect(),
            chroot: false,
            environment: Vec::new(),
            working_directory: None,
            timeout_s: 60,
            ready: Ready::Exit,
        },
        device: Device::parse(device).expect("a device"),
        runs,
        seed: 1,
        walk: false,
    }
}

/// On the disk of the target directory: an image in tmpfs is never cold.
fn directory() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a new directory")
}

/// Compares in a directory of its own and checks that nothing of it is left.
fn compare_and_look(
    scenario: &Scenario,
    directory: &Path,
    progress: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
) -> Result<Study, Error> {
    // Each comparison drops the caches of the whole machine, those of another one included.
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let contestants = images::two(directory);
    let work_dir = directory.join("work");
    fs::create_dir(&work_dir).expect("a new directory");
    let janitor = Janitor::start().expect("a janitor");
    let answer = compare(scenario, &contestants, &work_dir, &janitor, progress);
    assert_eq!(
        fs::read_dir(&work_dir).expect("it is there").count(),
        0,
        "nothing stays behind"
    );
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").expect("proc");
    assert!(
        !mounts.contains(work_dir.to_str().expect("UTF-8")),
        "nothing stays mounted"
    );
    answer
}

#[test]
fn two_images_are_compared_cold_and_warm() {
    if !require::machine() {
        return;
    }
    let throttled = 0.18; // 4.0 MB at 20 MB/s
    let mut devices = vec![("host", 0.0), ("bw=20M,iops=2000", throttled)];
    if backing_disk(directory().path()).is_ok() {
        devices.push(("bw=20M,iops=2000,via=file", throttled));
    }
    for (device, least_s) in devices {
        let directory = directory();
        let read_all = scenario("cat \"$1\"/file-* > /dev/null", device, 2);
        let mut steps = 0;
        let study = compare_and_look(&read_all, directory.path(), &mut |progress| {
            // Told as often as the start takes long.
            steps += u32::from(progress.step != Step::Starting);
            ControlFlow::Continue(())
        })
        .expect("a comparison");

        assert_eq!(
            steps,
            1 + 4 * 5,
            "the beginning, and five steps in each run"
        );
        let order: Vec<_> = study.runs.iter().map(|run| run.contestant).collect();
        assert!(order == [0, 1, 1, 0] || order == [1, 0, 0, 1], "{order:?}");
        let proof = &study.facts["proof_of_coldness"];
        assert!(
            proof.starts_with("of 4 counted runs, 4 began without a page"),
            "{proof}"
        );
        assert!(proof.contains("and 4 with a fresh mount"), "{proof}");
        for run in &study.runs {
            assert_eq!(run.excluded, None, "{run:?}");
            let figures = &run.figures;
            assert!(figures["resident_pages"] < 1.0, "{run:?}");
            // 200 files of 20,000 bytes that do not compress: 4.0 MB.
            let read_bytes = figures["read_bytes"];
            assert!((3.9e6..6e6).contains(&read_bytes), "{read_bytes}");
            // The superblock and the tables, and nothing of the images that were behind the same
            // loop device before.
            let mount_reads = figures["mount_reads"];
            assert!((1.0..50.0).contains(&mount_reads), "{mount_reads}");
            let cold_s = figures["cold_s"];
            assert!(cold_s > least_s, "{cold_s} s at {device}");
            assert!(figures["warm_s"] > 0.0);
        }
        let rows = rows(&study);
        let page_cache: Vec<_> = rows.iter().map(|row| row.page_cache_bytes).collect();
        assert!(
            page_cache.iter().all(|bytes| *bytes >= Some(4e6)),
            "{page_cache:?}"
        );
    }
}

#[test]
fn a_failing_command_stops_with_its_exit_code_and_last_words() {
    if !require::machine() {
        return;
    }
    let directory = directory();
    let fails = scenario("echo no such tune >&2; exit 7", "host", 3);
    let go_on = &mut |_: Progress<'_>| ControlFlow::Continue(());
    match compare_and_look(&fails, directory.path(), go_on) {
        Err(Error::CommandFailed {
            contestant,
            start: "cold",
            exit: Exit::Code(7),
            stderr_tail,
        }) => {
            assert!(
                ["128K", "4K"].contains(&contestant.as_str()),
                "{contestant}"
            );
            assert_eq!(stderr_tail.trim(), "no such tune");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_interrupt_leaves_nothing_mounted_and_keeps_the_finished_runs() {
    if !require::machine() {
        return;
    }
    let directory = directory();
    let quick = scenario("ls \"$1\" > /dev/null", "host", 3);
    let mut stop = |progress: Progress| match (progress.turn, progress.step) {
        (1, Step::ColdStarted { .. }) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    match compare_and_look(&quick, directory.path(), &mut stop) {
        Err(Error::Interrupted(study)) => assert_eq!(study.runs.len(), 2),
        other => panic!("{other:?}"),
    }
}
