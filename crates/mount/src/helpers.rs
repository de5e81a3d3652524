//! Threads that decompress a part of what a request needs, or what the next one will.

use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use coldpress_image::StoredBlock;

use crate::cache::lock;
use crate::file_system::FileSystem;

/// Blocks on their way from those who answer to those who help.
///
/// One is handed over only to a helper that has nothing to do, so none waits here for long and none
/// is decompressed when nobody needs it any more.
#[derive(Default)]
pub(crate) struct Offers {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    offered: VecDeque<StoredBlock>,
    /// Helpers that wait.
    idle: usize,
    /// How many blocks helpers took.
    taken: u64,
    is_over: bool,
}

impl Offers {
    /// Offers a block; returns whether a helper takes it.
    pub(crate) fn offer(&self, block: StoredBlock) -> bool {
        let mut state = lock(&self.state);
        if state.offered.len() >= state.idle {
            return false;
        }
        state.offered.push_back(block);
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Waits for a block; `None` once it is over.
    pub(crate) fn take(&self) -> Option<StoredBlock> {
        let mut state = lock(&self.state);
        state.idle += 1;
        while state.offered.is_empty() && !state.is_over {
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.idle -= 1;
        let block = state.offered.pop_front().filter(|_| !state.is_over);
        state.taken += u64::from(block.is_some());
        block
    }

    /// How many blocks helpers took.
    pub(crate) fn taken(&self) -> u64 {
        lock(&self.state).taken
    }

    fn end(&self) {
        lock(&self.state).is_over = true;
        self.changed.notify_all();
    }
}

/// Threads that help those who answer requests; they end on drop.
///
/// They have the priority of all others: who asks for a block that one of them decompresses waits
/// for it.
#[derive(Debug)]
pub struct Helpers {
    file_system: Arc<FileSystem>,
    threads: Vec<JoinHandle<()>>,
}

impl Helpers {
    /// Starts them, once for a file system. They sleep until a read needs several blocks, or goes
    /// on where the one before it ended.
    ///
    /// # Errors
    ///
    /// If there are no threads to be had.
    pub fn start(file_system: &Arc<FileSystem>, count: NonZeroUsize) -> io::Result<Self> {
        let mut helpers = Self {
            file_system: Arc::clone(file_system),
            threads: Vec::new(),
        };
        for _ in 0..count.get() {
            let file_system = Arc::clone(file_system);
            let thread = thread::Builder::new().name("helper".to_owned());
            let thread = thread.spawn(move || file_system.help())?;
            helpers.threads.push(thread);
        }
        Ok(helpers)
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        self.file_system.offers().end();
        for thread in self.threads.drain(..) {
            // One that panicked has nothing to say.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use coldpress_format::BlockWord;

    use super::*;

    fn block(start: u64) -> StoredBlock {
        StoredBlock {
            start,
            word: BlockWord::SPARSE,
            len_bytes: 1,
            is_fragment: false,
        }
    }

    /// Waits until so many helpers have nothing to do.
    fn until_idle(offers: &Offers, count: usize) {
        while lock(&offers.state).idle < count {
            thread::yield_now();
        }
    }

    #[test]
    fn a_block_is_handed_over_to_who_is_idle_and_to_nobody_else() {
        let offers = Offers::default();
        assert!(!offers.offer(block(0)));
        thread::scope(|scope| {
            let taken = scope.spawn(|| offers.take());
            until_idle(&offers, 1);
            // Whether or not the helper has woken up in between: it takes one.
            let first = offers.offer(block(1));
            let second = offers.offer(block(2));
            assert_eq!((first, second), (true, false));
            assert_eq!(taken.join().unwrap(), Some(block(1)));
        });
        assert_eq!(offers.taken(), 1);
    }

    #[test]
    fn nobody_waits_any_more_once_it_is_over() {
        let offers = Offers::default();
        thread::scope(|scope| {
            let waiting = [(); 3].map(|()| scope.spawn(|| offers.take()));
            until_idle(&offers, 3);
            offers.end();
            for waiting in waiting {
                assert_eq!(waiting.join().unwrap(), None);
            }
        });
        assert_eq!(offers.take(), None);
    }
}
