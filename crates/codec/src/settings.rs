//! A compressor and its level, checked, and what the image records of them.

use std::ops::RangeInclusive;

use coldpress_format::{BlockSize, Compressor, CompressorOptions};

use crate::Error;

/// gzip level of mksquashfs, and the highest that its options can record.
const GZIP_DEFAULT_LEVEL: i32 = 9;
/// Base-2 logarithm of the deflate window; the kernel allocates no other.
const GZIP_WINDOW_SIZE: u16 = 15;
/// The preset that mksquashfs uses.
const XZ_DEFAULT_LEVEL: i32 = 6;
/// The level of `mksquashfs -Xhc`. Decompression is as fast as at any other level.
const LZ4_DEFAULT_LEVEL: i32 = 12;
/// The level of mksquashfs.
const ZSTD_DEFAULT_LEVEL: i32 = 15;

/// A compressor and how hard it tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The compressor.
    pub compressor: Compressor,
    /// The level, in [`Settings::level_range`]; 0 where the compressor has no levels.
    pub level: i32,
}

impl Settings {
    /// The settings for `compressor`, at its default level if `level` is `None`.
    ///
    /// Defaults: gzip 9, xz 6, lz4 12, zstd 15.
    ///
    /// # Errors
    ///
    /// [`Error::Level`] if the level is outside [`Settings::level_range`], [`Error::NoLevels`] if
    /// the compressor has none, [`Error::NotWritable`] for lzma.
    pub fn new(compressor: Compressor, level: Option<i32>) -> Result<Self, Error> {
        let default = match compressor {
            Compressor::Gzip => GZIP_DEFAULT_LEVEL,
            Compressor::Xz => XZ_DEFAULT_LEVEL,
            Compressor::Lz4 => LZ4_DEFAULT_LEVEL,
            Compressor::Zstd => ZSTD_DEFAULT_LEVEL,
            Compressor::Lzo => match level {
                None => 0,
                Some(level) => return Err(Error::NoLevels { compressor, level }),
            },
            Compressor::Lzma => return Err(Error::NotWritable { compressor }),
        };
        let settings = Self {
            compressor,
            level: level.unwrap_or(default),
        };
        settings.check()?;
        Ok(settings)
    }

    /// The levels of a compressor; `None` for lzo, whose encoder has none, and for lzma.
    ///
    /// gzip goes beyond zlib's 9 to the 12 of libdeflate; lz4 0 is the fast compressor, 1 to 12
    /// are the levels of LZ4 HC.
    pub fn level_range(compressor: Compressor) -> Option<RangeInclusive<i32>> {
        match compressor {
            Compressor::Gzip => Some(1..=12),
            Compressor::Xz => Some(0..=9),
            Compressor::Lz4 => Some(0..=12),
            Compressor::Zstd => Some(1..=22),
            Compressor::Lzo | Compressor::Lzma => None,
        }
    }

    /// What must stand behind the superblock of an image written with these settings.
    ///
    /// `None` where all is default, as mksquashfs does: readers then assume gzip level 9 with
    /// window 15, an xz dictionary of one block, zstd level 15, lzo 999 level 8. That is also the
    /// truth about every xz and lzo image written here: the dictionary never exceeds a block, and
    /// the lzo level matters to no reader. lz4 options are always recorded, because the kernel
    /// refuses an lz4 image without them.
    ///
    /// Source: docs/format.md, "Compressor options".
    pub fn options(&self, _block_size: BlockSize) -> Option<CompressorOptions> {
        match self.compressor {
            Compressor::Gzip => {
                // The format knows zlib's levels only.
                let level = self.level.min(GZIP_DEFAULT_LEVEL);
                (level != GZIP_DEFAULT_LEVEL).then(|| CompressorOptions::Gzip {
                    level: level.unsigned_abs(),
                    window_size: GZIP_WINDOW_SIZE,
                    strategies: 0,
                })
            }
            Compressor::Lz4 => Some(CompressorOptions::Lz4 {
                high_compression: self.level > 0,
            }),
            Compressor::Zstd => {
                (self.level != ZSTD_DEFAULT_LEVEL).then(|| CompressorOptions::Zstd {
                    level: self.level.unsigned_abs(),
                })
            }
            Compressor::Xz | Compressor::Lzo | Compressor::Lzma => None,
        }
    }

    /// Whether the level is in range; the fields are public, so an encoder asks again.
    pub(crate) fn check(self) -> Result<(), Error> {
        let Self { compressor, level } = self;
        match Self::level_range(compressor) {
            Some(range) if range.contains(&level) => Ok(()),
            Some(range) => {
                let (low, high) = range.into_inner();
                Err(Error::Level {
                    compressor,
                    level,
                    low,
                    high,
                })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_settings_record_no_options_except_for_lz4() {
        for (compressor, level, options) in [
            (Compressor::Gzip, 9, None),
            (Compressor::Lzo, 0, None),
            (Compressor::Xz, 6, None),
            (
                Compressor::Lz4,
                12,
                Some(CompressorOptions::Lz4 {
                    high_compression: true,
                }),
            ),
            (Compressor::Zstd, 15, None),
        ] {
            let settings = Settings::new(compressor, None).unwrap();
            assert_eq!(settings, Settings { compressor, level });
            assert_eq!(
                settings.options(BlockSize::DEFAULT),
                options,
                "{compressor}"
            );
        }
    }

    #[test]
    fn other_levels_are_recorded_as_readers_understand_them() {
        let gzip = |level| {
            Some(CompressorOptions::Gzip {
                level,
                window_size: 15,
                strategies: 0,
            })
        };
        for (compressor, level, options) in [
            (Compressor::Gzip, 1, gzip(1)),
            (Compressor::Gzip, 12, None),
            (Compressor::Xz, 0, None),
            (
                Compressor::Lz4,
                0,
                Some(CompressorOptions::Lz4 {
                    high_compression: false,
                }),
            ),
            (
                Compressor::Zstd,
                22,
                Some(CompressorOptions::Zstd { level: 22 }),
            ),
        ] {
            let settings = Settings::new(compressor, Some(level)).unwrap();
            assert_eq!(
                settings.options(BlockSize::MAX),
                options,
                "{compressor} {level}"
            );
            if let Some(options) = options {
                let parsed = CompressorOptions::parse(compressor, &options.write(), 98);
                assert_eq!(parsed, Ok(options));
            }
        }
    }

    #[test]
    fn settings_that_cannot_be_used_are_refused_by_name() {
        for (compressor, level, text) in [
            (
                Compressor::Gzip,
                Some(13),
                "gzip level 13 is outside 1 to 12",
            ),
            (Compressor::Gzip, Some(0), "gzip level 0 is outside 1 to 12"),
            (Compressor::Xz, Some(-1), "xz level -1 is outside 0 to 9"),
            (Compressor::Lz4, Some(13), "lz4 level 13 is outside 0 to 12"),
            (
                Compressor::Zstd,
                Some(23),
                "zstd level 23 is outside 1 to 22",
            ),
            (
                Compressor::Lzo,
                Some(8),
                "lzo has no levels, but level 8 was asked for; leave the level out",
            ),
            (
                Compressor::Lzma,
                None,
                "lzma cannot be written: Linux does not mount such images; use xz instead",
            ),
        ] {
            assert_eq!(
                Settings::new(compressor, level).unwrap_err().to_string(),
                text
            );
        }
    }
}
