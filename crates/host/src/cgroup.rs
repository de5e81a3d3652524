//! A group of processes whose reads are slowed down, and which can be ended together.

mod counters;
mod inside;
mod members;

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process;
use std::thread::sleep;
use std::time::Duration;

use crate::janitor::Leftover;
use crate::mountinfo::unescaped;
use crate::tracefs::{NAME_PREFIX, names_of_ours};
use crate::{Device, Error};
pub use inside::Inside;
pub(crate) use members::Members;

/// How long a group may stay busy after its members are gone, [`END_PAUSE`] apart: 5 s in all.
const END_TRIES: u32 = 500;
const END_PAUSE: Duration = Duration::from_millis(10);

/// A cgroup; its processes are killed and it is removed on drop.
#[derive(Debug)]
pub struct Cgroup {
    path: PathBuf,
    version: Version,
}

/// The two interfaces of the kernel for slowing down reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// `blkio.throttle.*` of the `blkio` hierarchy.
    V1,
    /// `io.max` of the unified hierarchy.
    V2,
}

/// A mounted hierarchy in which groups can be made.
#[derive(Debug, PartialEq, Eq)]
struct Hierarchy {
    parent: PathBuf,
    version: Version,
}

impl Cgroup {
    /// Makes the cgroup `coldpress-<process id>-<name>`: in the `blkio` hierarchy of cgroup v1
    /// where that is mounted, below the group of this process, else at the top of cgroup v2.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if neither is mounted; [`Error::Io`] without root, or if the name
    /// is taken.
    pub fn create(name: &str) -> Result<Self, Error> {
        Self::create_in(&find_hierarchy()?, name)
    }

    /// As [`Cgroup::create`], but below the group of this process in both versions, whose limits of
    /// memory and processors hold on: to find what a program left running, not to throttle.
    ///
    /// # Errors
    ///
    /// As [`Cgroup::create`].
    pub fn create_within(name: &str) -> Result<Self, Error> {
        let mut hierarchy = find_hierarchy()?;
        if hierarchy.version == Version::V2 {
            let path = Path::new("/proc/self/cgroup");
            let own = fs::read_to_string(path).map_err(Error::io("read", path))?;
            let group = own_group(&own, "").unwrap_or_default();
            hierarchy.parent.push(group.trim_start_matches('/'));
        }
        Self::create_in(&hierarchy, name)
    }

    fn create_in(hierarchy: &Hierarchy, name: &str) -> Result<Self, Error> {
        let directory = format!("{NAME_PREFIX}{}-{name}", process::id());
        let path = hierarchy.parent.join(directory);
        fs::create_dir(&path).map_err(Error::io("make the cgroup", &path))?;
        Ok(Self {
            path,
            version: hierarchy.version,
        })
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What a [`crate::Janitor`] is to watch.
    pub fn leftover(&self) -> Leftover {
        Leftover::Cgroup(self.path.clone())
    }

    /// Slows down the members' reads of one block device as `device` says; does nothing for a
    /// device that is not throttled.
    ///
    /// * `device_number`: major and minor number of a whole disk or loop device. For
    ///   [`crate::Via::Partition`] the loop device, for [`crate::Via::File`] the disk below it:
    ///   the kernel charges what a loop device reads to the process that waits for it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the kernel refuses; with cgroup v2 also if the `io` controller cannot be
    /// switched on.
    pub fn limit(&self, device_number: (u32, u32), device: &Device) -> Result<(), Error> {
        for (file, line) in limit_lines(self.version, device_number, device) {
            let path = self.path.join(file);
            if self.version == Version::V2 && !path.exists() {
                let switch = self.path.with_file_name("cgroup.subtree_control");
                fs::write(&switch, "+io")
                    .map_err(Error::io("switch the io controller on in", &switch))?;
            }
            fs::write(&path, line).map_err(Error::io("write the throttle to", &path))?;
        }
        Ok(())
    }

    /// The file to which a process writes `0` to join.
    pub(crate) fn open_members(&self) -> Result<File, Error> {
        let path = self.path.join("cgroup.procs");
        let file = OpenOptions::new().write(true).open(&path);
        file.map_err(Error::io("open", &path))
    }

    /// Its processes.
    pub(crate) fn members(&self) -> Members {
        Members::of(&self.path)
    }

    /// Kills all members, and those that they start meanwhile, and waits for their end.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if some live after 5 s.
    ///
    /// # Cost
    ///
    /// Waits for the slowest, up to 5 s.
    pub fn kill_all(&self) -> Result<(), Error> {
        self.members().kill_all()
    }

    /// User and system time of its processes so far, in ns: with cgroup v2 of all that it ever had,
    /// with v1 of those that live and of the children that they waited for.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if they cannot be read.
    pub fn cpu_ns(&self) -> Result<u64, Error> {
        self.members().cpu_ns()
    }

    /// Directories of this and of other coldpress processes.
    pub(crate) fn all_of_ours() -> Vec<PathBuf> {
        let Ok(hierarchy) = find_hierarchy() else {
            return Vec::new();
        };
        let names = names_of_ours(&hierarchy.parent);
        let paths = names.into_iter().map(|name| hierarchy.parent.join(name));
        paths.collect()
    }

    /// Takes over the cgroup of a process that is gone, to drop it.
    pub(crate) fn adopt(path: PathBuf) -> Self {
        // The version matters for limits only.
        let version = Version::V1;
        Self { path, version }
    }

    /// Whether groups can be made and throttled here, for [`crate::missing_privileges`].
    pub(crate) fn is_available() -> bool {
        find_hierarchy().is_ok_and(|hierarchy| {
            let writable = rustix::fs::access(&hierarchy.parent, rustix::fs::Access::WRITE_OK);
            let controllers = fs::read_to_string(hierarchy.parent.join("cgroup.controllers"));
            let throttles = hierarchy.version == Version::V1
                || controllers.is_ok_and(|text| text.split_whitespace().any(|name| name == "io"));
            writable.is_ok() && throttles
        })
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A drop cannot report; a janitor tries again.
        let _ = self.kill_all();
        for _ in 0..END_TRIES {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => sleep(END_PAUSE),
                _ => break,
            }
        }
    }
}

/// What is written to which file of the group.
fn limit_lines(
    version: Version,
    (major, minor): (u32, u32),
    device: &Device,
) -> Vec<(&'static str, String)> {
    let rates = [device.read_bytes_per_s, device.read_iops];
    match version {
        Version::V1 => [
            "blkio.throttle.read_bps_device",
            "blkio.throttle.read_iops_device",
        ]
        .into_iter()
        .zip(rates)
        .filter_map(|(file, rate)| Some((file, format!("{major}:{minor} {}", rate?))))
        .collect(),
        Version::V2 if device.is_throttled() => {
            let text = |rate: Option<u64>| rate.map_or("max".to_owned(), |rate| rate.to_string());
            let [rbps, riops] = rates.map(text);
            vec![(
                "io.max",
                format!("{major}:{minor} rbps={rbps} riops={riops}"),
            )]
        }
        Version::V2 => Vec::new(),
    }
}

fn find_hierarchy() -> Result<Hierarchy, Error> {
    let read = |path: &str| fs::read_to_string(path).map_err(Error::io("read", Path::new(path)));
    let mounts = read("/proc/self/mountinfo")?;
    let own = read("/proc/self/cgroup")?;
    parse_hierarchy(&mounts, &own, Path::is_dir).ok_or(Error::Unsupported {
        what: "a cgroup hierarchy",
        advice: "mount cgroup2 on /sys/fs/cgroup, or cgroup v1 with the blkio controller",
    })
}

/// Chooses from `/proc/self/mountinfo` and `/proc/self/cgroup`. Version 1 goes first: where its
/// `blkio` is mounted, version 2 cannot have the `io` controller, as both are the same one.
fn parse_hierarchy(mounts: &str, own: &str, is_dir: impl Fn(&Path) -> bool) -> Option<Hierarchy> {
    let mut unified = None;
    for line in mounts.lines() {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (Some(top), Some(at)) = (left.next(), left.next()) else {
            continue;
        };
        let mut right = right.split(' ');
        let kind = right.next()?;
        let options = right.nth(1).unwrap_or("");
        let at = unescaped(at.as_bytes());
        if kind == "cgroup2" && unified.is_none() {
            unified = Some(Hierarchy {
                parent: at,
                version: Version::V2,
            });
        } else if kind == "cgroup" && options.split(',').any(|option| option == "blkio") {
            // Below the group of this process, whose own limits are not to be escaped.
            let below = own_group(own, "blkio")
                .and_then(|group| group.strip_prefix(top.trim_end_matches('/')))
                .map(|group| at.join(group.trim_start_matches('/')))
                .filter(|path| is_dir(path));
            return Some(Hierarchy {
                parent: below.unwrap_or(at),
                version: Version::V1,
            });
        }
    }
    unified
}

/// The path behind a controller in `/proc/self/cgroup`: `7:blkio:/path`.
fn own_group<'a>(own: &'a str, controller: &str) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let found = controllers.split(',').any(|name| name == controller);
        found.then_some(group)
    })
}

#[cfg(test)]
mod tests;
