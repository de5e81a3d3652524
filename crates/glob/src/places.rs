//! Sets of places of a text: before each byte, and at the end.

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// A set of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places(Vec<u64>);

impl Places {
    /// No place of a text of this length.
    pub(crate) fn none(len: usize) -> Self {
        Self(vec![0; len / BITS + 1])
    }

    pub(crate) fn one(len: usize, at: usize) -> Self {
        let mut places = Self::none(len);
        places.insert(at);
        places
    }

    pub(crate) fn insert(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / BITS) {
            *word |= 1 << (at % BITS);
        }
    }

    pub(crate) fn contains(&self, at: usize) -> bool {
        let word = self.0.get(at / BITS);
        word.is_some_and(|word| word >> (at % BITS) & 1 == 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// In ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(index * BITS + bit)
            })
        })
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// Its places that `other` does not have.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let words = self.0.iter().zip(&other.0);
        Self(words.map(|(word, other)| word & !other).collect())
    }

    /// Keeps the places before a byte that `fits`, and goes one byte further from each.
    pub(crate) fn advance(&mut self, fits: impl Fn(usize) -> bool) {
        let mut carry = 0;
        for (index, word) in self.0.iter_mut().enumerate() {
            let (mut left, mut kept) = (*word, 0);
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                kept |= u64::from(fits(index * BITS + bit)) << bit;
            }
            *word = kept << 1 | carry;
            carry = kept >> (BITS - 1);
        }
    }
}
