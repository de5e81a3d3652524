//! Compressing one block at a time.

use std::fmt;

use coldpress_format::{BlockSize, Compressor};

use crate::{Error, Settings, gzip, largest_block_bytes, lz4, lzo, xz, zstd};

/// A compressor with its working memory, for many blocks one after another.
///
/// The bytes of a block depend on the settings, the block size and the block, never on what was
/// compressed before.
pub struct Encoder {
    settings: Settings,
    largest_block_bytes: usize,
    inner: Inner,
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
    /// As [`Settings::new`], for settings put together by hand; [`Error::Library`] if there is no
    /// memory for the compressor.
    pub fn new(settings: &Settings, block_size: BlockSize) -> Result<Self, Error> {
        settings.check()?;
        let Settings { compressor, level } = *settings;
        let refused = |reason| Error::Library { compressor, reason };
        let inner = match compressor {
            Compressor::Gzip => Inner::Gzip(gzip::Encoder::new(level).map_err(refused)?),
            Compressor::Lzma => return Err(Error::NotWritable { compressor }),
            Compressor::Lzo => Inner::Lzo(lzo::Encoder::new(lzo::DEFAULT_LEVEL)),
            Compressor::Xz => Inner::Xz(xz::Encoder::new(level)),
            Compressor::Lz4 => Inner::Lz4(lz4::Encoder::new(level)),
            Compressor::Zstd => Inner::Zstd(zstd::Encoder::new(level).map_err(refused)?),
        };
        // At most 1 MiB: BlockSize::MAX.
        let largest_block_bytes = largest_block_bytes(block_size) as usize;
        Ok(Self {
            settings: *settings,
            largest_block_bytes,
            inner,
        })
    }

    /// Compresses one block into `output`, whose former content is dropped.
    ///
    /// Returns whether the block shrank. If so, `output` is the compressed block, smaller than
    /// `input`; if not, the block is to be stored as it is, and `output` holds nothing of use.
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
    /// Gives up as soon as the output would reach the size of the input. Allocates nothing once
    /// `output` has grown to the block size, except with xz.
    pub fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<bool, Error> {
        assert!(
            input.len() <= self.largest_block_bytes,
            "block of {} bytes in an image of blocks of {} bytes",
            input.len(),
            self.largest_block_bytes
        );
        // No stream is empty, so a block of one byte cannot shrink.
        let room_bytes = input.len().saturating_sub(1);
        if room_bytes == 0 {
            return Ok(false);
        }
        output.resize(room_bytes, 0);
        let compressed = match &mut self.inner {
            Inner::Gzip(encoder) => Ok(encoder.compress(input, output)),
            Inner::Lzo(encoder) => Ok(encoder.compress(input, output)),
            Inner::Xz(encoder) => encoder.compress(input, output),
            Inner::Lz4(encoder) => Ok(encoder.compress(input, output)),
            Inner::Zstd(encoder) => encoder.compress(input, output),
        };
        let compressor = self.settings.compressor;
        match compressed.map_err(|reason| Error::Library { compressor, reason })? {
            Some(size_bytes) => {
                output.truncate(size_bytes);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Encoder")
            .field("settings", &self.settings)
            .field("largest_block_bytes", &self.largest_block_bytes)
            .finish_non_exhaustive()
    }
}
