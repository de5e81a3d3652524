//! The flags that describe files which no source has.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Files that are described, not found.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Described files")]
pub(crate) struct DescribedArgs {
    /// Add or change a file, as mksquashfs -p does
    ///
    /// `NAME d MODE UID GID` adds a directory; b and c devices, s a symbolic link, i a pipe or
    /// socket, l and h a file from elsewhere, f what a command prints; m changes mode and owner, x
    /// sets an extended attribute. In capital letters most take a time first. Can be repeated; what
    /// `--pseudo-file` gives counts as given before.
    #[arg(long, value_name = "DEFINITION", allow_hyphen_values = true)]
    pub(crate) pseudo: Vec<OsString>,

    /// Add and change files as a pseudo file says; - for standard input
    ///
    /// A line for each definition, as mksquashfs -pf reads it and unsquashfs -pf writes it, with
    /// the content of regular files behind them. With - as SOURCE the file describes everything.
    #[arg(long, value_name = "FILE")]
    pub(crate) pseudo_file: Vec<PathBuf>,

    /// Make directories that definitions need and nothing has: `d MODE UID GID`
    ///
    /// Or `D TIME MODE UID GID`. Without this flag such a directory is an error.
    #[arg(hide_short_help = true, long, value_name = "DEFINITION")]
    pub(crate) pseudo_dir: Option<OsString>,

    /// Let definitions have the last word on owners and modes
    ///
    /// Otherwise --all-root, --uid, --gid, --file-mode and --dir-mode hold for what is described too.
    #[arg(hide_short_help = true, long)]
    pub(crate) pseudo_override: bool,

    /// Add files as a pack file of gensquashfs says
    ///
    /// Lines such as `file /sbin/init 0755 0 0 init`, and `glob` for the files of a directory. With
    /// - as SOURCE it describes everything.
    #[arg(long, value_name = "FILE")]
    pub(crate) pack_file: Option<PathBuf>,

    /// Where the pack file's locations begin [default: the pack file's directory]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "DIR",
        requires = "pack_file"
    )]
    pub(crate) pack_dir: Option<PathBuf>,

    /// Run the commands of f and F definitions
    ///
    /// They run by /bin/sh with the rights of this program, so a pseudo file from elsewhere could
    /// do anything. Without this flag such definitions are an error.
    #[arg(hide_short_help = true, long)]
    pub(crate) allow_commands: bool,
}

impl DescribedArgs {
    /// Whether there is nothing described.
    pub(crate) fn is_empty(&self) -> bool {
        self.pseudo.is_empty() && self.pseudo_file.is_empty() && self.pack_file.is_none()
    }
}
