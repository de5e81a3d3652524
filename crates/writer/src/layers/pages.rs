//! Pieces of decompressed layers, shared by all layers of an image.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a page: a few small files, a piece of a large one.
pub(super) const PAGE_BYTES: usize = 256 << 10;
/// Pages that are kept, 64 MiB: files are read in the order of the tree, and layers have them in
/// nearly that order.
const PAGES_KEPT: usize = 256;

/// The bytes of a page; the last one of a layer has fewer than [`PAGE_BYTES`].
pub(super) type Page = Arc<Vec<u8>>;
/// A page: which layer, and which page of it.
type Key = (u32, u64);

/// The pages that were used last.
#[derive(Debug, Default)]
pub(crate) struct Pages(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    pages: HashMap<Key, (u64, Page)>,
    /// By the time of their last use.
    order: BTreeMap<u64, Key>,
    uses: u64,
}

impl Pages {
    /// A page, if it is kept.
    pub(super) fn get(&self, key: Key) -> Option<Page> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *kept;
        let (used, page) = kept.pages.get_mut(&key)?;
        kept.order.remove(used);
        kept.uses += 1;
        *used = kept.uses;
        kept.order.insert(kept.uses, key);
        Some(Arc::clone(page))
    }

    /// Keeps a page, and drops what was not used for longest.
    pub(super) fn put(&self, key: Key, page: Page) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        if let Some((used, _)) = kept.pages.insert(key, (now, page)) {
            kept.order.remove(&used);
        }
        kept.order.insert(now, key);
        if kept.pages.len() > PAGES_KEPT
            && let Some((_, oldest)) = kept.order.pop_first()
        {
            kept.pages.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let pages = Pages::default();
        let page = |number: u64| Arc::new(number.to_le_bytes().to_vec());
        for number in 0..1000 {
            pages.put((1, number), page(number));
            assert_eq!(pages.get((1, 0)), Some(page(0)), "{number}");
        }
        let kept = (0..1000).filter(|number| pages.get((1, *number)).is_some());
        assert_eq!(kept.count(), PAGES_KEPT);
        assert_eq!(pages.get((1, 999)), Some(page(999)));
        assert_eq!(pages.get((2, 999)), None);
    }
}
