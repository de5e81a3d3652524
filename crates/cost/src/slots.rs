//! The kernel's small caches of decompressed blocks (`fs/squashfs/cache.c`).

use std::collections::HashSet;

/// Blocks that are kept, each in a slot. Slots are filled in turn, whatever was used last.
#[derive(Debug)]
pub(crate) struct Slots {
    blocks: Vec<u64>,
    /// The slot that is filled next.
    next: usize,
    max: usize,
    seen: HashSet<u64>,
}

/// Whether a block is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Yes,
    /// It was never there.
    NotYet,
    /// It had to make room.
    NoMore,
}

impl Slots {
    /// * `max`: how many blocks are kept, at least one.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            blocks: Vec::new(),
            next: 0,
            max: max.max(1),
            seen: HashSet::new(),
        }
    }

    /// Asks for a block, which is kept from now on.
    pub(crate) fn get(&mut self, block: u64) -> Kept {
        if self.blocks.contains(&block) {
            return Kept::Yes;
        }
        match self.blocks.get_mut(self.next) {
            Some(slot) => *slot = block,
            None => self.blocks.push(block),
        }
        self.next = (self.next + 1) % self.max;
        if self.seen.insert(block) {
            Kept::NotYet
        } else {
            Kept::NoMore
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_filled_in_turn_whatever_was_used_last() {
        let mut slots = Slots::new(3);
        for block in [10, 11, 12] {
            assert_eq!(slots.get(block), Kept::NotYet);
        }
        assert_eq!(slots.get(10), Kept::Yes);
        assert_eq!(slots.get(13), Kept::NotYet);
        assert_eq!(slots.get(10), Kept::NoMore);
        assert_eq!(slots.get(12), Kept::Yes);
        assert_eq!(slots.get(11), Kept::NoMore);
    }

    #[test]
    fn there_is_always_one_slot() {
        let mut slots = Slots::new(0);
        assert_eq!(slots.get(1), Kept::NotYet);
        assert_eq!(slots.get(1), Kept::Yes);
    }
}
