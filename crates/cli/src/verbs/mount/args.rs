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
/// This is for users who may not mount through the kernel. It does not need root, only
/// `fusermount3` from the package fuse3. The command returns when the files can be read, and serves
/// the mount in the background until you unmount it with `fusermount3 -u DIR`.
///
/// If a file in the image is damaged, programs that read it get an I/O error. mount reports each
/// such file once: in the system log, or on standard error with --foreground.
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

    /// Stay in the foreground until the image is unmounted; Ctrl-C unmounts it
    #[arg(short, long)]
    pub(crate) foreground: bool,

    /// Memory for decompressed blocks [default: 64M]
    ///
    /// The kernel's page cache is not included. mount always caches at least one block.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_size_bytes,
        default_value = "64M",
        hide_default_value = true
    )]
    pub(crate) cache: u64,

    /// Threads that answer requests [default: as many as this process may use]
    ///
    /// As many helper threads decompress blocks. The default is at least two, so that a read of a
    /// small file does not wait for one of a large file.
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Prefetch what this profile names [default: IMAGE.profile]
    ///
    /// FILE may also be a trace. Without this flag, mount takes IMAGE.profile beside the image, or
    /// else the file `/.coldpress.profile` in the image, if one of them exists. Before programs ask
    /// for them, mount decompresses the blocks that at least half of the recordings needed, in the
    /// order of the profile. Requests come first, and prefetched blocks take at most half of the
    /// cache. mount stops prefetching if programs request less than a fourth of the prefetched
    /// blocks.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,

    /// Do not prefetch, even if the image has a profile
    #[arg(long, conflicts_with = "profile", hide_short_help = true)]
    pub(crate) no_profile: bool,

    /// Bytes of the image to prefetch per second, on average [default: no limit]
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_some_bytes,
        hide_short_help = true
    )]
    pub(crate) prefetch_bandwidth: Option<NonZeroU64>,

    /// Print at the end how the mount was used, and whether prefetching helped
    ///
    /// Goes to standard error with --foreground, otherwise to the system log. Any mount also prints
    /// this when it receives SIGUSR1.
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
    /// then apply, and /etc/fuse.conf must contain `user_allow_other`. With `default_permissions`,
    /// they apply to you too. `notify_pipe=PATH` writes `s` to this named pipe when the image is
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
