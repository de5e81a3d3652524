//! lzo: an LZO1X stream up to its end marker, in the original version of the format.
//!
//! The encoder is written from the kernel's description of the format
//! (Documentation/staging/lzo.rst). Its levels 1 to 9 look for matches with growing effort and
//! write the shortest stream that these allow; level 0 takes the first match that it sees. An
//! instruction is whole bytes, and its size depends on the length and the distance of a match and
//! on the number of literals before it, so the search goes by true costs, with no estimates as
//! those for a format with entropy coding.
//!
//! Measured on the files of a system with Chromium, blocks of 128 KiB, one busy core, against
//! LZO1X-999 level 8 as mksquashfs writes it (9.6 MB/s): level 8 is 1.1 % smaller at 10.2 MB/s,
//! level 4 0.1 % smaller at 12.5 MB/s, level 9 1.2 % smaller at 8.1 MB/s.

mod finder;
mod greedy;
mod last_seen;
mod parse;
mod stream;
#[cfg(test)]
mod tests;

use crate::error::Defect;
use finder::Finder;
use greedy::Greedy;
use parse::Parser;
use stream::Writer;

/// How hard levels 1 to 9 look for matches: the most candidates for a position, and the length of a
/// match that is taken without a look at others.
///
/// The second bounds the time for repetitive blocks, the first that for all others.
const EFFORTS: [(usize, usize); 9] = [
    (2, 32),
    (3, 48),
    (4, 64),
    (6, 64),
    (8, 96),
    (11, 96),
    (15, 128),
    (20, 128),
    (256, 512),
];

/// A compressor of blocks of up to 1 MiB, each for itself.
///
/// # Cost
///
/// 256 KiB of memory at level 0. Else 1 MiB, and 16 times the largest block that it has seen.
pub(crate) struct Encoder(Method);

enum Method {
    Greedy(Greedy),
    Optimal(Finder, Parser),
}

impl Encoder {
    /// An encoder of a level from 0, the fastest, to 9, the smallest.
    pub(crate) fn new(level: i32) -> Self {
        let effort = usize::try_from(level - 1)
            .ok()
            .map(|index| EFFORTS[index.min(EFFORTS.len() - 1)]);
        Self(match effort {
            None => Method::Greedy(Greedy::new()),
            Some((candidates, nice_len)) => {
                Method::Optimal(Finder::new(candidates, nice_len), Parser::default())
            }
        })
    }

    /// The size of the stream put in `output`, or `None` if it does not fit.
    pub(crate) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(input, output);
        match &mut self.0 {
            Method::Greedy(greedy) => greedy.compress(input, &mut writer)?,
            Method::Optimal(finder, parser) => {
                for step in parser.parse(input, finder) {
                    writer.copy(step.literal_count, step.found)?;
                }
            }
        }
        writer.finish()
    }
}

/// The length of the block put in `output`.
pub(crate) fn decompress(input: &[u8], output: &mut [u8]) -> Result<usize, Defect> {
    lzokay::decompress::decompress(input, output).map_err(|error| match error {
        lzokay::Error::LookbehindOverrun => Defect::Damaged("a match starts before the block"),
        lzokay::Error::OutputOverrun => Defect::TooLong,
        lzokay::Error::InputOverrun => Defect::Damaged("it is cut short"),
        lzokay::Error::InputNotConsumed => Defect::Damaged("bytes follow its end marker"),
        lzokay::Error::Error => Defect::Damaged("its end marker is wrong"),
    })
}
