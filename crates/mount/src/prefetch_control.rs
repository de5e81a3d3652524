//! What all threads know of a prefetch: which may fetch a block, and which must wait.

mod state;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use coldpress_image::StoredBlock;

pub(crate) use self::state::PrefetchPolicy;
pub use self::state::{PrefetchCounts, PrefetchStage};
use self::state::{PrefetchState, Turn};
use crate::block::{BlockKey, key};
use crate::cache::lock;

/// Knows what was asked for and what was prefetched; costs next to nothing when nothing is.
#[derive(Debug, Default)]
pub(crate) struct PrefetchControl {
    is_open: AtomicBool,
    state: Mutex<PrefetchState>,
    changed: Condvar,
}

impl PrefetchControl {
    /// Begins a prefetch.
    pub(crate) fn open(&self, policy: PrefetchPolicy) {
        lock(&self.state).open(policy);
        self.is_open.store(true, Ordering::Release);
    }

    /// There is nothing more to be prefetched; what was is still waited for.
    pub(crate) fn finish(&self) {
        let mut state = lock(&self.state);
        state.leave(PrefetchStage::Done);
        let is_over = state.is_over();
        drop(state);
        if is_over {
            self.close();
        }
    }

    /// Nothing is prefetched any more, and nobody waits.
    pub(crate) fn close(&self) {
        self.is_open.store(false, Ordering::Release);
        lock(&self.state).close();
        self.changed.notify_all();
    }

    pub(crate) fn counts(&self) -> PrefetchCounts {
        lock(&self.state).counts
    }

    /// A file of the profile is not in the image.
    pub(crate) fn note_missing(&self) {
        lock(&self.state).counts.missing += 1;
    }

    /// A request is being answered until the value is dropped.
    pub(crate) fn request(&self) -> Option<Answering<'_>> {
        if !self.is_open.load(Ordering::Acquire) {
            return None;
        }
        lock(&self.state).requests += 1;
        Some(Answering(self))
    }

    /// A request needs a block.
    pub(crate) fn asked(&self, key: BlockKey) {
        if !self.is_open.load(Ordering::Acquire) {
            return;
        }
        let mut state = lock(&self.state);
        if !state.asked(key) {
            return;
        }
        if state.is_poor() {
            state.leave(PrefetchStage::GivenUp);
        }
        let is_over = state.is_over();
        drop(state);
        if is_over {
            self.close();
        } else {
            self.changed.notify_all();
        }
    }

    /// Waits until a block may be prefetched; `None` if it was asked for or prefetched before.
    ///
    /// # Errors
    ///
    /// Nothing is prefetched any more.
    pub(crate) fn take(
        self: &Arc<Self>,
        block: &StoredBlock,
    ) -> Result<Option<(Ticket, Fetching)>, Over> {
        let mut state = lock(&self.state);
        loop {
            match state.turn(block) {
                Turn::Now => {
                    let Some(delay) = state.delay() else {
                        state.take(block);
                        let ticket = Ticket {
                            prefetch_control: Arc::clone(self),
                            key: key(block),
                        };
                        return Ok(Some((ticket, Fetching(Arc::clone(self)))));
                    };
                    let waited = self.changed.wait_timeout(state, delay);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                Turn::Later => {
                    let waited = self.changed.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
                Turn::Never => return Ok(None),
                Turn::Over => return Err(Over),
            }
        }
    }
}

/// That nothing is prefetched any more.
#[derive(Debug)]
pub(crate) struct Over;

/// A request that is being answered: prefetching gives way to it.
#[derive(Debug)]
pub(crate) struct Answering<'a>(&'a PrefetchControl);

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.requests = state.requests.saturating_sub(1);
        drop(state);
        self.0.changed.notify_one();
    }
}

/// A block that is being prefetched; dropped when it is there.
#[derive(Debug)]
pub(crate) struct Fetching(Arc<PrefetchControl>);

impl Drop for Fetching {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.fetching = state.fetching.saturating_sub(1);
        drop(state);
        self.0.changed.notify_one();
    }
}

/// Is kept with a prefetched block, and tells when that is thrown out.
#[derive(Debug)]
pub(crate) struct Ticket {
    prefetch_control: Arc<PrefetchControl>,
    key: BlockKey,
}

impl Ticket {
    /// The block was there before this thread came to it.
    pub(crate) fn give_back(self, block: &StoredBlock) {
        lock(&self.prefetch_control.state).give_back(block);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        lock(&self.prefetch_control.state).dropped(self.key);
        self.prefetch_control.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use coldpress_format::BlockWord;

    use super::*;
    use crate::pace::Pace;

    fn block(start: u64) -> StoredBlock {
        StoredBlock {
            start,
            word: BlockWord::new(100, true),
            len_bytes: 4096,
            is_fragment: false,
        }
    }

    fn opened(busy_max: usize, warm_up_blocks: u64) -> Arc<PrefetchControl> {
        let prefetch_control = Arc::new(PrefetchControl::default());
        prefetch_control.open(PrefetchPolicy {
            busy_max,
            held_bytes_max: 1 << 20,
            warm_up_blocks,
            pace: Pace::new(Instant::now(), None),
        });
        prefetch_control
    }

    #[test]
    fn who_gives_way_goes_on_when_the_request_is_answered() {
        let prefetch_control = opened(1, 100);
        let request = prefetch_control.request();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| prefetch_control.take(&block(1)).unwrap().is_some());
            drop(request);
            assert!(waiting.join().unwrap());
        });
        assert!(prefetch_control.take(&block(1)).unwrap().is_none());
        // It was never kept.
        assert_eq!(
            (
                prefetch_control.counts().prefetched,
                prefetch_control.counts().wasted
            ),
            (1, 1)
        );
    }

    #[test]
    fn who_waits_is_told_that_it_is_given_up() {
        let prefetch_control = opened(2, 1);
        let (ticket, fetching) = prefetch_control.take(&block(1)).unwrap().unwrap();
        let request = prefetch_control.request();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| prefetch_control.take(&block(2)).is_err());
            prefetch_control.asked(key(&block(3)));
            assert!(waiting.join().unwrap());
        });
        assert_eq!(prefetch_control.counts().stage, PrefetchStage::GivenUp);
        drop((ticket, fetching, request));
        assert!(prefetch_control.request().is_none());
        assert_eq!(prefetch_control.counts().wasted, 0);
    }

    #[test]
    fn who_waits_is_told_of_the_end() {
        let prefetch_control = opened(0, 100);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| prefetch_control.take(&block(1)).is_err());
            prefetch_control.close();
            assert!(waiting.join().unwrap());
        });
    }
}
