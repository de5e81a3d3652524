//! A compressor, its level and its tuning, checked, and what the image records of them.

mod recorded;

use std::ops::RangeInclusive;

use coldpress_format::{BlockSize, Compressor, CompressorOptions};

use crate::{Error, Tuning};

/// gzip level of mksquashfs, and the highest that its options can record.
const GZIP_DEFAULT_LEVEL: i32 = 9;
/// The level of LZO1X-999 that mksquashfs uses.
const LZO_DEFAULT_LEVEL: i32 = 8;
/// The numbers by which the options name LZO1X-1 and LZO1X-999.
const LZO_FAST_ALGORITHM: u32 = 0;
const LZO_BEST_ALGORITHM: u32 = 4;
/// The preset that mksquashfs uses.
const XZ_DEFAULT_LEVEL: i32 = 6;
/// The level of `mksquashfs -Xhc`. Decompression is as fast as at any other level.
const LZ4_DEFAULT_LEVEL: i32 = 12;
/// The level of mksquashfs.
const ZSTD_DEFAULT_LEVEL: i32 = 15;

/// A compressor, how hard it tries, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The compressor.
    pub compressor: Compressor,
    /// The level, in [`Settings::level_range`].
    pub level: i32,
    /// What else there is to set.
    pub tuning: Tuning,
}

impl Settings {
    /// The settings for `compressor`, at its default level if `level` is `None`, without tuning.
    ///
    /// Defaults: gzip 9, lzo 8, xz 6, lz4 12, zstd 15.
    ///
    /// # Errors
    ///
    /// [`Error::Level`] if the level is outside [`Settings::level_range`] or is zstd's 0;
    /// [`Error::NotWritable`] for lzma.
    pub fn new(compressor: Compressor, level: Option<i32>) -> Result<Self, Error> {
        let default = match compressor {
            Compressor::Gzip => GZIP_DEFAULT_LEVEL,
            Compressor::Lzo => LZO_DEFAULT_LEVEL,
            Compressor::Xz => XZ_DEFAULT_LEVEL,
            Compressor::Lz4 => LZ4_DEFAULT_LEVEL,
            Compressor::Zstd => ZSTD_DEFAULT_LEVEL,
            Compressor::Lzma => return Err(Error::NotWritable { compressor }),
        };
        let settings = Self {
            compressor,
            level: level.unwrap_or(default),
            tuning: Tuning::Default,
        };
        settings.check_level()?;
        Ok(settings)
    }

    /// The levels of a compressor; `None` for lzma.
    ///
    /// gzip goes beyond zlib's 9 to the 12 of libdeflate; lzo 0 is as fast as LZO1X-1, 1 to 9 take
    /// the place of LZO1X-999's levels; lz4 0 is the fast compressor, 1 to 12 are the levels of
    /// LZ4 HC. The negative levels of zstd are ever faster; it has no level 0.
    pub fn level_range(compressor: Compressor) -> Option<RangeInclusive<i32>> {
        match compressor {
            Compressor::Gzip => Some(1..=12),
            Compressor::Lzo | Compressor::Xz => Some(0..=9),
            Compressor::Lz4 => Some(0..=12),
            Compressor::Zstd => Some(zstd_safe::min_c_level()..=22),
            Compressor::Lzma => None,
        }
    }

    /// The same settings at another level, for single blocks of an image.
    ///
    /// The acceleration of lz4 is a refinement of its level 0 and is left out at others.
    ///
    /// # Errors
    ///
    /// As [`Settings::check`], for the level alone and with the tuning.
    pub fn at_level(&self, level: i32) -> Result<Self, Error> {
        let mut settings = Self { level, ..*self };
        if let (Tuning::Lz4(_), 1..) = (self.tuning, level) {
            settings.tuning = Tuning::Default;
        }
        settings.check_level()?;
        settings.tuning.gzip().check(level)?;
        Ok(settings)
    }

    /// What must stand behind the superblock of an image written with these settings.
    ///
    /// `None` where all is default, as mksquashfs does: readers then assume gzip level 9 with
    /// window 15, lzo 999 level 8, an xz dictionary of one block, zstd level 15. The xz options
    /// bound the dictionary of every stream: the kernel allocates no larger one. lz4 options are
    /// always recorded, because the kernel refuses an lz4 image without them; neither level nor
    /// acceleration is in them. Blocks compressed at other levels change nothing.
    ///
    /// Of settings that [`Settings::check`] refuses, the options mean nothing.
    ///
    /// Source: docs/format.md, "Compressor options".
    pub fn options(&self, block_size: BlockSize) -> Option<CompressorOptions> {
        match self.compressor {
            Compressor::Gzip => {
                let tuning = self.tuning.gzip();
                // The format knows zlib's levels only.
                let level = self.level.min(GZIP_DEFAULT_LEVEL);
                (level != GZIP_DEFAULT_LEVEL || tuning.needs_zlib()).then(|| {
                    CompressorOptions::Gzip {
                        level: level.unsigned_abs(),
                        window_size: tuning.window_bits.into(),
                        strategies: tuning.recorded_strategies(),
                    }
                })
            }
            Compressor::Lzo => (self.level != LZO_DEFAULT_LEVEL).then(|| CompressorOptions::Lzo {
                algorithm: if self.level == 0 {
                    LZO_FAST_ALGORITHM
                } else {
                    LZO_BEST_ALGORITHM
                },
                level: self.level.unsigned_abs(),
            }),
            Compressor::Xz => {
                let tuning = self.tuning.xz();
                let dictionary_size = tuning.dictionary.bytes(block_size).ok()?;
                let is_default = dictionary_size == crate::largest_block_bytes(block_size);
                (!is_default || !tuning.filters.is_empty()).then(|| CompressorOptions::Xz {
                    dictionary_size,
                    filters: tuning.filters.bits().into(),
                })
            }
            Compressor::Lz4 => Some(CompressorOptions::Lz4 {
                high_compression: self.level > 0,
            }),
            Compressor::Zstd => {
                (self.level != ZSTD_DEFAULT_LEVEL).then(|| CompressorOptions::Zstd {
                    level: self.level.cast_unsigned(),
                })
            }
            Compressor::Lzma => None,
        }
    }

    /// Whether an image with this block size can be written so; an encoder asks the same.
    ///
    /// # Errors
    ///
    /// As [`Settings::new`]; [`Error::Tuning`] if the tuning is for another compressor;
    /// [`Error::Option`], [`Error::Dictionary`] or [`Error::LiteralBits`] if a value of it is
    /// outside its range; [`Error::LevelOfLibdeflate`] or [`Error::AccelerationOfLevel`] if it does
    /// not go with the level.
    pub fn check(&self, block_size: BlockSize) -> Result<(), Error> {
        let Self {
            compressor,
            level,
            tuning,
        } = *self;
        self.check_level()?;
        match tuning.compressor() {
            Some(tuned) if tuned != compressor => return Err(Error::Tuning { compressor, tuned }),
            _ => {}
        }
        match tuning {
            Tuning::Default => Ok(()),
            Tuning::Gzip(tuning) => tuning.check(level),
            Tuning::Xz(tuning) => tuning.check(block_size),
            Tuning::Lz4(tuning) => tuning.check(level),
        }
    }

    fn check_level(self) -> Result<(), Error> {
        let Self {
            compressor, level, ..
        } = self;
        let range = Self::level_range(compressor).ok_or(Error::NotWritable { compressor })?;
        if compressor == Compressor::Zstd && level == 0 {
            let (low, high) = range.into_inner();
            return Err(Error::ZstdLevelZero { low, high });
        }
        if range.contains(&level) {
            return Ok(());
        }
        let (low, high) = range.into_inner();
        Err(Error::Level {
            compressor,
            level,
            low,
            high,
        })
    }
}

#[cfg(test)]
mod tests;
