//! A small image on its stage, and tests of the stage itself.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use coldpress_host::{
    Error, Janitor, LoopDevice, Mount, backing_disk, drop_caches, enter_private_namespace, evict,
    machine, missing_privileges, resident_pages,
};

/// Returns whether the test can run; panics if `COLDPRESS_REQUIRE` says that it must.
pub(crate) fn can_run(capability: &str, what: &str, there: bool) -> bool {
    there || !coldpress_testkit::missing(capability, what)
}

/// Root, a kernel with all that is needed, and a tool to make images.
pub(crate) fn have_all() -> bool {
    let root = rustix::process::geteuid().is_root();
    let mksquashfs = Command::new("mksquashfs").arg("-version").output().is_ok();
    let missing = missing_privileges();
    let kernel = missing.is_empty();
    can_run("root", "root", root)
        && can_run("peers", "mksquashfs", mksquashfs)
        && can_run("kernel", &format!("{missing:?}"), kernel)
}

/// Bytes that no compressor makes smaller, the same each time.
pub(crate) fn noise(len_bytes: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(next)
        .flatten()
        .take(len_bytes)
        .collect()
}

/// An image made from a directory, mounted in a namespace of the test's thread.
pub(crate) struct Stage {
    // Dropped from first to last.
    pub(crate) mount: Mount,
    pub(crate) loop_device: LoopDevice,
    pub(crate) image: PathBuf,
    pub(crate) janitor: Janitor,
    _work: tempfile::TempDir,
}

impl Stage {
    /// With the files that `fill` puts into an empty directory.
    pub(crate) fn new(direct_io: bool, fill: impl FnOnce(&Path)) -> Self {
        enter_private_namespace().unwrap();
        let janitor = Janitor::start().unwrap();
        // On a disk, where direct I/O works; /tmp may be in memory.
        let work = tempfile::tempdir_in("/var/tmp").unwrap();
        let image = make_image(work.path(), fill);
        let at = work.path().join("mnt");
        fs::create_dir(&at).unwrap();
        evict(&image).unwrap();
        let loop_device = LoopDevice::attach(&image, direct_io).unwrap();
        let mount = Mount::squashfs(&loop_device, &at).unwrap();
        Self {
            mount,
            loop_device,
            image,
            janitor,
            _work: work,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.mount.root().join(name)
    }
}

pub(crate) fn make_image(work: &Path, fill: impl FnOnce(&Path)) -> PathBuf {
    let source = work.join("source");
    fs::create_dir(&source).unwrap();
    fill(&source);
    let image = work.join("image.sqfs");
    let output = Command::new("mksquashfs")
        .args([&source, &image])
        .args(["-quiet", "-no-progress", "-comp", "gzip", "-b", "131072"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    image
}

/// Whether a loop device shows this file.
pub(crate) fn is_attached(image: &Path) -> bool {
    let devices = fs::read_dir("/sys/block").unwrap().flatten();
    devices
        .filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok())
        .any(|backing| Path::new(backing.trim_end()) == image)
}

#[test]
fn an_image_is_cold_until_it_is_read() {
    if !have_all() {
        return;
    }
    let data = noise(300_000);
    let stage = Stage::new(true, |source| {
        fs::write(source.join("data"), &data).unwrap();
    });
    assert!(stage.loop_device.direct_io());
    assert_eq!(
        stage.mount.device_number(),
        stage.loop_device.device_number()
    );
    assert!(is_attached(&stage.image));

    let file = File::open(stage.path("data")).unwrap();
    assert_eq!(resident_pages(&file).unwrap(), 0);
    let before = stage.loop_device.counters().unwrap();
    assert_eq!(fs::read(stage.path("data")).unwrap(), data);
    let after = stage.loop_device.counters().unwrap();
    assert!(resident_pages(&file).unwrap() >= 300_000_u64.div_ceil(4096));
    assert!(after.reads > before.reads);
    assert!(after.read_bytes - before.read_bytes >= 300_000);
    // Direct I/O leaves nothing of the data in the page cache of the image file.
    let image = File::open(&stage.image).unwrap();
    assert_eq!(resident_pages(&image).unwrap(), 0);

    // A second time from memory: no read at all.
    assert_eq!(fs::read(stage.path("data")).unwrap(), data);
    assert_eq!(stage.loop_device.counters().unwrap(), after);
    drop(file);
    drop_caches().unwrap();
    let file = File::open(stage.path("data")).unwrap();
    assert_eq!(resident_pages(&file).unwrap(), 0);
    drop(file);

    let Stage {
        mount,
        loop_device,
        image,
        ..
    } = stage;
    mount.unmount().unwrap();
    drop(loop_device);
    assert!(!is_attached(&image));
}

#[test]
fn a_buffered_image_goes_through_the_page_cache_of_its_file() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(false, |source| {
        fs::write(source.join("data"), noise(300_000)).unwrap();
    });
    assert!(!stage.loop_device.direct_io());
    fs::read(stage.path("data")).unwrap();
    let image = File::open(&stage.image).unwrap();
    assert!(resident_pages(&image).unwrap() > 300_000 / 4096);
}

#[test]
fn the_read_ahead_is_set_until_the_device_is_dropped() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| fs::write(source.join("a"), "a").unwrap());
    let former = stage.loop_device.readahead_kib().unwrap();
    stage.loop_device.set_readahead_kib(64).unwrap();
    stage.loop_device.set_readahead_kib(256).unwrap();
    assert_eq!(stage.loop_device.readahead_kib().unwrap(), 256);
    let (major, minor) = stage.loop_device.device_number();
    let setting = format!("/sys/dev/block/{major}:{minor}/queue/read_ahead_kb");
    // The mount keeps the device from being taken by another test meanwhile.
    let Stage {
        mount, loop_device, ..
    } = stage;
    drop(loop_device);
    assert_eq!(
        fs::read_to_string(setting).unwrap().trim(),
        former.to_string()
    );
    mount.unmount().unwrap();
}

#[test]
fn a_busy_mount_is_reported_and_detached() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| fs::write(source.join("a"), "a").unwrap());
    let open = File::open(stage.path("a")).unwrap();
    let root = stage.mount.root().to_owned();
    let error = stage.mount.unmount().unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    assert!(!root.join("a").exists());
    drop(open);
}

#[test]
fn an_image_that_ends_within_a_sector_is_refused() {
    if !have_all() {
        return;
    }
    let work = tempfile::tempdir_in("/var/tmp").unwrap();
    let image = work.path().join("short");
    fs::write(&image, noise(5000)).unwrap();
    let error = LoopDevice::attach(&image, true).unwrap_err();
    assert!(
        matches!(
            error,
            Error::PartialSector {
                size_bytes: 5000,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("pad it to a multiple of 4096"));
}

#[test]
fn what_is_no_image_is_not_mounted_and_not_kept_attached() {
    if !have_all() {
        return;
    }
    enter_private_namespace().unwrap();
    let work = tempfile::tempdir_in("/var/tmp").unwrap();
    let image = work.path().join("noise");
    fs::write(&image, noise(8192)).unwrap();
    let loop_device = LoopDevice::attach(&image, true).unwrap();
    let error = Mount::squashfs(&loop_device, work.path()).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot mount an image on `"),
        "{error}"
    );
    drop(loop_device);
    assert!(!is_attached(&image));
}

#[test]
fn a_missing_image_is_named() {
    let error = LoopDevice::attach(Path::new("/nowhere/x.sqfs"), true).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot open `/nowhere/x.sqfs`: No such file")
    );
}

#[test]
fn the_disk_below_a_directory_has_a_whole_device() {
    let Ok((major, minor)) = backing_disk(Path::new("/var/tmp")) else {
        can_run("kernel", "a disk below /var/tmp", false);
        return;
    };
    let device = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    assert!(
        device.join("queue").is_dir(),
        "{device:?} has no queue of its own"
    );
    assert!(!device.join("partition").exists());
    assert_ne!(fs::metadata("/proc").unwrap().dev(), 0);
}

#[test]
fn the_machine_knows_its_decompressor_where_the_configuration_is_readable() {
    let machine = machine();
    let readable = Path::new("/proc/config.gz").exists();
    if can_run("kernel", "/proc/config.gz", readable) {
        assert_ne!(machine.squashfs_decompressor, "unknown");
    }
    assert!(machine.memory_bytes.unwrap() > 1 << 20);
}
