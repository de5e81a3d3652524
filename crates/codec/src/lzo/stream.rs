//! The instructions of the format: what each can say, and in how many bytes.

/// Bytes that come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) len: usize,
    /// How far back they stood before.
    pub(super) distance: usize,
}

/// The farthest match of two bytes. It must follow one to three literals.
pub(super) const PAIR_DISTANCE: usize = 1024;
/// The farthest match of the instruction for near matches, of two bytes.
const NEAR_DISTANCE: usize = 2048;
/// The longest match of that instruction.
const NEAR_LEN: usize = 8;
/// The farthest match of the instruction for three bytes just out of the reach of the near one.
const TRIPLE_DISTANCE: usize = 3072;
/// The farthest match of the middle instruction, of three bytes.
const MIDDLE_DISTANCE: usize = 16384;
/// The longest match of that instruction without further bytes.
const MIDDLE_LEN: usize = 33;
/// The longest match of the far instruction without further bytes, else of three bytes.
const FAR_LEN: usize = 9;
/// The farthest match of all.
pub(super) const MAX_DISTANCE: usize = 49151;

/// The longest run of literals at the start of the block whose instruction is one byte.
pub(super) const FIRST_RUN: usize = 238;
/// The longest other run of literals whose instruction is one byte.
pub(super) const SHORT_RUN: usize = 18;
/// How much longer a run of literals or a match gets with each further byte of its instruction.
pub(super) const FURTHER_LEN: usize = 255;

/// Bytes of the instruction for two bytes after one to three literals.
pub(super) const PAIR_BYTES: usize = 2;
/// Bytes of the instruction for a match that [`is_triple`] after four or more literals.
pub(super) const TRIPLE_BYTES: usize = 2;

/// Whether a match costs only [`TRIPLE_BYTES`] after four or more literals.
pub(super) fn is_triple(found: Match) -> bool {
    found.len == 3 && (NEAR_DISTANCE + 1..=TRIPLE_DISTANCE).contains(&found.distance)
}

/// Bytes of the instruction for a match of three or more bytes after any number of literals.
#[inline]
pub(super) fn match_bytes(found: Match) -> usize {
    let Match { len, distance } = found;
    if distance <= NEAR_DISTANCE && len <= NEAR_LEN {
        return 2;
    }
    let is_middle = distance <= MIDDLE_DISTANCE;
    let short_len = if is_middle { MIDDLE_LEN } else { FAR_LEN };
    3 + len.saturating_sub(short_len).div_ceil(FURTHER_LEN)
}

/// Writes instructions into a buffer that may be too small.
pub(super) struct Writer<'a> {
    input: &'a [u8],
    done_len: usize,
    output: &'a mut [u8],
    size_bytes: usize,
    /// Where the last match left two bits for the number of literals behind it.
    state_at: Option<usize>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(input: &'a [u8], output: &'a mut [u8]) -> Self {
        Self {
            input,
            done_len: 0,
            output,
            size_bytes: 0,
            state_at: None,
        }
    }

    /// Appends the next `literal_count` bytes of the input as they are, and then a match within
    /// [`MAX_DISTANCE`]; `None` if the buffer is full.
    ///
    /// A match of two bytes must be within [`PAIR_DISTANCE`] and after one to three literals.
    pub(super) fn copy(&mut self, literal_count: usize, found: Match) -> Option<()> {
        self.literals(literal_count)?;
        let Match { len, distance } = found;
        if len == 2 {
            debug_assert!((1..=3).contains(&literal_count) && distance <= PAIR_DISTANCE);
            let at = distance - 1;
            self.match_of_two_bytes((at & 3) << 2, at >> 2)?;
        } else if literal_count > 3 && is_triple(found) {
            let at = distance - NEAR_DISTANCE - 1;
            self.match_of_two_bytes((at & 3) << 2, at >> 2)?;
        } else if len <= NEAR_LEN && distance <= NEAR_DISTANCE {
            let at = distance - 1;
            self.match_of_two_bytes((len - 1) << 5 | (at & 7) << 2, at >> 3)?;
        } else if distance <= MIDDLE_DISTANCE {
            self.long_match(0x20, len, MIDDLE_LEN, distance - 1)?;
        } else {
            let at = distance - MIDDLE_DISTANCE;
            self.long_match(0x10 | at >> 14 << 3, len, FAR_LEN, at & 0x3FFF)?;
        }
        self.done_len += len;
        Some(())
    }

    /// Appends what is left of the input, and the end marker. Returns the size of the stream, or
    /// `None` if the buffer is full.
    pub(super) fn finish(mut self) -> Option<usize> {
        self.literals(self.input.len() - self.done_len)?;
        self.put(&[0x11, 0, 0])?;
        Some(self.size_bytes)
    }

    fn literals(&mut self, count: usize) -> Option<()> {
        match (self.state_at, count) {
            (_, 0) => return Some(()),
            (Some(at), 1..=3) => self.output[at] |= byte(count),
            (None, 1..=FIRST_RUN) => self.put(&[byte(17 + count)])?,
            (_, ..=SHORT_RUN) => self.put(&[byte(count - 3)])?,
            _ => {
                self.put(&[0])?;
                self.further_len(count - SHORT_RUN)?;
            }
        }
        let end = self.done_len + count;
        self.put(&self.input[self.done_len..end])?;
        self.done_len = end;
        Some(())
    }

    fn match_of_two_bytes(&mut self, first: usize, second: usize) -> Option<()> {
        self.state_at = Some(self.size_bytes);
        self.put(&[byte(first), byte(second)])
    }

    fn long_match(&mut self, code: usize, len: usize, short_len: usize, at: usize) -> Option<()> {
        if len <= short_len {
            self.put(&[byte(code | (len - 2))])?;
        } else {
            self.put(&[byte(code)])?;
            self.further_len(len - short_len)?;
        }
        self.state_at = Some(self.size_bytes);
        self.put(&[byte((at & 0x3F) << 2), byte(at >> 6)])
    }

    /// Appends a length from 1: a zero for each 255, then the rest.
    fn further_len(&mut self, len: usize) -> Option<()> {
        let zeros = (len - 1) / FURTHER_LEN;
        let end = self.size_bytes + zeros;
        self.output.get_mut(self.size_bytes..end)?.fill(0);
        self.size_bytes = end;
        self.put(&[byte(len - zeros * FURTHER_LEN)])
    }

    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.size_bytes + bytes.len();
        let room = self.output.get_mut(self.size_bytes..end)?;
        room.copy_from_slice(bytes);
        self.size_bytes = end;
        Some(())
    }
}

/// A number that is at most 255.
#[expect(clippy::cast_possible_truncation, reason = "it is at most 255")]
fn byte(number: usize) -> u8 {
    debug_assert!(number <= 0xFF);
    number as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lzo::{decompress, tests::random};

    /// The stream of literals, a match, literals, another match and literals, and its block.
    fn stream(first_len: usize, runs: [usize; 2], found: Match) -> (Vec<u8>, Vec<u8>) {
        let mut block = random(first_len, 1);
        let steps = [
            (
                first_len,
                Match {
                    len: 5,
                    distance: 1,
                },
            ),
            (runs[0], found),
        ];
        for (index, (_, Match { len, distance })) in steps.into_iter().enumerate() {
            for _ in 0..len {
                block.push(block[block.len() - distance]);
            }
            block.extend(random(runs[index], 2));
        }
        let mut output = vec![0; 2 * block.len()];
        let mut writer = Writer::new(&block, &mut output);
        for (literal_count, found) in steps {
            writer.copy(literal_count, found).unwrap();
        }
        let size_bytes = writer.finish().unwrap();
        output.truncate(size_bytes);
        (output, block)
    }

    fn check_decoded(stream: &[u8], block: &[u8]) {
        let mut output = vec![0; block.len()];
        assert_eq!(decompress(stream, &mut output).unwrap(), block.len());
        assert!(output == block);
    }

    #[test]
    #[expect(
        clippy::unusual_byte_groupings,
        reason = "these are the fields of the format"
    )]
    fn each_match_takes_its_shortest_instruction() {
        #[rustfmt::skip]
        let cases: [(usize, usize, usize, &[u8]); 24] = [
            // Literals before it, length, distance: instruction.
            (1, 2, 1, &[0b0000_00_00, 0]),
            (3, 2, 1024, &[0b0000_11_00, 255]),
            (0, 3, 1, &[0b010_000_00, 0]),
            (0, 4, 2, &[0b011_001_00, 0]),
            (4, 3, 2048, &[0b010_111_00, 255]),
            (9, 8, 2048, &[0b111_111_00, 255]),
            (4, 3, 2049, &[0b0000_00_00, 0]),
            (300, 3, 3072, &[0b0000_11_00, 255]),
            (3, 3, 2049, &[0b001_00001, 0, 0x20]),
            (4, 3, 3073, &[0b001_00001, 0, 0x30]),
            (0, 9, 1, &[0b001_00111, 0, 0]),
            (0, 33, 16384, &[0b001_11111, 0xFC, 0xFF]),
            (0, 34, 64, &[0b001_00000, 1, 0xFC, 0]),
            (0, 288, 65, &[0b001_00000, 255, 0, 1]),
            (0, 289, 1, &[0b001_00000, 0, 1, 0, 0]),
            (0, 33 + 511, 1, &[0b001_00000, 0, 0, 1, 0, 0]),
            (0, 3, 16385, &[0b0001_0_001, 4, 0]),
            (0, 9, 32767, &[0b0001_0_111, 0xFC, 0xFF]),
            (0, 9, 32768, &[0b0001_1_111, 0, 0]),
            (0, 9, 49151, &[0b0001_1_111, 0xFC, 0xFF]),
            (0, 10, 49151, &[0b0001_1_000, 1, 0xFC, 0xFF]),
            (0, 264, 16385, &[0b0001_0_000, 255, 4, 0]),
            (0, 265, 16385, &[0b0001_0_000, 0, 1, 4, 0]),
            (0, 2000, 20000, &[0b0001_0_000, 0, 0, 0, 0, 0, 0, 0, 206, 0x80, 0x38]),
        ];
        for (literal_count, len, distance, instruction) in cases {
            let found = Match { len, distance };
            let bytes = match len {
                2 => PAIR_BYTES,
                3 if literal_count > 3 && is_triple(found) => TRIPLE_BYTES,
                _ => match_bytes(found),
            };
            assert_eq!(instruction.len(), bytes, "{found:?}");
            for next_count in 0..=3 {
                let (stream, block) = stream(50_000, [literal_count, next_count], found);
                let mut expected = instruction.to_vec();
                let state_at = if bytes == 2 { 0 } else { bytes - 2 };
                expected[state_at] |= byte(next_count);
                expected.extend(random(next_count, 2));
                expected.extend([17, 0, 0]);
                assert!(stream.ends_with(&expected), "{found:?}, {next_count}");
                check_decoded(&stream, &block);
            }
        }
    }

    #[test]
    fn each_run_of_literals_takes_its_shortest_instruction() {
        let found = Match {
            len: 9,
            distance: 1,
        };
        let cases: [(usize, &[u8]); 11] = [
            (1, &[18]),
            (3, &[20]),
            (4, &[21]),
            (238, &[255]),
            (239, &[0, 221]),
            (273, &[0, 255]),
            (274, &[0, 0, 1]),
            (528, &[0, 0, 255]),
            (529, &[0, 0, 0, 1]),
            (600, &[0, 0, 0, 72]),
            (50_000, &[0; 196]),
        ];
        for (len, instruction) in cases {
            let (stream, block) = stream(len, [0, 0], found);
            assert!(stream.starts_with(instruction), "{len}");
            check_decoded(&stream, &block);
        }
        for (len, instruction) in [
            (4, &[1][..]),
            (18, &[15]),
            (19, &[0, 1]),
            (273, &[0, 255]),
            (274, &[0, 0, 1]),
        ] {
            let (stream, block) = stream(1, [len, len], found);
            let expected = [instruction, &random(len, 2), &[17, 0, 0]].concat();
            assert!(stream.ends_with(&expected), "{len}");
            check_decoded(&stream, &block);
        }
    }
}
