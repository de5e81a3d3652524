//! A small cache of shared values: an array of independently locked slots.

use std::sync::{Arc, Mutex, PoisonError};

/// Values by a 64-bit key; each key has one slot, and a new value throws the slot's old one out.
///
/// A lock is held only while an [`Arc`] is copied, never while a value is made: two threads may
/// make the same value twice, which costs less than one waiting for the other.
pub(crate) struct Slots<T>(Box<[Slot<T>]>);

type Slot<T> = Mutex<Option<(u64, Arc<T>)>>;

impl<T> Slots<T> {
    /// A cache of at most `count` values.
    pub(crate) fn new(count: usize) -> Self {
        Self((0..count).map(|_| Mutex::new(None)).collect())
    }

    fn slot(&self, key: u64) -> Option<&Slot<T>> {
        // Fibonacci hashing: keys are byte positions, often a constant stride apart.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let count = self.0.len() as u64;
        self.0.get(usize::try_from(hash.checked_rem(count)?).ok()?)
    }

    /// The value of `key`, if it is still there.
    pub(crate) fn get(&self, key: u64) -> Option<Arc<T>> {
        let slot = self
            .slot(key)?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        slot.as_ref()
            .filter(|(found, _)| *found == key)
            .map(|(_, value)| Arc::clone(value))
    }

    /// Keeps `value` for `key`, and hands it back.
    pub(crate) fn put(&self, key: u64, value: T) -> Arc<T> {
        let value = Arc::new(value);
        let mut before = None;
        if let Some(slot) = self.slot(key) {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            before = slot.replace((key, Arc::clone(&value)));
        }
        // Freed here, outside the lock.
        drop(before);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_gives_back_only_the_value_of_its_key() {
        let slots = Slots::new(2);
        for key in 0..100 {
            slots.put(key, key);
            assert_eq!(slots.get(key).as_deref(), Some(&key));
        }
        let kept = (0..100).filter(|key| slots.get(*key).is_some()).count();
        assert!((1..=2).contains(&kept));
    }
}
