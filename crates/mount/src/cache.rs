//! A bounded cache of values that are dear to make, each of which is made once.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most shards; threads that meet in one wait for a few instructions only.
const SHARDS_MAX: u64 = 16;
/// Values of the largest size that a shard has room for at least, so that keys that fall unevenly
/// do not throw out what was just made.
const SHARD_VALUES_MIN: u64 = 16;

/// What a value takes.
pub(crate) trait Weight {
    /// Memory in bytes, roughly.
    fn weight_bytes(&self) -> u64;
}

/// How a cache was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Values that were there, or were just being made by another thread.
    pub found: u64,
    /// Values that were made.
    pub made: u64,
}

/// Values by key, in shards with locks of their own.
///
/// Who asks for a value that another thread is making waits for that and shares it. What was not
/// asked for since the last round goes first (CLOCK): as good as the order of last use here, and a
/// hit writes one flag only. A value larger than its shard is kept until the next one comes.
pub(crate) struct Cache<K, V> {
    shards: Box<[Mutex<Shard<K, V>>]>,
    hasher: RandomState,
    found: AtomicU64,
    made: AtomicU64,
}

struct Shard<K, V> {
    slots: HashMap<K, Arc<Slot<V>>>,
    /// Kept values, with what they weigh, the next to be looked at in front.
    clock: VecDeque<(K, u64)>,
    bytes: u64,
    limit_bytes: u64,
}

struct Slot<V> {
    value: Mutex<Option<Arc<V>>>,
    was_used: AtomicBool,
}

impl<K: Copy + Eq + Hash, V: Weight> Cache<K, V> {
    /// An empty cache.
    ///
    /// * `limit_bytes`: of all values together.
    /// * `largest_bytes`: what the largest usual value weighs.
    pub(crate) fn new(limit_bytes: u64, largest_bytes: u64) -> Self {
        let room = limit_bytes / largest_bytes.saturating_mul(SHARD_VALUES_MIN).max(1);
        let count = room.clamp(1, SHARDS_MAX);
        let shard = || {
            Mutex::new(Shard {
                slots: HashMap::new(),
                clock: VecDeque::new(),
                bytes: 0,
                limit_bytes: limit_bytes / count,
            })
        };
        Self {
            shards: (0..count).map(|_| shard()).collect(),
            hasher: RandomState::new(),
            found: AtomicU64::new(0),
            made: AtomicU64::new(0),
        }
    }

    /// How it was used so far.
    pub(crate) fn counts(&self) -> CacheCounts {
        CacheCounts {
            found: self.found.load(Ordering::Relaxed),
            made: self.made.load(Ordering::Relaxed),
        }
    }

    /// The value of `key`, made by `make` if it is not there.
    ///
    /// # Errors
    ///
    /// That of `make`, which is not kept: the next who asks tries again.
    pub(crate) fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        let slot = self.shard(&key).slot(key);
        // Held while the value is made: whoever waits here would otherwise make the same.
        let mut value = lock(&slot.value);
        if let Some(found) = &*value {
            slot.was_used.store(true, Ordering::Relaxed);
            self.found.fetch_add(1, Ordering::Relaxed);
            return Ok(Arc::clone(found));
        }
        match make() {
            Ok(new) => {
                let new = Arc::clone(value.insert(Arc::new(new)));
                drop(value);
                self.made.fetch_add(1, Ordering::Relaxed);
                let gone = self.shard(&key).keep(key, slot, new.weight_bytes());
                // Freed outside the lock.
                drop(gone);
                Ok(new)
            }
            Err(error) => {
                drop(value);
                self.shard(&key).give_up(key, &slot);
                Err(error)
            }
        }
    }

    /// Makes a value that will be asked for: it stays as long as one that was.
    ///
    /// # Errors
    ///
    /// That of `make`.
    pub(crate) fn prepare<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<(), E> {
        self.get(key, make)?;
        if let Some(slot) = self.shard(&key).slots.get(&key) {
            slot.was_used.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Lets a value go as the next one that has to.
    pub(crate) fn spend(&self, key: &K) {
        self.shard(key).spend(key);
    }

    /// Whether a value is there, or being made.
    pub(crate) fn has(&self, key: &K) -> bool {
        self.shard(key).slots.contains_key(key)
    }

    /// What all values weigh.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.shards.iter().map(|shard| lock(shard).bytes).sum()
    }

    fn shard(&self, key: &K) -> MutexGuard<'_, Shard<K, V>> {
        let count = self.shards.len() as u64;
        let index = self.hasher.hash_one(key).checked_rem(count).unwrap_or(0);
        let index = usize::try_from(index).unwrap_or(0);
        lock(&self.shards[index])
    }
}

impl<K: Copy + Eq + Hash, V> Shard<K, V> {
    fn slot(&mut self, key: K) -> Arc<Slot<V>> {
        let slot = self.slots.entry(key).or_insert_with(|| {
            Arc::new(Slot {
                value: Mutex::new(None),
                was_used: AtomicBool::new(false),
            })
        });
        Arc::clone(slot)
    }

    /// Counts a value that was made; returns what had to go for it.
    fn keep(&mut self, key: K, slot: Arc<Slot<V>>, weight_bytes: u64) -> Vec<Arc<Slot<V>>> {
        // One that waited for a maker who failed finds its slot gone, or another in its place.
        let kept = self.slots.entry(key).or_insert_with(|| Arc::clone(&slot));
        if !Arc::ptr_eq(kept, &slot) {
            return vec![slot];
        }
        let gone = self.make_room(weight_bytes);
        self.clock.push_back((key, weight_bytes));
        self.bytes = self.bytes.saturating_add(weight_bytes);
        gone
    }

    fn make_room(&mut self, weight_bytes: u64) -> Vec<Arc<Slot<V>>> {
        let mut gone = Vec::new();
        // Other threads use values meanwhile, so that the rounds have to be limited.
        let mut chances = self.clock.len();
        while self.bytes.saturating_add(weight_bytes) > self.limit_bytes {
            let Some((key, weight_bytes)) = self.clock.pop_front() else {
                break;
            };
            let slot = self.slots.get(&key);
            let was_used = slot.is_some_and(|slot| slot.was_used.swap(false, Ordering::Relaxed));
            if was_used && chances > 0 {
                chances -= 1;
                self.clock.push_back((key, weight_bytes));
            } else {
                self.bytes = self.bytes.saturating_sub(weight_bytes);
                gone.extend(self.slots.remove(&key));
            }
        }
        gone
    }

    fn spend(&mut self, key: &K) {
        if let Some(slot) = self.slots.get(key)
            // From behind: most are spent soon after they were made.
            && let Some(place) = self.clock.iter().rposition(|(kept, _)| kept == key)
        {
            slot.was_used.store(false, Ordering::Relaxed);
            self.clock.swap(0, place);
        }
    }

    /// Removes the slot of a value that could not be made.
    fn give_up(&mut self, key: K, slot: &Arc<Slot<V>>) {
        // Not while another thread tries again.
        let is_idle = slot.value.try_lock().is_ok_and(|value| value.is_none());
        if is_idle
            && let Some(there) = self.slots.get(&key)
            && Arc::ptr_eq(there, slot)
        {
            self.slots.remove(&key);
        }
    }
}

/// A panic in `make` leaves the slot empty, which is right.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    use super::*;

    impl Weight for u64 {
        fn weight_bytes(&self) -> u64 {
            *self
        }
    }

    fn made(cache: &Cache<u32, u64>, key: u32, weight_bytes: u64) -> bool {
        let mut was_made = false;
        let value = cache.get::<()>(key, || {
            was_made = true;
            Ok(weight_bytes)
        });
        assert_eq!(value.as_deref(), Ok(&weight_bytes));
        was_made
    }

    #[test]
    fn there_are_as_many_shards_as_have_room() {
        for (limit_bytes, largest_bytes, shards) in [
            (64 << 20, 128 << 10, 16),
            (64 << 20, 1 << 20, 4),
            (1 << 20, 1 << 20, 1),
            (0, 1 << 20, 1),
            (u64::MAX, u64::MAX, 1),
            (1 << 20, 0, 16),
        ] {
            let cache = Cache::<u32, u64>::new(limit_bytes, largest_bytes);
            assert_eq!(cache.shards.len(), shards, "{limit_bytes} {largest_bytes}");
        }
    }

    #[test]
    fn what_was_used_again_stays_longer() {
        let cache = Cache::new(100, 100);
        for key in 0..10 {
            assert!(made(&cache, key, 10));
        }
        assert!(!made(&cache, 0, 10));
        assert!(made(&cache, 10, 10));
        assert_eq!(cache.kept_bytes(), 100);
        // The first had a second chance, so the second went.
        assert!(!made(&cache, 0, 10));
        assert!(made(&cache, 1, 10));
        let counts = CacheCounts { found: 2, made: 12 };
        assert_eq!(cache.counts(), counts);
    }

    #[test]
    fn what_is_spent_goes_first() {
        let cache = Cache::new(100, 100);
        for key in 0..10 {
            assert!(made(&cache, key, 10));
        }
        assert!(!made(&cache, 7, 10));
        cache.spend(&7);
        cache.spend(&99);
        assert!(made(&cache, 10, 10));
        assert!(!cache.has(&7));
        assert!((0..7).all(|key| cache.has(&key)));
        assert_eq!(cache.kept_bytes(), 100);
    }

    #[test]
    fn what_will_be_asked_for_stays_as_long_as_what_was() {
        let cache = Cache::new(100, 100);
        assert!(!cache.has(&0));
        assert_eq!(cache.prepare::<()>(0, || Ok(10)), Ok(()));
        for key in 1..15 {
            assert!(cache.has(&0), "{key}");
            assert!(made(&cache, key, 10));
        }
        assert!(!made(&cache, 0, 10));
        assert_eq!(cache.prepare(20, || Err("damaged")), Err("damaged"));
        assert!(!cache.has(&20));
    }

    #[test]
    fn memory_is_bounded_but_for_the_newest_value() {
        let cache = Cache::new(100, 100);
        for key in 0..1000 {
            made(&cache, key, u64::from(key % 90));
            assert!(cache.kept_bytes() <= 100, "{key}");
        }
        made(&cache, 1000, 5000);
        assert_eq!(cache.kept_bytes(), 5000);
        assert!(!made(&cache, 1000, 5000));
        made(&cache, 1001, 1);
        made(&cache, 1002, 1);
        assert!(cache.kept_bytes() <= 100);
        let slots: usize = cache
            .shards
            .iter()
            .map(|shard| lock(shard).slots.len())
            .sum();
        assert!(slots <= 2, "{slots}");
    }

    #[test]
    fn threads_that_ask_for_one_value_wait_for_one_of_them() {
        let cache = Cache::<u32, u64>::new(1 << 20, 1);
        let barrier = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for key in 0..50 {
                        barrier.wait();
                        let value = cache.get::<()>(key, || {
                            thread::sleep(Duration::from_millis(1));
                            Ok(u64::from(key))
                        });
                        assert_eq!(value.as_deref(), Ok(&u64::from(key)));
                    }
                });
            }
        });
        let counts = CacheCounts {
            found: 7 * 50,
            made: 50,
        };
        assert_eq!(cache.counts(), counts);
    }

    #[test]
    fn what_fails_is_tried_again_and_leaves_nothing() {
        let cache = Cache::<u32, u64>::new(100, 100);
        let barrier = Barrier::new(4);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    barrier.wait();
                    assert_eq!(cache.get(1, || Err("damaged")), Err("damaged"));
                });
            }
        });
        assert!(made(&cache, 1, 10));
        assert_eq!((cache.kept_bytes(), cache.counts().made), (10, 1));
        assert_eq!(lock(&cache.shards[0]).slots.len(), 1);
    }
}
