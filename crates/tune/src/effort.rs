//! How much is tried: levels, block sizes, and what becomes of tail ends.

use coldpress_format::BlockSize;
use coldpress_format::Compressor::{self, Gzip, Lz4, Lzo, Xz, Zstd};
use coldpress_layout::Tails;

/// The least bytes of blocks with which a usual search packs all tail ends: in smaller ones, whose
/// ends are short and many, all fragment blocks together would be surveyed for little.
const ALL_TAILS_BYTES_MIN: u32 = 128 << 10;

/// How much is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Each compressor at one level, two block sizes.
    Fast,
    /// The levels that differ, five block sizes.
    #[default]
    Usual,
    /// Every block size and more levels.
    Thorough,
}

/// Levels that are worth their time, and differ: lzo and lz4 decompress alike at every level, and
/// beyond zstd's 15 bytes become dear.
const LEVELS: [(Effort, &[(Compressor, i32)]); 3] = [
    (
        Effort::Fast,
        &[(Gzip, 9), (Lzo, 8), (Lz4, 12), (Xz, 6), (Zstd, 15)],
    ),
    (
        Effort::Usual,
        &[
            (Gzip, 9),
            (Lzo, 8),
            (Lz4, 12),
            (Xz, 6),
            (Zstd, 3),
            (Zstd, 15),
            (Zstd, 22),
        ],
    ),
    (
        Effort::Thorough,
        &[
            (Gzip, 6),
            (Gzip, 9),
            (Gzip, 12),
            (Lzo, 0),
            (Lzo, 8),
            (Lz4, 0),
            (Lz4, 12),
            (Xz, 6),
            (Xz, 9),
            (Zstd, 1),
            (Zstd, 3),
            (Zstd, 9),
            (Zstd, 15),
            (Zstd, 19),
            (Zstd, 22),
        ],
    ),
];

impl Effort {
    pub(crate) fn levels(self) -> &'static [(Compressor, i32)] {
        let found = LEVELS.iter().find(|(effort, _)| *effort == self);
        found.map_or(&[], |(_, levels)| levels)
    }

    pub(crate) fn block_sizes_kib(self) -> &'static [u32] {
        match self {
            Self::Fast => &[128, 1024],
            Self::Usual => &[16, 64, 128, 256, 1024],
            Self::Thorough => &[4, 8, 16, 32, 64, 128, 256, 512, 1024],
        }
    }

    /// What may become of tail ends in blocks of a size.
    pub(crate) fn tails(self, block_size: BlockSize) -> &'static [Tails] {
        let packs_all = match self {
            Self::Fast => false,
            Self::Usual => block_size.bytes() >= ALL_TAILS_BYTES_MIN,
            Self::Thorough => true,
        };
        if packs_all {
            &[Tails::Small, Tails::None, Tails::All]
        } else {
            &[Tails::Small, Tails::None]
        }
    }

    /// Whether xz is also tried with filters for machine code, which takes twice as long.
    pub(crate) fn filters(self) -> bool {
        self == Self::Thorough
    }
}
