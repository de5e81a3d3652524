//! Compressing one block at a time.

use std::fmt;

use coldpress_format::{BlockSize, Compressor};

use crate::{Error, Settings, gzip, largest_block_bytes, lz4, lzo, xz, zstd};

/// A compressor with its working memory, for many blocks one after another.
///
/// The bytes of a block depend on the settings, the level, the block size and the block, never on
/// what was compressed before.
pub struct Encoder {
    settings: Settings,
    block_size: BlockSize,
    /// Where blocks are compressed to: filled with zeros once, not for each block.
    room: Vec<u8>,
    /// A compressor for each level that was asked for; the first is that of the settings. Few, as
    /// plans tell blocks apart by whether they are hot.
    levels: Vec<(i32, Inner)>,
}

enum Inner {
    Gzip(gzip::Encoder),
    Lzo(lzo::Encoder),
    Xz(xz::Encoder),
    Lz4(lz4::Encoder),
    Zstd(zstd::Encoder),
}

impl Encoder {
    /// An encoder for the data and metadata blocks of an image with this block size.
    ///
    /// # Errors
    ///
    /// As [`Settings::check`]; [`Error::Library`] if there is no memory for the compressor.
    pub fn new(settings: &Settings, block_size: BlockSize) -> Result<Self, Error> {
        settings.check(block_size)?;
        let inner = Inner::new(settings, block_size)?;
        // At most 1 MiB: BlockSize::MAX.
        let room_bytes = largest_block_bytes(block_size) as usize;
        Ok(Self {
            settings: *settings,
            block_size,
            room: vec![0; room_bytes],
            levels: vec![(settings.level, inner)],
        })
    }

    /// Compresses one block into `output`, whose former content is dropped.
    ///
    /// Returns whether the block shrank. If so, `output` is the compressed block, smaller than
    /// `input`; if not, the block is to be stored as it is, and `output` is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Library`] if the compressor runs out of memory.
    ///
    /// # Panics
    ///
    /// If `input` is larger than a block of the image: the kernel could not read it back.
    ///
    /// # Cost
    ///
    /// Gives up as soon as the output would reach the size of the input. Allocates nothing but what
    /// `output` grows by.
    pub fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<bool, Error> {
        self.compress_at_level(self.settings.level, input, output)
    }

    /// Compresses one block as an encoder of another level would.
    ///
    /// What an image records of its compressor stays as it is, for every level decompresses alike.
    ///
    /// # Errors
    ///
    /// As [`Encoder::compress`] and [`Settings::at_level`].
    ///
    /// # Panics
    ///
    /// As [`Encoder::compress`].
    ///
    /// # Cost
    ///
    /// As [`Encoder::compress`]. The first block of a level allocates the memory of its compressor,
    /// which is kept.
    pub fn compress_at_level(
        &mut self,
        level: i32,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        assert!(
            input.len() <= self.room.len(),
            "block of {} bytes in an image of blocks of {} bytes",
            input.len(),
            self.room.len()
        );
        output.clear();
        // No stream is empty, so a block of one byte cannot shrink.
        let room_bytes = input.len().saturating_sub(1);
        if room_bytes == 0 {
            return Ok(false);
        }
        let made = self.levels.iter().position(|(made, _)| *made == level);
        let place = if let Some(place) = made {
            place
        } else {
            let settings = self.settings.at_level(level)?;
            let inner = Inner::new(&settings, self.block_size)?;
            self.levels.push((level, inner));
            self.levels.len() - 1
        };
        let room = &mut self.room[..room_bytes];
        let compressed = self.levels[place].1.compress(input, room);
        let compressor = self.settings.compressor;
        match compressed.map_err(|reason| Error::Library { compressor, reason })? {
            Some(size_bytes) => {
                output.extend_from_slice(&self.room[..size_bytes]);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

impl Inner {
    fn new(settings: &Settings, block_size: BlockSize) -> Result<Self, Error> {
        let Settings {
            compressor,
            level,
            tuning,
        } = *settings;
        let refused = |reason| Error::Library { compressor, reason };
        Ok(match compressor {
            Compressor::Gzip => {
                Self::Gzip(gzip::Encoder::new(level, tuning.gzip()).map_err(refused)?)
            }
            Compressor::Lzma => return Err(Error::NotWritable { compressor }),
            Compressor::Lzo => Self::Lzo(lzo::Encoder::new(level)),
            Compressor::Xz => {
                let dictionary_bytes = tuning.xz().dictionary.bytes(block_size)?;
                Self::Xz(xz::Encoder::new(level, tuning.xz(), dictionary_bytes).map_err(refused)?)
            }
            Compressor::Lz4 => Self::Lz4(lz4::Encoder::new(level, tuning.lz4())),
            Compressor::Zstd => Self::Zstd(zstd::Encoder::new(level).map_err(refused)?),
        })
    }

    /// The size of the stream put in `output`, or `None` if it does not fit.
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>, &'static str> {
        match self {
            Self::Gzip(encoder) => encoder.compress(input, output),
            Self::Lzo(encoder) => Ok(encoder.compress(input, output)),
            Self::Xz(encoder) => encoder.compress(input, output),
            Self::Lz4(encoder) => Ok(encoder.compress(input, output)),
            Self::Zstd(encoder) => encoder.compress(input, output),
        }
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Encoder")
            .field("settings", &self.settings)
            .field("block_size", &self.block_size)
            .finish_non_exhaustive()
    }
}
