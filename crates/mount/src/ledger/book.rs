//! What may be prefetched now, and what became of what was.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;
use std::time::{Duration, Instant};

use coldpress_image::StoredBlock;

use crate::block::{BlockKey, key};
use crate::pace::Pace;

/// The most blocks whose fate is known, some 12 MiB: 32 GiB of files at 128 KiB.
const FATES_MAX: usize = 256 << 10;
/// One in so many prefetched blocks must be asked for.
const USEFUL_SHARE: u64 = 4;

/// How often a prefetch was of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefetchCounts {
    /// Blocks that requests needed while there was something to prefetch, each once.
    pub asked: u64,
    /// Blocks that were prefetched.
    pub prefetched: u64,
    /// Bytes of the image that were read for these.
    pub read_bytes: u64,
    /// Of these blocks, those that a request needed while they were there or on their way.
    pub used: u64,
    /// Those that were thrown out before anybody needed them, or that cannot be read.
    pub wasted: u64,
    /// Files of the profile that the image does not have.
    pub missing: u64,
    /// How far it is.
    pub stage: PrefetchStage,
}

/// How far a prefetch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrefetchStage {
    /// There is none.
    #[default]
    None,
    /// There is more to be prefetched.
    Running,
    /// Everything was prefetched, or asked for before.
    Done,
    /// Too little of it was asked for.
    GivenUp,
}

/// On what terms is prefetched.
#[derive(Debug)]
pub(crate) struct Terms {
    /// Threads that may decompress at a time, those that answer requests included.
    pub(crate) busy_max: usize,
    /// Memory for what nobody has asked for yet.
    pub(crate) held_bytes_max: u64,
    /// So many blocks must have been prefetched, and asked for, before it can be said what it is worth.
    pub(crate) warm_up_blocks: u64,
    pub(crate) pace: Pace,
}

/// Entries without locks: who holds it decides, and nobody waits here.
#[derive(Debug, Default)]
pub(super) struct Book {
    terms: Option<Terms>,
    fates: HashMap<BlockKey, Fate>,
    /// Memory of what was prefetched and not asked for yet.
    held_bytes: u64,
    /// Requests that are being answered.
    pub(super) requests: usize,
    /// Threads that are prefetching a block.
    pub(super) fetching: usize,
    pub(super) counts: PrefetchCounts,
}

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// A request needed it, whether or not it had been prefetched.
    Asked,
    /// It was prefetched, takes so many bytes, and nobody has asked for it yet.
    Held(u32),
    /// It was prefetched, and thrown out.
    Wasted,
}

/// Whether a block may be prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    /// Too much is going on, or too much is held.
    Later,
    /// It was asked for or prefetched before.
    Never,
    /// Nothing is prefetched any more.
    Over,
}

impl Book {
    pub(super) fn open(&mut self, terms: Terms) {
        self.terms = Some(terms);
        self.counts.stage = PrefetchStage::Running;
    }

    /// Nothing more is noted.
    pub(super) fn close(&mut self) {
        self.terms = None;
        self.fates = HashMap::new();
    }

    pub(super) fn turn(&self, block: &StoredBlock) -> Turn {
        let Some(terms) = &self.terms else {
            return Turn::Over;
        };
        if self.fates.contains_key(&key(block)) {
            return Turn::Never;
        }
        if self.fates.len() >= FATES_MAX {
            return Turn::Over;
        }
        let held_bytes = self.held_bytes.saturating_add(block.len_bytes.into());
        let has_room = held_bytes <= terms.held_bytes_max;
        if has_room && self.requests + self.fetching < terms.busy_max {
            Turn::Now
        } else {
            Turn::Later
        }
    }

    /// How long the next read has to wait for the bandwidth.
    pub(super) fn delay(&self) -> Option<Duration> {
        let pace = &self.terms.as_ref()?.pace;
        pace.delay(self.counts.read_bytes, Instant::now())
    }

    /// A block is being prefetched.
    pub(super) fn take(&mut self, block: &StoredBlock) {
        self.fates.insert(key(block), Fate::Held(block.len_bytes));
        self.held_bytes = self.held_bytes.saturating_add(block.len_bytes.into());
        self.fetching += 1;
        self.counts.prefetched += 1;
        self.counts.read_bytes += u64::from(block.word.size_bytes());
    }

    /// A request needs a block; returns whether that is news.
    pub(super) fn asked(&mut self, key: BlockKey) -> bool {
        let is_noted = self.counts.stage == PrefetchStage::Running && self.fates.len() < FATES_MAX;
        match self.fates.entry(key) {
            Entry::Vacant(free) if is_noted => {
                free.insert(Fate::Asked);
            }
            Entry::Vacant(_) => return false,
            Entry::Occupied(mut known) => match mem::replace(known.get_mut(), Fate::Asked) {
                Fate::Held(bytes) => {
                    self.held_bytes = self.held_bytes.saturating_sub(bytes.into());
                    self.counts.used += 1;
                }
                Fate::Asked => return false,
                Fate::Wasted => {}
            },
        }
        self.counts.asked += 1;
        true
    }

    /// A prefetched block is no longer kept.
    pub(super) fn dropped(&mut self, key: BlockKey) {
        if let Some(fate) = self.fates.get_mut(&key)
            && let Fate::Held(bytes) = *fate
        {
            *fate = Fate::Wasted;
            self.held_bytes = self.held_bytes.saturating_sub(bytes.into());
            self.counts.wasted += 1;
        }
    }

    /// Whether what is prefetched is seldom what is asked for.
    ///
    /// Of two numbers, the lesser counts: what is prefetched far ahead cannot have been asked for
    /// yet, and what was asked for at first cannot have been prefetched.
    pub(super) fn is_poor(&self) -> bool {
        let Some(terms) = &self.terms else {
            return false;
        };
        let known = self.counts.asked.min(self.counts.prefetched);
        known >= terms.warm_up_blocks && self.counts.used.saturating_mul(USEFUL_SHARE) < known
    }

    /// Ends what is running.
    pub(super) fn leave(&mut self, stage: PrefetchStage) {
        if self.counts.stage == PrefetchStage::Running {
            self.counts.stage = stage;
        }
    }

    /// Whether nothing can change any more.
    pub(super) fn is_over(&self) -> bool {
        match self.counts.stage {
            PrefetchStage::None | PrefetchStage::GivenUp => true,
            PrefetchStage::Done => self.held_bytes == 0,
            PrefetchStage::Running => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use coldpress_format::BlockWord;

    use super::*;

    const BLOCK_BYTES: u32 = 4096;

    fn block(start: u64) -> StoredBlock {
        StoredBlock {
            start,
            word: BlockWord::new(100, true),
            len_bytes: BLOCK_BYTES,
            is_fragment: false,
        }
    }

    /// * `held_max`: blocks.
    fn opened(busy_max: usize, held_max: u64, warm_up_blocks: u64) -> Book {
        let mut book = Book::default();
        book.open(Terms {
            busy_max,
            held_bytes_max: held_max * u64::from(BLOCK_BYTES),
            warm_up_blocks,
            pace: Pace::new(Instant::now(), None),
        });
        book
    }

    fn turn(book: &Book, start: u64) -> Turn {
        book.turn(&block(start))
    }

    /// Takes a block that may be taken; it is there at once.
    fn fetched(book: &mut Book, start: u64) {
        assert_eq!((turn(book, start), book.delay()), (Turn::Now, None));
        book.take(&block(start));
        book.fetching -= 1;
    }

    fn asked(book: &mut Book, start: u64) -> bool {
        book.asked(key(&block(start)))
    }

    #[test]
    fn no_more_threads_are_at_work_than_may_be() {
        let mut book = opened(2, 100, 100);
        for (requests, fetching, expected) in [
            (0, 0, Turn::Now),
            (1, 0, Turn::Now),
            (0, 1, Turn::Now),
            (2, 0, Turn::Later),
            (1, 1, Turn::Later),
            (0, 2, Turn::Later),
            (9, 2, Turn::Later),
        ] {
            (book.requests, book.fetching) = (requests, fetching);
            assert_eq!(turn(&book, 1), expected, "{requests} {fetching}");
        }
    }

    #[test]
    fn what_was_asked_for_or_prefetched_is_not_prefetched_again() {
        let mut book = opened(2, 100, 100);
        assert!(asked(&mut book, 1));
        assert!(!asked(&mut book, 1));
        assert_eq!(turn(&book, 1), Turn::Never);
        fetched(&mut book, 2);
        assert_eq!(turn(&book, 2), Turn::Never);
        assert!(asked(&mut book, 2));
        book.dropped(key(&block(2)));
        assert_eq!(turn(&book, 2), Turn::Never);
        let counts = PrefetchCounts {
            asked: 2,
            prefetched: 1,
            read_bytes: 100,
            used: 1,
            stage: PrefetchStage::Running,
            ..PrefetchCounts::default()
        };
        assert_eq!(book.counts, counts);
    }

    #[test]
    fn what_nobody_asked_for_yet_is_bounded() {
        let mut book = opened(2, 2, 100);
        fetched(&mut book, 1);
        fetched(&mut book, 2);
        assert_eq!(turn(&book, 3), Turn::Later);
        asked(&mut book, 2);
        fetched(&mut book, 3);
        assert_eq!(turn(&book, 4), Turn::Later);
        book.dropped(key(&block(1)));
        fetched(&mut book, 4);
        // Another block of its name, and one that was used.
        book.dropped(key(&block(1)));
        book.dropped(key(&block(2)));
        assert_eq!(turn(&book, 5), Turn::Later);
        assert_eq!((book.counts.used, book.counts.wasted), (1, 1));
        // Late.
        assert!(asked(&mut book, 1));
        assert_eq!((book.counts.used, book.counts.asked), (1, 2));
    }

    #[test]
    fn a_prefetch_of_what_nobody_needs_is_poor() {
        // Of 8 blocks that are prefetched, so many are among the 8 that are asked for.
        for (used, is_poor) in [(0, true), (1, true), (2, false), (8, false)] {
            let mut book = opened(2, 100, 8);
            for start in 0..8 {
                fetched(&mut book, start);
            }
            for start in 8 - used..16 - used {
                assert!(!book.is_poor());
                asked(&mut book, start);
            }
            assert_eq!(book.is_poor(), is_poor, "{used}");
        }
        // Little says nothing.
        let mut book = opened(2, 100, 8);
        for start in 0..7 {
            fetched(&mut book, start);
        }
        for start in 100..200 {
            asked(&mut book, start);
        }
        assert!(!book.is_poor());
    }

    #[test]
    fn it_is_over_once_all_is_known_that_can_be() {
        let mut book = opened(2, 100, 100);
        fetched(&mut book, 1);
        fetched(&mut book, 2);
        book.leave(PrefetchStage::Done);
        book.leave(PrefetchStage::GivenUp);
        for (start, is_over) in [(7, false), (1, false), (2, true)] {
            // What nothing could be prefetched of any more does not count.
            assert_eq!(asked(&mut book, start), start < 7);
            assert_eq!(book.is_over(), is_over, "{start}");
        }
        assert_eq!((book.counts.asked, book.counts.used), (2, 2));
        assert_eq!(book.counts.stage, PrefetchStage::Done);
        book.close();
        assert_eq!(turn(&book, 9), Turn::Over);
    }

    #[test]
    fn nothing_is_prefetched_before_it_began() {
        let book = Book::default();
        assert!(book.is_over());
        assert_eq!(turn(&book, 1), Turn::Over);
    }
}
