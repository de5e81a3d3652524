//! What a content looks like, as a few numbers.

use std::collections::BTreeMap;

use crate::tree::NodeId;

/// Minima of a sketch. Twice as many group no better.
pub(super) const BUCKETS: usize = 16;
/// Bytes that are compared as one: about the shortest that a compressor gains from.
const SHINGLE_BYTES: usize = 6;
/// No shingle hashes to this bucket.
const EMPTY: u32 = u32::MAX;

/// The sketches of tail ends by node; of those that others have as well, one is enough
/// ([`Tree::tail_of`](crate::Tree::tail_of)).
pub type Sketches = BTreeMap<NodeId, Sketch>;

/// A content as min-hashes: two contents that share much have many equal ones.
///
/// Every sequence of 6 bytes is hashed; the first bits of the hash choose a bucket, the next ones
/// are its value, and each bucket keeps the lowest. This is one pass whatever the number of minima.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sketch {
    minima: [u32; BUCKETS],
    magic: Option<[u8; 4]>,
}

impl Sketch {
    /// So many bytes of a content suffice: of files that begin alike most of what they share.
    pub const HEAD_BYTES: usize = 1 << 15;

    /// The sketch of a content that begins with these bytes. What follows behind
    /// [`HEAD_BYTES`](Self::HEAD_BYTES) does not matter.
    ///
    /// # Cost
    ///
    /// A multiplication for each byte.
    pub fn of(content: &[u8]) -> Self {
        let head = &content[..content.len().min(Self::HEAD_BYTES)];
        let mut minima = [EMPTY; BUCKETS];
        for shingle in head.array_windows::<SHINGLE_BYTES>() {
            let (bucket, value) = hash(*shingle);
            minima[bucket] = minima[bucket].min(value);
        }
        Self {
            minima,
            magic: magic(head),
        }
    }

    /// The lowest value of a bucket, if a shingle is in it.
    pub(super) fn minimum(&self, bucket: usize) -> Option<u32> {
        let value = self.minima.get(bucket).copied();
        value.filter(|value| *value != EMPTY)
    }

    /// The first bytes of what is no text, which tell formats apart.
    pub(super) fn magic(&self) -> Option<[u8; 4]> {
        self.magic
    }
}

fn magic(head: &[u8]) -> Option<[u8; 4]> {
    let first = *head.first_chunk::<4>()?;
    let is_text = first
        .iter()
        .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    (!is_text).then_some(first)
}

/// The bucket of a shingle, and its value there, below [`EMPTY`].
fn hash(shingle: [u8; SHINGLE_BYTES]) -> (usize, u32) {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 / golden ratio
    let mut word = [0xff; 8];
    word[..SHINGLE_BYTES].copy_from_slice(&shingle);
    let mixed = u64::from_le_bytes(word).wrapping_mul(ODD);
    // The low bits of a product depend on few bits of the word.
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(ODD);
    let [.., c, d, e, f, bucket] = mixed.to_le_bytes();
    let value = u32::from_le_bytes([c, d, e, f]);
    (usize::from(bucket) % BUCKETS, value.min(EMPTY - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(left: &[u8], right: &[u8]) -> usize {
        let (left, right) = (Sketch::of(left), Sketch::of(right));
        let is_shared = |bucket: &usize| {
            let minimum = left.minimum(*bucket);
            minimum.is_some() && minimum == right.minimum(*bucket)
        };
        (0..BUCKETS).filter(is_shared).count()
    }

    fn numbers(range: std::ops::Range<u32>) -> Vec<u8> {
        range
            .flat_map(|number| format!("line {number}\n").into_bytes())
            .collect()
    }

    #[test]
    fn contents_that_share_much_have_equal_minima() {
        let (whole, most) = (numbers(1000..2000), numbers(1100..2000));
        let other = numbers(5000..6000);
        assert_eq!(shared(&whole, &whole), BUCKETS);
        assert!(shared(&whole, &most) > BUCKETS / 2);
        assert!(shared(&whole, &other) < BUCKETS / 2);
    }

    #[test]
    fn short_contents_have_few_minima_or_none() {
        for (content, count) in [
            (&b""[..], 0),
            (b"12345", 0),
            (b"123456", 1),
            (&[0; 4096], 1),
        ] {
            assert_eq!(shared(content, content), count);
        }
    }

    #[test]
    fn only_the_head_counts() {
        let mut content = numbers(0..10_000);
        content.truncate(Sketch::HEAD_BYTES + 1000);
        let sketch = Sketch::of(&content);
        assert_eq!(sketch, Sketch::of(&content[..Sketch::HEAD_BYTES]));
        assert_ne!(sketch, Sketch::of(&content[..Sketch::HEAD_BYTES / 2]));
    }

    #[test]
    fn formats_are_known_by_their_first_bytes_text_is_not() {
        let cases: [(&[u8], _); 5] = [
            (b"\x7fELF\x02", Some(*b"\x7fELF")),
            (b"\x1f\x8b\x08\0", Some(*b"\x1f\x8b\x08\0")),
            (b"#!/bin/sh", None),
            (b"\tx\n ", None),
            (b"\x7fEL", None),
        ];
        for (content, magic) in cases {
            assert_eq!(Sketch::of(content).magic(), magic);
        }
    }
}
