//! A program between start and end.

use std::os::fd::{AsFd as _, OwnedFd};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open,
    test_kill_process_group, waitid,
};

use super::output::Output;
use super::ready::Watch;
use super::{Outcome, Status, cpu_time_ns, system};
use crate::cgroup::Members;
use crate::{Error, syscall};

/// How often the caller is asked whether to stop: a person who pressed Ctrl-C does not notice it,
/// nor does the program that is timed.
const STOP_PAUSE: Duration = Duration::from_millis(100);

/// How long a program may take to end after its window was asked to close, and after `SIGTERM`.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);
const TERM_PATIENCE: Duration = Duration::from_secs(2);
/// How often is looked whether all its children have followed.
const TERM_PAUSE: Duration = Duration::from_millis(10);

/// A process group without a cgroup is given this long to disappear after it was killed,
/// [`GROUP_PAUSE`] apart: 1 s in all.
const GROUP_TRIES: u32 = 100;
const GROUP_PAUSE: Duration = Duration::from_millis(10);

/// A started program; killed on drop, with everything that it left running.
#[derive(Debug)]
pub struct Running {
    pid: u32,
    process: OwnedFd,
    started: Instant,
    timeout: Option<Duration>,
    members: Option<Members>,
    watch: Watch,
    output: Output,
    /// Whether the main process has ended, though it is not yet reaped.
    has_ended: bool,
    over: Option<Over>,
    is_reaped: bool,
}

/// How the start came to its end.
#[derive(Debug, Clone, Copy)]
struct Over {
    why: Why,
    wall: Duration,
    /// Of a program that goes on.
    cpu_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Ready,
    Ended,
    TimedOut,
    Stopped,
}

impl Running {
    pub(super) fn new(
        child: &Child,
        started: Instant,
        timeout: Option<Duration>,
        members: Option<Members>,
        watch: Watch,
        output: Result<Output, Error>,
    ) -> Result<Self, Error> {
        let pid = child.id();
        let process = group(pid).ok_or(Errno::SRCH);
        let process = process.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
        let process = process.map_err(|errno| Error::System {
            action: "wait for the program (pidfd_open needs Linux 5.3)",
            source: errno.into(),
        });
        let parts = process.and_then(|process| Ok((process, output?)));
        let (process, output) = parts.inspect_err(|_| {
            let _ = group(pid).map(|group| kill_process_group(group, Signal::KILL));
            let _ = syscall::reap(pid);
        })?;
        Ok(Self {
            pid,
            process,
            started,
            timeout,
            members,
            watch,
            output,
            has_ended: false,
            over: None,
            is_reaped: false,
        })
    }

    /// Waits until the program is ready, has ended, or its time is up, and takes its output
    /// meanwhile, so that it never waits for us. What the image has read by then belongs to the
    /// start.
    ///
    /// * `stop`: asked at least ten times a second; once it says true, the program is killed.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if `stop` said so, [`Error::CannotWatch`] if a witness of its readiness
    /// is lost.
    pub fn wait(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), Error> {
        self.wait_at_most(None, stop)
    }

    /// As [`Running::wait`], but after `limit` from its start the program counts as ready, whatever
    /// it does.
    ///
    /// # Errors
    ///
    /// As [`Running::wait`].
    pub fn wait_at_most(
        &mut self,
        limit: Option<Duration>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        loop {
            if self.came_true()? {
                return self.note(Why::Ready);
            }
            if self.has_ended && !self.goes_on()? {
                // The last words may be those that were waited for.
                self.output.drain();
                let last = self.came_true()?;
                return self.note(if last { Why::Ready } else { Why::Ended });
            }
            let until_limit = self.time_left(limit);
            if until_limit == Some(Duration::ZERO) {
                return self.note(Why::Ready);
            }
            let left = self.time_left(self.timeout);
            if left == Some(Duration::ZERO) {
                return self.note(Why::TimedOut);
            }
            if stop() {
                self.note(Why::Stopped)?;
                return Err(Error::Stopped);
            }
            let pauses = [Some(STOP_PAUSE), left, until_limit, self.watch.pause()];
            self.poll(pauses.into_iter().flatten().min().unwrap_or(STOP_PAUSE))?;
        }
    }

    /// Ends the program and everything that it left running: one that has become ready is asked to
    /// close its window, if that was waited for, then sent `SIGTERM`, then killed.
    ///
    /// * `stop`: once it says true, it is killed at once.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if [`Running::wait`] was not called to its end, [`Error::Busy`] if
    /// something lives on although it was killed.
    pub fn finish(mut self, stop: &mut dyn FnMut() -> bool) -> Result<Outcome, Error> {
        let over = self.over.ok_or(Error::Stopped)?;
        if over.why == Why::Ready {
            self.end_gently(stop)?;
        }
        let reaped = self.end()?;
        self.output.drain();
        let [stdout_tail, stderr_tail] = self.output.take_tails();
        let status = Status {
            code: reaped.code,
            signal: reaped.signal,
        };
        let ended_well = over.why == Why::Ended && self.watch.is_exit() && status.success();
        Ok(Outcome {
            wall_ns: u64::try_from(over.wall.as_nanos()).unwrap_or(u64::MAX),
            cpu_ns: over.cpu_ns.unwrap_or(reaped.cpu_ns),
            peak_memory_bytes: reaped.peak_memory_bytes,
            status,
            timed_out: over.why == Why::TimedOut,
            became_ready: over.why == Why::Ready || ended_well,
            stdout_tail,
            stderr_tail,
        })
    }

    /// Whether [`Running::wait`] ended because the program is ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.over.is_some_and(|over| over.why == Why::Ready)
    }

    fn came_true(&mut self) -> Result<bool, Error> {
        Ok(self.output.has_line() || self.watch.came_true()?)
    }

    /// Whether a main process that has ended left others behind that may become ready in its place,
    /// as those of a service that goes to the background do.
    fn goes_on(&self) -> Result<bool, Error> {
        if self.watch.is_exit() {
            return Ok(false);
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::PidFd(self.process.as_fd()), options)
            .map_err(|errno| system("ask how the program ended")(errno.into()))?;
        let ended_well = status.is_some_and(|status| status.exit_status() == Some(0));
        Ok(ended_well
            && self
                .members
                .as_ref()
                .is_some_and(|members| !members.are_gone()))
    }

    /// Of a time since the start.
    fn time_left(&self, limit: Option<Duration>) -> Option<Duration> {
        limit.map(|limit| limit.saturating_sub(self.started.elapsed()))
    }

    /// Waits for news of the program, and takes its output.
    fn poll(&mut self, pause: Duration) -> Result<(), Error> {
        let pause = Timespec::try_from(pause).unwrap_or_default();
        // An ended process has news for ever.
        let mut fds = if self.has_ended {
            Vec::new()
        } else {
            vec![PollFd::new(&self.process, PollFlags::IN)]
        };
        fds.extend(self.output.open_pipes());
        let witness = self.watch.descriptor();
        fds.extend(witness.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        match poll(&mut fds, Some(&pause)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(system("wait for the program")(errno.into())),
        }
        let process = fds.first().filter(|_| !self.has_ended);
        let has_ended = self.has_ended || process.is_some_and(|fd| !fd.revents().is_empty());
        drop(fds);
        self.has_ended = has_ended;
        self.output.read_some();
        Ok(())
    }

    /// Stops the clock.
    fn note(&mut self, why: Why) -> Result<(), Error> {
        let wall = self.started.elapsed();
        let cpu_ns = match &self.members {
            _ if why != Why::Ready => None,
            Some(members) => Some(members.cpu_ns()?),
            None => cpu_time_ns(&self.pid.to_string()),
        };
        self.over = Some(Over { why, wall, cpu_ns });
        if why == Why::TimedOut || why == Why::Stopped {
            self.kill_group();
        }
        Ok(())
    }

    /// Gives a program that is ready the time to end in its own way.
    fn end_gently(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), Error> {
        if self.watch.ask_to_close() {
            self.wait_for_end(CLOSE_PATIENCE, stop)?;
        }
        if self.is_gone() {
            return Ok(());
        }
        self.terminate();
        self.wait_for_end(TERM_PATIENCE, stop)
    }

    fn wait_for_end(
        &mut self,
        patience: Duration,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        let end = Instant::now() + patience;
        while !self.is_gone() && Instant::now() < end && !stop() {
            self.poll(TERM_PAUSE)?;
        }
        Ok(())
    }

    fn is_gone(&self) -> bool {
        self.has_ended && self.members.as_ref().is_none_or(Members::are_gone)
    }

    /// Kills what is left and waits for its end.
    fn end(&mut self) -> Result<syscall::Reaped, Error> {
        // Before the main process is reaped, while the number of its group cannot be given to
        // another; also if waiting failed.
        self.kill_group();
        self.is_reaped = true;
        let reaped = syscall::reap(self.pid).map_err(system("wait for the program"))?;
        match &self.members {
            Some(members) => members.kill_all()?,
            None => self.wait_for_group(),
        }
        Ok(reaped)
    }

    /// Without waiting. Those that are gone already are no failure.
    fn kill_group(&self) {
        if let Some(group) = group(self.pid) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        if let Some(members) = &self.members {
            let _ = members.signal(Signal::KILL);
        }
    }

    /// Once to each: for some programs a second one means to drop everything.
    fn terminate(&self) {
        match (&self.members, group(self.pid)) {
            (Some(members), _) => drop(members.signal(Signal::TERM)),
            (None, Some(group)) => drop(kill_process_group(group, Signal::TERM)),
            (None, None) => {}
        }
    }

    fn wait_for_group(&self) {
        let Some(group) = group(self.pid) else { return };
        for _ in 0..GROUP_TRIES {
            if test_kill_process_group(group).is_err() {
                return;
            }
            sleep(GROUP_PAUSE);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_reaped {
            // A drop cannot report; the cgroup tries again when it is dropped.
            let _ = self.end();
        }
    }
}

/// The program leads a process group of its own.
fn group(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}
