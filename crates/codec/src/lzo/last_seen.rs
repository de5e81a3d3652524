//! Where a hash was seen last.

/// For each of 65536 hashes the last position of the block at which it was seen.
///
/// A position is kept as a number that grows from block to block, so that entries of former blocks
/// tell themselves apart and need not be cleared.
pub(super) struct LastSeen {
    marks: Box<[u32; 1 << 16]>,
    /// The mark of the first position of the block.
    origin: u32,
    /// The mark of the first position of the next block.
    next_origin: u32,
}

impl LastSeen {
    pub(super) fn new() -> Self {
        let Ok(marks) = vec![0; 1 << 16].into_boxed_slice().try_into() else {
            unreachable!("the length is right");
        };
        Self {
            marks,
            origin: 1,
            next_origin: 1,
        }
    }

    /// Forgets all, for a block of this length.
    pub(super) fn start_block(&mut self, len: usize) {
        let after = |origin: u32| origin.checked_add(u32::try_from(len).ok()?);
        self.origin = self.next_origin;
        self.next_origin = after(self.origin).unwrap_or_else(|| {
            self.marks.fill(0);
            self.origin = 1;
            after(1).expect("a block is at most 1 MiB")
        });
    }

    /// How far before this position of the block the hash was seen last; now it is seen here.
    #[inline]
    pub(super) fn replace(&mut self, hash: u16, position: usize) -> Option<usize> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a position is less than the length of the block, which fits"
        )]
        let mark = self.origin + position as u32;
        let last = std::mem::replace(&mut self.marks[usize::from(hash)], mark);
        let distance = (mark - last) as usize;
        (distance <= position).then_some(distance)
    }
}

/// A hash of the first four bytes that depends on each of their bits.
#[inline]
pub(super) fn hash(word: u32) -> u16 {
    let [.., low, high] = word.wrapping_mul(0x9E37_79B1).to_le_bytes();
    u16::from_le_bytes([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_block_is_forgotten_even_when_its_numbers_run_out() {
        let mut seen = LastSeen::new();
        seen.next_origin = u32::MAX - 25;
        for _ in 0..6 {
            seen.start_block(10);
            assert_eq!(seen.replace(7, 2), None);
            assert_eq!(seen.replace(8, 3), None);
            assert_eq!(seen.replace(7, 9), Some(7));
        }
        assert!(seen.next_origin < 100, "{}", seen.next_origin);
    }
}
