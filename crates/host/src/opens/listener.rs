//! The thread to which calls are told.

use std::collections::HashSet;
use std::io::{ErrorKind, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fstat};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::calls::{Call, EMPTY_PATH, NO_FOLLOW, Operation, find};
use super::directory_index::Identity;
use super::interpreter;
use super::notes::{Moment, Notes};
use super::walk::{End, Start, open_of, walk};
use crate::Error;
use crate::syscall::{ToldCall, let_go, next_call, read_memory, take_turns};

/// How often the thread looks whether it is to end.
const STOP_PAUSE: Duration = Duration::from_millis(50);

/// Interpreters of interpreters that the kernel runs at most.
const INTERPRETERS_MAX: usize = 5;

/// Calls that are remembered, to walk no path twice: some 20 MB.
const REMEMBERED_MAX: usize = 100_000;

/// Memory is read in pieces that lie in one page: what follows may not be there.
const PIECE_BYTES: u64 = 4096;
/// The longest path that the kernel takes.
const PATH_BYTES_MAX: usize = 4096;

/// Listens until the last process of the program has ended, or to the stop.
pub(super) fn serve(socket: &OwnedFd, notes: &Mutex<Notes>, stop: &AtomicBool) {
    let Some(listener) = receive(socket) else {
        // The program was never started.
        return;
    };
    take_turns(listener.as_fd());
    let mut seen = HashSet::new();
    if let Err(error) = listen(&listener, notes, stop, &mut seen) {
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.fail(error);
    }
}

/// The descriptor that the program sends before it becomes the program.
fn receive(socket: &OwnedFd) -> Option<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut message = [IoSliceMut::new(&mut byte)];
    recvmsg(socket, &mut message, &mut control, RecvFlags::CMSG_CLOEXEC).ok()?;
    control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    })
}

fn listen(
    listener: &OwnedFd,
    notes: &Mutex<Notes>,
    stop: &AtomicBool,
    seen: &mut HashSet<Told>,
) -> Result<(), Error> {
    let pause = Timespec::try_from(STOP_PAUSE).unwrap_or_default();
    while !stop.load(Ordering::Acquire) {
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        let news = match poll(&mut fds, Some(&pause)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => fds[0].revents(),
            Err(errno) => return Err(failed(errno.into())),
        };
        if news.contains(PollFlags::IN) {
            take(listener.as_fd(), notes, seen)?;
        } else if news.contains(PollFlags::HUP) {
            return Ok(());
        }
    }
    Ok(())
}

fn failed(source: std::io::Error) -> Error {
    Error::System {
        action: "observe the program's system calls",
        source,
    }
}

/// Takes one call, lets it happen, and notes what it names.
fn take(
    listener: BorrowedFd<'_>,
    notes: &Mutex<Notes>,
    seen: &mut HashSet<Told>,
) -> Result<(), Error> {
    let gone = |error: &std::io::Error| {
        matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Interrupted)
    };
    let call = match next_call(listener) {
        Ok(call) => call,
        Err(error) if gone(&error) => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let moment = Moment {
        thread: call.thread,
        at: Instant::now(),
    };
    // Held until what the call names is noted: a program that is let go may end at once, and
    // whoever then asks what it did must wait.
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = if notes.is_noting() {
        Asked::read(&call)
    } else {
        Ok(None)
    };
    // That it waited to here shows that what was read was its own, not of another with its number.
    match let_go(listener, call.id) {
        Err(error) if gone(&error) => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(()) => {}
    }
    match asked {
        Ok(Some(asked)) => asked.note(moment, &mut notes, seen),
        Ok(None) => {}
        Err(Unreadable) => notes.lose(),
    }
    Ok(())
}

/// The kernel does not let this process look into the other.
struct Unreadable;

/// A call with what was read of the program while it waited.
struct Asked {
    how: How,
    path: Vec<u8>,
    start: Start,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum How {
    Open { flags: OFlags },
    Run { is_followed: bool },
    Look { is_followed: bool },
}

/// A call as it is remembered: the same again has nothing new to tell.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Told {
    how: How,
    path: Vec<u8>,
    root: Identity,
    directory: Option<Identity>,
}

impl Asked {
    /// Reads the path, and opens the place where it begins; nothing if the call will fail, as its
    /// arguments name nothing.
    fn read(call: &ToldCall) -> Result<Option<Self>, Unreadable> {
        let root = open_of(call.thread, "root").ok_or(Unreadable)?;
        let Some(known) = find(call.number) else {
            return Ok(None);
        };
        let address = call.args.get(known.path).copied().unwrap_or(0);
        let Some(path) = read_path(call.thread, address)? else {
            return Ok(None);
        };
        let directory = if path.starts_with(b"/") {
            None
        } else {
            let descriptor = known.directory.and_then(|index| call.args.get(index));
            let place =
                match descriptor.map_or(libc::AT_FDCWD, |arg| lower_half(*arg).cast_signed()) {
                    libc::AT_FDCWD => "cwd".to_owned(),
                    descriptor => format!("fd/{descriptor}"),
                };
            match open_of(call.thread, &place) {
                None => return Ok(None),
                directory => directory,
            }
        };
        let start = Start { root, directory };
        Ok(How::of(call, known).map(|how| Self { how, path, start }))
    }

    fn note(self, moment: Moment, notes: &mut Notes, seen: &mut HashSet<Told>) {
        let identity = |file: &OwnedFd| fstat(file).ok().map(Identity::from);
        let Some(root) = identity(&self.start.root) else {
            return;
        };
        let told = Told {
            how: self.how,
            path: self.path.clone(),
            root,
            directory: self.start.directory.as_ref().and_then(identity),
        };
        if seen.len() >= REMEMBERED_MAX {
            seen.clear();
        }
        if !seen.insert(told) {
            return;
        }
        let Self { how, path, start } = self;
        let is_followed = match how {
            How::Open { flags } => !flags.contains(OFlags::NOFOLLOW),
            How::Run { is_followed } | How::Look { is_followed } => is_followed,
        };
        let Some(end) = walk(&start, &path, is_followed, moment, notes) else {
            return;
        };
        match how {
            How::Open { flags } => note_open(flags, &end, moment, notes),
            How::Run { .. } => note_run(&start, end, moment, notes),
            How::Look { .. } => {}
        }
    }
}

/// A directory is opened to be listed, a file to be read, unless the flags say otherwise.
fn note_open(flags: OFlags, end: &End, moment: Moment, notes: &mut Notes) {
    let is_read = flags & OFlags::ACCMODE != OFlags::WRONLY;
    if flags.intersects(OFlags::PATH | OFlags::TRUNC) || !is_read {
        return;
    }
    match end.file_type {
        FileType::Directory => notes.list(moment, end.identity),
        FileType::RegularFile => notes.open(moment, end.identity),
        _ => {}
    }
}

/// A program, its interpreter, and that of this one.
fn note_run(start: &Start, mut program: End, moment: Moment, notes: &mut Notes) {
    for _ in 0..INTERPRETERS_MAX {
        if program.file_type != FileType::RegularFile {
            return;
        }
        notes.run(moment, program.identity);
        let Some(path) = interpreter::find(&program.file) else {
            return;
        };
        let Some(next) = walk(start, &path, true, moment, notes) else {
            return;
        };
        program = next;
    }
}

impl How {
    fn of(call: &ToldCall, known: Call) -> Option<Self> {
        let flags = |index: usize| Some(lower_half(call.args.get(index).copied()?));
        let is_followed = |index| Some(flags(index)? & NO_FOLLOW == 0);
        Some(match known.operation {
            Operation::Open(index) => Self::Open {
                flags: OFlags::from_bits_retain(flags(index)?),
            },
            Operation::OpenHow(index) => {
                let mut bytes = [0; 4];
                let address = call.args.get(index).copied()?;
                let len = read_memory(call.thread, address, &mut bytes).ok()?;
                let flags = (len == bytes.len()).then(|| native_u32(bytes))?;
                Self::Open {
                    flags: OFlags::from_bits_retain(flags),
                }
            }
            Operation::Run => Self::Run { is_followed: true },
            // Without a path the open file itself is meant, which is no link.
            Operation::RunAt(index) => Self::Run {
                is_followed: is_followed(index)? || flags(index)? & EMPTY_PATH != 0,
            },
            Operation::Look => Self::Look { is_followed: true },
            Operation::LookAtLink => Self::Look { is_followed: false },
            Operation::LookBy(index) => Self::Look {
                is_followed: is_followed(index)?,
            },
        })
    }
}

/// Arguments of 32 bits have whatever above them.
fn lower_half(arg: u64) -> u32 {
    u32::try_from(arg & u64::from(u32::MAX)).unwrap_or(0)
}

#[expect(
    clippy::host_endian_bytes,
    reason = "the kernel and the program have the order of the machine"
)]
const fn native_u32(bytes: [u8; 4]) -> u32 {
    u32::from_ne_bytes(bytes)
}

/// A string of another process, without its end; nothing if there is none.
fn read_path(thread: u32, address: u64) -> Result<Option<Vec<u8>>, Unreadable> {
    let mut path = Vec::new();
    while path.len() < PATH_BYTES_MAX {
        let next = address.wrapping_add(path.len() as u64);
        let room = usize::try_from(PIECE_BYTES - next % PIECE_BYTES).unwrap_or(1);
        let mut piece = vec![0; room];
        let len = match read_memory(thread, next, &mut piece) {
            Ok(len) => len,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(Unreadable),
            Err(_) => return Ok(None),
        };
        piece.truncate(len);
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            piece.truncate(end);
            path.append(&mut piece);
            return Ok(Some(path));
        }
        if piece.is_empty() {
            return Ok(None);
        }
        path.append(&mut piece);
    }
    Ok(None)
}
