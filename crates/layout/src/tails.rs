//! Tail ends: which are packed, and how they fill fragment blocks.

use coldpress_format::BlockSize;

/// Which tail ends share fragment blocks.
///
/// The kernel reads a fragment block whole and keeps three of them. Tails that are needed together
/// are therefore one read when they share a block, and a read each time when they do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tails {
    /// None: every tail is a short block of its own. Members of a plan's fragments, too, stand
    /// alone at their place in the plan.
    None,
    /// Those that the plan names, and files smaller than a block, as mksquashfs does by default.
    #[default]
    Small,
    /// Every tail.
    All,
}

/// Greedy filling: a fragment block is closed by the first tail that does not fit.
///
/// Trying the rest of the tails for the gap would pack a few percent tighter and tear apart what
/// is needed together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    block_size: BlockSize,
    /// Bytes in the open fragment block; a full one if none is open.
    used_bytes: u32,
}

impl Filling {
    pub(crate) fn new(block_size: BlockSize) -> Self {
        Self {
            block_size,
            used_bytes: block_size.bytes(),
        }
    }

    /// Adds the tail of a file of `size_bytes`; true if it begins a new fragment block.
    pub(crate) fn add_tail(&mut self, size_bytes: u64) -> bool {
        let tail_bytes = self.block_size.tail_bytes(size_bytes);
        // Both are at most 1 MiB.
        let begins = self.used_bytes + tail_bytes > self.block_size.bytes();
        self.used_bytes = if begins {
            tail_bytes
        } else {
            self.used_bytes + tail_bytes
        };
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_that_does_not_fit_begins_a_fragment_block() {
        let mut filling = Filling::new(BlockSize::MIN);
        let cases = [
            (1, true),
            (4095, false),
            (1, true),
            (4095, false),
            (4097, true),
            (8190, false),
            (2, true),
        ];
        for (size_bytes, begins) in cases {
            assert_eq!(filling.add_tail(size_bytes), begins, "{size_bytes}");
        }
    }
}
