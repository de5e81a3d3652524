//! What may be prefetched now, and what became of what was.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;
use std::time::{Duration, Instant};

use coldpress_image::StoredBlock;

use crate::block::{BlockKey, key};
use crate::pace::Pace;

/// The most blocks whose state is known, some 12 MiB: 32 GiB of files at 128 KiB.
const BLOCK_STATES_MAX: usize = 256 << 10;
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

/// How much is prefetched, and how fast.
#[derive(Debug)]
pub(crate) struct PrefetchPolicy {
    /// Threads that may decompress at a time, those that answer requests included.
    pub(crate) busy_max: usize,
    /// Memory for what nobody has asked for yet.
    pub(crate) held_bytes_max: u64,
    /// So many blocks must have been prefetched, and asked for, before it can be said what it is
    /// worth.
    pub(crate) warm_up_blocks: u64,
    pub(crate) pace: Pace,
}

/// The state without locks: whoever holds it decides, and nobody waits here.
#[derive(Debug, Default)]
pub(super) struct PrefetchState {
    policy: Option<PrefetchPolicy>,
    block_states: HashMap<BlockKey, BlockState>,
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
enum BlockState {
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

impl PrefetchState {
    pub(super) fn open(&mut self, policy: PrefetchPolicy) {
        self.policy = Some(policy);
        self.counts.stage = PrefetchStage::Running;
    }

    /// Nothing more is noted.
    pub(super) fn close(&mut self) {
        self.policy = None;
        self.block_states = HashMap::new();
    }

    pub(super) fn turn(&self, block: &StoredBlock) -> Turn {
        let Some(policy) = &self.policy else {
            return Turn::Over;
        };
        if self.block_states.contains_key(&key(block)) {
            return Turn::Never;
        }
        if self.block_states.len() >= BLOCK_STATES_MAX {
            return Turn::Over;
        }
        let held_bytes = self.held_bytes.saturating_add(block.len_bytes.into());
        let has_room = held_bytes <= policy.held_bytes_max;
        if has_room && self.requests + self.fetching < policy.busy_max {
            Turn::Now
        } else {
            Turn::Later
        }
    }

    /// How long the next read has to wait for the bandwidth.
    pub(super) fn delay(&self) -> Option<Duration> {
        let pace = &self.policy.as_ref()?.pace;
        pace.delay(self.counts.read_bytes, Instant::now())
    }

    /// A block is being prefetched.
    pub(super) fn take(&mut self, block: &StoredBlock) {
        self.block_states
            .insert(key(block), BlockState::Held(block.len_bytes));
        self.held_bytes = self.held_bytes.saturating_add(block.len_bytes.into());
        self.fetching += 1;
        self.counts.prefetched += 1;
        self.counts.read_bytes += u64::from(block.word.size_bytes());
    }

    /// A request needs a block; returns whether that is news.
    pub(super) fn asked(&mut self, key: BlockKey) -> bool {
        let is_noted = self.counts.stage == PrefetchStage::Running
            && self.block_states.len() < BLOCK_STATES_MAX;
        match self.block_states.entry(key) {
            Entry::Vacant(free) if is_noted => {
                free.insert(BlockState::Asked);
            }
            Entry::Vacant(_) => return false,
            Entry::Occupied(mut known) => match mem::replace(known.get_mut(), BlockState::Asked) {
                BlockState::Held(bytes) => {
                    self.held_bytes = self.held_bytes.saturating_sub(bytes.into());
                    self.counts.used += 1;
                }
                BlockState::Asked => return false,
                BlockState::Wasted => {}
            },
        }
        self.counts.asked += 1;
        true
    }

    /// A block that was taken is there, and others made it. If a request needed it meanwhile, it
    /// counts as prefetched and used.
    pub(super) fn give_back(&mut self, block: &StoredBlock) {
        if let Entry::Occupied(known) = self.block_states.entry(key(block))
            && let BlockState::Held(bytes) = *known.get()
        {
            known.remove();
            self.held_bytes = self.held_bytes.saturating_sub(bytes.into());
            self.counts.prefetched -= 1;
            self.counts.read_bytes -= u64::from(block.word.size_bytes());
        }
    }

    /// A prefetched block is no longer kept.
    pub(super) fn dropped(&mut self, key: BlockKey) {
        if let Some(block_state) = self.block_states.get_mut(&key)
            && let BlockState::Held(bytes) = *block_state
        {
            *block_state = BlockState::Wasted;
            self.held_bytes = self.held_bytes.saturating_sub(bytes.into());
            self.counts.wasted += 1;
        }
    }

    /// Whether what is prefetched is seldom what is asked for.
    ///
    /// Of two numbers, the lesser counts: what is prefetched far ahead cannot have been asked for
    /// yet, and what was asked for at first cannot have been prefetched.
    pub(super) fn is_poor(&self) -> bool {
        let Some(policy) = &self.policy else {
            return false;
        };
        let known = self.counts.asked.min(self.counts.prefetched);
        known >= policy.warm_up_blocks && self.counts.used.saturating_mul(USEFUL_SHARE) < known
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
    fn opened(busy_max: usize, held_max: u64, warm_up_blocks: u64) -> PrefetchState {
        let mut state = PrefetchState::default();
        state.open(PrefetchPolicy {
            busy_max,
            held_bytes_max: held_max * u64::from(BLOCK_BYTES),
            warm_up_blocks,
            pace: Pace::new(Instant::now(), None),
        });
        state
    }

    fn turn(state: &PrefetchState, start: u64) -> Turn {
        state.turn(&block(start))
    }

    /// Takes a block that may be taken; it is there at once.
    fn fetched(state: &mut PrefetchState, start: u64) {
        assert_eq!((turn(state, start), state.delay()), (Turn::Now, None));
        state.take(&block(start));
        state.fetching -= 1;
    }

    fn asked(state: &mut PrefetchState, start: u64) -> bool {
        state.asked(key(&block(start)))
    }

    #[test]
    fn no_more_threads_are_at_work_than_may_be() {
        let mut state = opened(2, 100, 100);
        for (requests, fetching, expected) in [
            (0, 0, Turn::Now),
            (1, 0, Turn::Now),
            (0, 1, Turn::Now),
            (2, 0, Turn::Later),
            (1, 1, Turn::Later),
            (0, 2, Turn::Later),
            (9, 2, Turn::Later),
        ] {
            (state.requests, state.fetching) = (requests, fetching);
            assert_eq!(turn(&state, 1), expected, "{requests} {fetching}");
        }
    }

    #[test]
    fn what_was_asked_for_or_prefetched_is_not_prefetched_again() {
        let mut state = opened(2, 100, 100);
        assert!(asked(&mut state, 1));
        assert!(!asked(&mut state, 1));
        assert_eq!(turn(&state, 1), Turn::Never);
        fetched(&mut state, 2);
        assert_eq!(turn(&state, 2), Turn::Never);
        assert!(asked(&mut state, 2));
        state.dropped(key(&block(2)));
        assert_eq!(turn(&state, 2), Turn::Never);
        let counts = PrefetchCounts {
            asked: 2,
            prefetched: 1,
            read_bytes: 100,
            used: 1,
            stage: PrefetchStage::Running,
            ..PrefetchCounts::default()
        };
        assert_eq!(state.counts, counts);
    }

    #[test]
    fn what_others_made_was_neither_prefetched_nor_wasted() {
        let mut state = opened(2, 100, 100);
        for number in [1, 2] {
            state.take(&block(number));
            state.fetching -= 1;
        }
        assert!(asked(&mut state, 2));
        for number in [1, 2] {
            state.give_back(&block(number));
            state.dropped(key(&block(number)));
        }
        assert!(asked(&mut state, 1));
        let counts = PrefetchCounts {
            asked: 2,
            prefetched: 1,
            read_bytes: 100,
            used: 1,
            stage: PrefetchStage::Running,
            ..PrefetchCounts::default()
        };
        assert_eq!(state.counts, counts);
    }

    #[test]
    fn what_nobody_asked_for_yet_is_bounded() {
        let mut state = opened(2, 2, 100);
        fetched(&mut state, 1);
        fetched(&mut state, 2);
        assert_eq!(turn(&state, 3), Turn::Later);
        asked(&mut state, 2);
        fetched(&mut state, 3);
        assert_eq!(turn(&state, 4), Turn::Later);
        state.dropped(key(&block(1)));
        fetched(&mut state, 4);
        // Another block of its name, and one that was used.
        state.dropped(key(&block(1)));
        state.dropped(key(&block(2)));
        assert_eq!(turn(&state, 5), Turn::Later);
        assert_eq!((state.counts.used, state.counts.wasted), (1, 1));
        // Late.
        assert!(asked(&mut state, 1));
        assert_eq!((state.counts.used, state.counts.asked), (1, 2));
    }

    #[test]
    fn a_prefetch_of_what_nobody_needs_is_poor() {
        // Of 8 blocks that are prefetched, so many are among the 8 that are asked for.
        for (used, is_poor) in [(0, true), (1, true), (2, false), (8, false)] {
            let mut state = opened(2, 100, 8);
            for start in 0..8 {
                fetched(&mut state, start);
            }
            for start in 8 - used..16 - used {
                assert!(!state.is_poor());
                asked(&mut state, start);
            }
            assert_eq!(state.is_poor(), is_poor, "{used}");
        }
        // Little says nothing.
        let mut state = opened(2, 100, 8);
        for start in 0..7 {
            fetched(&mut state, start);
        }
        for start in 100..200 {
            asked(&mut state, start);
        }
        assert!(!state.is_poor());
    }

    #[test]
    fn it_is_over_once_all_is_known_that_can_be() {
        let mut state = opened(2, 100, 100);
        fetched(&mut state, 1);
        fetched(&mut state, 2);
        state.leave(PrefetchStage::Done);
        state.leave(PrefetchStage::GivenUp);
        for (start, is_over) in [(7, false), (1, false), (2, true)] {
            // What nothing could be prefetched of any more does not count.
            assert_eq!(asked(&mut state, start), start < 7);
            assert_eq!(state.is_over(), is_over, "{start}");
        }
        assert_eq!((state.counts.asked, state.counts.used), (2, 2));
        assert_eq!(state.counts.stage, PrefetchStage::Done);
        state.close();
        assert_eq!(turn(&state, 9), Turn::Over);
    }

    #[test]
    fn nothing_is_prefetched_before_it_began() {
        let state = PrefetchState::default();
        assert!(state.is_over());
        assert_eq!(turn(&state, 1), Turn::Over);
    }
}
