//! The verb `tar`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::flags::place::PlaceArgs;
use crate::flags::reading::ReadingArgs;

/// Write an image, or some of its paths, as a tar archive
///
/// The archive is in pax format, which every tar reads, with hard links, devices, extended
/// attributes and large holes. Entries are in byte order of their paths, so equal trees give equal
/// archives.
///
/// tar archives cannot hold sockets: tar leaves them out, names them, and ends with exit status 1.
/// Damage ends the archive early: it then lacks its end, and with `-o` there is no archive.
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

    /// Paths inside the image, with everything below them [default: everything]
    ///
    /// A directory that is the only PATH becomes the root of the archive. For several PATHs, and
    /// for a file, the archive also has the directories that lead to them.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// The archive [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Keep the path of a directory that is the only PATH
    #[arg(short, long)]
    pub(crate) keep_as_dir: bool,

    /// Put everything below a directory of this name; `.` writes `./usr` for `usr`
    #[arg(short, long, value_name = "NAME")]
    pub(crate) root_becomes: Option<OsString>,

    /// Leave out extended attributes
    #[arg(long)]
    pub(crate) no_xattrs: bool,

    /// Write the content of a file once for each of its names
    #[arg(long)]
    pub(crate) no_hard_links: bool,

    /// Write holes as zeros
    ///
    /// By default, holes are left out of files with 1 MiB or more of them, in GNU tar's format 1.0.
    /// GNU tar, bsdtar, Python and Go know this format, but `busybox` does not.
    #[arg(long)]
    pub(crate) no_sparse: bool,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
