//! What can go wrong with a setting or a stream.

use coldpress_format::Compressor;

/// A setting that cannot be used, or a stream that cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The level is outside the compressor's range.
    #[error("{compressor} level {level} is outside {low} to {high}")]
    Level {
        /// The compressor asked for.
        compressor: Compressor,
        /// The level asked for.
        level: i32,
        /// The lowest level of the compressor.
        low: i32,
        /// The highest level of the compressor.
        high: i32,
    },
    /// A level was given to a compressor that has none.
    #[error("{compressor} has no levels, but level {level} was asked for; leave the level out")]
    NoLevels {
        /// The compressor asked for.
        compressor: Compressor,
        /// The level asked for.
        level: i32,
    },
    /// The compressor belongs to images that Linux does not mount, so they are not written.
    #[error("{compressor} cannot be written: Linux does not mount such images; use xz instead")]
    NotWritable {
        /// The compressor asked for.
        compressor: Compressor,
    },
    /// The compressor belongs to images that Linux does not mount, so they are not read either.
    #[error("{compressor} cannot be read: Linux does not mount such images")]
    NotReadable {
        /// The compressor of the image.
        compressor: Compressor,
    },
    /// The stream breaks a rule of its compressor.
    #[error("{compressor} stream of {input_bytes} bytes is damaged: {defect}")]
    Damaged {
        /// The compressor of the stream.
        compressor: Compressor,
        /// The compressed size.
        input_bytes: usize,
        /// What the decompressor objects to.
        defect: &'static str,
    },
    /// The stream holds more than there is room for.
    #[error(
        "{compressor} stream of {input_bytes} bytes is damaged: it decompresses to more than \
         {limit_bytes} bytes"
    )]
    TooLong {
        /// The compressor of the stream.
        compressor: Compressor,
        /// The compressed size.
        input_bytes: usize,
        /// The room for the decompressed bytes.
        limit_bytes: usize,
    },
    /// The compression library refused for a reason of its own, as a rule for want of memory.
    #[error("{compressor} library failed: {reason}")]
    Library {
        /// The compressor in use.
        compressor: Compressor,
        /// The reason in the library's words.
        reason: &'static str,
    },
}

/// Why a decompressor refuses a stream, before the compressor and the sizes are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// The stream breaks a rule.
    Damaged(&'static str),
    /// The output is full and the stream has not ended.
    TooLong,
}
