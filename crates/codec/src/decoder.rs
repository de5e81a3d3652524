//! Decompressing one block at a time.

use std::fmt;

use coldpress_format::{BlockSize, Compressor};

use crate::error::Defect;
use crate::{Error, gzip, largest_block_bytes, lz4, lzo, xz, zstd};

/// A decompressor with its working memory, for many blocks one after another.
///
/// Streams may come from anyone: whatever their bytes, nothing is written outside the output given
/// and working memory stays within a few times the block size.
pub struct Decoder {
    compressor: Compressor,
    inner: Inner,
}

enum Inner {
    Gzip(gzip::Decoder),
    Lzo,
    Xz(xz::Decoder),
    Lz4,
    Zstd(zstd::Decoder),
}

impl Decoder {
    /// A decoder for the data and metadata blocks of an image with this block size.
    ///
    /// # Errors
    ///
    /// [`Error::NotReadable`] for lzma; [`Error::Library`] if there is no memory for the
    /// decompressor.
    pub fn new(compressor: Compressor, block_size: BlockSize) -> Result<Self, Error> {
        let window_bytes = largest_block_bytes(block_size);
        let inner = match compressor {
            Compressor::Gzip => Inner::Gzip(gzip::Decoder::new()),
            Compressor::Lzma => return Err(Error::NotReadable { compressor }),
            Compressor::Lzo => Inner::Lzo,
            Compressor::Xz => Inner::Xz(xz::Decoder::new(window_bytes)),
            Compressor::Lz4 => Inner::Lz4,
            Compressor::Zstd => {
                let decoder = zstd::Decoder::new(window_bytes)
                    .map_err(|reason| Error::Library { compressor, reason })?;
                Inner::Zstd(decoder)
            }
        };
        Ok(Self { compressor, inner })
    }

    /// Decompresses the stream at the start of `input` into the start of `output`.
    ///
    /// Bytes of `input` behind the end of the stream are ignored for gzip, xz and zstd and are an
    /// error for lzo and lz4, as in the kernel. Bytes of `output` behind the returned length may
    /// have been overwritten.
    ///
    /// Returns the number of bytes decompressed.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the stream breaks a rule, is cut short, or needs a larger window than
    /// a block of the image; [`Error::TooLong`] if it does not fit in `output` (lz4 does not tell
    /// this from damage).
    ///
    /// # Cost
    ///
    /// Allocates nothing, except xz its dictionary for each stream.
    pub fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let decompressed = match &mut self.inner {
            Inner::Gzip(decoder) => decoder.decompress(input, output),
            Inner::Lzo => lzo::decompress(input, output),
            Inner::Xz(decoder) => decoder.decompress(input, output),
            Inner::Lz4 => lz4::decompress(input, output),
            Inner::Zstd(decoder) => decoder.decompress(input, output),
        };
        let (compressor, input_bytes) = (self.compressor, input.len());
        decompressed.map_err(|defect| match defect {
            Defect::Damaged(defect) => Error::Damaged {
                compressor,
                input_bytes,
                defect,
            },
            Defect::TooLong => Error::TooLong {
                compressor,
                input_bytes,
                limit_bytes: output.len(),
            },
        })
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Decoder")
            .field("compressor", &self.compressor)
            .finish_non_exhaustive()
    }
}
