//! A command that succeeds once the program is ready.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process_group, pidfd_open};

use super::super::prepare::{Step, replace_root};
use super::place::Seen;
use crate::{Error, syscall};

/// Between two runs of the command.
const PAUSE: Duration = Duration::from_millis(10);

/// A command of the shell, run again and again.
#[derive(Debug)]
pub(in crate::launch) struct Probe {
    /// As given, until the program runs.
    text: OsString,
    /// Where `{root}` is, unless the number of the program is needed for that.
    root: Option<PathBuf>,
    run: Option<Run>,
    next: Instant,
}

/// One run of it, in a process group of its own; killed on drop.
#[derive(Debug)]
struct Run {
    child: Child,
    process: Option<OwnedFd>,
}

impl Probe {
    pub(super) fn new(text: &OsStr, seen: &Seen<'_>) -> Self {
        Self {
            text: text.to_owned(),
            root: seen.machine_root(),
            run: None,
            next: Instant::now(),
        }
    }

    pub(super) fn follow(&mut self, pid: u32) {
        let programs = || PathBuf::from(format!("/proc/{pid}/root"));
        let root = self.root.take().unwrap_or_else(programs);
        self.text = replace_root(&self.text, &root);
    }

    /// Tells when a run ends.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.run.as_ref()?.process.as_ref().map(AsFd::as_fd)
    }

    /// Whether a run succeeded; begins the next one when it is time.
    pub(super) fn came_true(&mut self) -> Result<bool, Error> {
        let failed = |text: &OsString| {
            let what = format!("with `{}`", text.display());
            move |error: std::io::Error| Error::CannotWatch {
                what,
                why: error.to_string(),
            }
        };
        if let Some(run) = &mut self.run {
            let ended = run.child.try_wait().map_err(failed(&self.text))?;
            let Some(status) = ended else {
                return Ok(false);
            };
            self.run = None;
            self.next = Instant::now() + PAUSE;
            return Ok(status.success());
        }
        if Instant::now() >= self.next {
            self.run = Some(Run::start(&self.text).map_err(failed(&self.text))?);
        }
        Ok(false)
    }
}

impl Run {
    fn start(text: &OsString) -> std::io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(text);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let steps = vec![Step::Session, Step::DieWithParent(getpid())];
        syscall::before_exec(&mut command, steps, None);
        let child = command.spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        // Without it, the command is looked at from time to time.
        let process = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Ok(Self { child, process })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Those that a run left behind too. A run that was waited for has no number any more that
        // could be used.
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|group| kill_process_group(group, Signal::KILL));
            let _ = self.child.wait();
        }
    }
}
