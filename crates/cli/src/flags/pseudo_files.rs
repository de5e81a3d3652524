//! The flags that describe files which no source has.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Files that are described, not found.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Described files")]
pub(crate) struct PseudoFileArgs {
    /// Add or change a file, as mksquashfs -p does; may be repeated
    ///
    /// `NAME d MODE UID GID` adds a directory; b and c add devices, s a symbolic link, i a pipe or
    /// socket, l and h a file from elsewhere, f the output of a command; m changes mode and owner,
    /// x sets an extended attribute. Capital letters mostly take a time first. Definitions of
    /// `--pseudo-file` apply before these.
    #[arg(long, value_name = "DEFINITION", allow_hyphen_values = true)]
    pub(crate) pseudo: Vec<OsString>,

    /// Add and change files as a pseudo file says; - for standard input
    ///
    /// One definition per line, as mksquashfs -pf reads it and unsquashfs -pf writes it, followed
    /// by the content of regular files. With - as SOURCE, the file describes everything.
    #[arg(long, value_name = "FILE")]
    pub(crate) pseudo_file: Vec<PathBuf>,

    /// Create missing directories of definitions: `d MODE UID GID`
    ///
    /// Or `D TIME MODE UID GID`. Without this flag, a missing directory is an error.
    #[arg(hide_short_help = true, long, value_name = "DEFINITION")]
    pub(crate) pseudo_dir: Option<OsString>,

    /// Let definitions decide about owners and modes
    ///
    /// By default, --all-root, --uid, --gid, --file-mode and --dir-mode apply to described files
    /// too.
    #[arg(hide_short_help = true, long)]
    pub(crate) pseudo_override: bool,

    /// Add files as a pack file of gensquashfs says
    ///
    /// Lines such as `file /sbin/init 0755 0 0 init`, and `glob` for the files of a directory. With
    /// - as SOURCE, it describes everything.
    #[arg(long, value_name = "FILE")]
    pub(crate) pack_file: Option<PathBuf>,

    /// The directory of the locations in the pack file [default: the pack file's directory]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "DIR",
        requires = "pack_file"
    )]
    pub(crate) pack_dir: Option<PathBuf>,

    /// Run the commands of f and F definitions
    ///
    /// /bin/sh runs them with the rights of this program, so a pseudo file from elsewhere could do
    /// anything. Without this flag, such definitions are an error.
    #[arg(hide_short_help = true, long)]
    pub(crate) allow_commands: bool,
}

impl PseudoFileArgs {
    /// Whether there is nothing described.
    pub(crate) fn is_empty(&self) -> bool {
        self.pseudo.is_empty() && self.pseudo_file.is_empty() && self.pack_file.is_none()
    }
}
