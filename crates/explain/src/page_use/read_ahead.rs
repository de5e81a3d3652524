//! Reads without an event, of pages that were read ahead and dropped before they were used.
//!
//! The kernel reads ahead, then looks the pages up and reports which were asked for. If they were
//! dropped in between, because memory is short or somebody drops all caches, it reads the first
//! page alone and reports nothing of it (`filemap_create_folio`). But then the same thread makes
//! room for this page twice, with no access of its own in between, which read-ahead never does.

use std::collections::HashMap;

use coldpress_trace::Coverage;

/// Pages that each thread brought into memory, by thread and file, since its last access that was
/// told.
#[derive(Debug, Default)]
pub(super) struct ReadAhead {
    pages: HashMap<(u32, usize), Coverage>,
}

impl ReadAhead {
    /// A thread's access to a file was told.
    pub(super) fn end(&mut self, thread: u32, file: usize) {
        self.pages.remove(&(thread, file));
    }

    /// A thread brought pages of a file into memory; returns the one that it must have read for
    /// that.
    pub(super) fn add(&mut self, thread: u32, file: usize, first: u64, last: u64) -> Option<u64> {
        let pages = self.pages.entry((thread, file)).or_default();
        let is_repeated = pages.count_in(first, last) > 0;
        if is_repeated {
            // The rest of the block follows, which was read ahead as well.
            *pages = Coverage::default();
        }
        pages.cover(first, last, |_, _| ());
        is_repeated.then_some(first)
    }
}
