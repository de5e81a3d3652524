//! The book that is kept of a prefetch, for all threads: who may fetch, who has to wait.

mod book;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use coldpress_image::StoredBlock;

pub(crate) use self::book::Terms;
use self::book::{Book, Turn};
pub use self::book::{PrefetchCounts, PrefetchStage};
use crate::block::{BlockKey, key};
use crate::cache::lock;

/// Knows what was asked for and what was prefetched; costs next to nothing when nothing is.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    is_open: AtomicBool,
    book: Mutex<Book>,
    changed: Condvar,
}

impl Ledger {
    /// Begins a prefetch.
    pub(crate) fn open(&self, terms: Terms) {
        lock(&self.book).open(terms);
        self.is_open.store(true, Ordering::Release);
    }

    /// There is nothing more to be prefetched; what was is still waited for.
    pub(crate) fn finish(&self) {
        let mut book = lock(&self.book);
        book.leave(PrefetchStage::Done);
        let is_over = book.is_over();
        drop(book);
        if is_over {
            self.close();
        }
    }

    /// Nothing is prefetched any more, and nobody waits.
    pub(crate) fn close(&self) {
        self.is_open.store(false, Ordering::Release);
        lock(&self.book).close();
        self.changed.notify_all();
    }

    pub(crate) fn counts(&self) -> PrefetchCounts {
        lock(&self.book).counts
    }

    /// A file of the profile is not in the image.
    pub(crate) fn note_missing(&self) {
        lock(&self.book).counts.missing += 1;
    }

    /// A request is being answered until the value is dropped.
    pub(crate) fn request(&self) -> Option<Answering<'_>> {
        if !self.is_open.load(Ordering::Acquire) {
            return None;
        }
        lock(&self.book).requests += 1;
        Some(Answering(self))
    }

    /// A request needs a block.
    pub(crate) fn asked(&self, key: BlockKey) {
        if !self.is_open.load(Ordering::Acquire) {
            return;
        }
        let mut book = lock(&self.book);
        if !book.asked(key) {
            return;
        }
        if book.is_poor() {
            book.leave(PrefetchStage::GivenUp);
        }
        let is_over = book.is_over();
        drop(book);
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
        let mut book = lock(&self.book);
        loop {
            match book.turn(block) {
                Turn::Now => {
                    let Some(delay) = book.delay() else {
                        book.take(block);
                        let ticket = Ticket {
                            ledger: Arc::clone(self),
                            key: key(block),
                        };
                        return Ok(Some((ticket, Fetching(Arc::clone(self)))));
                    };
                    let waited = self.changed.wait_timeout(book, delay);
                    book = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                Turn::Later => {
                    let waited = self.changed.wait(book);
                    book = waited.unwrap_or_else(PoisonError::into_inner);
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
pub(crate) struct Answering<'a>(&'a Ledger);

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        let mut book = lock(&self.0.book);
        book.requests = book.requests.saturating_sub(1);
        drop(book);
        self.0.changed.notify_one();
    }
}

/// A block that is being prefetched; dropped when it is there.
#[derive(Debug)]
pub(crate) struct Fetching(Arc<Ledger>);

impl Drop for Fetching {
    fn drop(&mut self) {
        let mut book = lock(&self.0.book);
        book.fetching = book.fetching.saturating_sub(1);
        drop(book);
        self.0.changed.notify_one();
    }
}

/// Is kept with a prefetched block, and tells when that is thrown out.
#[derive(Debug)]
pub(crate) struct Ticket {
    ledger: Arc<Ledger>,
    key: BlockKey,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        lock(&self.ledger.book).dropped(self.key);
        self.ledger.changed.notify_one();
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

    fn opened(busy_max: usize, warm_up_blocks: u64) -> Arc<Ledger> {
        let ledger = Arc::new(Ledger::default());
        ledger.open(Terms {
            busy_max,
            held_bytes_max: 1 << 20,
            warm_up_blocks,
            pace: Pace::new(Instant::now(), None),
        });
        ledger
    }

    #[test]
    fn who_gives_way_goes_on_when_the_request_is_answered() {
        let ledger = opened(1, 100);
        let request = ledger.request();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| ledger.take(&block(1)).unwrap().is_some());
            drop(request);
            assert!(waiting.join().unwrap());
        });
        assert!(ledger.take(&block(1)).unwrap().is_none());
        // It was never kept.
        assert_eq!((ledger.counts().prefetched, ledger.counts().wasted), (1, 1));
    }

    #[test]
    fn who_waits_is_told_that_it_is_given_up() {
        let ledger = opened(2, 1);
        let (ticket, fetching) = ledger.take(&block(1)).unwrap().unwrap();
        let request = ledger.request();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| ledger.take(&block(2)).is_err());
            ledger.asked(key(&block(3)));
            assert!(waiting.join().unwrap());
        });
        assert_eq!(ledger.counts().stage, PrefetchStage::GivenUp);
        drop((ticket, fetching, request));
        assert!(ledger.request().is_none());
        assert_eq!(ledger.counts().wasted, 0);
    }

    #[test]
    fn who_waits_is_told_of_the_end() {
        let ledger = opened(0, 100);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| ledger.take(&block(1)).is_err());
            ledger.close();
            assert!(waiting.join().unwrap());
        });
    }
}
