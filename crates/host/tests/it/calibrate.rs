//! Media as they are measured; no test depends on how fast they are.

use std::fs;
use std::process::Command;
use std::time::Duration;

use coldpress_host::{
    Device, Error, MediumFigures, TestFile, measure_medium, measure_throttled, path_of_open,
};

use crate::stage::{Stage, have_all};

/// Noise makes reads slower, never faster: what a throttle lets through at once is a part of a
/// second's.
const EXCESS: f64 = 1.5;

fn assert_possible(figures: &MediumFigures) {
    for figure in [
        figures.request_s,
        figures.large_request_s,
        figures.huge_request_s,
        figures.bandwidth_bytes_per_s,
        figures.reads_per_s,
    ] {
        assert!(figure > 0.0 && figure.is_finite(), "{figures:?}");
    }
    let (request_s, bandwidth_bytes_per_s) = figures.request_and_bandwidth();
    assert!(
        request_s >= 0.0 && bandwidth_bytes_per_s > 0.0,
        "{figures:?}"
    );
}

#[test]
fn a_medium_is_measured_in_a_directory_and_by_a_file_of_it() {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let stop = &mut || false;
    let test_file = match TestFile::at(directory.path(), Duration::ZERO, stop) {
        // A file system without direct reads.
        Err(Error::NotMeasured { .. }) => return,
        test_file => test_file.unwrap(),
    };
    let figures = measure_medium(&test_file, Duration::from_millis(300), 5, stop).unwrap();
    assert_possible(&figures);
    assert_eq!(figures.made_unix_ms, 5);
    assert_eq!(figures.path, directory.path().display().to_string());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

    let file = directory.path().join("file");
    fs::write(&file, vec![1; 5 << 20]).unwrap();
    let test_file = TestFile::at(&file, Duration::ZERO, stop).unwrap();
    let figures = measure_medium(&test_file, Duration::from_millis(100), 5, stop).unwrap();
    assert_possible(&figures);
    assert_eq!(fs::read(&file).unwrap(), vec![1; 5 << 20]);
}

#[test]
fn a_stop_ends_a_measurement() {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let Ok(test_file) = TestFile::at(directory.path(), Duration::ZERO, &mut || false) else {
        return;
    };
    let mut reads = 0;
    let stop = &mut || {
        reads += 1;
        reads > 3
    };
    let stopped = measure_medium(&test_file, Duration::from_mins(1), 5, stop);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
}

#[test]
fn a_throttle_lets_no_more_through_than_it_says() {
    if !have_all() {
        return;
    }
    // A process goes into the cgroup with all its threads, and what those of other tests start
    // would be killed with it.
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "calibrate::throttled"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn throttled() {
    let stage = Stage::new(true, |source| fs::write(source.join("data"), "x").unwrap());
    let directory = stage.image.parent().unwrap();
    let stop = &mut || false;
    let Ok(test_file) = TestFile::at(directory, Duration::ZERO, stop) else {
        return;
    };
    let time = Duration::from_secs(2);
    for text in ["bw=16M,iops=400", "bw=16M,iops=400,via=file"] {
        let device = Device::parse(text).unwrap();
        let figures = measure_throttled(&test_file, &device, &stage.janitor, time, 5, stop);
        let figures = match figures {
            // Of a file system without a disk of its own.
            Err(Error::NotOnDisk { .. }) => continue,
            figures => figures.unwrap(),
        };
        assert_possible(&figures);
        assert!(figures.bandwidth_bytes_per_s < 16e6 * EXCESS, "{figures:?}");
        assert!(figures.reads_per_s < 400.0 * EXCESS, "{figures:?}");
        assert_eq!(figures.path, directory.display().to_string());
    }
}

#[test]
fn files_in_memory_have_no_name_and_are_opened_again() {
    let file = coldpress_host::memory_file().unwrap();
    fs::write(path_of_open(&file), "bytes").unwrap();
    assert_eq!(fs::read(path_of_open(&file)).unwrap(), b"bytes");
}
