//! The shortest stream for a block.
//!
//! From each position, in order, every match leads to a later one, and each position keeps the
//! cheapest way on which a match ends there. What a position costs depends on the literals since
//! the last match, because they decide which instructions may follow: none, one to three, which
//! ride in two bits of the match before, or more, which need an instruction of their own.

use super::finder::{Finder, common_len};
use super::stream::{
    FIRST_RUN, FURTHER_LEN, Match, PAIR_BYTES, SHORT_RUN, TRIPLE_BYTES, is_triple, match_bytes,
};

/// The cost of a byte.
const BYTE: u32 = 64;
/// The cost of a match besides its bytes: of streams of the same size, that with the fewest matches
/// is decoded fastest.
const MATCH: u32 = 1;
/// More than any stream costs, with room to add to it.
const UNREACHED: u32 = u32::MAX / 2;

/// The cheapest way to a position at which a match ends.
#[derive(Clone, Copy)]
struct Arrival {
    cost: u32,
    /// Literals before that match.
    literal_count: u32,
    len: u32,
    distance: u32,
}

const NOWHERE: Arrival = Arrival {
    cost: UNREACHED,
    literal_count: 0,
    len: 0,
    distance: 0,
};

/// Literals and the match behind them.
pub(super) struct Step {
    pub(super) literal_count: usize,
    pub(super) found: Match,
}

/// A way to a position, which ends in this many literals.
#[derive(Clone, Copy)]
struct Way {
    cost: u32,
    literal_count: usize,
}

/// The cheapest ways to a position.
struct Ways {
    cheapest: Way,
    /// Of those that end in one to three literals.
    few: Way,
    /// Of those that end in four or more literals.
    many: Way,
}

/// The working memory, reused for each block.
#[derive(Default)]
pub(super) struct Parser {
    arrivals: Vec<Arrival>,
    found: Vec<Match>,
    ends: Vec<usize>,
}

impl Parser {
    /// The matches of the shortest stream, in order; literals may be left at the end of the block.
    pub(super) fn parse(
        &mut self,
        input: &[u8],
        finder: &mut Finder,
    ) -> impl Iterator<Item = Step> + '_ {
        finder.start_block(input.len());
        self.arrivals.clear();
        self.arrivals.resize(input.len() + 1, NOWHERE);
        // The first literals need an instruction, be they ever so few.
        self.arrivals[0].cost = BYTE;
        let mut run = Run::NONE;
        let mut position = 0;
        while position < input.len() {
            let ways = self.ways(position, &mut run);
            position += self.leave(input, position, &ways, &mut run, finder);
        }
        let ways = self.ways(position, &mut run);
        self.steps_to(input.len() - ways.cheapest.literal_count)
    }

    fn ways(&self, position: usize, run: &mut Run) -> Ways {
        let many = run.extend_to(position, &self.arrivals);
        let mut few = Way {
            cost: UNREACHED,
            literal_count: 0,
        };
        for (literal_count, cost) in [(1, BYTE), (2, 2 * BYTE), (3, 3 * BYTE)] {
            if let Some(start) = position.checked_sub(literal_count) {
                let cost = self.arrivals[start].cost + cost;
                if cost < few.cost {
                    few = Way {
                        cost,
                        literal_count,
                    };
                }
            }
        }
        let mut cheapest = Way {
            cost: self.arrivals[position].cost,
            literal_count: 0,
        };
        for way in [few, many] {
            if way.cost < cheapest.cost {
                cheapest = way;
            }
        }
        Ways {
            cheapest,
            few,
            many,
        }
    }

    /// Takes every match at a position. Returns how far the next position to leave from is.
    fn leave(
        &mut self,
        input: &[u8],
        position: usize,
        ways: &Ways,
        run: &mut Run,
        finder: &mut Finder,
    ) -> usize {
        let arrivals = &mut self.arrivals[position..];
        if let Some(distance) = finder.find(input, position, &mut self.found) {
            reach(arrivals, ways.few, Match { len: 2, distance }, PAIR_BYTES);
        }
        let shortest = self.found.first().map(|&found| Match { len: 3, ..found });
        if let Some(found) = shortest.filter(|&found| is_triple(found)) {
            reach(arrivals, ways.many, found, TRIPLE_BYTES);
        }
        if let Some(&Match { len, distance }) = self.found.last()
            && len >= finder.nice_len()
        {
            let len = common_len(&input[position - distance..], &input[position..], len);
            let found = Match { len, distance };
            reach(arrivals, ways.cheapest, found, match_bytes(found));
            // Where the match overlaps itself, it repeats the same bytes; the last are enough.
            let end = position + len;
            let new = end.saturating_sub(distance + finder.nice_len());
            for position in new.max(position + 1)..end {
                finder.find(input, position, &mut self.found);
            }
            *run = Run::NONE;
            return len;
        }
        let mut len = 3;
        for longest in &self.found {
            while len <= longest.len {
                let found = Match { len, ..*longest };
                reach(arrivals, ways.cheapest, found, match_bytes(found));
                len += 1;
            }
        }
        1
    }

    fn steps_to(&mut self, mut end: usize) -> impl Iterator<Item = Step> + '_ {
        self.ends.clear();
        while end > 0 {
            self.ends.push(end);
            let Arrival {
                literal_count, len, ..
            } = self.arrivals[end];
            end -= (literal_count + len) as usize;
        }
        self.ends.iter().rev().map(|&end| {
            let arrival = self.arrivals[end];
            Step {
                literal_count: arrival.literal_count as usize,
                found: Match {
                    len: arrival.len as usize,
                    distance: arrival.distance as usize,
                },
            }
        })
    }
}

/// Takes a match, whose instruction has so many bytes, if no cheaper way leads to its end.
#[inline]
fn reach(arrivals: &mut [Arrival], way: Way, found: Match, instruction_bytes: usize) {
    let cost = way.cost + in_block(instruction_bytes) * BYTE + MATCH;
    let arrival = &mut arrivals[found.len];
    if cost < arrival.cost {
        *arrival = Arrival {
            cost,
            literal_count: in_block(way.literal_count),
            len: in_block(found.len),
            distance: in_block(found.distance),
        };
    }
}

/// The cheapest run of four or more literals up to a position.
struct Run {
    cost: u32,
    start: usize,
    /// Where it gets too long for its instruction.
    full_at: usize,
    /// How much longer it gets with the next byte.
    next_len: usize,
}

impl Run {
    const NONE: Self = Self {
        cost: UNREACHED,
        start: 0,
        full_at: 0,
        next_len: 0,
    };

    /// Goes on to the next position, or starts again four literals before it if that is cheaper.
    fn extend_to(&mut self, position: usize, arrivals: &[Arrival]) -> Way {
        if self.cost < UNREACHED {
            self.cost += BYTE;
            if position > self.full_at {
                self.cost += BYTE;
                self.full_at += self.next_len;
                self.next_len = FURTHER_LEN;
            }
        }
        if let Some(start) = position.checked_sub(4) {
            let (instruction_cost, full_len) = match start {
                // Counted already.
                0 => (0, FIRST_RUN),
                _ => (BYTE, SHORT_RUN),
            };
            let cost = arrivals[start].cost + instruction_cost + 4 * BYTE;
            let full_at = start + full_len;
            if cost < self.cost || cost == self.cost && full_at > self.full_at {
                *self = Self {
                    cost,
                    start,
                    full_at,
                    next_len: SHORT_RUN + FURTHER_LEN - full_len,
                };
            }
        }
        Way {
            cost: self.cost,
            literal_count: position - self.start,
        }
    }
}

/// A number that is at most the length of a block, which is at most 1 MiB.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is at most 1 MiB")]
fn in_block(number: usize) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lzo::Encoder;
    use crate::lzo::tests::random;

    /// The size of the shortest stream there is, found by trying all.
    fn shortest_bytes(input: &[u8]) -> usize {
        // By position and number of literals since the last match.
        let mut sizes = vec![vec![usize::MAX; input.len() + 1]; input.len() + 1];
        sizes[0][0] = 0;
        for position in 0..input.len() {
            let after =
                |counts: std::ops::Range<usize>| *sizes[position][counts].iter().min().unwrap();
            let any = after(0..position + 1);
            let few = after(1..4.min(position + 1).max(2));
            let many = after(4.min(position)..position + 1);
            for distance in 1..=position {
                let len = common_len(&input[position - distance..], &input[position..], 0);
                for len in 2..=len {
                    let found = Match { len, distance };
                    let size = match len {
                        2 if distance <= 1024 => few.saturating_add(PAIR_BYTES),
                        2 => continue,
                        3 if is_triple(found) => (any + 3).min(many.saturating_add(TRIPLE_BYTES)),
                        _ => any + match_bytes(found),
                    };
                    let end = &mut sizes[position + len][0];
                    *end = size.min(*end);
                }
            }
            for count in 0..=position {
                let further = match count + 1 {
                    1 => usize::from(position == 0),
                    4 => usize::from(position != 3),
                    19 => usize::from(position != 18),
                    239 => usize::from(position == 238),
                    len => usize::from(len >= 274 && (len - 274).is_multiple_of(255)),
                };
                sizes[position + 1][count + 1] = sizes[position][count].saturating_add(1 + further);
            }
        }
        sizes[input.len()].iter().min().unwrap() + 3
    }

    #[test]
    fn no_stream_is_more_than_three_bytes_longer_than_need_be() {
        let mut encoder = Encoder::new(9);
        for seed in 1..40 {
            let len = 40 * usize::try_from(seed).unwrap();
            let bits = 1 + seed % 5;
            let input = random(len, seed);
            let input: Vec<u8> = input.iter().map(|byte| byte >> (8 - bits)).collect();
            let size_bytes = encoder.compress(&input, &mut vec![0; 2 * len]).unwrap();
            // The finder may miss a match of three bytes, and finds none at the end of the block.
            let shortest_bytes = shortest_bytes(&input);
            assert!(
                (shortest_bytes..=shortest_bytes + 3).contains(&size_bytes),
                "{size_bytes} for {shortest_bytes} bytes"
            );
        }
    }
}
