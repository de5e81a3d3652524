//! Compressing and decompressing one block after the other, by the clock.

use coldpress_codec::{Decoder, Encoder, Settings};
use coldpress_format::BlockSize;

use crate::error::Error;

/// A compressor and its decompressor, until another is asked for.
#[derive(Default)]
pub(super) struct Coder {
    made: Option<Made>,
    input: Vec<u8>,
    compressed: Vec<u8>,
    decompressed: Vec<u8>,
}

struct Made {
    settings: Settings,
    block_size: BlockSize,
    encoder: Encoder,
    decoder: Decoder,
}

/// What became of a block.
pub(super) struct Trial {
    pub(super) stored_bytes: u32,
    pub(super) compress_s: f64,
    /// 0 of a block that is stored as it is.
    pub(super) decompress_s: f64,
}

impl Coder {
    /// Where the block is put that is compressed next.
    pub(super) fn input(&mut self) -> &mut Vec<u8> {
        &mut self.input
    }

    /// Compresses the input, and decompresses what becomes of it.
    pub(super) fn code(
        &mut self,
        settings: &Settings,
        block_size: BlockSize,
        clock: &(dyn Fn() -> f64 + Sync),
    ) -> Result<Trial, Error> {
        let is_asked_for =
            |made: &Made| made.settings == *settings && made.block_size == block_size;
        let made = match self.made.take().filter(is_asked_for) {
            Some(made) => made,
            None => Made {
                settings: *settings,
                block_size,
                encoder: Encoder::new(settings, block_size)?,
                decoder: Decoder::new(settings.compressor, block_size)?,
            },
        };
        let made = self.made.insert(made);
        let begun_s = clock();
        let is_compressed = made.encoder.compress(&self.input, &mut self.compressed)?;
        let compressed_s = clock();
        if is_compressed {
            self.decompressed.resize(self.input.len(), 0);
            made.decoder
                .decompress(&self.compressed, &mut self.decompressed)?;
        }
        let stored = if is_compressed {
            &self.compressed
        } else {
            &self.input
        };
        Ok(Trial {
            stored_bytes: u32::try_from(stored.len()).expect("a block is at most 1 MiB"),
            compress_s: compressed_s - begun_s,
            decompress_s: if is_compressed {
                clock() - compressed_s
            } else {
                0.0
            },
        })
    }
}
