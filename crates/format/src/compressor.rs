//! The compressors that an image can name, and the options it may record for them.

use std::fmt;

use zerocopy::little_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{Corrupt, Part, Rule};

/// A compressor by its number in the superblock.
///
/// Source: the kernel's `fs/squashfs/squashfs_fs.h`, `ZLIB_COMPRESSION` and the following.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Compressor {
    /// Deflate in a zlib stream.
    Gzip = 1,
    /// LZMA alone, from before xz; named so that it can be refused by name.
    Lzma = 2,
    /// LZO1X.
    Lzo = 3,
    /// LZMA2 in an xz container.
    Xz = 4,
    /// LZ4 block.
    Lz4 = 5,
    /// Zstandard frame.
    Zstd = 6,
}

impl Compressor {
    /// Every compressor, by number.
    pub const ALL: [Self; 6] = [
        Self::Gzip,
        Self::Lzma,
        Self::Lzo,
        Self::Xz,
        Self::Lz4,
        Self::Zstd,
    ];

    /// The compressor with this number in the superblock.
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|compressor| compressor.number() == number)
    }

    /// The number that the superblock holds.
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// The compressor with this name, as `mksquashfs -comp` spells it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|compressor| compressor.name() == name)
    }

    /// The name that `mksquashfs -comp` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Lzma => "lzma",
            Self::Lzo => "lzo",
            Self::Xz => "xz",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for Compressor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Compressor options as they stand in the metadata block behind the superblock.
///
/// Source: docs/format.md, "Compressor options".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressorOptions {
    /// Options of [`Compressor::Gzip`].
    Gzip {
        /// 1 to 9.
        level: u32,
        /// Base-2 logarithm of the window in bytes, 8 to 15.
        window_size: u16,
        /// Set of strategies that the writer tried, bits 0 to 4.
        strategies: u16,
    },
    /// Options of [`Compressor::Lzo`].
    Lzo {
        /// 0 to 4; 4 is LZO1X-999.
        algorithm: u32,
        /// 1 to 9 for LZO1X-999, else 0.
        level: u32,
    },
    /// Options of [`Compressor::Xz`].
    Xz {
        /// Dictionary in bytes: `2^n` or `2^n + 2^(n+1)`, at least 8192.
        dictionary_size: u32,
        /// Set of branch filters that the writer tried, one bit each.
        filters: u32,
    },
    /// Options of [`Compressor::Lz4`]; always recorded.
    Lz4 {
        /// Whether the writer used LZ4 HC.
        high_compression: bool,
    },
    /// Options of [`Compressor::Zstd`].
    Zstd {
        /// 1 to 22, or a negative level as two's complement; not checked, as nothing uses it.
        level: u32,
    },
}

/// Gzip options as they lie on disk.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawGzipOptions {
    /// Level, 1 to 9.
    pub level: U32,
    /// Window logarithm, 8 to 15.
    pub window_size: U16,
    /// Strategy bits.
    pub strategies: U16,
}

/// Two 32-bit words: the options of lzo, xz and lz4 as they lie on disk.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawOptionPair {
    /// lzo: algorithm; xz: dictionary size; lz4: version, always 1.
    pub first: U32,
    /// lzo: level; xz: filters; lz4: flags, bit 0 for HC.
    pub second: U32,
}

/// Zstd options as they lie on disk.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawZstdOptions {
    /// Level, 1 to 22, or a negative level as two's complement.
    pub level: U32,
}

const _: () = {
    assert!(size_of::<RawGzipOptions>() == 8);
    assert!(size_of::<RawOptionPair>() == 8);
    assert!(size_of::<RawZstdOptions>() == 4);
};

/// The only LZ4 stream version that the kernel accepts (`LZ4_LEGACY`).
const LZ4_VERSION: u32 = 1;
/// The least xz dictionary: a metadata block must fit.
const DICTIONARY_MIN_BYTES: u32 = 8192;
/// 1 MiB is the largest block; a larger dictionary would only cost the kernel memory.
const DICTIONARY_MAX_BYTES: u32 = 1 << 20;

impl CompressorOptions {
    /// Reads the options of `compressor` from the content of their metadata block.
    ///
    /// * `start`: image byte of the metadata block, for errors.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the block is too short or a value is outside its range. Trailing bytes are
    /// accepted: some firmware's xz appends fields of its own.
    pub fn parse(compressor: Compressor, bytes: &[u8], start: u64) -> Result<Self, Corrupt> {
        let corrupt = |rule| Corrupt {
            part: Part::CompressorOptions,
            start,
            rule,
        };
        let short = corrupt(Rule::Truncated {
            needed: 8,
            found: bytes.len() as u64,
        });
        let pair = || {
            RawOptionPair::read_from_prefix(bytes)
                .map(|(raw, _)| raw)
                .map_err(|_| short)
        };
        let range = |field, value: u32, low: u32, high: u32| {
            let (found, allowed) = (value.into(), low.into()..=high.into());
            Corrupt::check_range(Part::CompressorOptions, start, field, found, allowed)
        };
        match compressor {
            Compressor::Gzip => {
                let (raw, _) = RawGzipOptions::read_from_prefix(bytes).map_err(|_| short)?;
                range("gzip level", raw.level.get(), 1, 9)?;
                range("gzip window size", raw.window_size.get().into(), 8, 15)?;
                Ok(Self::Gzip {
                    level: raw.level.get(),
                    window_size: raw.window_size.get(),
                    strategies: raw.strategies.get(),
                })
            }
            Compressor::Lzo => {
                let raw = pair()?;
                range("lzo algorithm", raw.first.get(), 0, 4)?;
                range("lzo level", raw.second.get(), 0, 9)?;
                Ok(Self::Lzo {
                    algorithm: raw.first.get(),
                    level: raw.second.get(),
                })
            }
            Compressor::Xz => {
                let raw = pair()?;
                let dictionary_size = raw.first.get();
                let (low, high) = (DICTIONARY_MIN_BYTES, DICTIONARY_MAX_BYTES);
                range("xz dictionary size", dictionary_size, low, high)?;
                // The kernel refuses to mount with any other size.
                if !matches!(dictionary_size >> dictionary_size.trailing_zeros(), 1 | 3) {
                    return Err(corrupt(Rule::OutOfRange {
                        field: "xz dictionary size (2^n or 2^n + 2^(n+1))",
                        found: dictionary_size.into(),
                        low: low.into(),
                        high: high.into(),
                    }));
                }
                Ok(Self::Xz {
                    dictionary_size,
                    filters: raw.second.get(),
                })
            }
            Compressor::Lz4 => {
                let raw = pair()?;
                range("lz4 version", raw.first.get(), LZ4_VERSION, LZ4_VERSION)?;
                Ok(Self::Lz4 {
                    high_compression: raw.second.get() & 1 != 0,
                })
            }
            Compressor::Zstd => {
                let short = corrupt(Rule::Truncated {
                    needed: 4,
                    found: bytes.len() as u64,
                });
                let (raw, _) = RawZstdOptions::read_from_prefix(bytes).map_err(|_| short)?;
                Ok(Self::Zstd {
                    level: raw.level.get(),
                })
            }
            Compressor::Lzma => Err(corrupt(Rule::Unsupported {
                field: "compressor",
                found: 2,
            })),
        }
    }

    /// The content of the metadata block that records these options.
    pub fn write(&self) -> Vec<u8> {
        let pair = |first: u32, second: u32| {
            RawOptionPair {
                first: first.into(),
                second: second.into(),
            }
            .as_bytes()
            .to_vec()
        };
        match *self {
            Self::Gzip {
                level,
                window_size,
                strategies,
            } => RawGzipOptions {
                level: level.into(),
                window_size: window_size.into(),
                strategies: strategies.into(),
            }
            .as_bytes()
            .to_vec(),
            Self::Lzo { algorithm, level } => pair(algorithm, level),
            Self::Xz {
                dictionary_size,
                filters,
            } => pair(dictionary_size, filters),
            Self::Lz4 { high_compression } => pair(LZ4_VERSION, high_compression.into()),
            Self::Zstd { level } => RawZstdOptions {
                level: level.into(),
            }
            .as_bytes()
            .to_vec(),
        }
    }
}
