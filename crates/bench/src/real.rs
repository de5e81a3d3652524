//! The backend on a running Linux: mounts, throttles, caches.

mod mounted_contestant;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use coldpress_host::{
    Cgroup, Device, Janitor, Leftover, MountReadahead, drop_caches, evict, hidden_name,
    resident_pages, start, write_back_all,
};
use coldpress_report::text::printable;

use self::mounted_contestant::MountedContestant;
use crate::error::Error;
use crate::run::Exit;
use crate::runner::{Backend, Start};
use crate::scenario::{Scenario, What};
use crate::tree::{self, Walk};

const PAGE_SIZE_BYTES: u64 = 4096;
/// Between two attempts to drop the caches: what is being read needs time, not insistence.
const COOLING_PAUSE: Duration = Duration::from_millis(500);

/// Cgroups made so far. Each run has its own: a group can be busy for a while after its end.
static CGROUPS: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Real<'a> {
    scenario: &'a Scenario,
    janitor: &'a Janitor,
    /// Where the contestants are mounted, one after the other; removed on drop.
    directory: PathBuf,
}

/// Fields are dropped in this order: first the processes, then what they used.
pub(crate) struct Mounted {
    cgroup: Cgroup,
    contestant: MountedContestant,
}

impl<'a> Real<'a> {
    pub(crate) fn new(
        scenario: &'a Scenario,
        work_dir: &Path,
        janitor: &'a Janitor,
    ) -> Result<Real<'a>, Error> {
        let directory = work_dir.join(hidden_name());
        janitor.watch(Leftover::Dir(directory.clone()));
        fs::create_dir(&directory).map_err(Error::io("make the directory", &directory))?;
        Ok(Real {
            scenario,
            janitor,
            directory,
        })
    }

    /// A group of processes of a run, which the janitor knows.
    fn cgroup(&self) -> Result<Cgroup, Error> {
        let serial = CGROUPS.fetch_add(1, Ordering::Relaxed);
        let cgroup = Cgroup::create(&format!("bench-{serial}"))?;
        self.janitor.watch(cgroup.leftover());
        Ok(cgroup)
    }

    /// Removes a group whose processes have ended.
    fn remove(&self, cgroup: Cgroup) {
        let leftover = cgroup.leftover();
        drop(cgroup);
        self.janitor.forget(&leftover);
    }

    fn device(&self) -> &Device {
        &self.scenario.device
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

impl Backend for Real<'_> {
    type Mounted = Mounted;

    fn cool(&mut self, what: &What) -> Result<u64, Error> {
        let resident = match what {
            What::Image { path, .. } => {
                evict(path)?;
                drop_caches()?;
                let file = File::open(path).map_err(Error::io("open", path))?;
                resident_pages(&file)?
            }
            What::Directory(directory) => {
                write_back_all();
                drop_caches()?;
                let resident = tree::resident(directory)?;
                // Looking has read all directories and inodes.
                drop_caches()?;
                resident
            }
        };
        if resident > 0 {
            sleep(COOLING_PAUSE);
        }
        Ok(resident)
    }

    fn mount(
        &mut self,
        what: &What,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Mounted>, Error> {
        let Some(contestant) = self.mount_contestant(what, stop)? else {
            return Ok(None);
        };
        let cgroup = self.cgroup()?;
        contestant.limit(&cgroup, self.device())?;
        Ok(Some(Mounted { cgroup, contestant }))
    }

    fn counters(&mut self, mounted: &Mounted) -> Result<Option<(u64, u64)>, Error> {
        mounted.contestant.counters(&mounted.cgroup)
    }

    fn start(
        &mut self,
        mounted: &Mounted,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Start>, Error> {
        let Mounted { cgroup, contestant } = mounted;
        let cpu_before_ns = contestant.cpu_ns()?;
        let mut running = start(&self.scenario.command, contestant.root(), Some(cgroup))?;
        match running.wait(stop) {
            Err(coldpress_host::Error::Stopped) => return Ok(None),
            answer => answer?,
        }
        let counters = contestant.counters(cgroup)?;
        let mounting_cpu_ns = contestant.cpu_ns()?.saturating_sub(cpu_before_ns);
        let outcome = running.finish(stop)?;
        Ok(Some(Start {
            wall_s: seconds(outcome.wall_ns),
            cpu_s: seconds(outcome.cpu_ns.saturating_add(mounting_cpu_ns)),
            counters,
            exit: Exit::from(outcome.status),
            became_ready: outcome.became_ready,
            timed_out: outcome.timed_out,
            stderr_tail: printable(&outcome.stderr_tail),
        }))
    }

    fn readahead_bytes(&mut self, mounted: &Mounted) -> Option<u64> {
        let setting = MountReadahead::of(mounted.contestant.root());
        setting.and_then(|it| it.kib()).ok().map(|kib| kib * 1024)
    }

    fn page_cache_bytes(&mut self, mounted: &Mounted) -> Result<u64, Error> {
        Ok(tree::resident(mounted.contestant.root())? * PAGE_SIZE_BYTES)
    }

    fn walk(
        &mut self,
        mounted: &Mounted,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Walk>, Error> {
        let _inside = mounted.cgroup.enter()?;
        tree::walk(mounted.contestant.root(), stop)
    }

    fn unmount(&mut self, mounted: Mounted) -> Result<(), Error> {
        let Mounted { cgroup, contestant } = mounted;
        cgroup.kill_all()?;
        if let Some(of_mount) = contestant.unmount()? {
            self.remove(of_mount);
        }
        self.remove(cgroup);
        Ok(())
    }
}

/// # Precision
///
/// Exact to the nanosecond below 100 days.
#[expect(clippy::cast_precision_loss, reason = "a start does not take 100 days")]
fn seconds(time_ns: u64) -> f64 {
    time_ns as f64 / 1e9
}
