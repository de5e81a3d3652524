//! Makes the kernel's page cache take the rest of a block of which the kernel asked for a part.
//!
//! The kernel asks for at most 128 KiB at a time, unless an administrator allows more. Without
//! this, it would ask for a block of 1 MiB eight times, and the mount would have to keep the block,
//! or decompress it again.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::cache::lock;
use crate::file_system::FileSystem;
use crate::node::NodeId;

/// Rests of blocks that may wait. The kernel asks later for those that find no room.
const WAITING_MAX: usize = 8;
/// After this time a push is too late. A push keeps the mount busy, and must not make an unmount
/// fail that follows the end of a program: `fusermount3` takes about as long to start.
const PUSH_AGE_MAX: Duration = Duration::from_millis(2);
/// The kernel reads no more at a time on advice, unless an administrator allows it.
const PIECE_BYTES: usize = 128 << 10;

/// Lets the kernel read a range of a file, by its path from the root of the mount.
pub type ReadAhead = Box<dyn Fn(&Path, Range<u64>) -> io::Result<()> + Send>;

/// A block of a file, some of which is in an answer or on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockRest {
    pub(crate) node: NodeId,
    /// Bytes of the file that the block has.
    pub(crate) whole: Range<u64>,
    /// Of these, what was asked for.
    pub(crate) asked: Range<u64>,
}

impl BlockRest {
    /// What the kernel did not ask for, in pieces.
    fn pieces(&self) -> impl Iterator<Item = Range<u64>> {
        let rest = [
            self.asked.end..self.whole.end,
            self.whole.start..self.asked.start,
        ];
        rest.into_iter().flat_map(|rest| {
            let starts = (rest.start..rest.end).step_by(PIECE_BYTES);
            starts.map(move |start| start..rest.end.min(start + PIECE_BYTES as u64))
        })
    }
}

/// Rests of blocks on their way from the threads that answer requests to the [`Pusher`].
///
/// A thread that answers must not push: the kernel may make it wait for requests that nobody
/// answers in the meantime.
#[derive(Debug, Default)]
pub(crate) struct PushQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(Instant, BlockRest)>,
    is_open: bool,
    pushed_bytes: u64,
}

impl PushQueue {
    /// Queues the rest of a block; returns whether there was room.
    pub(crate) fn offer(&self, rest: BlockRest) -> bool {
        let mut state = lock(&self.state);
        if !state.is_open || state.waiting.len() >= WAITING_MAX {
            return false;
        }
        state.waiting.push_back((Instant::now(), rest));
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Bytes that the kernel was made to ask for.
    pub(crate) fn pushed_bytes(&self) -> u64 {
        lock(&self.state).pushed_bytes
    }

    fn take(&self) -> Option<(Instant, BlockRest)> {
        let mut state = lock(&self.state);
        while state.waiting.is_empty() && state.is_open {
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.pop_front().filter(|_| state.is_open)
    }

    fn end(&self) {
        lock(&self.state).is_open = false;
        self.changed.notify_all();
    }
}

/// The thread that pushes; it ends on drop.
#[derive(Debug)]
pub struct Pusher {
    file_system: Arc<FileSystem>,
    thread: Option<JoinHandle<()>>,
}

impl Pusher {
    /// Starts it, once for a file system.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had.
    pub fn start(file_system: &Arc<FileSystem>, read_ahead: ReadAhead) -> io::Result<Self> {
        lock(&file_system.push_queue().state).is_open = true;
        let pushing = Arc::clone(file_system);
        let thread = thread::Builder::new().name("pusher".to_owned());
        let thread = thread.spawn(move || pushing.push(&read_ahead))?;
        Ok(Self {
            file_system: Arc::clone(file_system),
            thread: Some(thread),
        })
    }
}

impl Drop for Pusher {
    fn drop(&mut self) {
        self.file_system.push_queue().end();
        if let Some(thread) = self.thread.take() {
            // One that panicked has nothing to say.
            let _ = thread.join();
        }
    }
}

impl FileSystem {
    /// Pushes until the queue ends.
    fn push(&self, read_ahead: &ReadAhead) {
        while let Some((asked_at, rest)) = self.push_queue().take() {
            let Some(path) = self.known_path(rest.node) else {
                continue;
            };
            let in_time = |_: &Range<u64>| asked_at.elapsed() < PUSH_AGE_MAX;
            for piece in rest.pieces().take_while(in_time) {
                let len_bytes = piece.end - piece.start;
                if read_ahead(&path, piece).is_err() {
                    break;
                }
                lock(&self.push_queue().state).pushed_bytes += len_bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(node: u64) -> BlockRest {
        BlockRest {
            node: NodeId(node),
            whole: 0..100,
            asked: 10..20,
        }
    }

    #[test]
    fn what_follows_comes_before_what_precedes() {
        let piece = PIECE_BYTES as u64;
        let rest = |asked: Range<u64>| BlockRest {
            node: NodeId::ROOT,
            whole: 100..100 + 3 * piece,
            asked,
        };
        let pieces = |asked| rest(asked).pieces().collect::<Vec<_>>();
        assert_eq!(pieces(100..100 + 3 * piece), []);
        let (start, middle, end) = (100, 100 + piece, 100 + 3 * piece);
        let two = [middle..middle + piece, middle + piece..end];
        assert_eq!(pieces(start..middle), two);
        let around = [end - 1..end, start..start + 7];
        assert_eq!(pieces(start + 7..end - 1), around);
    }

    #[test]
    fn without_a_pusher_nothing_is_queued_and_the_queue_has_an_end() {
        let queue = PushQueue::default();
        assert!(!queue.offer(rest(1)));
        lock(&queue.state).is_open = true;
        for node in 0..WAITING_MAX as u64 {
            assert!(queue.offer(rest(node)), "{node}");
        }
        assert!(!queue.offer(rest(99)));
        assert_eq!(queue.take().unwrap().1, rest(0));
        assert!(queue.offer(rest(99)));
        queue.end();
        assert!(queue.take().is_none());
        assert!(!queue.offer(rest(1)));
    }
}
