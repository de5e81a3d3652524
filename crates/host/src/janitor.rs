//! The way out that also works after `kill -9`.
//!
//! Mounts vanish with the mount namespace and loop devices detach by themselves, but trace
//! instances, cgroups, temporary files and directories stay when a process is killed. So a tiny
//! shell, in a session of its own and deaf to the signals of the terminal, reads from a pipe what
//! there is to remove. When our end of the pipe closes, which the kernel does however we end, it
//! removes that and ends.
//!
//! The rejected alternative is a signal handler: it cannot see `SIGKILL` or the end by memory
//! shortage, the very cases that leave a machine with a slow disk and a full `/tmp`.

use std::borrow::Borrow;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf, absolute};
use std::process::{self, Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cgroup::Cgroup;
use crate::launch::Step;
use crate::tracefs::{Tracefs, belongs_to_the_dead};
use crate::{Error, syscall};

/// A thing that outlives a process that is killed. Nothing but a [`Leftover::Tree`] is removed with
/// what is below it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Leftover {
    /// A trace instance, by its name.
    Trace(String),
    /// A cgroup directory: its processes are killed, then it is removed.
    Cgroup(PathBuf),
    /// One file.
    File(PathBuf),
    /// One directory, which must be empty; if it is a mount point, it is unmounted first.
    Dir(PathBuf),
    /// One directory with all that is in it, but for what is mounted there. Its name begins with
    /// `.coldpress-`, else it stays: see [`crate::Scratch`].
    Tree(PathBuf),
}

/// The janitor; on drop it removes what is still named and has ended when the drop returns.
#[derive(Debug)]
pub struct Janitor {
    child: Child,
    line: Line,
    tracefs: Option<Tracefs>,
}

/// The pipe to the janitor, for those who tell it that something is gone.
#[derive(Debug, Clone)]
pub(crate) struct Line(Arc<Mutex<Option<ChildStdin>>>);

impl Janitor {
    /// Starts the janitor, and removes what coldpress processes that no longer live left in tracefs
    /// and in the cgroups.
    ///
    /// Declare it before whatever it watches, so that it is dropped last.
    ///
    /// # Errors
    ///
    /// [`Error::CannotRun`] if there is no `/bin/sh`.
    pub fn start() -> Result<Self, Error> {
        let tracefs = Tracefs::open().ok();
        sweep(tracefs.as_ref());
        let home = tracefs.as_ref().map_or(Path::new("/"), Tracefs::path);
        let mut command = process::Command::new("/bin/sh");
        command
            .args(["-c", include_str!("janitor.sh"), "coldpress-janitor"])
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        syscall::before_exec(&mut command, vec![Step::Session], None);
        let mut child = command.spawn().map_err(|source| Error::CannotRun {
            program: "/bin/sh".into(),
            place: "the janitor that cleans up after a crash needs it",
            source,
        })?;
        let line = Line(Arc::new(Mutex::new(child.stdin.take())));
        Ok(Self {
            child,
            line,
            tracefs,
        })
    }

    /// Names a thing to remove when this process ends, best before it is made. The newest is
    /// removed first. Watching what does not exist is harmless.
    pub fn watch(&self, leftover: impl Borrow<Leftover>) {
        self.line.tell(&encode(leftover.borrow()));
    }

    /// Takes a name back, because the thing has been removed or is to stay.
    pub fn forget(&self, leftover: &Leftover) {
        self.line.forget(leftover);
    }

    /// The tracing files, mounted privately if need be.
    pub(crate) fn tracefs(&self) -> Option<&Tracefs> {
        self.tracefs.as_ref()
    }

    pub(crate) fn line(&self) -> &Line {
        &self.line
    }
}

impl Line {
    pub(crate) fn forget(&self, leftover: &Leftover) {
        let mut line = b"gone ".to_vec();
        line.extend(encode(leftover));
        self.tell(&line);
    }

    /// One write per line. Without a janitor (it was killed) there is nobody to tell.
    fn tell(&self, line: &[u8]) {
        let mut pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipe) = pipe.as_mut() {
            let _ = pipe.write_all(line);
        }
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        let pipe = self.line.0.lock().map(|mut pipe| pipe.take());
        drop(pipe);
        let _ = self.child.wait();
    }
}

/// One line of the protocol. Bytes that mean something to the shell, and all that are not plain
/// ASCII, become octal escapes for `printf %b`. Paths are made absolute: the janitor works
/// elsewhere.
fn encode(leftover: &Leftover) -> Vec<u8> {
    let absolute = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_owned());
    let (kind, name) = match leftover {
        Leftover::Trace(name) => ("trace", PathBuf::from(name)),
        Leftover::Cgroup(path) => ("cgroup", absolute(path)),
        Leftover::File(path) => ("file", absolute(path)),
        Leftover::Dir(path) => ("dir", absolute(path)),
        Leftover::Tree(path) => ("tree", absolute(path)),
    };
    let mut line = format!("{kind} ").into_bytes();
    for &byte in name.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => line.push(byte),
            _ => line.extend(format!("\\0{byte:03o}").bytes()),
        }
    }
    line.push(b'\n');
    line
}

/// Removes trace instances and cgroups of coldpress processes that are gone, for the case that
/// the janitor was killed too.
fn sweep(tracefs: Option<&Tracefs>) {
    if let Some(tracefs) = tracefs {
        for name in tracefs.instances() {
            if belongs_to_the_dead(&name) {
                tracefs.remove_instance(&name);
            }
        }
    }
    for path in Cgroup::all_of_ours() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if belongs_to_the_dead(&name) {
            drop(Cgroup::adopt(path));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn odd_bytes_are_octal_escapes() {
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        for (leftover, line) in [
            (
                Leftover::Trace("coldpress-1-0".into()),
                "trace coldpress-1-0\n",
            ),
            (Leftover::File(path(b"/tmp/a b")), "file /tmp/a\\0040b\n"),
            (
                Leftover::Dir(path(b"/tmp/\n%\\$")),
                "dir /tmp/\\0012\\0045\\0134\\0044\n",
            ),
            (
                Leftover::Cgroup(path(b"/c/\xff'")),
                "cgroup /c/\\0377\\0047\n",
            ),
        ] {
            assert_eq!(String::from_utf8(encode(&leftover)).unwrap(), line);
        }
    }

    #[test]
    fn the_janitor_is_told_absolute_paths() {
        let here = std::env::current_dir().unwrap();
        let told = encode(&Leftover::Dir("./a/.b".into()));
        assert_eq!(told, encode(&Leftover::Dir(here.join("a/.b"))));
    }

    #[test]
    fn the_script_removes_trees_in_one_place_and_of_one_name() {
        let script = include_str!("janitor.sh");
        assert!(script.contains("rm -f \"$name\""));
        for word in ["rm -r", "rm -fr", "rm -rf", "-R"] {
            assert!(!script.contains(word), "{word}");
        }
        assert_eq!(script.matches("-delete").count(), 1);
        assert_eq!(script.matches("remove_tree \"$name\"").count(), 1);
        assert!(script.contains("/.coldpress-*) remove_tree \"$name\" ;;"));
    }
}
