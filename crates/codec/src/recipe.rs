//! Ways in which the tools of the world compress a block, and whether one made a given block.

use std::fmt;

use coldpress_format::{BlockSize, Compressor};

use crate::best::Best;
use crate::tuning::{GzipTuning, Strategy, XzTuning};
use crate::{Encoder, Error, Settings, Tuning, largest_block_bytes, xz, zlib};

/// A way to compress blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// As an [`Encoder`] does: libdeflate or zlib-rs, our LZO, liblzma with a dictionary that fits
    /// the block, lz4, libzstd.
    Encoder(Settings),
    /// zlib, which mksquashfs and squashfs-tools-ng use.
    Zlib {
        /// 1 to 9.
        level: i32,
        /// The window, and what is tried for each block.
        tuning: GzipTuning,
    },
    /// liblzma as mksquashfs and squashfs-tools-ng use it: a whole block at once, every dictionary
    /// of one size.
    Liblzma {
        /// The preset, 0 to 9.
        level: i32,
        /// Dictionary, filters and coding.
        tuning: XzTuning,
    },
}

impl Recipe {
    /// The compressor whose streams it makes.
    pub fn compressor(&self) -> Compressor {
        match self {
            Self::Encoder(settings) => settings.compressor,
            Self::Zlib { .. } => Compressor::Gzip,
            Self::Liblzma { .. } => Compressor::Xz,
        }
    }

    /// The level, as the compressor counts.
    pub fn level(&self) -> i32 {
        match self {
            Self::Encoder(settings) => settings.level,
            Self::Zlib { level, .. } | Self::Liblzma { level, .. } => *level,
        }
    }

    /// The library that does it.
    pub fn library(&self) -> &'static str {
        match self {
            Self::Zlib { .. } => "zlib",
            Self::Liblzma { .. } => "liblzma, whole blocks",
            Self::Encoder(settings) => match (settings.compressor, settings.tuning) {
                (Compressor::Gzip, Tuning::Gzip(tuning)) if tuning.needs_zlib() => "zlib-rs",
                (Compressor::Gzip, _) => "libdeflate",
                (Compressor::Lzo, _) => "the LZO encoder of coldpress",
                (Compressor::Xz, _) => "liblzma, streaming",
                (Compressor::Lz4, _) if settings.level == 0 => "lz4",
                (Compressor::Lz4, _) => "lz4 HC",
                (Compressor::Zstd, _) => "libzstd",
                (Compressor::Lzma, _) => "none",
            },
        }
    }
}

/// Compresses blocks again, to see whether they come out as they are stored.
pub struct Recompressor {
    recipe: Recipe,
    engine: Engine,
    output: Vec<u8>,
}

enum Engine {
    Encoder(Box<Encoder>),
    Zlib(Vec<Strategy>, Best),
    Liblzma(xz::Encoder),
}

impl Recompressor {
    /// Makes ready to follow a recipe in an image with this block size.
    ///
    /// # Errors
    ///
    /// As [`Encoder::new`].
    pub fn new(recipe: Recipe, block_size: BlockSize) -> Result<Self, Error> {
        let engine = match recipe {
            Recipe::Encoder(settings) => {
                Engine::Encoder(Box::new(Encoder::new(&settings, block_size)?))
            }
            Recipe::Zlib { tuning, .. } => {
                let mut strategies: Vec<_> = tuning.strategies.iter().collect();
                if strategies.is_empty() {
                    strategies.push(Strategy::Default);
                }
                Engine::Zlib(strategies, Best::default())
            }
            Recipe::Liblzma { level, tuning } => {
                let dictionary_bytes = tuning.dictionary.bytes(block_size)?;
                let encoder = xz::Encoder::new(level, tuning, dictionary_bytes);
                let encoder = encoder.map_err(|reason| Error::Library {
                    compressor: Compressor::Xz,
                    reason,
                })?;
                Engine::Liblzma(encoder.with_one_dictionary())
            }
        };
        // At most 1 MiB: BlockSize::MAX. A stream that does not shrink is never stored.
        let room_bytes = largest_block_bytes(block_size) as usize;
        Ok(Self {
            recipe,
            engine,
            output: vec![0; room_bytes],
        })
    }

    /// Whether the recipe makes `stored` from `content`.
    ///
    /// Of xz, what a tool writes around the compressed data counts as little as for readers.
    ///
    /// # Errors
    ///
    /// [`Error::Library`] if the compressor runs out of memory.
    ///
    /// # Cost
    ///
    /// One compression of the block.
    pub fn is_made(&mut self, content: &[u8], stored: &[u8]) -> Result<bool, Error> {
        let compressor = self.recipe.compressor();
        let refused = |reason| Error::Library { compressor, reason };
        let room = content.len().min(self.output.len());
        let written = match (&mut self.engine, self.recipe) {
            (Engine::Encoder(encoder), _) => {
                encoder.compress(content, &mut self.output)?;
                let is_made = self.output == stored;
                return Ok(is_made);
            }
            (Engine::Liblzma(encoder), _) => encoder.compress(content, &mut self.output[..room]),
            (Engine::Zlib(strategies, best), Recipe::Zlib { level, tuning }) => {
                best.of(strategies, &mut self.output[..room], |strategy, room| {
                    zlib::compress(content, room, level, tuning.window_bits, *strategy)
                })
            }
            (Engine::Zlib(..), _) => Ok(None),
        };
        let Some(len) = written.map_err(refused)? else {
            return Ok(false);
        };
        let made = &self.output[..len];
        Ok(match self.recipe {
            Recipe::Liblzma { .. } => {
                let data = xz::compressed_data(stored);
                data.is_some() && xz::compressed_data(made) == data
            }
            _ => made == stored,
        })
    }
}

impl fmt::Debug for Recompressor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Recompressor")
            .field("recipe", &self.recipe)
            .finish_non_exhaustive()
    }
}
