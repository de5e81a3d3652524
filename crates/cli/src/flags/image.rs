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
    /// It compresses data and metadata. Images with zstd or lz4 start fastest; xz makes the
    /// smallest images, which are the slowest to read; nearly every kernel with SquashFS reads
    /// gzip. none stores everything uncompressed.
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
    /// gzip: 1 to 12. lzo: 0 (fast) to 9. xz: 0 to 9. lz4: 0 (fast), or 1 to 12 (LZ4 HC). zstd: 1
    /// to 22, or a negative level, which is faster still. none has no levels.
    #[arg(short, long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub(crate) level: Option<i32>,

    /// Parts to store uncompressed: inodes, ids, data, fragments, xattrs
    ///
    /// Separated by commas. `inodes`: the inode, directory, export and id tables (-noI of
    /// mksquashfs). `ids`: only the id table (-noId). `data`: data blocks (-noD). `fragments`:
    /// fragment blocks and the fragment table (-noF). `xattrs`: extended attributes (-noX).
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
    /// A power of two from 4K to 1M. Larger blocks compress better, but even a cold read of one
    /// byte reads, decompresses and caches a whole block.
    #[arg(
        short,
        long,
        value_name = "SIZE",
        value_parser = parse_size_bytes
    )]
    pub(crate) block_size: Option<u64>,

    /// Tail ends that share blocks: none, small or all [default: small]
    ///
    /// A tail end is the part of a file after its last full block. `small` packs the tail ends of
    /// files smaller than a block into fragment blocks, as mksquashfs does, and those that a plan
    /// names. `all` packs every tail end: the image is smaller, but most files need one more read.
    /// `none` gives each file blocks of its own.
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

    /// Store equal files separately
    ///
    /// By default, coldpress reads files of equal length once more to find duplicates, and stores
    /// their content once.
    #[arg(long)]
    pub(crate) no_duplicates: bool,

    /// Leave out extended attributes
    ///
    /// By default, the image has those in the namespaces `user.`, `trusted.` and `security.`. The
    /// format cannot store others; a warning names them.
    #[arg(long)]
    pub(crate) no_xattrs: bool,

    /// Leave out the export table
    ///
    /// The table is needed to export the mounted image over NFS. It takes 8 bytes per inode before
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
    /// The default is at most a quarter of the memory limit of the control group. The tree (about
    /// 300 bytes per file) is not included.
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
    /// `none` fills a fragment block with the tail ends of neighbors in the tree, `extension` with
    /// those of files with the same extension, `similar` with those that have the most content in
    /// common. `similar` makes the image a few percent smaller. With `extension` and `similar`,
    /// reading a whole directory reads fragment blocks up to several times as often.
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
    /// A smaller window compresses worse, but some readers then need less memory. Levels above 9
    /// allow only 15.
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    pub(crate) gzip_window: Option<u8>,

    /// Strategies of gzip to try for each block
    ///
    /// Separated by commas: default, filtered, `huffman_only`, `run_length_encoded`, fixed.
    /// coldpress keeps the smallest result. Levels above 9 have no strategies.
    #[arg(long, value_name = "NAMES", value_parser = parse_choices::<Strategy>,
        hide_short_help = true)]
    pub(crate) gzip_strategies: Option<Choices<Strategy>>,

    /// Acceleration of lz4 at level 0, 1 to 65537 [default: 1]
    ///
    /// Higher values compress faster, but worse. Without --level, this flag sets level 0.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) lz4_acceleration: Option<u32>,

    /// Filters of xz to try for each block
    ///
    /// Separated by commas: x86, powerpc, ia64, arm, armthumb, sparc, arm64, riscv. coldpress
    /// compresses each block without a filter and with each of these, and keeps the smallest
    /// result. Machine code becomes a few percent smaller, but each filter makes compression take
    /// longer. The kernel that mounts the image must have the filters (`CONFIG_XZ_DEC_X86` and so
    /// on); arm64 and riscv need Linux 6.12 or later.
    #[arg(long, value_name = "NAMES", value_parser = parse_choices::<Filter>,
        hide_short_help = true)]
    pub(crate) xz_filters: Option<Choices<Filter>>,

    /// Dictionary of xz, in bytes or percent of a block [default: 100%]
    ///
    /// From 8K to the block size, as 2^n or 2^n + 2^(n+1): 8K, 12K, 16K, 24K and so on, or 100%,
    /// 75%, 50%, 37.5%. The kernel allocates this much for each decompressor.
    #[arg(long, value_name = "SIZE", value_parser = parse_dictionary, hide_short_help = true)]
    pub(crate) xz_dictionary: Option<Dictionary>,

    /// Literal context bits of xz (lc), 0 to 4 [default: 3]
    ///
    /// How many bits of the byte before a literal predict it. --xz-lc and --xz-lp may be at most 4
    /// together. Without --xz-lc, --xz-lp and --xz-pb, each filter has its own values.
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    pub(crate) xz_lc: Option<u8>,

    /// Literal position bits of xz (lp), 0 to 4 [default: 0]
    ///
    /// How many bits of the position predict a literal. 2 suits code and tables of four-byte words;
    /// --xz-lc must then be at most 2.
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    pub(crate) xz_lp: Option<u8>,

    /// Position bits of xz (pb), 0 to 4 [default: 2]
    ///
    /// How many bits of the position predict everything else. 0 suits text.
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    pub(crate) xz_pb: Option<u8>,

    /// Let xz search longer for matches than its level says
    ///
    /// Like `xz --extreme`, this takes up to twice as long and makes the image 1 % smaller at best.
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
