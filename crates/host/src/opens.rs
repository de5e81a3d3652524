//! The recorder that needs no root and no mount: which files of a directory a program opens and
//! looks up.
//!
//! The program starts from the directory itself. A seccomp filter, which all that it starts
//! inherits (children, threads, what they execute, whatever their root directory), has the kernel
//! tell each system call that names a file before it happens. The path is read, the place where it
//! begins is opened, and the call is let go; then the path is walked, and whoever asks for the
//! recording waits for that. What is met on the way is known by device and inode number, so mounts,
//! links and namespaces of the program do not matter.
//!
//! Nothing of the program is stopped or changed: signals, exit status and waiting are its own. Who
//! is not root loses what a set-user-ID program would give (`no_new_privs`). Rejected: ptrace,
//! which does the same with more switches between processes and leaves stopped programs when it is
//! killed; `strace`, which need not be there.

mod calls;
mod directory_index;
mod filter;
mod interpreter;
mod listener;
mod notes;
mod walk;

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::launch::{Told, furnished, may_become_root, start_told};
use crate::privileges::can_mount;
use crate::{Cgroup, Command, Error, Running};
use directory_index::DirectoryIndex;
use listener::serve;
use notes::Notes;
pub use notes::Opens;

/// A recorder of opens and lookups. Drop it after the program has ended: calls that nobody is told
/// fail.
#[derive(Debug)]
pub struct OpensRecorder {
    directory: PathBuf,
    /// For the program; nothing once it has started.
    socket: Mutex<Option<OwnedFd>>,
    notes: Arc<Mutex<Notes>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl OpensRecorder {
    /// Gets to know a directory, and waits for a program.
    ///
    /// * `directory`: an absolute path.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read.
    ///
    /// # Cost
    ///
    /// Looks at everything in it; some 100 bytes and a path for each, and no more however long the
    /// recording; one thread.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let index = DirectoryIndex::new(directory)?;
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|errno| Error::System {
            action: "make a socket",
            source: errno.into(),
        })?;
        let notes = Arc::new(Mutex::new(Notes::new(index)));
        let stop = Arc::new(AtomicBool::new(false));
        let shared = (Arc::clone(&notes), Arc::clone(&stop));
        // It must listen before the program is started: to become the program is a call that is
        // told.
        let thread = thread::spawn(move || serve(&ours, &shared.0, &shared.1));
        Ok(Self {
            directory: directory.to_owned(),
            socket: Mutex::new(Some(theirs)),
            notes,
            stop,
            thread: Some(thread),
        })
    }

    /// Starts a program from the directory, which it cannot change if this process may mount or the
    /// program runs inside it.
    ///
    /// # Errors
    ///
    /// Those of [`crate::start`]; [`Error::System`] if the kernel does not tell system calls, or a
    /// second time.
    pub fn start(&self, command: &Command, cgroup: Option<&Cgroup>) -> Result<Running, Error> {
        let socket = self
            .socket
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let socket = socket.ok_or(Error::System {
            action: "record a second program",
            source: std::io::ErrorKind::ResourceBusy.into(),
        })?;
        let filter = filter::program().ok_or(Error::Unsupported {
            what: "the numbers of this processor's system calls",
            advice: "record on x86-64, AArch64 or 64-bit RISC-V",
        })?;
        let needed = if command.chroot {
            furnished()
        } else {
            Vec::new()
        };
        self.notes().begin(&needed);
        start_told(
            command,
            &self.directory,
            cgroup,
            Some(Told { filter, socket }),
        )
    }

    /// What was opened and looked up; what follows is not noted, but let happen.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the kernel stopped telling.
    pub fn finish(&self) -> Result<Opens, Error> {
        self.notes().end()
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpensRecorder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Without a program the thread waits for this end.
        drop(self.socket.lock().map(|mut socket| socket.take()));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is missing to record opens and lookups here, if anything is.
///
/// * `chroot`: whether the program is to run inside the directory.
pub fn cannot_record_opens(chroot: bool) -> Option<&'static str> {
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    if !actions
        .split_whitespace()
        .any(|action| action == "user_notif")
    {
        return Some("notification of system calls (seccomp, Linux 5.5 or later)");
    }
    if filter::program().is_none() {
        return Some("a processor whose system calls are known (x86-64, AArch64 or 64-bit RISC-V)");
    }
    if chroot && !can_mount() && !may_become_root() {
        return Some(
            "the right to change the root directory (root, or user namespaces for everyone)",
        );
    }
    None
}
