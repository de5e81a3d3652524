//! The flags that say what an image is like, and what building it may use.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use coldpress_codec::{Choice, Choices, Dictionary, Filter, Strategy};
use coldpress_report::typed::{parse_positive, parse_size_bytes};

/// How an image is written.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Image options")]
pub(crate) struct ImageArgs {
    /// Compressor: gzip, lzo, lz4, xz, zstd or none [default: zstd]
    ///
    /// Compresses data and metadata. zstd and lz4 start fastest, xz is smallest and slowest to
    /// read, and every kernel with SquashFS reads gzip. none stores everything uncompressed.
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_enum,
        hide_possible_values = true
    )]
    pub(crate) compressor: Option<CompressorName>,

    /// Level of the compressor [default: gzip 9, lzo 8, xz 6, lz4 12, zstd 15]
    ///
    /// gzip 1 to 12; lzo 0 to 9 (0 is the fast one); xz 0 to 9; lz4 0 to 12 (0 is the fast one, the
    /// others are LZ4 HC); zstd 1 to 22, or negative to be even faster. none has no levels.
    #[arg(short, long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub(crate) level: Option<i32>,

    /// Parts to store uncompressed: inodes, ids, data, fragments, xattrs
    ///
    /// Separated by commas. `inodes` are the inode, directory, export and id tables, and
    /// `fragments` the fragment blocks and their table, as with -noI, -noId, -noD, -noF and -noX of
    /// mksquashfs.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "PARTS",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub(crate) store: Vec<PartName>,

    /// Bytes of a data block before compression [default: 128K]
    ///
    /// A power of two from 4K to 1M. Larger blocks compress better, but each cold read of one byte
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
    /// A tail end is the part of a file after its last full block. `small` packs together the tail
    /// ends of files smaller than a block, and those that a plan names, as mksquashfs does. `all`
    /// packs every tail end: the image is smaller, but most files need one more read. `none` gives
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

    #[command(flatten)]
    pub(crate) grouping: GroupArgs,

    /// Store equal files separately, each with its own copy of the content
    ///
    /// By default, files of equal length are read once more to find duplicates.
    #[arg(long)]
    pub(crate) no_duplicates: bool,

    /// Leave out extended attributes
    ///
    /// By default, those of `user.`, `trusted.` and `security.` are stored. The format has no room
    /// for others, and a warning names them.
    #[arg(long)]
    pub(crate) no_xattrs: bool,

    /// Leave out the export table
    ///
    /// It is needed to export the mounted image over NFS, and takes 8 bytes per inode before
    /// compression.
    #[arg(hide_short_help = true, long)]
    pub(crate) no_export: bool,

    /// Threads that compress [default: as many as this process may use]
    ///
    /// Any number gives the same image, byte for byte.
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Memory for blocks in flight [default: 256M, or less if limited]
    ///
    /// At most a quarter of the memory limit of the control group. The tree (about 300 bytes per
    /// file) comes on top.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) memory: Option<u64>,

    #[command(flatten)]
    pub(crate) tuning: TuningArgs,
}

/// What becomes of tail ends that no plan names.
#[derive(Clone, Debug, Args)]
pub(crate) struct GroupArgs {
    /// How tail ends that no plan names share blocks: none, extension or similar [default: none]
    ///
    /// `none` packs together the tail ends of neighbors in the tree, `extension` those of files
    /// with the same extension, `similar` those with the most content in common. `similar` makes
    /// the image a few percent smaller. With the last two, reading a whole directory reads the
    /// shared blocks up to several times as often.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "BY",
        value_enum,
        default_value_t = GroupName::None,
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) group: GroupName,
}

/// What there is to set beside the level, for some compressors.
///
/// Hidden in the short help, which would not fit a screen.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of single compressors")]
pub(crate) struct TuningArgs {
    /// Base-2 logarithm of the window of gzip, 8 to 15 [default: 15]
    ///
    /// Smaller windows compress worse; some readers need less memory for them. Levels above 9 allow
    /// only 15.
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    pub(crate) gzip_window: Option<u8>,

    /// Strategies of gzip to try for each block
    ///
    /// Separated by commas: default, filtered, `huffman_only`, `run_length_encoded`, fixed. The
    /// smallest result is kept. Not for levels above 9.
    #[arg(long, value_name = "NAMES", value_parser = parse_choices::<Strategy>,
        hide_short_help = true)]
    pub(crate) gzip_strategies: Option<Choices<Strategy>>,

    /// How much faster lz4 compresses at level 0, 1 to 65537 [default: 1]
    ///
    /// Sets the level to 0 if none is given.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) lz4_acceleration: Option<u32>,

    /// Filters of xz to try for each block
    ///
    /// Separated by commas: x86, powerpc, ia64, arm, armthumb, sparc, arm64, riscv. Each block is
    /// compressed without a filter and with each of them, and the smallest result is kept. Machine
    /// code becomes a few percent smaller; the time of compression grows with the number of
    /// filters. The kernel that mounts the image must have them (`CONFIG_XZ_DEC_X86` and so on);
    /// arm64 and riscv need Linux 6.12.
    #[arg(long, value_name = "NAMES", value_parser = parse_choices::<Filter>,
        hide_short_help = true)]
    pub(crate) xz_filters: Option<Choices<Filter>>,

    /// Dictionary of xz, in bytes or percent of a block [default: 100%]
    ///
    /// From 8K to the block size, as 2^n or 2^n + 2^(n+1): 8K, 12K, 16K, 24K and so on, or 100%,
    /// 75%, 50%, 37.5%. The kernel allocates this much for each decompressor.
    #[arg(long, value_name = "SIZE", value_parser = parse_dictionary, hide_short_help = true)]
    pub(crate) xz_dictionary: Option<Dictionary>,

    /// Bits of the last byte from which xz predicts literals, 0 to 4 [default: 3]
    ///
    /// At most 4 together with --xz-lp. If none of --xz-lc, --xz-lp and --xz-pb is given, each
    /// filter has its own values.
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    pub(crate) xz_lc: Option<u8>,

    /// Bits of the position from which xz predicts literals, 0 to 4 [default: 0]
    ///
    /// 2 suits code and tables of four-byte words; --xz-lc must then be at most 2.
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    pub(crate) xz_lp: Option<u8>,

    /// Bits of the position from which xz predicts everything else, 0 to 4 [default: 2]
    ///
    /// 0 suits text.
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    pub(crate) xz_pb: Option<u8>,

    /// Let xz search longer than at its level
    ///
    /// As `xz --extreme`: up to twice as long, for a percent at best.
    #[arg(long, hide_short_help = true)]
    pub(crate) xz_extreme: bool,
}

/// Names with commas between.
fn parse_choices<T: Choice>(text: &str) -> Result<Choices<T>, String> {
    let choice = |name| {
        T::from_name(name).ok_or_else(|| {
            let known: Vec<_> = T::ALL.iter().map(|choice| choice.name()).collect();
            format!("`{name}` is not one of {}", known.join(", "))
        })
    };
    text.split(',').map(choice).collect()
}

/// A size in bytes, or a percentage of a block with up to four decimals.
fn parse_dictionary(text: &str) -> Result<Dictionary, String> {
    let Some(percent) = text.strip_suffix('%') else {
        let bytes = parse_size_bytes(text)?;
        return Ok(Dictionary::Bytes(u32::try_from(bytes).unwrap_or(u32::MAX)));
    };
    let wrong = || format!("`{text}` is not a percentage above 0 and up to 100, with 4 decimals");
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, ""));
    let digits = format!("{whole}{decimals:0<4}");
    if whole.is_empty() || decimals.len() > 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    match digits.parse() {
        Ok(millionths @ 1..=1_000_000) => Ok(Dictionary::Millionths(millionths)),
        _ => Err(wrong()),
    }
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

/// Which cold tail ends share fragment blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupName {
    None,
    Extension,
    Similar,
}

/// Which tail ends are packed into fragment blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TailsName {
    None,
    Small,
    All,
}
