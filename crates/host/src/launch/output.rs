//! What a program prints: taken at once, and all but the end of it thrown away.

use std::io::{ErrorKind, Read};
use std::mem;
use std::process::{ChildStderr, ChildStdout};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::ready::{Lines, Pattern};
use crate::Error;

/// Enough for the last words of a program that failed.
const TAIL_BYTES: usize = 4096;

/// What one read takes at most: the capacity of a pipe.
const READ_BYTES: usize = 64 << 10;

/// After the end, a pipe holds no more than its capacity, 1 MiB for root at most by default;
/// whoever still writes then has escaped and is not listened to for ever.
const LAST_READS: usize = 16;

/// Both pipes of a program.
#[derive(Debug)]
pub(super) struct Output {
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
    buffer: Vec<u8>,
}

/// The ends that are read.
pub(super) type Pipes = (Option<ChildStdout>, Option<ChildStderr>);

#[derive(Debug)]
struct Pipe<R> {
    /// Nothing after the end of the stream.
    reader: Option<R>,
    tail: Vec<u8>,
    lines: Option<Lines>,
}

impl Output {
    /// * `awaited`: a line to look for.
    pub(super) fn of((stdout, stderr): Pipes, awaited: Option<&Pattern>) -> Result<Self, Error> {
        Ok(Self {
            stdout: Pipe::new(stdout, awaited)?,
            stderr: Pipe::new(stderr, awaited)?,
            buffer: vec![0; READ_BYTES],
        })
    }

    /// The pipes to poll.
    pub(super) fn open_pipes(&self) -> impl Iterator<Item = PollFd<'_>> {
        let stdout = self.stdout.reader.as_ref();
        let stderr = self.stderr.reader.as_ref();
        let stdout = stdout.map(|pipe| PollFd::new(pipe, PollFlags::IN));
        let stderr = stderr.map(|pipe| PollFd::new(pipe, PollFlags::IN));
        stdout.into_iter().chain(stderr)
    }

    /// Takes what is there, at most one read of each; never waits.
    pub(super) fn read_some(&mut self) -> bool {
        let more = self.stdout.read(&mut self.buffer);
        self.stderr.read(&mut self.buffer) || more
    }

    /// Takes what is left when the program has ended.
    pub(super) fn drain(&mut self) {
        for _ in 0..LAST_READS {
            if !self.read_some() {
                break;
            }
        }
    }

    /// Whether the awaited line was among what was taken.
    pub(super) fn has_line(&self) -> bool {
        let found = |lines: &Option<Lines>| lines.as_ref().is_some_and(Lines::found);
        found(&self.stdout.lines) || found(&self.stderr.lines)
    }

    pub(super) fn take_tails(&mut self) -> [Vec<u8>; 2] {
        [&mut self.stdout.tail, &mut self.stderr.tail].map(mem::take)
    }
}

impl<R: Read + std::os::fd::AsFd> Pipe<R> {
    fn new(reader: Option<R>, awaited: Option<&Pattern>) -> Result<Self, Error> {
        if let Some(reader) = &reader {
            fcntl_getfl(reader)
                .and_then(|flags| fcntl_setfl(reader, flags | OFlags::NONBLOCK))
                .map_err(|errno| Error::System {
                    action: "read the program's output without waiting",
                    source: errno.into(),
                })?;
        }
        Ok(Self {
            reader,
            tail: Vec::new(),
            lines: awaited.map(Lines::new),
        })
    }

    /// Returns whether there was something.
    fn read(&mut self, buffer: &mut [u8]) -> bool {
        let Some(reader) = &mut self.reader else {
            return false;
        };
        match reader.read(buffer) {
            Ok(0) => {
                self.reader = None;
                // A last line needs no line end.
                self.lines.iter_mut().for_each(|lines| lines.take(b"\n"));
            }
            Ok(len) => {
                keep_tail(&mut self.tail, &buffer[..len]);
                self.lines
                    .iter_mut()
                    .for_each(|lines| lines.take(&buffer[..len]));
                return true;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return true,
            Err(_) => self.reader = None,
        }
        false
    }
}

fn keep_tail(tail: &mut Vec<u8>, new: &[u8]) {
    tail.extend_from_slice(&new[new.len().saturating_sub(TAIL_BYTES)..]);
    tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = Vec::new();
        keep_tail(&mut tail, b"abc");
        keep_tail(&mut tail, b"");
        assert_eq!(tail, b"abc");
        keep_tail(&mut tail, &[b'x'; TAIL_BYTES - 1]);
        assert_eq!((tail.len(), tail[0]), (TAIL_BYTES, b'c'));
        keep_tail(&mut tail, &vec![b'y'; READ_BYTES]);
        assert_eq!(tail, vec![b'y'; TAIL_BYTES]);
    }
}
