//! Runs the program whose start is measured, and leaves nothing of it running.
//!
//! The clock runs from the first look at the image to the end of the main process. What is prepared
//! inside the image (looking up and binding `/proc`, `/dev` and so on) belongs to a start from it:
//! outside the clock it would warm metadata for free, more of it where metadata lies close.

mod output;
mod prepare;

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group,
};

use crate::{Cgroup, Error, syscall};
use output::Output;
pub(crate) use prepare::Step;
use prepare::{Prepared, prepare};

/// How often the caller is asked whether to stop: a person who pressed Ctrl-C does not notice it, nor
/// does the program that is timed.
const STOP_PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// A process group without a cgroup is given this long to disappear after it was killed,
/// [`GROUP_PAUSE`] apart: 1 s in all.
const GROUP_TRIES: u32 = 100;
const GROUP_PAUSE: Duration = Duration::from_millis(10);

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments; `{root}` in any of them stands for the mounted image.
    pub args: Vec<OsString>,
    /// Whether the program runs inside the image: its root is the image, with the `/proc` and
    /// `/dev` of the machine and an empty `/tmp` (and `/run`, `/var/tmp` where the image has
    /// them); it starts in `/` with `HOME=/tmp`. Else it starts where this process is.
    pub chroot: bool,
    /// Seconds after which it is killed; 0 is never.
    pub timeout_s: u64,
}

/// How a program ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// From the first look at the image to the end of its main process, in ns.
    pub wall_ns: u64,
    /// User and system time, in ns, of the main process and of the children it waited for.
    pub cpu_ns: u64,
    /// How the main process ended.
    pub status: Status,
    /// Whether it was killed because its time was up.
    pub timed_out: bool,
    /// The last 4 KiB of its standard output.
    pub stdout_tail: Vec<u8>,
    /// The last 4 KiB of its standard error.
    pub stderr_tail: Vec<u8>,
}

/// How a process ended: one of the two is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Exit code, if it ended by itself.
    pub code: Option<i32>,
    /// Number of the signal that killed it.
    pub signal: Option<i32>,
}

impl Status {
    /// Whether it ended by itself with exit code 0.
    pub fn success(self) -> bool {
        self.code == Some(0)
    }
}

/// Runs a program to its end, then kills and waits for everything that it left running.
///
/// It has no input, a session of its own, and dies with the thread that launched it. With a cgroup, all its
/// descendants are found; without, those that did not leave its process group.
///
/// * `stop`: asked at least ten times a second; once it says true, the program is killed.
///
/// # Errors
///
/// [`Error::CannotRun`] if there is no such program, [`Error::MissingDirectory`] if the image
/// lacks one that a chroot needs, [`Error::Stopped`] if `stop` said so. A program that fails is no
/// error: see [`Outcome::status`].
///
/// # Cost
///
/// Blocks until the program has ended; keeps 8 KiB of its output.
pub fn launch(
    command: &Command,
    root: &Path,
    cgroup: Option<&Cgroup>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Outcome, Error> {
    let started = Instant::now();
    let Prepared {
        mut process,
        program,
        steps,
    } = prepare(command, root, cgroup)?;
    let (mut failed, failed_in_child) = pipe()?;
    process
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let names: Vec<&'static str> = steps.iter().map(Step::name).collect();
    syscall::before_exec(&mut process, steps, Some(failed_in_child));

    let spawned = process.spawn();
    // Closes our copy of the child's end of the pipe too.
    drop(process);
    let mut child = spawned.map_err(|source| {
        let mut index = [0];
        match failed.read_exact(&mut index) {
            Ok(()) => Error::System {
                action: names.get(usize::from(index[0])).copied().unwrap_or("start"),
                source,
            },
            Err(_) => Error::CannotRun {
                program,
                place: if command.chroot {
                    "it and its interpreter are looked up inside the image"
                } else {
                    "it is looked up on this machine: write `{root}/...` for one of the image, or use chroot"
                },
                source,
            },
        }
    })?;
    let output = Output::of(child.stdout.take(), child.stderr.take())?;
    Running {
        pid: child.id(),
        started,
        timeout: (command.timeout_s > 0).then(|| Duration::from_secs(command.timeout_s)),
        output,
        cgroup,
    }
    .finish(stop)
}

/// A program between start and end.
struct Running<'a> {
    pid: u32,
    started: Instant,
    timeout: Option<Duration>,
    output: Output,
    cgroup: Option<&'a Cgroup>,
}

/// What ended the main process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Itself,
    TimedOut,
    Stopped,
}

impl Running<'_> {
    fn finish(mut self, stop: &mut dyn FnMut() -> bool) -> Result<Outcome, Error> {
        let end = self.wait(stop);
        let wall = self.started.elapsed();
        // Before the main process is reaped, while the number of its group cannot be given to
        // another; also if waiting failed.
        self.kill_group();
        let reaped = syscall::reap(self.pid).map_err(system("wait for the program"))?;
        let end = end?;
        match self.cgroup {
            Some(cgroup) => cgroup.kill_all()?,
            None => self.wait_for_group(),
        }
        if end == End::Stopped {
            return Err(Error::Stopped);
        }
        self.output.drain();
        let [stdout_tail, stderr_tail] = self.output.into_tails();
        Ok(Outcome {
            wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
            cpu_ns: reaped.cpu_ns,
            status: Status {
                code: reaped.code,
                signal: reaped.signal,
            },
            timed_out: end == End::TimedOut,
            stdout_tail,
            stderr_tail,
        })
    }

    /// Takes the program's output until it ends, so that it never waits for us.
    fn wait(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<End, Error> {
        let process = self.group().ok_or(Errno::SRCH);
        let process = process.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
        let process = process.map_err(|errno| Error::System {
            action: "wait for the program (pidfd_open needs Linux 5.3)",
            source: errno.into(),
        })?;
        let mut end = End::Itself;
        loop {
            let left = self
                .timeout
                .map(|timeout| timeout.saturating_sub(self.started.elapsed()));
            if end == End::Itself {
                if left == Some(Duration::ZERO) {
                    end = End::TimedOut;
                } else if stop() {
                    end = End::Stopped;
                }
                if end != End::Itself {
                    self.kill_group();
                }
            }
            let pause = left
                .filter(|_| end == End::Itself)
                .and_then(|left| Timespec::try_from(left).ok())
                .map_or(STOP_PAUSE, |left| left.min(STOP_PAUSE));
            let mut fds = vec![PollFd::new(&process, PollFlags::IN)];
            fds.extend(self.output.open_pipes());
            match poll(&mut fds, Some(&pause)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(system("wait for the program")(errno.into())),
            }
            if !fds[0].revents().is_empty() {
                return Ok(end);
            }
            drop(fds);
            self.output.read_some();
        }
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw)
    }

    /// Without waiting. Those that are gone already are no failure.
    fn kill_group(&self) {
        if let Some(group) = self.group() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        if let Some(cgroup) = self.cgroup {
            let _ = cgroup.kill_members();
        }
    }

    fn wait_for_group(&self) {
        let Some(group) = self.group() else { return };
        for _ in 0..GROUP_TRIES {
            if test_kill_process_group(group).is_err() {
                return;
            }
            sleep(GROUP_PAUSE);
        }
    }
}

fn system(action: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::System { action, source }
}

pub(crate) fn pipe() -> Result<(std::fs::File, OwnedFd), Error> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|errno| system("make a pipe")(errno.into()))?;
    Ok((reader.into(), writer))
}
