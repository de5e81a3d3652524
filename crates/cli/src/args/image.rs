//! The flags that say what an image is like, and what building it may use.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};

use super::number::{parse_positive, parse_size_bytes};

/// How an image is written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Image options")]
pub(crate) struct ImageArgs {
    /// gzip, lzo, lz4, xz, zstd or none [default: zstd]
    ///
    /// The compressor of data and metadata. zstd and lz4 start fastest, xz is smallest and slowest
    /// to read, gzip is read by every kernel; `none` stores everything as it is.
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_enum,
        hide_possible_values = true
    )]
    pub(crate) compressor: Option<CompressorName>,

    /// Level of the compressor [default: gzip 9, xz 6, lz4 12, zstd 15]
    ///
    /// gzip 1 to 12, xz 0 to 9, lz4 0 to 12 (0 is the fast one, the others are LZ4 HC),
    /// zstd 1 to 22. lzo and `none` have no levels.
    #[arg(short, long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub(crate) level: Option<i32>,

    /// Parts that are not compressed: inodes, ids, data, fragments, xattrs
    ///
    /// A list with commas. `inodes` stands for the inode, directory, export and id tables,
    /// `fragments` for fragment blocks and their table: as mksquashfs's -noI, -noId, -noD, -noF
    /// and -noX.
    #[arg(
        long,
        value_name = "PARTS",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub(crate) store: Vec<PartName>,

    /// Bytes of a data block before compression [default: 128K]
    ///
    /// A power of two from 4K to 1M. Larger blocks compress better; each cold read of one byte
    /// reads, decompresses and caches a whole block.
    #[arg(
        short,
        long,
        value_name = "SIZE",
        value_parser = parse_size_bytes
    )]
    pub(crate) block_size: Option<u64>,

    /// Tail ends that share blocks: none, small or all [default: small]
    ///
    /// A tail end is what a file has beyond its last full block. `small` packs the tail ends of
    /// files smaller than a block together (and those that a plan names), as mksquashfs does;
    /// `all` packs every tail end, which is smaller but adds a read to most files; `none` gives
    /// each file blocks of its own.
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        default_value_t = TailsName::Small,
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) tails: TailsName,

    /// Store files with the same content once for each
    ///
    /// Otherwise files of equal length are read once more, to find those that are the same.
    #[arg(long)]
    pub(crate) no_duplicates: bool,

    /// Leave extended attributes out
    ///
    /// Otherwise those of `user.`, `trusted.` and `security.` are stored; the format has no room
    /// for others, which are named in a warning.
    #[arg(long)]
    pub(crate) no_xattrs: bool,

    /// Leave the export table out
    ///
    /// It is needed to export the mounted image over NFS and takes 8 bytes for each inode, before
    /// compression.
    #[arg(long)]
    pub(crate) no_export: bool,

    /// Threads that compress [default: as many as this process may use]
    ///
    /// The image is the same, byte for byte, for any number.
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Memory for blocks in flight [default: 256M, or less if limited]
    ///
    /// At most a quarter of the memory limit of the control group. The tree itself (about 300 bytes for each file)
    /// comes on top.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) memory: Option<u64>,
}

/// The compressors that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompressorName {
    Gzip,
    Lzo,
    Lz4,
    Xz,
    Zstd,
    None,
}

/// The parts of an image that can be left uncompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartName {
    Inodes,
    Ids,
    Data,
    Fragments,
    Xattrs,
}

/// Which tail ends are packed into fragment blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TailsName {
    None,
    Small,
    All,
}
