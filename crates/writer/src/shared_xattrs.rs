//! Sets of xattrs that nodes share: a system with labels has a few hundred for all of its files,
//! and an image may give one set of megabytes to each of them.

use std::collections::HashSet;
use std::sync::Arc;

/// Pairs of full name and value, sorted by name.
pub(crate) type XattrSet = Vec<(Vec<u8>, Vec<u8>)>;

/// The distinct sets of some nodes.
#[derive(Debug, Default)]
pub(crate) struct SharedXattrs {
    known: HashSet<Arc<XattrSet>>,
    /// Where those lie, so that a set that is shared already need not be read again.
    addresses: HashSet<*const XattrSet>,
}

impl SharedXattrs {
    /// Lets `set` be the known one that is equal.
    pub(crate) fn share(&mut self, set: &mut Arc<XattrSet>) {
        if set.is_empty() || self.addresses.contains(&Arc::as_ptr(set)) {
            return;
        }
        if let Some(known) = self.known.get(set) {
            *set = Arc::clone(known);
            return;
        }
        self.addresses.insert(Arc::as_ptr(set));
        self.known.insert(Arc::clone(set));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_become_one() {
        let set = |value: &[u8]| Arc::new(vec![(b"user.x".to_vec(), value.to_vec())]);
        let mut shared = SharedXattrs::default();
        let (mut first, mut second, mut other) = (set(b"1"), set(b"1"), set(b"2"));
        for set in [&mut first, &mut second, &mut other] {
            shared.share(set);
        }
        assert!(Arc::ptr_eq(&first, &second));
        assert!(!Arc::ptr_eq(&first, &other));
    }
}
