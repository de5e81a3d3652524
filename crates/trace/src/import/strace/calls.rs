//! Calls, followed one after the other.

use super::act::Act;
use super::arguments::Call;
use super::lookups::lookup_of;
use super::processes::{Processes, Sharing};
use crate::import::notes::Notes;

/// Knows the processes and sees what their calls access.
#[derive(Debug, Default)]
pub(super) struct Follower {
    pub(super) processes: Processes,
}

impl Follower {
    /// Follows a call that has returned.
    ///
    /// * `when`: the time at which it began, and the process.
    /// * `line`: for messages.
    pub(super) fn follow(
        &mut self,
        when: (u64, u32),
        name: &[u8],
        call: &Call<'_>,
        line: &[u8],
        notes: &mut Notes,
    ) {
        let (_, pid) = when;
        if let Some(sharing) = Sharing::of(name, call.text) {
            if let Some(child) = call.outcome.small().filter(|child| *child > 0) {
                self.processes.fork(pid, child, sharing, notes);
            }
            self.processes.end_fork(pid);
            return;
        }
        let process = self.processes.of(pid, notes);
        let mut act = Act {
            when,
            process,
            call,
            line,
            notes,
        };
        match name {
            b"open" | b"creat" => act.open(None, 0),
            b"openat" | b"openat2" => act.open(Some(0), 1),
            b"execve" => act.execute(None, 0),
            b"execveat" => act.execute(Some(0), 1),
            b"read" | b"readv" => act.read_on(0),
            b"pread64" | b"pread" | b"preadv" | b"preadv2" => act.read_at(0, 3),
            b"sendfile" | b"sendfile64" => act.send(1, 2),
            b"copy_file_range" | b"splice" => act.send(0, 1),
            b"mmap" | b"mmap2" => act.map(),
            b"lseek" => act.seek(),
            b"getdents" | b"getdents64" => act.list(),
            b"close" => act.close(),
            b"dup" | b"dup2" | b"dup3" => act.duplicate(),
            b"fcntl" | b"fcntl64" if call.argument(1).starts_with(b"F_DUPFD") => act.duplicate(),
            b"chdir" => act.change_directory(),
            b"fchdir" => act.change_to_descriptor(),
            b"getcwd" => act.told_directory(),
            b"chroot" => act.change_root(),
            _ => {
                if let Some(lookup) = lookup_of(name) {
                    act.look_up(lookup);
                }
            }
        }
    }
}
