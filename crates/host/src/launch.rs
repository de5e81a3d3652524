//! Runs the program whose start is measured, and leaves nothing of it running.
//!
//! The clock runs from the first look at the image until the program is ready, which is the end of
//! the main process if nothing else is asked for. What is prepared inside the image (looking up and
//! binding `/proc`, `/dev` and so on) belongs to a start from it: outside the clock it would warm
//! metadata for free, more of it where metadata lies close.

mod cpu_time;
mod foreground;
mod output;
mod prepare;
mod ready;
mod running;

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Cgroup, Error, syscall};
pub(crate) use cpu_time::cpu_time_ns;
pub use foreground::{Foreground, furnish_root};
use output::Output;
pub(crate) use prepare::{Identity, Step, Told, furnished, may_become_root};
use prepare::{Prepared, prepare};
pub use ready::{Bus, Display, Pattern, Ready};
use ready::{Seen, Watch};
pub use running::Running;

/// How often is looked at a condition of which nothing but a descriptor would tell.
const UNTIL_PAUSE: Duration = Duration::from_millis(20);

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments; `{root}` in any of them stands for the mounted image.
    pub args: Vec<OsString>,
    /// Whether the program runs inside the image: its root is the image, with the `/proc` and
    /// `/dev` of the machine and an empty `/tmp` (and `/run`, `/var/tmp` where the image has
    /// them); its `HOME` is `/tmp` unless `environment` says otherwise. Else it starts where this
    /// process is.
    pub chroot: bool,
    /// Variables that it gets beside those of this process, whose values they replace.
    pub environment: Vec<(OsString, OsString)>,
    /// Where a program inside the image starts; `/` if nothing is named.
    pub working_directory: Option<PathBuf>,
    /// Seconds after which it is killed; 0 is never.
    pub timeout_s: u64,
    /// What ends the start. A program that goes on then is ended.
    pub ready: Ready,
}

/// How a program ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// From the first look at the image until it was ready or its main process had ended, in ns.
    pub wall_ns: u64,
    /// User and system time, in ns: with [`Ready::Exit`] of the main process and of the children it
    /// waited for; else until it was ready, of all that were in its cgroup then.
    pub cpu_ns: u64,
    /// The most memory that was resident in the main process, or in one of the children it waited
    /// for: `ru_maxrss`. Never less than this process had when it started the program.
    pub peak_memory_bytes: u64,
    /// How the main process ended, after it was ready too.
    pub status: Status,
    /// Whether it was killed because its time was up.
    pub timed_out: bool,
    /// Whether the start succeeded: it became ready, or, with [`Ready::Exit`], ended with exit code
    /// 0.
    pub became_ready: bool,
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

/// Runs a program until it is ready, then ends it with everything that it left running.
///
/// The same as [`start`], [`Running::wait`] and [`Running::finish`].
///
/// # Errors
///
/// Those of the three.
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
    let mut running = start(command, root, cgroup)?;
    running.wait(stop)?;
    running.finish(stop)
}

/// Runs a program of this system to its end, with the environment of this process.
///
/// * `timeout_s`: after which it is ended; 0 is never.
/// * `stop`: whether to give up.
///
/// # Errors
///
/// As [`launch`].
pub fn run_program(
    args: Vec<OsString>,
    timeout_s: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Outcome, Error> {
    let command = Command {
        args,
        chroot: false,
        environment: Vec::new(),
        working_directory: None,
        timeout_s,
        ready: Ready::Exit,
    };
    launch(&command, Path::new("/"), None, stop)
}

/// Starts a program.
///
/// It has no input, a session of its own, and dies with the thread that started it. With a cgroup,
/// all its descendants are found; without, those that did not leave its process group.
///
/// # Errors
///
/// [`Error::CannotRun`] if there is no such program, [`Error::MissingDirectory`] if the image
/// lacks one that a chroot needs; [`Error::AlreadyReady`] if what is to show that it is ready is
/// there before it starts, [`Error::CannotWatch`] if that cannot be seen.
pub fn start(command: &Command, root: &Path, cgroup: Option<&Cgroup>) -> Result<Running, Error> {
    start_told(command, root, cgroup, None)
}

/// As [`start`], with some of its system calls told to someone.
pub(crate) fn start_told(
    command: &Command,
    root: &Path,
    cgroup: Option<&Cgroup>,
    told: Option<Told>,
) -> Result<Running, Error> {
    let mut watch = Watch::begin(&command.ready, &Seen::from(command, root))?;
    let started = Instant::now();
    let Prepared {
        mut process,
        program,
        steps,
    } = prepare(command, root, cgroup, told)?;
    process
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = spawn(process, steps, program, command.chroot)?;
    let pipes = (child.stdout.take(), child.stderr.take());
    watch.follow(child.id());
    Running::new(
        &child,
        started,
        (command.timeout_s > 0).then(|| Duration::from_secs(command.timeout_s)),
        cgroup.map(Cgroup::members),
        watch,
        Output::of(pipes, command.ready.line()),
    )
}

/// Starts a process that takes these steps before it becomes the program.
///
/// * `program`: its name, for errors.
fn spawn(
    mut process: process::Command,
    steps: Vec<Step>,
    program: String,
    chroot: bool,
) -> Result<Child, Error> {
    let (mut failed, failed_in_child) = pipe()?;
    let names: Vec<&'static str> = steps.iter().map(Step::name).collect();
    syscall::before_exec(&mut process, steps, Some(failed_in_child));
    let spawned = process.spawn();
    // Closes our copy of the child's end of the pipe too.
    drop(process);
    spawned.map_err(|source| {
        let mut index = [0];
        match failed.read_exact(&mut index) {
            Ok(()) => Error::System {
                action: names.get(usize::from(index[0])).copied().unwrap_or("start"),
                source,
            },
            Err(_) => Error::CannotRun {
                program,
                place: if chroot {
                    "it and its interpreter are looked up inside the image"
                } else {
                    "it is looked up on this machine: write `{root}/...` for one of the image, or \
                    use chroot"
                },
                source,
            },
        }
    })
}

/// Waits until a condition comes true of the machine, without a program of which it is expected.
///
/// * `limit`: the longest time to wait.
/// * `stop`: asked at least ten times a second; once it says true, the wait is over.
///
/// # Errors
///
/// [`Error::AlreadyReady`] if what is waited for is there already, [`Error::CannotWatch`] if it
/// cannot be seen.
pub fn wait_until(
    ready: &Ready,
    limit: Option<Duration>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let nothing = Command {
        args: Vec::new(),
        chroot: false,
        environment: Vec::new(),
        working_directory: None,
        timeout_s: 0,
        ready: Ready::Exit,
    };
    let mut watch = Watch::begin(ready, &Seen::from(&nothing, Path::new("/")))?;
    let started = Instant::now();
    while !stop() && limit.is_none_or(|limit| started.elapsed() < limit) && !watch.came_true()? {
        sleep(watch.pause().unwrap_or(UNTIL_PAUSE));
    }
    Ok(())
}

fn system(action: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::System { action, source }
}

pub(crate) fn pipe() -> Result<(std::fs::File, OwnedFd), Error> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|errno| system("make a pipe")(errno.into()))?;
    Ok((reader.into(), writer))
}
