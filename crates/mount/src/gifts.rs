//! Giving the kernel what it did not ask for: the rest of a block of which it asked for a part.
//!
//! The kernel asks for 128 KiB at most unless an administrator allows more, so that a block of 1 MiB
//! would be asked for in eight pieces, at eight times, and kept or decompressed again meanwhile.

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

/// Gifts that wait; what cannot be given at once will be asked for.
const WAITING_MAX: usize = 8;
/// After how long a gift comes too late. Giving keeps the mount busy, and whoever unmounts it when a program has ended is not to
/// be refused: `fusermount3` takes about as long to start.
const GIFT_AGE_MAX: Duration = Duration::from_millis(2);
/// The kernel reads no more at a time on advice, unless an administrator allows it.
const PIECE_BYTES: usize = 128 << 10;

/// Lets the kernel read a range of a file, by its path from the root of the mount.
pub type Give = Box<dyn Fn(&Path, Range<u64>) -> io::Result<()> + Send>;

/// A block of a file, some of which is in an answer or on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gift {
    pub(crate) node: NodeId,
    /// Bytes of the file that the block has.
    pub(crate) whole: Range<u64>,
    /// Of these, what was asked for.
    pub(crate) asked: Range<u64>,
}

impl Gift {
    /// What is to be given, in pieces.
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

/// Gifts on their way from those who answer to the one who gives.
///
/// Who answers must not give: the kernel may let it wait for requests that nobody answers meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Gifts {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(Instant, Gift)>,
    is_open: bool,
    given_bytes: u64,
}

impl Gifts {
    /// Gives what of a block was not asked for; returns whether it will be.
    pub(crate) fn offer(&self, gift: Gift) -> bool {
        let mut state = lock(&self.state);
        if !state.is_open || state.waiting.len() >= WAITING_MAX {
            return false;
        }
        state.waiting.push_back((Instant::now(), gift));
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Bytes that the kernel was made to ask for.
    pub(crate) fn given_bytes(&self) -> u64 {
        lock(&self.state).given_bytes
    }

    fn take(&self) -> Option<(Instant, Gift)> {
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

/// The thread that gives; it ends on drop.
#[derive(Debug)]
pub struct Giver {
    file_system: Arc<FileSystem>,
    thread: Option<JoinHandle<()>>,
}

impl Giver {
    /// Starts it, once for a file system.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had.
    pub fn start(file_system: &Arc<FileSystem>, give: Give) -> io::Result<Self> {
        lock(&file_system.gifts().state).is_open = true;
        let giving = Arc::clone(file_system);
        let thread = thread::Builder::new().name("giver".to_owned());
        let thread = thread.spawn(move || giving.give(&give))?;
        Ok(Self {
            file_system: Arc::clone(file_system),
            thread: Some(thread),
        })
    }
}

impl Drop for Giver {
    fn drop(&mut self) {
        self.file_system.gifts().end();
        if let Some(thread) = self.thread.take() {
            // One that panicked has nothing to say.
            let _ = thread.join();
        }
    }
}

impl FileSystem {
    /// Gives until it is over.
    fn give(&self, give: &Give) {
        while let Some((asked_at, gift)) = self.gifts().take() {
            let Some(path) = self.known_path(gift.node) else {
                continue;
            };
            let in_time = |_: &Range<u64>| asked_at.elapsed() < GIFT_AGE_MAX;
            for piece in gift.pieces().take_while(in_time) {
                let len_bytes = piece.end - piece.start;
                if give(&path, piece).is_err() {
                    break;
                }
                lock(&self.gifts().state).given_bytes += len_bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gift(node: u64) -> Gift {
        Gift {
            node: NodeId(node),
            whole: 0..100,
            asked: 10..20,
        }
    }

    #[test]
    fn what_is_behind_comes_before_what_is_in_front() {
        let piece = PIECE_BYTES as u64;
        let gift = |asked: Range<u64>| Gift {
            node: NodeId::ROOT,
            whole: 100..100 + 3 * piece,
            asked,
        };
        let pieces = |asked| gift(asked).pieces().collect::<Vec<_>>();
        assert_eq!(pieces(100..100 + 3 * piece), []);
        let (start, middle, end) = (100, 100 + piece, 100 + 3 * piece);
        let two = [middle..middle + piece, middle + piece..end];
        assert_eq!(pieces(start..middle), two);
        let around = [end - 1..end, start..start + 7];
        assert_eq!(pieces(start + 7..end - 1), around);
    }

    #[test]
    fn nothing_is_given_where_nobody_gives_and_not_too_much_at_a_time() {
        let gifts = Gifts::default();
        assert!(!gifts.offer(gift(1)));
        lock(&gifts.state).is_open = true;
        for node in 0..WAITING_MAX as u64 {
            assert!(gifts.offer(gift(node)), "{node}");
        }
        assert!(!gifts.offer(gift(99)));
        assert_eq!(gifts.take().unwrap().1, gift(0));
        assert!(gifts.offer(gift(99)));
        gifts.end();
        assert!(gifts.take().is_none());
        assert!(!gifts.offer(gift(1)));
    }
}
