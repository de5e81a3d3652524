//! `coldpress mount`.

use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::Args;
use coldpress_dialects::squashfuse::MountOption;
use coldpress_report::typed::{parse_positive, parse_size_bytes};

use crate::flags::place::PlaceArgs;

/// Mount an image in user space (FUSE)
///
/// For users who may not mount through the kernel. Needs no root, but `fusermount3` of the package
/// fuse3. Returns when the files are there, and serves the mount in the background until
/// `fusermount3 -u DIR` ends it.
///
/// If the image is damaged, programs get an I/O error for the file in question. mount reports it
/// once, in the system log, or on standard error with --foreground.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress mount rootfs.sqfs /tmp/rootfs && ls /tmp/rootfs; fusermount3 -u /tmp/rootfs")]
pub(crate) struct MountArgs {
    /// The image to mount
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// The directory to mount it on
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,

    /// Stay in the foreground until it is unmounted; Ctrl-C unmounts it
    #[arg(short, long)]
    pub(crate) foreground: bool,

    /// Memory for decompressed blocks [default: 64M]
    ///
    /// The pages in the kernel's cache come on top. At least one block is cached.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_size_bytes,
        default_value = "64M",
        hide_default_value = true
    )]
    pub(crate) cache: u64,

    /// Threads that answer [default: as many as this process may use]
    ///
    /// The same number of helper threads decompress. The default is at least two, so that a small
    /// file need not wait for a large one.
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Decompress ahead what this profile names [default: IMAGE.profile]
    ///
    /// May also be a trace. Without this flag, mount takes IMAGE.profile beside the image if it
    /// exists, otherwise the file `/.coldpress.profile` in the image. It decompresses what at least
    /// half of the recordings needed, in that order, into at most half of the cache, on processors
    /// that are not busy with answers. It gives up if programs ask for less than a fourth of what
    /// it has decompressed.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,

    /// Decompress nothing ahead, even if the image has a profile
    #[arg(long, conflicts_with = "profile", hide_short_help = true)]
    pub(crate) no_profile: bool,

    /// Bytes of the image to read ahead per second, on average [default: no limit]
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_some_bytes,
        hide_short_help = true
    )]
    pub(crate) prefetch_bandwidth: Option<NonZeroU64>,

    /// Print at the end how the mount was used, and whether prefetching helped
    ///
    /// On standard error with --foreground, otherwise in the system log. SIGUSR1 makes any mount
    /// print it.
    #[arg(long)]
    pub(crate) stats: bool,

    /// The directory of the image that becomes the root of the mount
    #[arg(long, value_name = "PATH")]
    pub(crate) subdir: Option<OsString>,

    /// Options of squashfuse, separated by commas
    ///
    /// offset=BYTES and subdir=PATH are the same as --offset and --subdir. uid=N and gid=N set the
    /// owner and group of everything. timeout=SECONDS unmounts the image after this time without a
    /// request, if nobody uses it. `allow_other` lets other users in; owners and modes of files
    /// then count, and /etc/fuse.conf must say `user_allow_other`. `default_permissions` makes them
    /// count for you too. `notify_pipe=PATH` writes `s` to this named pipe when the image is
    /// mounted, or `f` if it cannot be mounted; `notify_fd=N` does the same for an open pipe. ro,
    /// nodev and nosuid are always on.
    #[arg(short = 'o', value_name = "OPTIONS", value_delimiter = ',')]
    pub(crate) options: Vec<MountOption>,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

fn parse_some_bytes(text: &str) -> Result<NonZeroU64, String> {
    let none = || "must be more than nothing".to_owned();
    NonZeroU64::new(parse_size_bytes(text)?).ok_or_else(none)
}
