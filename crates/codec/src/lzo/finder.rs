//! The matches of a position: for each length, the nearest.

use super::last_seen::{LastSeen, hash};
use super::stream::{MAX_DISTANCE, Match, PAIR_DISTANCE};

/// The positions of a block up to the current one, by what stands there.
///
/// The positions that share a hash of their first four bytes are a binary search tree by all that
/// follows, in which each node is nearer than its children. On the way down to the place of the
/// current position lies, for each length, the nearest match of that length; and that way divides
/// the tree into the two children of the current position, which becomes its root.
pub(super) struct Finder {
    /// The most nodes visited for a position.
    candidates: usize,
    /// The longest match looked for.
    nice_len: usize,
    pairs: LastSeen,
    triples: LastSeen,
    roots: LastSeen,
    /// For each position modulo 65536 the child that is less and the child that is greater, modulo
    /// 65536 too; the position itself if there is none. A child is at most [`MAX_DISTANCE`] before
    /// its parent, so this leaves no doubt.
    children: Box<[u16; 1 << 17]>,
}

impl Finder {
    pub(super) fn new(candidates: usize, nice_len: usize) -> Self {
        let Ok(children) = vec![0; 1 << 17].into_boxed_slice().try_into() else {
            unreachable!("the length is right");
        };
        Self {
            candidates,
            nice_len,
            pairs: LastSeen::new(),
            triples: LastSeen::new(),
            roots: LastSeen::new(),
            children,
        }
    }

    /// Forgets all positions, for a block of this length.
    pub(super) fn start_block(&mut self, len: usize) {
        for seen in [&mut self.pairs, &mut self.triples, &mut self.roots] {
            seen.start_block(len);
        }
    }

    /// The longest match looked for: one of this length may go on.
    pub(super) fn nice_len(&self) -> usize {
        self.nice_len
    }

    /// Adds a position, which must be after those added before, and finds its matches.
    ///
    /// Sets `found` to those of three bytes and more, each longer and farther than the one before,
    /// and returns the distance of the nearest of two bytes if that is within [`PAIR_DISTANCE`]. Of
    /// the last three bytes of the block it finds none.
    pub(super) fn find(
        &mut self,
        input: &[u8],
        position: usize,
        found: &mut Vec<Match>,
    ) -> Option<usize> {
        found.clear();
        let &[first, second, third, fourth] = input[position..].first_chunk()?;
        let pair = self
            .pairs
            .replace(u16::from_le_bytes([first, second]), position);
        let triple = hash(u32::from_le_bytes([0, first, second, third]));
        if let Some(distance) = self.triples.replace(triple, position)
            && distance <= MAX_DISTANCE
            && input[position - distance..].starts_with(&[first, second, third])
        {
            found.push(Match { len: 3, distance });
        }
        let root = hash(u32::from_le_bytes([first, second, third, fourth]));
        let distance = self.roots.replace(root, position);
        self.descend(input, position, distance.unwrap_or(usize::MAX), found);
        pair.filter(|&distance| distance <= PAIR_DISTANCE)
    }

    /// Makes the position the root of the tree whose root is this far before it.
    fn descend(
        &mut self,
        input: &[u8],
        position: usize,
        mut distance: usize,
        found: &mut Vec<Match>,
    ) {
        let limit = self.nice_len.min(input.len() - position);
        let current = &input[position..position + limit];
        let mut longest_len = 3;
        // Where the next node that is less goes and the next that is greater, and how much of the
        // current bytes all nodes to come share with the last one on that side.
        let [mut less_slot, mut greater_slot] = slots(position);
        let (mut less_len, mut greater_len) = (0, 0);
        for _ in 0..self.candidates {
            if distance > MAX_DISTANCE {
                break;
            }
            let node = position - distance;
            let seen = &input[node..node + limit];
            let len = common_len(seen, current, less_len.min(greater_len));
            if len > longest_len {
                longest_len = len;
                found.push(Match { len, distance });
            }
            let [less_child, greater_child] = slots(node);
            if len == limit {
                // Nothing tells the two apart, so the position takes the place of the node.
                self.inherit(less_slot, less_child, distance);
                self.inherit(greater_slot, greater_child, distance);
                return;
            }
            let next = if seen[len] < current[len] {
                self.children[less_slot] = low_half(node);
                (less_slot, less_len) = (greater_child, len);
                greater_child
            } else {
                self.children[greater_slot] = low_half(node);
                (greater_slot, greater_len) = (less_child, len);
                less_child
            };
            let Some(gap) = self.gap(next) else {
                break;
            };
            distance += gap;
        }
        self.children[less_slot] = owner(less_slot);
        self.children[greater_slot] = owner(greater_slot);
    }

    /// Copies a child of a node at this distance, if it is near enough.
    fn inherit(&mut self, slot: usize, from_slot: usize, distance: usize) {
        let is_near = |gap| distance + gap <= MAX_DISTANCE;
        self.children[slot] = if self.gap(from_slot).is_some_and(is_near) {
            self.children[from_slot]
        } else {
            owner(slot)
        };
    }

    /// How far a child is before its parent.
    #[inline]
    fn gap(&self, slot: usize) -> Option<usize> {
        let gap = owner(slot).wrapping_sub(self.children[slot]);
        (gap != 0).then_some(gap.into())
    }
}

/// How many bytes two slices have in common, if the first `len` are known to be the same.
#[inline]
pub(super) fn common_len(one: &[u8], other: &[u8], mut len: usize) -> usize {
    while let (Some(one), Some(other)) = (word(one, len), word(other, len)) {
        let difference = one ^ other;
        if difference != 0 {
            return len + (difference.trailing_zeros() / 8) as usize;
        }
        len += 8;
    }
    let pairs = one[len..].iter().zip(&other[len..]);
    len + pairs.take_while(|(one, other)| one == other).count()
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "positions count modulo 65536"
)]
fn low_half(position: usize) -> u16 {
    position as u16
}

/// Where the children of a position are.
#[inline]
fn slots(position: usize) -> [usize; 2] {
    let slot = usize::from(low_half(position)) * 2;
    [slot, slot + 1]
}

/// The position whose child is there, modulo 65536.
#[inline]
fn owner(slot: usize) -> u16 {
    low_half(slot / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lzo::tests::random;

    #[test]
    fn the_nearest_match_of_each_length_is_found() {
        let mut finder = Finder::new(usize::MAX, 20);
        let mut found = Vec::new();
        for bits in 1..=3 {
            let input: Vec<u8> = random(2000, bits)
                .iter()
                .map(|byte| byte >> (8 - bits))
                .collect();
            finder.start_block(input.len());
            for position in 0..input.len() - 3 {
                let pair = finder.find(&input, position, &mut found);
                let nearest = |len: usize| {
                    let bytes = input.get(position..position + len)?;
                    let earlier = &input[..position + len - 1];
                    let at = earlier.windows(len).rposition(|window| window == bytes)?;
                    Some(position - at)
                };
                assert_eq!(
                    pair,
                    nearest(2).filter(|&distance| distance <= PAIR_DISTANCE)
                );
                for len in 3..=20 {
                    let first = found.iter().find(|found| found.len >= len);
                    let distance = first.map(|found| found.distance);
                    // A match of three bytes may hide behind another with the same hash.
                    if len > 3 || distance.is_some() {
                        assert_eq!(distance, nearest(len), "{len} bytes at {position}");
                    }
                }
            }
        }
    }

    #[test]
    fn matches_are_found_as_far_as_they_can_be_told_and_no_farther() {
        let word = b"a repetition";
        for distance in [MAX_DISTANCE, MAX_DISTANCE + 1, 65536, 65536 + 7] {
            let mut input = random(150_000, 5);
            for start in [60_000, 60_000 + distance] {
                input[start..start + word.len()].copy_from_slice(word);
            }
            let mut finder = Finder::new(64, 256);
            let mut found = Vec::new();
            finder.start_block(input.len());
            let mut long = Vec::new();
            for position in 0..input.len() {
                finder.find(&input, position, &mut found);
                for found in &found {
                    let seen = &input[position - found.distance..];
                    assert_eq!(seen[..found.len], input[position..][..found.len]);
                    assert!(found.distance <= MAX_DISTANCE);
                }
                long.extend(
                    found
                        .iter()
                        .copied()
                        .filter(|found| found.len == word.len()),
                );
            }
            let len = word.len();
            let expected = (distance <= MAX_DISTANCE).then_some(Match { len, distance });
            assert_eq!(long, Vec::from_iter(expected));
        }
    }
}
