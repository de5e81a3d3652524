//! A virtual machine: made by QEMU, booted, watched from outside, and gone with whoever started it.
//!
//! Nothing of it has a name on this machine: its control is a pair of sockets, its console a pipe,
//! its disk can only be read. QEMU dies with the thread that started it, by the kernel's hand, so
//! that `kill -9` leaves nothing either. No privilege is needed, but the right to use `/dev/kvm`
//! makes guests fast.

mod console;
mod disk_reads;
mod emulator;
mod guest;
mod monitor;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, kill_process_group};
use serde_json::Value;

use crate::launch::Step;
use crate::{Counters, Error, syscall};
pub use console::Console;
pub use disk_reads::{DiskLog, DiskRead, DiskReads};
pub use emulator::Emulator;
use guest::DISK;
pub use guest::{Accelerator, DiskBus, Guest, GuestKernel};
use monitor::{Monitor, NoAnswer};

/// What one read of the console takes at most: the capacity of a pipe.
const READ_BYTES: usize = 64 << 10;

/// What is kept of the last words of a QEMU that could not make a machine.
const SAID_BYTES_MAX: u64 = 4096;

/// A virtual machine; it is destroyed on drop.
#[derive(Debug)]
pub struct VirtualMachine {
    program: OsString,
    qemu: Qemu,
    monitor: Monitor,
    /// Threads of QEMU that are the processors of the guest.
    processors: Vec<u64>,
}

/// What a console has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing within the time.
    Nothing,
    /// The guest has switched itself off, or asked for a second boot.
    End,
}

/// A process of QEMU; it is killed on drop.
#[derive(Debug)]
struct Qemu {
    child: Child,
    /// Its standard output and standard error: the console of the guest, and its own complaints.
    output: File,
}

impl VirtualMachine {
    /// Makes a machine that waits to be booted, with its kernel in memory and its disk not read.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file is missing, [`Error::CannotRun`] if there is no QEMU,
    /// [`Error::Emulator`] if it cannot make the machine, as for a disk on a file system without
    /// direct I/O.
    ///
    /// # Cost
    ///
    /// Some 100 ms; the guest's memory is taken as it uses it.
    pub fn make(guest: &Guest) -> Result<Self, Error> {
        Self::make_with(guest, None)
    }

    /// Makes a machine of whose disk each request is told.
    ///
    /// # Errors
    ///
    /// As [`VirtualMachine::make`]; a QEMU without the tracepoint or the backend `log` says so.
    pub fn make_recorded(guest: &Guest) -> Result<(Self, DiskLog), Error> {
        let (reader, writer) = crate::launch::pipe()?;
        let machine = Self::make_with(guest, Some(writer))?;
        Ok((machine, DiskLog::listen(reader.into())?))
    }

    /// * `requests`: where each request of the disk is told.
    fn make_with(guest: &Guest, requests: Option<OwnedFd>) -> Result<Self, Error> {
        let kernel = guest.kernel.iter();
        let files = kernel.flat_map(|kernel| [Some(&kernel.image), kernel.initrd.as_ref()]);
        for path in files.flatten().chain([&guest.disk]) {
            access(path, Access::READ_OK).map_err(Error::errno("read", path))?;
        }
        let program = &guest.program;
        let told: Vec<OsString> = requests
            .iter()
            .map(AsRawFd::as_raw_fd)
            .flat_map(disk_reads::words)
            .collect();
        let words = |socket| guest.words(socket).map(|words| [words, told].concat());
        let (qemu, mut monitor) = Qemu::start(program, requests, words)?;
        let mut ask = |command| monitor.ask(command).map_err(refused(program));
        let disks = ask("query-block")?;
        if find_disk(&disks)["inserted"]["cache"]["direct"] != Value::Bool(true) {
            let words = "the disk is not read directly, so no boot would be cold";
            return Err(refused(program)(NoAnswer::Refused(words.to_owned())));
        }
        let processors = ask("query-cpus-fast")?;
        let processors = processors.as_array().into_iter().flatten();
        let processors = processors.filter_map(|one| one["thread-id"].as_u64());
        let processors = processors.collect();
        Ok(Self {
            program: program.clone(),
            qemu,
            monitor,
            processors,
        })
    }

    /// Lets the machine boot; the clock begins here.
    ///
    /// # Errors
    ///
    /// [`Error::Emulator`] if it ended meanwhile.
    pub fn boot(&mut self) -> Result<(), Error> {
        let answer = self.monitor.ask("cont");
        answer.map(drop).map_err(refused(&self.program))
    }

    /// Waits for the console.
    ///
    /// * `wait`: no longer than this.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the pipe cannot be read.
    pub fn listen(&mut self, wait: Duration) -> Result<Heard, Error> {
        self.qemu.listen(wait)
    }

    /// Why the machine stands still, in the words of QEMU: `internal-error` where KVM could not go
    /// on. `None` while it runs, and once it has ended.
    pub fn stopped_by(&mut self) -> Option<String> {
        let answer = self.monitor.ask("query-status").ok()?;
        let is_running = answer["running"] == Value::Bool(true);
        let status = answer["status"].as_str().unwrap_or_default();
        (!is_running && status != "shutdown").then(|| status.to_owned())
    }

    /// What the guest has read from its disk; `None` once it has ended.
    pub fn counters(&mut self) -> Option<Counters> {
        let disks = self.monitor.ask("query-blockstats").ok()?;
        let stats = &find_disk(&disks)["stats"];
        Some(Counters {
            reads: stats["rd_operations"].as_u64()?,
            read_bytes: stats["rd_bytes"].as_u64()?,
        })
    }

    /// Processor time of the guest's processors together, in ns; exact to 10 ms on most kernels.
    /// `None` once it has ended.
    pub fn cpu_ns(&self) -> Option<u64> {
        let ticks_per_s = rustix::param::clock_ticks_per_second();
        let mut sum = 0;
        for thread in &self.processors {
            let path = format!("/proc/{}/task/{thread}/stat", self.qemu.child.id());
            let ticks = parse_ticks(&fs::read_to_string(path).ok()?)?;
            sum += ticks.saturating_mul(1_000_000_000) / ticks_per_s.max(1);
        }
        Some(sum)
    }
}

impl Qemu {
    /// Starts QEMU and opens its control.
    ///
    /// * `inherited`: an open file that it gets under the same number.
    /// * `words`: its arguments, for the number of a socket.
    fn start(
        program: &OsString,
        inherited: Option<OwnedFd>,
        words: impl FnOnce(i32) -> Result<Vec<OsString>, Error>,
    ) -> Result<(Self, Monitor), Error> {
        let failed = |action| move |source| Error::System { action, source };
        let (ours, theirs) = UnixStream::pair().map_err(failed("make a pair of sockets"))?;
        let (output, writer) = crate::launch::pipe()?;
        let writer = File::from(writer);
        let complaints = writer.try_clone().map_err(failed("share a pipe"))?;
        let mut command = Command::new(program);
        command
            .args(words(theirs.as_raw_fd())?)
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(complaints);
        let mut steps = vec![
            Step::Session,
            Step::DieWithParent(getpid()),
            Step::Inherit(theirs.into()),
        ];
        steps.extend(inherited.map(Step::Inherit));
        syscall::before_exec(&mut command, steps, None);
        let child = command.spawn().map_err(|source| Error::CannotRun {
            program: program.to_string_lossy().into_owned(),
            place: "QEMU makes the virtual machines (Debian: qemu-system-x86)",
            source,
        })?;
        // Our copies of its ends of pipe and socket, without which we see its end.
        drop(command);
        let mut qemu = Self { child, output };
        match Monitor::open(ours) {
            Ok(monitor) => Ok((qemu, monitor)),
            Err(_) => Err(Error::Emulator {
                program: program.to_string_lossy().into_owned(),
                said: qemu.last_words(),
            }),
        }
    }

    /// Waits for what it says, no longer than `wait`.
    fn listen(&mut self, wait: Duration) -> Result<Heard, Error> {
        let failed = |action| move |source| Error::System { action, source };
        let wait = Timespec::try_from(wait).unwrap_or_default();
        let mut pipe = [PollFd::new(&self.output, PollFlags::IN)];
        match poll(&mut pipe, Some(&wait)) {
            Ok(0) | Err(Errno::INTR) => return Ok(Heard::Nothing),
            Ok(_) => {}
            Err(errno) => return Err(failed("wait for the console")(errno.into())),
        }
        let mut bytes = vec![0; READ_BYTES];
        let read = self.output.read(&mut bytes);
        let len = read.map_err(failed("read the console"))?;
        bytes.truncate(len);
        Ok(match len {
            0 => Heard::End,
            _ => Heard::Bytes(bytes),
        })
    }

    /// What QEMU said before it ended.
    fn last_words(&mut self) -> String {
        self.kill();
        let mut said = Vec::new();
        let _ = (&mut self.output)
            .take(SAID_BYTES_MAX)
            .read_to_end(&mut said);
        match String::from_utf8_lossy(&said).trim() {
            "" => "it said nothing and did not open its control".to_owned(),
            words => words.to_owned(),
        }
    }

    fn kill(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        self.kill();
    }
}

fn refused(program: &OsString) -> impl Fn(NoAnswer) -> Error {
    let program = program.to_string_lossy().into_owned();
    move |answer| Error::Emulator {
        program: program.clone(),
        said: match answer {
            NoAnswer::Gone => "it ended, or does not answer".to_owned(),
            NoAnswer::Refused(words) => words,
        },
    }
}

/// Our disk in a list of all; null if there is none.
fn find_disk(disks: &Value) -> &Value {
    let mut disks = disks.as_array().into_iter().flatten();
    disks
        .find(|disk| disk["device"] == DISK)
        .unwrap_or(&Value::Null)
}

/// User and system time in `/proc/PID/task/TID/stat`, whose second field is a name that may hold
/// anything. The time that a processor of a guest runs is user time.
fn parse_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(ticks()? + ticks()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_stand_behind_a_name_that_may_hold_anything() {
        let line = "12 (CPU 0/KVM) x)) S 1 1 1 0 -1 4 5 6 7 8 100 23 0 0 20 0 1";
        assert_eq!(parse_ticks(line), Some(123));
        for broken in [
            "",
            "12 (a) S 1",
            "12 a S",
            "1 (a) S 1 1 1 0 -1 4 5 6 7 8 x 23",
        ] {
            assert_eq!(parse_ticks(broken), None, "{broken}");
        }
    }
}
