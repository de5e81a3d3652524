//! `coldpress bench build`.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::Args;
use coldpress_bench::build_study::{Compressor, Level, Maker, Unpacker};
use coldpress_report::typed::{parse_positive, parse_size_bytes};

use crate::flags::study::StudyArgs;

/// Compare how fast tools build and unpack images, and how small these are
///
/// Makes an image of SOURCE with every tool, compressor, level, block size and number of threads in
/// the lists, and unpacks it with every unpacker, several times and in random order. Lists are
/// separated by commas.
///
/// Prints medians for each contestant: the time, the busy processors, the size, also in percent of
/// the content of SOURCE, the peak of memory, and the time of the fastest way to unpack the image.
/// `*` marks the Pareto front: contestants that no other beats in time, size and unpacking. A
/// second table has the times of all ways to unpack.
///
/// Prints and leaves out what a tool cannot do. If a tool fails, or does not unpack all of SOURCE,
/// the run does not count, and the exit status is 1. The history keeps each run as it ends. Needs
/// no root; as root, it also restores owners.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress bench build rootfs --levels 2,3,12,15 --block-sizes 128K,256K,512K,1M --threads 1,8")]
pub(crate) struct BenchBuildArgs {
    /// The directory to build images from
    ///
    /// It is read once before the first run, so that no contestant pays for the disk.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    /// Compressors: gzip, lzo, lz4, xz, zstd and none [default: zstd]
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "zstd",
        hide_default_value = true
    )]
    pub(crate) compressors: Vec<Compressor>,

    /// Levels of all compressors that have levels [default: default]
    ///
    /// Numbers as in `coldpress build`, `default` for the default of each compressor there, `hc`
    /// for LZ4 HC. Levels that a compressor or a tool does not have are printed and left out.
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "default",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub(crate) levels: Vec<Level>,

    /// Block sizes, from 4K to 1M [default: 128K,256K,512K,1M]
    #[arg(
        short,
        long = "block-sizes", alias = "blocks",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = parse_size_bytes,
        default_value = "128K,256K,512K,1M",
        hide_default_value = true
    )]
    pub(crate) blocks: Vec<u64>,

    /// Numbers of threads to build with [default: as many as this process may use]
    #[arg(short = 'j', long, value_name = "LIST", value_delimiter = ',',
        value_parser = parse_positive::<NonZeroU32>)]
    pub(crate) threads: Vec<NonZeroU32>,

    /// Numbers of threads to unpack with [default: as many as this process may use]
    ///
    /// rdsquashfs always has one. Of images built with several numbers of threads, the first is
    /// unpacked.
    #[arg(long, value_name = "LIST", value_delimiter = ',',
        value_parser = parse_positive::<NonZeroU32>)]
    pub(crate) unpack_threads: Vec<NonZeroU32>,

    /// How often each contestant runs [default: 5]
    #[arg(
        long,
        value_name = "N",
        value_parser = parse_positive::<NonZeroU32>,
        default_value = "5",
        hide_default_value = true
    )]
    pub(crate) runs: NonZeroU32,

    /// Seconds after which a tool has failed and is ended [default: none]
    ///
    /// That run does not count. A contestant that fails before any of its runs counted does not run
    /// again.
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive::<NonZeroU64>)]
    pub(crate) timeout: Option<NonZeroU64>,

    /// Tools that build: coldpress, mksquashfs and gensquashfs [default: those that are installed]
    ///
    /// The first contestant is the baseline of ratios. coldpress is this program; the others come
    /// from PATH.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<Maker>>,

    /// Tools that unpack: coldpress, unsquashfs and rdsquashfs [default: those that are installed]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) unpackers: Option<Vec<Unpacker>>,

    /// Directory for temporary images and trees [default: /var/tmp]
    ///
    /// They are in a directory of their own there, which is removed at the end, even after a kill.
    /// It holds one image and one tree at a time. In /dev/shm, times are those of the tools alone;
    /// on a disk, they include writing back.
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/var/tmp",
        hide_default_value = true
    )]
    pub(crate) work_dir: PathBuf,

    /// Keep the first image of each tool and setting in this directory
    ///
    /// As `mksquashfs-zstd-15-128K.sqfs`; images of these names are replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) study: StudyArgs,
}
