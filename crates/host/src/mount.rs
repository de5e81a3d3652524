//! An image or a directory, mounted by the kernel.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};

use crate::{Error, FileSystem, LoopDevice};

/// How often a busy mount is tried again, [`UNMOUNT_PAUSE`] apart: 2 s in all. Processes that
/// were killed hold their files until the kernel has taken them down.
const UNMOUNT_TRIES: u32 = 100;
const UNMOUNT_PAUSE: Duration = Duration::from_millis(20);

/// A mounted image or directory; unmounted on drop.
#[derive(Debug)]
pub struct Mount {
    root: PathBuf,
    device_number: (u32, u32),
    mounted: bool,
}

impl Mount {
    /// Mounts the `SquashFS` image behind a loop device, as [`Mount::image`] does.
    ///
    /// # Errors
    ///
    /// Those of [`Mount::image`].
    pub fn squashfs(loop_device: &LoopDevice, at: &Path) -> Result<Self, Error> {
        Self::image(loop_device, FileSystem::Squashfs, at)
    }

    /// Mounts the image behind a loop device, read-only, on an existing directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] without root, if the directory is missing, or if the kernel does not take
    /// the image (it says why in its log only).
    pub fn image(
        loop_device: &LoopDevice,
        file_system: FileSystem,
        at: &Path,
    ) -> Result<Self, Error> {
        let kind = file_system.name();
        mount(loop_device.path(), at, kind, MountFlags::RDONLY, None)
            .map_err(Error::errno("mount an image on", at))?;
        Self::found(at)
    }

    /// Lets a directory be seen at another one too, read-only, without what is mounted below it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] without root, or if one of them is missing.
    pub fn directory(directory: &Path, at: &Path) -> Result<Self, Error> {
        mount_bind(directory, at).map_err(Error::errno("bind a directory to", at))?;
        let mounted = Self::found(at)?;
        let flags = MountFlags::BIND | MountFlags::RDONLY;
        mount_remount(at, flags, c"").map_err(Error::errno("make read-only", at))?;
        Ok(mounted)
    }

    /// What somebody else has mounted.
    pub(crate) fn found(at: &Path) -> Result<Self, Error> {
        let mut mounted = Self {
            root: at.to_owned(),
            device_number: (0, 0),
            mounted: true,
        };
        let metadata = fs::metadata(at).map_err(Error::io("look at", at))?;
        mounted.device_number = (
            rustix::fs::major(metadata.dev()),
            rustix::fs::minor(metadata.dev()),
        );
        Ok(mounted)
    }

    /// The mount point.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Major and minor number of the file system: of an image the same as its loop device's.
    pub fn device_number(&self) -> (u32, u32) {
        self.device_number
    }

    /// Unmounts the image.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if a process still uses it after 2 s; it is out of sight then and the
    /// kernel unmounts it with the last user.
    ///
    /// # Cost
    ///
    /// Waits up to 2 s while it is busy.
    pub fn unmount(mut self) -> Result<(), Error> {
        self.leave()
    }

    fn leave(&mut self) -> Result<(), Error> {
        if !self.mounted {
            return Ok(());
        }
        self.mounted = false;
        for _ in 0..UNMOUNT_TRIES {
            match unmount(&self.root, UnmountFlags::empty()) {
                Err(Errno::BUSY) => sleep(UNMOUNT_PAUSE),
                answer => return answer.map_err(Error::errno("unmount", &self.root)),
            }
        }
        unmount(&self.root, UnmountFlags::DETACH).map_err(Error::errno("detach", &self.root))?;
        Err(Error::Busy {
            path: self.root.clone(),
            holder: "a process has a file or its working directory there",
        })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // A drop cannot report; the mount is at least detached.
        let _ = self.leave();
    }
}
