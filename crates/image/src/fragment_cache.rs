//! Fragment blocks that files of one job after the other take their tail ends from.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use coldpress_format::{Fragment, TailEnd};

use crate::error::Error;
use crate::image::Image;

/// A fragment block, decompressed by the first that needs it.
pub(crate) struct SharedFragment {
    pub(crate) fragment: Fragment,
    content: Mutex<Option<Arc<Vec<u8>>>>,
}

impl SharedFragment {
    fn new(fragment: Fragment) -> Self {
        Self {
            fragment,
            content: Mutex::new(None),
        }
    }

    /// The decompressed bytes.
    ///
    /// The lock is held while they are made: who waits for it would otherwise make the same, for
    /// neighbors in a fragment block are read at the same time.
    pub(crate) fn content(
        &self,
        image: &Image,
        input: &mut Vec<u8>,
    ) -> Result<Arc<Vec<u8>>, Error> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = &*content {
            return Ok(Arc::clone(bytes));
        }
        let mut bytes = Vec::new();
        image.read_fragment(&self.fragment, input, &mut bytes)?;
        Ok(Arc::clone(content.insert(Arc::new(bytes))))
    }
}

/// The fragment blocks used last, oldest first out.
///
/// Files are read in the order of their paths, and a plan or a sort file may have spread the tail
/// ends of a directory over the image: without this each would cost a whole block.
pub(crate) struct FragmentCache {
    blocks: HashMap<u32, Arc<SharedFragment>>,
    order: VecDeque<u32>,
    count_max: usize,
}

impl FragmentCache {
    /// A cache of at most `count_max` blocks, and one in any case.
    pub(crate) fn new(count_max: usize) -> Self {
        Self {
            blocks: HashMap::new(),
            order: VecDeque::new(),
            count_max: count_max.max(1),
        }
    }

    /// The fragment block of a tail end, not yet decompressed perhaps.
    pub(crate) fn of(
        &mut self,
        image: &Image,
        tail: TailEnd,
    ) -> Result<Arc<SharedFragment>, Error> {
        if let Some(block) = self.blocks.get(&tail.fragment) {
            return Ok(Arc::clone(block));
        }
        let block = Arc::new(SharedFragment::new(image.fragment_of(tail)?));
        if self.order.len() >= self.count_max
            && let Some(oldest) = self.order.pop_front()
        {
            self.blocks.remove(&oldest);
        }
        self.order.push_back(tail.fragment);
        self.blocks.insert(tail.fragment, Arc::clone(&block));
        Ok(block)
    }
}
