//! Sets of things to try for each block, recorded as bits.

use std::fmt;
use std::marker::PhantomData;

/// Something that a writer may try for each block, with its name and bit in the recorded options.
pub trait Choice: Copy + 'static {
    /// What may be chosen, by bit: the first is bit 0.
    const ALL: &'static [Self];

    /// The name that mksquashfs takes.
    fn name(self) -> &'static str;

    /// The choice with this name.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|choice| choice.name() == name)
    }
}

/// A set of choices, in no order but that of their bits.
pub struct Choices<T> {
    bits: u16,
    of: PhantomData<T>,
}

impl<T: Choice> Choices<T> {
    /// No choice.
    pub const NONE: Self = Self {
        bits: 0,
        of: PhantomData,
    };

    /// The set as the compressor options record it.
    pub fn bits(self) -> u16 {
        self.bits
    }

    /// The set that the compressor options record; bits that stand for nothing are left out.
    pub fn from_bits(bits: u32) -> Self {
        let is_set = |(bit, _): &(usize, &T)| bits >> bit & 1 == 1;
        let chosen = T::ALL.iter().enumerate().filter(is_set);
        chosen.map(|(_, choice)| *choice).collect()
    }

    /// Whether nothing is chosen.
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// What is chosen, by bit.
    pub fn iter(self) -> impl Iterator<Item = T> {
        T::ALL
            .iter()
            .enumerate()
            .filter(move |(bit, _)| self.bits >> bit & 1 == 1)
            .map(|(_, choice)| *choice)
    }
}

impl<T: Choice> FromIterator<T> for Choices<T> {
    fn from_iter<I: IntoIterator<Item = T>>(chosen: I) -> Self {
        let bit = |chosen: T| {
            let place = T::ALL
                .iter()
                .position(|choice| choice.name() == chosen.name());
            1 << place.unwrap_or(0)
        };
        Self {
            bits: chosen.into_iter().fold(0, |bits, next| bits | bit(next)),
            of: PhantomData,
        }
    }
}

// Derived, these would ask the same of `T`.
impl<T> Clone for Choices<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Choices<T> {}

impl<T: Choice> Default for Choices<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T> PartialEq for Choices<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<T> Eq for Choices<T> {}

impl<T: Choice> fmt::Debug for Choices<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_set()
            .entries(self.iter().map(Choice::name))
            .finish()
    }
}

/// The names, with commas between, as mksquashfs takes them.
impl<T: Choice> fmt::Display for Choices<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Choice::name).collect();
        formatter.write_str(&names.join(","))
    }
}
