//! The flags of `extract`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::{parse_positive, parse_size_bytes};

use crate::flags::exclude::ExcludeArgs;
use crate::flags::place::PlaceArgs;
use crate::flags::source::Syntax;

/// Extract an image, or some of its paths, into a directory
///
/// Restores content, holes, hard links, modes, times and device files, and, as far as the caller
/// may, owners and extended attributes. Writes nothing outside DIR, whatever the image says.
///
/// Names what it could not restore, extracts the rest, and ends with exit status 1. After an error
/// or an interruption, finished files stay, and no others. Without root, all files belong to the
/// caller and have no set-id bits, as with other archives.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress extract rootfs.sqfs out /usr/bin /etc/passwd
  coldpress extract rootfs.sqfs out --include '*.so' --include '/usr/share/locale/de/'")]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag")]
pub(crate) struct ExtractArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// The directory to extract into; created if it is missing
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,

    /// Paths inside the image, with everything below them [default: everything]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Extract into a directory that is not empty
    ///
    /// Replaces files that are in the way. Adds to directories, which keep their own metadata.
    #[arg(short, long)]
    pub(crate) force: bool,

    /// Leave out what is damaged and extract the rest
    ///
    /// Names each path that it leaves out, and ends with exit status 1. A full disk still ends the
    /// extraction.
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Leave out symbolic links that lead out of DIR
    ///
    /// Those with an absolute target, with more `..` at the beginning than there are directories
    /// above them, or with `..` after a name. extract names each, and ends with exit status 1.
    #[arg(long)]
    pub(crate) confine_symlinks: bool,

    /// Threads that decompress and write [default: as many as this process may use]
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Memory for blocks in flight [default: 256M, or less if limited]
    ///
    /// At most a quarter of the memory limit of the control group.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) memory: Option<u64>,

    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,

    #[command(flatten)]
    pub(crate) changes: ChangeArgs,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// What is extracted of an image.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct ChoiceArgs {
    /// Extract what matches even if it is excluded, or only that; may be repeated
    ///
    /// A pattern as in a `.gitignore` file. A directory comes with everything in it, and with the
    /// directories on the way. If nothing is excluded, everything that matches no --include is.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) include: Vec<String>,

    #[command(flatten)]
    pub(crate) excluded: ExcludeArgs,

    /// How patterns to exclude are read: gitignore, path, wildcards or regex [default: gitignore]
    ///
    /// `path` names one file of the image, which goes under all its names; `wildcards` and `regex`
    /// are those of mksquashfs, as in `coldpress build`.
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        default_value = "gitignore",
        hide_default_value = true,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) exclude_syntax: Syntax,

    /// Enter directories only to this depth
    ///
    /// 1 extracts what is in the root directory; directories there stay empty.
    #[arg(long, value_name = "LEVELS", hide_short_help = true)]
    pub(crate) max_depth: Option<usize>,
}

/// What replaces the metadata of the image.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Metadata options")]
pub(crate) struct ChangeArgs {
    /// The owner of everything, a number or a name
    #[arg(long, value_name = "USER", hide_short_help = true)]
    pub(crate) uid: Option<String>,

    /// The group of everything, a number or a name
    #[arg(long, value_name = "GROUP", hide_short_help = true)]
    pub(crate) gid: Option<String>,

    /// The mode of everything except directories
    ///
    /// Octal, or changes as for chmod: `0644`, `go-w,a+rX`. Symbolic links have no modes.
    #[arg(
        long,
        value_name = "MODE",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub(crate) file_mode: Option<String>,

    /// The mode of directories
    #[arg(
        long,
        value_name = "MODE",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub(crate) dir_mode: Option<String>,

    /// The modification time of everything
    ///
    /// Seconds since 1970, or a date like `2024-01-31` or `2024-01-31T12:00:00+01:00` (UTC without
    /// a time zone).
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    pub(crate) time: Option<String>,

    /// Leave out extended attributes
    #[arg(long)]
    pub(crate) no_xattrs: bool,

    /// Leave out extended attributes whose names match; may be repeated
    ///
    /// A POSIX extended regular expression that matches anywhere in a name like `user.comment`.
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    pub(crate) xattr_exclude: Vec<String>,

    /// Restore only extended attributes whose names match; may be repeated
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    pub(crate) xattr_include: Vec<String>,
}
