//! The recorder against the kernel.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use coldpress_host::{Command, Keep, RawKind, Ready, Recorder, Recording, launch};

use crate::stage::{Stage, have_all, noise};

fn run(stage: &Stage, args: &[&str]) {
    let command = Command {
        args: args.iter().map(OsString::from).collect(),
        chroot: false,
        environment: Vec::new(),
        working_directory: None,
        timeout_s: 60,
        ready: Ready::Exit,
    };
    let outcome = launch(&command, stage.mount.root(), None, &mut || false).unwrap();
    assert!(outcome.status.success(), "{outcome:?}");
}

fn record(stage: &Stage, args: &[&str]) -> Recording {
    let recorder =
        Recorder::start(&stage.mount, &stage.loop_device, Keep::All, &stage.janitor).unwrap();
    run(stage, args);
    let recording = recorder.finish().unwrap();
    assert_eq!(recording.lost_events, 0);
    assert!(recording.events.is_sorted_by_key(|event| event.time_us));
    recording
}

fn reads_of(recording: &Recording, of: u64) -> Vec<(u64, u64)> {
    let reads = recording
        .events
        .iter()
        .filter_map(|event| match event.kind {
            RawKind::Read {
                inode,
                first_page,
                last_page,
            } if inode == of => Some((first_page, last_page)),
            _ => None,
        });
    reads.collect()
}

#[test]
fn the_exact_pages_that_a_program_reads_are_recorded() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| {
        for name in ["data", "other", "untouched"] {
            fs::write(source.join(name), noise(20 * 4096)).unwrap();
        }
    });
    let inode = fs::metadata(stage.path("data")).unwrap().ino();
    let other = fs::metadata(stage.path("other")).unwrap().ino();
    let untouched = fs::metadata(stage.path("untouched")).unwrap().ino();
    let dd = |skip: &str, count: &str, bs: &str, name: &str| {
        let args = ["dd", "of=/dev/null", "status=none"].map(str::to_owned);
        let rest = [
            format!("if={{root}}/{name}"),
            format!("skip={skip}"),
            format!("count={count}"),
            format!("bs={bs}"),
        ];
        args.into_iter().chain(rest).collect::<Vec<_>>().join(" ")
    };
    let script = format!(
        "{}; {}; {}",
        dd("3", "2", "4096", "data"),
        dd("1", "1", "32768", "data"),
        dd("0", "1", "100", "other")
    );
    let script = script.replace("{root}", &stage.mount.root().display().to_string());
    let recording = record(&stage, &["sh", "-c", &script]);
    assert_eq!(reads_of(&recording, inode), [(3, 3), (4, 4), (8, 15)]);
    assert_eq!(reads_of(&recording, other), [(0, 0)]);
    assert_eq!(reads_of(&recording, untouched), []);

    // The data is cold, so the device was asked, for bytes of the image only.
    let size_bytes = fs::metadata(&stage.image).unwrap().size();
    let mut device_bytes = 0;
    for event in &recording.events {
        if let RawKind::DeviceRead {
            start_byte,
            len_bytes,
        } = event.kind
        {
            assert!(start_byte + len_bytes <= size_bytes);
            device_bytes += len_bytes;
        }
    }
    // The three files are equal, so the image has their blocks once.
    assert!(device_bytes >= 20 * 4096, "{device_bytes}");
    assert!(
        recording
            .events
            .iter()
            .all(|event| event.pid > 1 && event.time_us < 60_000_000)
    );
}

#[test]
fn a_read_that_reaches_past_the_end_is_seen_in_the_page_cache() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| {
        for name in ["data", "untouched"] {
            fs::write(source.join(name), noise(5000)).unwrap();
        }
    });
    let inode_of = |name: &str| fs::metadata(stage.path(name)).unwrap().ino();
    let (data, untouched) = (inode_of("data"), inode_of("untouched"));
    let recording = record(
        &stage,
        &["dd", "if={root}/data", "of=/dev/null", "bs=128K", "count=1"],
    );
    let cached = |inode_wanted: u64| {
        let events = recording.events.iter();
        let pages = events.filter_map(move |event| match event.kind {
            RawKind::Cache {
                inode,
                first_page,
                last_page,
            } if inode == inode_wanted => Some(first_page..=last_page),
            _ => None,
        });
        pages.flatten().collect::<Vec<_>>()
    };
    assert!(cached(data).starts_with(&[0, 1]), "{:?}", cached(data));
    assert!(cached(untouched).is_empty());
}

#[test]
fn reads_from_memory_are_recorded_too() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| {
        fs::write(source.join("data"), noise(4096)).unwrap();
    });
    let inode = fs::metadata(stage.path("data")).unwrap().ino();
    fs::read(stage.path("data")).unwrap();
    let recording = record(
        &stage,
        &["dd", "if={root}/data", "of=/dev/null", "bs=4096", "count=1"],
    );
    assert_eq!(reads_of(&recording, inode), [(0, 0)]);
    let device_reads = recording.events.iter();
    let device_reads =
        device_reads.filter(|event| matches!(event.kind, RawKind::DeviceRead { .. }));
    assert_eq!(device_reads.count(), 0);
}

#[test]
fn a_program_of_the_image_is_recorded_by_its_page_faults() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| {
        fs::copy("/bin/true", source.join("true")).unwrap();
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(source.join("true"), mode).unwrap();
    });
    let metadata = fs::metadata(stage.path("true")).unwrap();
    let last = (metadata.size() - 1) / 4096;
    let recording = record(&stage, &["{root}/true"]);
    let mut faults = 0;
    for event in &recording.events {
        match event.kind {
            RawKind::Fault { inode, page } => {
                assert_eq!(inode, metadata.ino());
                assert!(page <= last);
                faults += 1;
            }
            RawKind::Map { inode, .. } => assert_eq!(inode, metadata.ino()),
            _ => {}
        }
    }
    assert!(faults > 0, "{recording:?}");
    // The kernel reads the head of the program before it maps it.
    assert_eq!(reads_of(&recording, metadata.ino()).first(), Some(&(0, 0)));
}

#[test]
fn two_recorders_do_not_hear_each_other() {
    if !have_all() {
        return;
    }
    let fill = |source: &Path| fs::write(source.join("data"), noise(9000)).unwrap();
    let first = Stage::new(true, fill);
    let second = Stage::new(true, fill);
    let recorder = Recorder::start(
        &second.mount,
        &second.loop_device,
        Keep::All,
        &second.janitor,
    )
    .unwrap();
    let heard = record(&first, &["cat", "{root}/data"]);
    let unheard = recorder.finish().unwrap();
    assert!(!heard.events.is_empty());
    assert_eq!(unheard.events, []);
}

#[test]
fn many_events_come_through_in_order() {
    if !have_all() {
        return;
    }
    let pages = 2000;
    let stage = Stage::new(true, |source| {
        fs::write(source.join("data"), noise(4096 * pages)).unwrap();
    });
    let inode = fs::metadata(stage.path("data")).unwrap().ino();
    let count = format!("count={pages}");
    let args = [
        "dd",
        "if={root}/data",
        "of=/dev/null",
        "bs=4096",
        "status=none",
        &count,
    ];
    let recording = record(&stage, &args);
    let expected: Vec<_> = (0..u64::try_from(pages).unwrap())
        .map(|page| (page, page))
        .collect();
    assert_eq!(reads_of(&recording, inode), expected);
}

#[test]
fn in_detail_each_read_is_seen_to_arrive_and_faults_have_addresses() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| {
        fs::copy("/bin/sh", source.join("sh")).unwrap();
        fs::write(source.join("data"), noise(300_000)).unwrap();
    });
    let recorder =
        Recorder::start_in_detail(&stage.mount, &stage.loop_device, &stage.janitor).unwrap();
    let before = stage.loop_device.counters().unwrap();
    let script = format!("cat {}/data >/dev/null", stage.mount.root().display());
    run(&stage, &["{root}/sh", "-c", &script]);
    let after = stage.loop_device.counters().unwrap();
    let recording = recorder.finish().unwrap();
    assert_eq!(recording.lost_events, 0);
    let (mut asked, mut done, mut addresses) = (0, 0, 0);
    let mut unanswered = Vec::new();
    for event in &recording.events {
        match event.kind {
            RawKind::DeviceRead { len_bytes, .. } => asked += len_bytes,
            RawKind::DeviceDone { len_bytes, .. } => done += len_bytes,
            RawKind::UserFault { .. } => unanswered.push(event.pid),
            RawKind::Fault { .. } | RawKind::Map { .. } => {
                addresses += u64::from(unanswered.contains(&event.pid));
                unanswered.retain(|pid| *pid != event.pid);
            }
            _ => {}
        }
    }
    let counted = after.read_bytes - before.read_bytes;
    assert!(asked > 300_000);
    assert_eq!((asked, done), (counted, counted));
    assert!(unanswered.is_empty(), "{unanswered:?}");
    if cfg!(target_arch = "x86_64") {
        assert!(addresses > 3, "{addresses}");
    }
}

#[test]
fn what_is_accessed_again_is_kept_only_if_asked() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| {
        fs::write(source.join("data"), noise(4096 * 50)).unwrap();
    });
    let inode = fs::metadata(stage.path("data")).unwrap().ino();
    let script =
        "for turn in 1 2 3 4 5 6 7 8; do dd if={root}/data bs=4096 of=/dev/null status=none; done";
    let count = |keep| {
        let recorder =
            Recorder::start(&stage.mount, &stage.loop_device, keep, &stage.janitor).unwrap();
        run(&stage, &["sh", "-c", script]);
        let recording = recorder.finish().unwrap();
        assert_eq!(recording.lost_events, 0);
        reads_of(&recording, inode)
    };
    let once: Vec<_> = (0..50).map(|page| (page, page)).collect();
    assert_eq!(count(Keep::FirstAccesses { each_read_of: 0..0 }), once);
    assert_eq!(count(Keep::All), once.repeat(8));
}
