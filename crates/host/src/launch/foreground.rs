//! A program that is run for a person, as a shell runs it.
//!
//! It has the terminal and stays in the process group of this process, so that what the terminal
//! sends reaches both, and job control sees one job. Nothing is timed, nobody else takes its
//! output.

use std::ffi::OsString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, pidfd_open,
    pidfd_send_signal, waitid,
};

use super::prepare::{Step, c_path, furnish, replace_root};
use super::{Status, spawn, system};
use crate::Error;

/// A started program; the kernel kills it when the thread that started it ends.
#[derive(Debug)]
pub struct Foreground {
    process: OwnedFd,
}

impl Foreground {
    /// Starts a program.
    ///
    /// * `args`: the program and its arguments; `{root}` in any of them stands for `root`.
    /// * `chroot`: whether `root` becomes its root directory, in which it starts, with `HOME=/tmp`.
    ///
    /// # Errors
    ///
    /// [`Error::CannotRun`] if there is no such program, [`Error::EmptyCommand`].
    pub fn start(args: &[OsString], root: &Path, chroot: bool) -> Result<Self, Error> {
        let seen_root = if chroot { Path::new("/") } else { root };
        let mut args = args.iter().map(|arg| replace_root(arg, seen_root));
        let program = args.next().ok_or(Error::EmptyCommand)?;
        let mut process = process::Command::new(&program);
        process.args(args);
        let mut steps = vec![Step::DieWithParent(getpid())];
        if chroot {
            process.env("HOME", "/tmp");
            steps.push(Step::Enter(c_path(root)?));
        }
        let name = program.to_string_lossy().into_owned();
        let child = spawn(process, steps, name, chroot)?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let process = pid
            .ok_or(Errno::SRCH)
            .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
        let process = process.map_err(|errno| Error::System {
            action: "wait for the program (pidfd_open needs Linux 5.3)",
            source: errno.into(),
        })?;
        Ok(Self { process })
    }

    /// Waits until it ends. While it is stopped (Ctrl-Z), this process is, too, as its shell
    /// expects.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the kernel does not tell.
    pub fn wait(&self) -> Result<Status, Error> {
        loop {
            let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED;
            let news = match waitid(WaitId::PidFd(self.process.as_fd()), options) {
                Ok(Some(news)) => news,
                Ok(None) | Err(Errno::INTR) => continue,
                Err(errno) => return Err(system("wait for the program")(errno.into())),
            };
            if news.stopped() {
                kill_process(getpid(), Signal::STOP)
                    .map_err(|errno| system("stop with the program")(errno.into()))?;
                self.signal(Signal::CONT);
                continue;
            }
            return Ok(Status {
                code: news.exit_status(),
                signal: news.terminating_signal(),
            });
        }
    }

    /// Sends it a signal. One that has ended is not told.
    pub fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.process, signal);
    }
}

/// Makes an image habitable in this process's mount namespace: `/proc` and `/dev` of the machine,
/// and an empty `/tmp` (and `/run`, `/var/tmp` where the image has them).
///
/// # Errors
///
/// [`Error::MissingDirectory`] if the image lacks one, [`Error::System`] if this process may not
/// mount.
pub fn furnish_root(root: &Path) -> Result<(), Error> {
    for step in furnish(root)? {
        step.take()
            .map_err(|errno| system(step.name())(errno.into()))?;
    }
    Ok(())
}
