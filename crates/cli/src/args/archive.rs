//! The verb `tar`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::place::PlaceArgs;
use super::reading::ReadingArgs;

/// Write an image, or some of its paths, as a tar archive
///
/// The archive is one of pax, which every tar reads, with hard links, devices, extended attributes
/// and large holes. Entries are in byte order of their paths, so equal trees give equal archives.
///
/// Sockets are left out, as no tar archive holds them; they are named, and the exit status is 1.
/// Damage ends it: the archive then lacks its end, and with `-o` there is none.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
#[command(after_long_help = "\
Example:
  coldpress tar rootfs.sqfs | docker import - rootfs")]
pub(crate) struct ArchiveArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Paths inside the image, with all below them [default: everything]
    ///
    /// A directory that is the only PATH becomes the root of the archive. Of several, and of a
    /// file, the directories that lead to them are written too.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// The archive [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Keep a directory that is the only PATH where it is
    #[arg(short, long)]
    pub(crate) keep_as_dir: bool,

    /// Put everything below a directory of this name; `.` writes `./usr` for `usr`
    #[arg(short, long, value_name = "NAME")]
    pub(crate) root_becomes: Option<OsString>,

    /// Leave extended attributes out
    #[arg(long)]
    pub(crate) no_xattrs: bool,

    /// Write the content of a file again for each of its names
    #[arg(long)]
    pub(crate) no_hard_links: bool,

    /// Write holes as zeros
    ///
    /// Otherwise files with holes of 1 MiB or more together are written without them, in GNU tar's
    /// format 1.0, which GNU tar, bsdtar, Python and Go know, but not `busybox`.
    #[arg(long)]
    pub(crate) no_sparse: bool,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
