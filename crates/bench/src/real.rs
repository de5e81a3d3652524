//! The laboratory on a running Linux: loop devices, mounts, throttles, caches.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use coldpress_host::{
    Cgroup, Counters, Janitor, Leftover, LoopDevice, Mount, Via, backing_disk, drop_caches, evict,
    launch, resident_pages,
};

use crate::comparison::{READ_AHEAD_KIB, Scenario};
use crate::error::Error;
use crate::run::Exit;
use crate::runner::{Laboratory, Start};
use crate::text::printable;

const PAGE_SIZE_BYTES: u64 = 4096;
/// Between two attempts to drop the caches: what is being read needs time, not insistence.
const COOLING_PAUSE: Duration = Duration::from_millis(500);

/// Cgroups made so far. Each run has one of its own: a group can be busy for a while after its end.
static CGROUPS: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Real<'a> {
    scenario: &'a Scenario,
    janitor: &'a Janitor,
    /// Where the images are mounted, one after the other; removed on drop.
    directory: PathBuf,
}

/// Fields are dropped in this order: first the processes, then what they used.
pub(crate) struct Mounted {
    cgroup: Cgroup,
    mount: Mount,
    loop_device: LoopDevice,
    /// Loop devices are used again and keep counting.
    attached: Counters,
}

impl<'a> Real<'a> {
    pub(crate) fn new(
        scenario: &'a Scenario,
        work_dir: &Path,
        janitor: &'a Janitor,
    ) -> Result<Real<'a>, Error> {
        let directory = work_dir.join(format!("coldpress-bench-{}", process::id()));
        janitor.watch(Leftover::Dir(directory.clone()));
        fs::create_dir(&directory).map_err(failed("make the directory", &directory))?;
        Ok(Real {
            scenario,
            janitor,
            directory,
        })
    }
}

impl Drop for Real<'_> {
    fn drop(&mut self) {
        // A drop cannot report; what is left is left to the janitor.
        if fs::remove_dir(&self.directory).is_ok() {
            self.janitor.forget(&Leftover::Dir(self.directory.clone()));
        }
    }
}

impl Laboratory for Real<'_> {
    type Mounted = Mounted;

    fn cool(&mut self, image: &Path) -> Result<u64, Error> {
        evict(image)?;
        drop_caches()?;
        let file = File::open(image).map_err(failed("open", image))?;
        let resident = resident_pages(&file)?;
        if resident > 0 {
            sleep(COOLING_PAUSE);
        }
        Ok(resident)
    }

    fn mount(&mut self, image: &Path) -> Result<Option<Mounted>, Error> {
        let device = &self.scenario.device;
        let direct_io = device.via == Via::Partition;
        let loop_device = LoopDevice::attach(image, direct_io)?;
        if direct_io && !loop_device.direct_io() {
            return Err(Error::NoDirectIo {
                image: image.to_owned(),
            });
        }
        if is_mounted(loop_device.device_number())? {
            return Ok(None);
        }
        let attached = loop_device.counters()?;
        loop_device.set_read_ahead_kib(u64::from(READ_AHEAD_KIB))?;
        let mount = Mount::squashfs(&loop_device, &self.directory)?;
        let serial = CGROUPS.fetch_add(1, Ordering::Relaxed);
        let cgroup = Cgroup::create(&format!("bench-{serial}"))?;
        self.janitor.watch(cgroup.leftover());
        if device.is_throttled() {
            let throttled = match device.via {
                Via::Partition => loop_device.device_number(),
                Via::File => backing_disk(image)?,
            };
            cgroup.limit(throttled, device)?;
        }
        Ok(Some(Mounted {
            cgroup,
            mount,
            loop_device,
            attached,
        }))
    }

    fn counters(&mut self, mounted: &Mounted) -> Result<(u64, u64), Error> {
        let Counters { reads, read_bytes } = mounted.loop_device.counters()?;
        let attached = mounted.attached;
        Ok((
            reads.saturating_sub(attached.reads),
            read_bytes.saturating_sub(attached.read_bytes),
        ))
    }

    fn start(
        &mut self,
        mounted: &Mounted,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Start>, Error> {
        let (root, cgroup) = (mounted.mount.root(), Some(&mounted.cgroup));
        let outcome = match launch(&self.scenario.command, root, cgroup, stop) {
            Err(coldpress_host::Error::Stopped) => return Ok(None),
            outcome => outcome?,
        };
        Ok(Some(Start {
            wall_s: seconds(outcome.wall_ns),
            cpu_s: seconds(outcome.cpu_ns),
            exit: Exit::from(outcome.status),
            timed_out: outcome.timed_out,
            stderr_tail: printable(&outcome.stderr_tail),
        }))
    }

    fn page_cache_bytes(&mut self, mounted: &Mounted) -> Result<u64, Error> {
        let mut pages = 0;
        let mut seen = BTreeSet::new();
        let mut directories = vec![mounted.mount.root().to_owned()];
        while let Some(directory) = directories.pop() {
            let entries = fs::read_dir(&directory).map_err(failed("list", &directory))?;
            for entry in entries {
                let entry = entry.map_err(failed("list", &directory))?;
                let path = entry.path();
                let kind = entry.file_type().map_err(failed("look at", &path))?;
                if kind.is_dir() {
                    directories.push(path);
                } else if kind.is_file() {
                    let file = File::open(&path).map_err(failed("open", &path))?;
                    let metadata = file.metadata().map_err(failed("look at", &path))?;
                    // Hard links share their pages.
                    if metadata.nlink() == 1 || seen.insert(metadata.ino()) {
                        pages += resident_pages(&file)?;
                    }
                }
            }
        }
        Ok(pages * PAGE_SIZE_BYTES)
    }

    fn unmount(&mut self, mounted: Mounted) -> Result<(), Error> {
        let Mounted {
            cgroup,
            mount,
            loop_device,
            ..
        } = mounted;
        cgroup.kill_all()?;
        mount.unmount()?;
        drop(loop_device);
        let leftover = cgroup.leftover();
        drop(cgroup);
        self.janitor.forget(&leftover);
        Ok(())
    }
}

/// Whether some file system is mounted from a device, as far as the mount namespace of this thread
/// knows.
fn is_mounted(device_number: (u32, u32)) -> Result<bool, Error> {
    let path = Path::new("/proc/thread-self/mountinfo");
    let mounts = fs::read_to_string(path).map_err(failed("read", path))?;
    let wanted = format!("{}:{}", device_number.0, device_number.1);
    Ok(mounts
        .lines()
        .any(|line| line.split(' ').nth(2) == Some(wanted.as_str())))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io {
        action,
        path,
        source,
    }
}

/// # Precision
///
/// Exact to the nanosecond below 100 days.
#[expect(clippy::cast_precision_loss, reason = "a start does not take 100 days")]
fn seconds(time_ns: u64) -> f64 {
    time_ns as f64 / 1e9
}
