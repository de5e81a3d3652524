//! `coldpress bench build`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use coldpress_bench::build_study::{Compressor, Level, Maker, Unpacker};

use super::StudyArgs;
use super::number::{parse_positive, parse_size_bytes};

/// Compare how fast and how small images are made, and how fast they are unpacked
///
/// Makes an image of SOURCE with every tool, compressor, level, block size and number of threads of the lists, and
/// unpacks it with every unpacker, again and again in random order. Every list has commas between its items.
///
/// For each it prints medians: the time, the processors that were busy, the size, also in percent of the content
/// of SOURCE, the peak of memory, and the time of the fastest way to unpack the image; `*` marks those on the Pareto
/// front, which no other beats in time, size and unpacking. A second table has the times of all ways to unpack.
///
/// What a tool cannot do is told and left out. A tool that fails, or does not unpack all of SOURCE, is named, its run
/// does not count, and the exit status is 1. Runs are kept in the history as they end. Needs no root; with it, owners are
/// restored as well.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress bench build rootfs --levels 2,3,12,15 --blocks 128K,256K,512K,1M --threads 1,8")]
pub(crate) struct BenchBuildArgs {
    /// The directory to make images of
    ///
    /// It is read once before the first run, so that nobody pays for the disk.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    /// gzip, lzo, lz4, xz, zstd and none [default: zstd]
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "zstd",
        hide_default_value = true
    )]
    pub(crate) compressors: Vec<Compressor>,

    /// Levels of all compressors that have them [default: default]
    ///
    /// Numbers as in `coldpress build`, `default` for what each compressor has there, `hc` for LZ4 HC. A compressor or
    /// a tool that has not one of them is told and goes without.
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
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = parse_size_bytes,
        default_value = "128K,256K,512K,1M",
        hide_default_value = true
    )]
    pub(crate) blocks: Vec<u64>,

    /// Numbers of threads that make an image [default: as many as this process may use]
    #[arg(short = 'j', long, value_name = "LIST", value_delimiter = ',', value_parser = parse_positive::<NonZeroU32>)]
    pub(crate) threads: Vec<NonZeroU32>,

    /// Numbers of threads that unpack it [default: as many as this process may use]
    ///
    /// rdsquashfs has one. Of images made with several numbers of threads, that of the first is unpacked.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_positive::<NonZeroU32>)]
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

    /// coldpress, mksquashfs and gensquashfs [default: those that are there]
    ///
    /// The first contestant is the baseline of ratios. coldpress is this program, the others are looked up in PATH.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<Maker>>,

    /// coldpress, unsquashfs and rdsquashfs [default: those that are there]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) unpackers: Option<Vec<Unpacker>>,

    /// Where images and what is unpacked lie for a while [default: /var/tmp]
    ///
    /// In a directory of its own there, which is removed at the end, also after a kill. It takes one image and
    /// one tree at a time. In /dev/shm only the tools count, on a disk the kernel's writing back as well.
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
