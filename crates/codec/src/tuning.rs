//! What there is to set beside the level, for each compressor that has something.

mod xz;

use coldpress_format::Compressor;

use crate::Error;
use crate::choice::{Choice, Choices};

pub(crate) use xz::MIN_DICTIONARY_BYTES;
pub use xz::{Dictionary, Filter, XzTuning};

/// Base-2 logarithm of the largest deflate window; the kernel allocates no other.
const WINDOW_BITS: u8 = 15;

/// Settings of one compressor beside its level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tuning {
    /// What mksquashfs does without further options.
    #[default]
    Default,
    /// For [`Compressor::Gzip`].
    Gzip(GzipTuning),
    /// For [`Compressor::Xz`].
    Xz(XzTuning),
    /// For [`Compressor::Lz4`].
    Lz4(Lz4Tuning),
}

impl Tuning {
    /// The compressor that this is for; `None` if for any.
    pub fn compressor(&self) -> Option<Compressor> {
        match self {
            Self::Default => None,
            Self::Gzip(_) => Some(Compressor::Gzip),
            Self::Xz(_) => Some(Compressor::Xz),
            Self::Lz4(_) => Some(Compressor::Lz4),
        }
    }

    pub(crate) fn gzip(self) -> GzipTuning {
        match self {
            Self::Gzip(tuning) => tuning,
            _ => GzipTuning::default(),
        }
    }

    pub(crate) fn xz(self) -> XzTuning {
        match self {
            Self::Xz(tuning) => tuning,
            _ => XzTuning::default(),
        }
    }

    pub(crate) fn lz4(self) -> Lz4Tuning {
        match self {
            Self::Lz4(tuning) => tuning,
            _ => Lz4Tuning::default(),
        }
    }
}

/// The window of gzip, and what is tried for each block.
///
/// With any but the default, zlib compresses instead of libdeflate, which has neither; levels
/// above zlib's 9 are then refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GzipTuning {
    /// Base-2 logarithm of the window in bytes, 8 to 15. zlib uses 9 for 8.
    pub window_bits: u8,
    /// The strategies that are tried for each block, of which the smallest result is kept; the
    /// default one if empty.
    pub strategies: Choices<Strategy>,
}

impl Default for GzipTuning {
    fn default() -> Self {
        Self {
            window_bits: WINDOW_BITS,
            strategies: Choices::NONE,
        }
    }
}

impl GzipTuning {
    /// What is tried besides the default strategy alone, as mksquashfs records it.
    pub(crate) fn recorded_strategies(self) -> u16 {
        match self.strategies.bits() {
            1 => 0,
            bits => bits,
        }
    }

    /// Whether it takes zlib to do this.
    pub(crate) fn needs_zlib(self) -> bool {
        self.window_bits != WINDOW_BITS || self.recorded_strategies() != 0
    }

    pub(crate) fn check(self, level: i32) -> Result<(), Error> {
        let compressor = Compressor::Gzip;
        in_range(compressor, "window", self.window_bits.into(), 8, 15)?;
        if self.needs_zlib() && level > 9 {
            return Err(Error::LevelOfLibdeflate { level });
        }
        Ok(())
    }
}

/// How zlib searches and codes a block.
///
/// Source: zlib's manual, `deflateInit2`; the bits are those of mksquashfs's `-Xstrategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// For any data.
    Default,
    /// For small values with a somewhat random distribution: fewer matches.
    Filtered,
    /// No matches.
    HuffmanOnly,
    /// Only matches with the byte before.
    RunLength,
    /// No Huffman tables of the block's own.
    Fixed,
}

impl Choice for Strategy {
    const ALL: &'static [Self] = &[
        Self::Default,
        Self::Filtered,
        Self::HuffmanOnly,
        Self::RunLength,
        Self::Fixed,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Filtered => "filtered",
            Self::HuffmanOnly => "huffman_only",
            Self::RunLength => "run_length_encoded",
            Self::Fixed => "fixed",
        }
    }
}

/// The acceleration of lz4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lz4Tuning {
    /// How much faster and worse level 0 compresses, 1 to 65537; each step is about 3 % faster.
    /// LZ4 HC, which is every other level, has none.
    pub acceleration: u32,
}

impl Default for Lz4Tuning {
    fn default() -> Self {
        Self { acceleration: 1 }
    }
}

impl Lz4Tuning {
    pub(crate) fn check(self, level: i32) -> Result<(), Error> {
        let acceleration = self.acceleration;
        let compressor = Compressor::Lz4;
        in_range(compressor, "acceleration", acceleration.into(), 1, 65537)?;
        if level != 0 && acceleration != 1 {
            return Err(Error::AccelerationOfLevel { level });
        }
        Ok(())
    }
}

fn in_range(
    compressor: Compressor,
    option: &'static str,
    value: i64,
    low: i64,
    high: i64,
) -> Result<(), Error> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Error::Option {
        compressor,
        option,
        value,
        low,
        high,
    })
}
