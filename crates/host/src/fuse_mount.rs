//! An image that a program mounts through FUSE.

use std::ffi::OsString;
use std::path::Path;

use crate::launch::{Command, Ready, Running, start};
use crate::{Cgroup, Error, Mount};

/// How long the program may take until the image is mounted.
const PATIENCE_S: u64 = 30;

/// A mounted image and the program behind it; on drop it is unmounted and the program ends.
#[derive(Debug)]
pub struct FuseMount {
    // Dropped from first to last.
    mount: Mount,
    program: Running,
}

impl FuseMount {
    /// Runs `PROGRAM... IMAGE DIRECTORY` and waits until the image is mounted. The program may go
    /// to the background or stay.
    ///
    /// * `at`: an existing directory.
    /// * `cgroup`: of its own, in which the program lives as long as the mount.
    ///
    /// # Errors
    ///
    /// [`Error::CannotRun`] if there is no such program, [`Error::NotMounted`] if it fails or takes
    /// more than 30 s, [`Error::Stopped`] if `stop` said so.
    pub fn new(
        program: &[OsString],
        image: &Path,
        at: &Path,
        cgroup: &Cgroup,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self, Error> {
        let mut args = program.to_vec();
        args.extend([image.as_os_str().to_owned(), at.as_os_str().to_owned()]);
        let command = Command {
            args,
            chroot: false,
            environment: Vec::new(),
            working_directory: None,
            timeout_s: PATIENCE_S,
            ready: Ready::MountPoint(at.to_owned()),
        };
        let mut program = start(&command, at, Some(cgroup))?;
        program.wait(stop)?;
        if program.is_ready() {
            let mount = Mount::found(at)?;
            return Ok(Self { mount, program });
        }
        let outcome = program.finish(stop)?;
        let said = String::from_utf8_lossy(outcome.stderr_tail.trim_ascii()).into_owned();
        Err(Error::NotMounted {
            program: command
                .args
                .first()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            path: image.to_owned(),
            said,
        })
    }

    /// Where it is mounted.
    pub fn root(&self) -> &Path {
        self.mount.root()
    }

    /// Unmounts the image, which ends the program.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if a process still uses it after 2 s, or if the program lives on although it
    /// was killed.
    pub fn unmount(self) -> Result<(), Error> {
        let unmounted = self.mount.unmount();
        self.program.finish(&mut || false)?;
        unmounted
    }
}
