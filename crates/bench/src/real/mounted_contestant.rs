//! A contestant where the command finds it: mounted by the kernel, by a program, or bound.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use coldpress_host::{
    Cgroup, Counters, Device, FileSystem, FuseMount, LoopDevice, Mount, Readahead, Via,
    backing_disk,
};

use super::Real;
use crate::error::Error;
use crate::scenario::{MountBy, What};

/// Fields of each are dropped in their order: what is above goes first.
pub(super) enum MountedContestant {
    /// An image that the kernel mounts.
    Kernel {
        mount: Mount,
        loop_device: LoopDevice,
        /// Loop devices are used again and keep counting.
        attached: Counters,
        /// The one whose reads are slowed down, if any are.
        throttled: Option<(u32, u32)>,
    },
    /// An image that a program mounts. It reads the file itself.
    Program {
        mount: Box<FuseMount>,
        cgroup: Cgroup,
        disk: Option<(u32, u32)>,
    },
    /// Files as they are.
    Directory {
        mount: Mount,
        disk: Option<(u32, u32)>,
    },
}

impl Real<'_> {
    /// `None` if the loop device of an image held another mount.
    pub(super) fn mount_contestant(
        &self,
        what: &What,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<MountedContestant>, Error> {
        match what {
            What::Image {
                path,
                mount: MountBy::Kernel(readahead),
            } => self.mounted_by_kernel(path, *readahead),
            What::Image {
                path,
                mount: MountBy::Program(program),
            } => self.mounted_by(program, path, stop).map(Some),
            What::Directory(directory) => {
                let disk = self.disk(directory)?;
                // Through a mount of its own, so that no start changes what the next one finds.
                let mount = Mount::directory(directory, &self.directory)?;
                Ok(Some(MountedContestant::Directory { mount, disk }))
            }
        }
    }

    fn mounted_by_kernel(
        &self,
        image: &Path,
        readahead: Readahead,
    ) -> Result<Option<MountedContestant>, Error> {
        let device = self.device();
        let file_system = FileSystem::of(image)?.ok_or_else(|| Error::UnknownFileSystem {
            image: image.to_owned(),
        })?;
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
        readahead.before_mount(&loop_device)?;
        let mount = Mount::image(&loop_device, file_system, &self.directory)?;
        readahead.after_mount(&loop_device)?;
        let throttled = match device.via {
            _ if !device.is_throttled() => None,
            Via::Partition => Some(loop_device.device_number()),
            Via::File => Some(backing_disk(image)?),
        };
        Ok(Some(MountedContestant::Kernel {
            mount,
            loop_device,
            attached,
            throttled,
        }))
    }

    fn mounted_by(
        &self,
        program: &[OsString],
        image: &Path,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<MountedContestant, Error> {
        let disk = self.disk(image)?;
        let cgroup = self.cgroup()?;
        if let Some(disk) = disk {
            cgroup.limit(disk, self.device())?;
        }
        let mount = FuseMount::new(program, image, &self.directory, &cgroup, stop)?;
        Ok(MountedContestant::Program {
            mount: Box::new(mount),
            cgroup,
            disk,
        })
    }

    /// The disk below a file, whose reads are counted and slowed down; it can only be missing if
    /// none is to be.
    fn disk(&self, path: &Path) -> Result<Option<(u32, u32)>, Error> {
        match backing_disk(path) {
            Err(_) if !self.device().is_throttled() => Ok(None),
            disk => Ok(Some(disk?)),
        }
    }
}

impl MountedContestant {
    /// Where it is mounted.
    pub(super) fn root(&self) -> &Path {
        match self {
            MountedContestant::Kernel { mount, .. }
            | MountedContestant::Directory { mount, .. } => mount.root(),
            MountedContestant::Program { mount, .. } => mount.root(),
        }
    }

    /// Slows down what the command reads.
    pub(super) fn limit(&self, command: &Cgroup, device: &Device) -> Result<(), Error> {
        let slow = match self {
            MountedContestant::Kernel { throttled, .. } => *throttled,
            MountedContestant::Program { disk, .. } | MountedContestant::Directory { disk, .. } => {
                *disk
            }
        };
        if let Some(slow) = slow {
            command.limit(slow, device)?;
        }
        Ok(())
    }

    /// Reads and bytes so far: of the loop device; else of the command, and of a program that
    /// mounts, on the disk.
    pub(super) fn counters(&self, command: &Cgroup) -> Result<Option<(u64, u64)>, Error> {
        let counters = match self {
            MountedContestant::Kernel {
                loop_device,
                attached,
                ..
            } => {
                let now = loop_device.counters()?;
                Some((
                    now.reads.saturating_sub(attached.reads),
                    now.read_bytes.saturating_sub(attached.read_bytes),
                ))
            }
            MountedContestant::Directory { disk, .. } => of_disk(*disk, &[command])?,
            MountedContestant::Program { disk, cgroup, .. } => of_disk(*disk, &[command, cgroup])?,
        };
        Ok(counters)
    }

    /// Processor time of a program that mounts.
    pub(super) fn cpu_ns(&self) -> Result<u64, Error> {
        match self {
            MountedContestant::Program { cgroup, .. } => Ok(cgroup.cpu_ns()?),
            MountedContestant::Kernel { .. } | MountedContestant::Directory { .. } => Ok(0),
        }
    }

    /// Undoes the mount; returns the cgroup of a program that made it.
    pub(super) fn unmount(self) -> Result<Option<Cgroup>, Error> {
        match self {
            MountedContestant::Kernel { mount, .. }
            | MountedContestant::Directory { mount, .. } => {
                mount.unmount()?;
                Ok(None)
            }
            MountedContestant::Program { mount, cgroup, .. } => {
                mount.unmount()?;
                Ok(Some(cgroup))
            }
        }
    }
}

fn of_disk(disk: Option<(u32, u32)>, cgroups: &[&Cgroup]) -> Result<Option<(u64, u64)>, Error> {
    let Some(disk) = disk else { return Ok(None) };
    let mut sum = (0, 0);
    for cgroup in cgroups {
        let Counters { reads, read_bytes } = cgroup.counters(disk)?;
        sum = (sum.0 + reads, sum.1 + read_bytes);
    }
    Ok(Some(sum))
}

/// Whether some file system is mounted from a device, as far as the mount namespace of this thread
/// knows.
fn is_mounted(device_number: (u32, u32)) -> Result<bool, Error> {
    let path = Path::new("/proc/thread-self/mountinfo");
    let mounts = fs::read_to_string(path).map_err(Error::io("read", path))?;
    let wanted = format!("{}:{}", device_number.0, device_number.1);
    Ok(mounts
        .lines()
        .any(|line| line.split(' ').nth(2) == Some(wanted.as_str())))
}
