//! The settings that an image records, for more blocks like those that it has.

use coldpress_format::{BlockSize, Compressor, CompressorOptions};

use super::Settings;
use crate::{Choices, Dictionary, Error, GzipTuning, Tuning, XzTuning};

impl Settings {
    /// The settings by which blocks are added to an image with these options, so that who reads the
    /// image by its options reads the new blocks too. What an image does not record has its
    /// default.
    ///
    /// # Errors
    ///
    /// As [`Settings::check`] if the options mean nothing to an encoder.
    pub fn recorded(
        compressor: Compressor,
        options: Option<CompressorOptions>,
        block_size: BlockSize,
    ) -> Result<Self, Error> {
        let (level, tuning) = match options {
            None => (None, Tuning::Default),
            Some(CompressorOptions::Gzip {
                level,
                window_size,
                strategies,
            }) => {
                let tuning = GzipTuning {
                    window_bits: u8::try_from(window_size).unwrap_or(u8::MAX),
                    strategies: Choices::from_bits(strategies.into()),
                };
                (Some(level.cast_signed()), Tuning::Gzip(tuning))
            }
            Some(CompressorOptions::Lzo { algorithm, level }) => {
                // All variants but LZO1X-999 have one speed.
                let is_fast = algorithm < super::LZO_BEST_ALGORITHM;
                let level = if is_fast { 0 } else { level.cast_signed() };
                (Some(level), Tuning::Default)
            }
            Some(CompressorOptions::Xz {
                dictionary_size,
                filters,
            }) => {
                let tuning = XzTuning {
                    dictionary: Dictionary::Bytes(dictionary_size),
                    filters: Choices::from_bits(filters),
                    ..XzTuning::default()
                };
                (None, Tuning::Xz(tuning))
            }
            Some(CompressorOptions::Lz4 { high_compression }) => {
                let level = (!high_compression).then_some(0);
                (level, Tuning::Default)
            }
            Some(CompressorOptions::Zstd { level }) => (Some(level.cast_signed()), Tuning::Default),
        };
        let settings = Self {
            tuning,
            ..Self::new(compressor, level)?
        };
        settings.check(block_size)?;
        Ok(settings)
    }
}
