//! The memory of blocks that are gone, for those that come.

use std::sync::Mutex;

use crate::cache::lock;

/// Buffers that are kept: as many as threads need at the same time on most machines.
const KEPT_MAX: usize = 8;

/// Buffers of one size that go from hand to hand.
///
/// Blocks are made by one thread and thrown out by another. To an allocator that has memory for
/// each thread that looks like memory that is free again where nobody needs it: 64 MiB of blocks
/// took 150 MiB.
#[derive(Debug)]
pub(crate) struct Buffers {
    size_bytes: usize,
    free: Mutex<Vec<Vec<u8>>>,
}

impl Buffers {
    /// * `size_bytes`: what a buffer has room for.
    pub(crate) fn new(size_bytes: usize) -> Self {
        Self {
            size_bytes,
            free: Mutex::default(),
        }
    }

    /// A buffer with whatever it held last.
    pub(crate) fn take(&self) -> Vec<u8> {
        let free = lock(&self.free).pop();
        free.unwrap_or_else(|| Vec::with_capacity(self.size_bytes))
    }

    /// One for content of that length: what needs less than half of a buffer gets one of its own.
    pub(crate) fn take_for(&self, len_bytes: usize) -> Vec<u8> {
        if len_bytes < self.size_bytes / 2 {
            Vec::with_capacity(len_bytes)
        } else {
            self.take()
        }
    }

    /// Keeps a buffer for the next one who takes one.
    pub(crate) fn give_back(&self, buffer: Vec<u8>) {
        let mut free = lock(&self.free);
        // Those of another size are of short content, or have grown.
        if free.len() < KEPT_MAX && buffer.capacity() == self.size_bytes {
            free.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_and_few_are_kept() {
        let buffers = Buffers::new(100);
        let mut buffer = buffers.take();
        buffer.resize(100, 7);
        let place = buffer.as_ptr();
        buffers.give_back(buffer);
        let again = buffers.take();
        assert_eq!((again.as_ptr(), again.len()), (place, 100));
        assert_eq!(buffers.take_for(49).capacity(), 49);
        assert_eq!(buffers.take_for(50).capacity(), 100);
        for capacity in [49, 1000] {
            buffers.give_back(Vec::with_capacity(capacity));
            assert_eq!(lock(&buffers.free).len(), 0);
        }
        for _ in 0..20 {
            buffers.give_back(Vec::with_capacity(100));
        }
        assert_eq!(lock(&buffers.free).len(), KEPT_MAX);
    }
}
