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
    /// zstd was asked for its level 0, which stands for a default that is not that of images.
    #[error("zstd has no level 0; its levels are {low} to -1 and 1 to {high}")]
    ZstdLevelZero {
        /// The lowest level.
        low: i32,
        /// The highest level.
        high: i32,
    },
    /// The tuning is for another compressor.
    #[error("{compressor} cannot have the options of {tuned}")]
    Tuning {
        /// The compressor asked for.
        compressor: Compressor,
        /// The compressor that the tuning is for.
        tuned: Compressor,
    },
    /// A number among the options of a compressor is outside its range.
    #[error("{compressor} {option} {value} is outside {low} to {high}")]
    Option {
        /// The compressor asked for.
        compressor: Compressor,
        /// What is outside its range.
        option: &'static str,
        /// The value asked for.
        value: i64,
        /// The lowest value.
        low: i64,
        /// The highest value.
        high: i64,
    },
    /// The level of gzip is one of libdeflate's, but only zlib has windows and strategies.
    #[error(
        "gzip level {level} cannot have a window below 15 or strategies; with them the levels end \
         at 9"
    )]
    LevelOfLibdeflate {
        /// The level asked for.
        level: i32,
    },
    /// The acceleration was asked for together with LZ4 HC.
    #[error("lz4 acceleration needs level 0, the fast one, but the level is {level}")]
    AccelerationOfLevel {
        /// The level asked for.
        level: i32,
    },
    /// The dictionary of xz is of no size that the format records or the kernel takes.
    #[error(
        "xz dictionary is {bytes} bytes, must be 2^n or 2^n + 2^(n+1), at least 8192 and at most \
         the block size of {block_bytes}"
    )]
    Dictionary {
        /// The dictionary asked for.
        bytes: u32,
        /// The block size of the image.
        block_bytes: u32,
    },
    /// The literal coder of xz would be larger than the kernel reads.
    #[error("xz lc {lc} and lp {lp} are more than 4 together; lc is 3 unless given")]
    LiteralBits {
        /// Literal context bits.
        lc: u8,
        /// Literal position bits.
        lp: u8,
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
