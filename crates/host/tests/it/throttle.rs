//! Devices as cgroups: what the kernel was told, and that it obeys.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use coldpress_host::{Cgroup, Command, Device, Ready, backing_disk, evict, launch};

use crate::stage::{Stage, have_all, noise};

const SIZE_BYTES: usize = 1 << 20;

/// Reads the whole file in a cgroup, and returns how long it took.
fn read_throttled(stage: &Stage, number: (u32, u32), device: &str, name: &str) -> u64 {
    let device = Device::parse(device).unwrap();
    let cgroup = Cgroup::create(name).unwrap();
    stage.janitor.watch(cgroup.leftover());
    cgroup.limit(number, &device).unwrap();
    if let Ok(told) = fs::read_to_string(cgroup.path().join("blkio.throttle.read_bps_device")) {
        let (major, minor) = number;
        let line = device
            .read_bytes_per_s
            .map(|rate| format!("{major}:{minor} {rate}\n"));
        assert_eq!(told, line.unwrap_or_default());
    }
    let command = Command {
        args: ["cat", "{root}/data"].map(OsString::from).to_vec(),
        chroot: false,
        environment: Vec::new(),
        working_directory: None,
        timeout_s: 60,
        ready: Ready::Exit,
    };
    let outcome = launch(&command, stage.mount.root(), Some(&cgroup), &mut || false).unwrap();
    assert!(outcome.status.success(), "{outcome:?}");
    outcome.wall_ns
}

/// Noise has no upper bound, so only lower bounds of time are checked: 1 MiB at 4 MB/s.
const LEAST_NS: u64 = 180_000_000;

#[test]
fn a_partition_is_as_slow_as_its_device() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| {
        fs::write(source.join("data"), noise(SIZE_BYTES)).unwrap();
    });
    let number = stage.loop_device.device_number();
    let before = stage.loop_device.counters().unwrap();
    let wall_ns = read_throttled(&stage, number, "bw=4M", "partition");
    let after = stage.loop_device.counters().unwrap();
    assert!(after.read_bytes - before.read_bytes >= SIZE_BYTES as u64);
    assert!(wall_ns > LEAST_NS, "{wall_ns}");
}

#[test]
fn a_file_is_as_slow_as_the_disk_below_it() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(false, |source| {
        fs::write(source.join("data"), noise(SIZE_BYTES)).unwrap();
    });
    let Ok(disk) = backing_disk(&stage.image) else {
        return;
    };
    evict(&stage.image).unwrap();
    let wall_ns = read_throttled(&stage, disk, "bw=4M,via=file", "file");
    assert!(wall_ns > LEAST_NS, "{wall_ns}");
}

#[test]
fn the_host_is_not_throttled_and_its_cgroup_goes_away() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| {
        fs::write(source.join("data"), noise(SIZE_BYTES)).unwrap();
    });
    read_throttled(&stage, stage.loop_device.device_number(), "host", "host");
    let name = format!("coldpress-{}-host", std::process::id());
    assert!(!Path::new("/sys/fs/cgroup/blkio").join(&name).exists());
    assert!(!Path::new("/sys/fs/cgroup").join(&name).exists());
}
