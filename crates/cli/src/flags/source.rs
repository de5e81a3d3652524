//! The flags that say what of the sources goes into an image, and with what metadata.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::flags::exclude::ExcludeArgs;

/// What of the sources an image holds, and what replaces their metadata.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Source options")]
pub(crate) struct SourceArgs {
    #[command(flatten)]
    pub(crate) excluded: ExcludeArgs,

    /// Syntax of patterns to exclude: gitignore, path, wildcards or regex [default: gitignore]
    ///
    /// `path`, `wildcards` and `regex` are those of mksquashfs. `path` is its -e alone: a path in a
    /// source or, if it begins with `/`, `./` or `../`, a path in the file system. `wildcards` is
    /// its -wildcards, with groups like `!(*.so|*.a)`. `regex` is its -regex. With `wildcards` and
    /// `regex`, `... ` before a pattern makes it match in every directory.
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

    /// Keep what matches even if it is excluded; may be repeated
    ///
    /// A pattern as in a `.gitignore` file. If it matches in an excluded directory, the image also
    /// keeps the directories that lead there.
    #[arg(long, value_name = "PATTERN", hide_short_help = true)]
    pub(crate) include: Vec<String>,

    /// Read patterns to exclude from files of this name in the sources; may be repeated
    ///
    /// They work like `.gitignore` in git: the patterns in a file apply to its directory and those
    /// below.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) ignore_file: Vec<String>,

    /// Do not enter other file systems
    ///
    /// Directories on which other file systems are mounted are empty in the image; `=leave` leaves
    /// them out.
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "empty",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) one_file_system: Option<OtherFileSystems>,

    /// Enter directories only to this depth
    ///
    /// With 1, the image has what is in the root directory, and the directories in it are empty.
    #[arg(long, value_name = "LEVELS", hide_short_help = true)]
    pub(crate) max_depth: Option<u32>,

    #[command(flatten)]
    pub(crate) metadata: MetadataArgs,
}

/// What replaces the metadata of the sources.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Metadata options")]
pub(crate) struct MetadataArgs {
    /// Make root the owner and group of everything
    #[arg(long, conflicts_with_all = ["uid", "gid"], hide_short_help = true)]
    pub(crate) all_root: bool,

    /// The owner of everything, a number or a name
    #[arg(long, value_name = "USER", hide_short_help = true)]
    pub(crate) uid: Option<String>,

    /// The group of everything, a number or a name
    #[arg(long, value_name = "GROUP", hide_short_help = true)]
    pub(crate) gid: Option<String>,

    /// Add this number to all owners and groups
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) uid_gid_offset: Option<u32>,

    /// The mode of everything except directories
    ///
    /// Octal, or changes as for chmod: `0644`, `go-w,a+rX`.
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

    /// The mode of the root directory, unless --dir-mode is given
    #[arg(
        long,
        value_name = "MODE",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub(crate) root_mode: Option<String>,

    /// The owner of the root directory, unless --uid or --all-root is given
    #[arg(long, value_name = "USER", hide_short_help = true)]
    pub(crate) root_uid: Option<String>,

    /// The group of the root directory, unless --gid or --all-root is given
    #[arg(long, value_name = "GROUP", hide_short_help = true)]
    pub(crate) root_gid: Option<String>,

    /// The modification time of the root directory
    ///
    /// Seconds since 1970, a date like `2024-01-31` or `2024-01-31T12:00:00+01:00` (UTC without a
    /// time zone), or `inode` for the newest time in the tree.
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    pub(crate) root_time: Option<String>,

    /// The modification time of everything
    ///
    /// If the environment has `SOURCE_DATE_EPOCH`, TIME can only be `inode`.
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    pub(crate) inode_time: Option<String>,

    /// The modification time of the image [default: the newest in the tree]
    ///
    /// If the environment has `SOURCE_DATE_EPOCH`, TIME can only be `inode`.
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    pub(crate) image_time: Option<String>,

    /// Leave out extended attributes whose names match; may be repeated
    ///
    /// REGEX is a POSIX extended regular expression. It may match anywhere in a name such as
    /// `user.comment`.
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    pub(crate) xattr_exclude: Vec<String>,

    /// Keep only extended attributes whose names match; may be repeated
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    pub(crate) xattr_include: Vec<String>,

    /// Add an extended attribute to everything; may be repeated
    ///
    /// The value is taken literally, or decoded after `0s` (Base64), `0x` (hexadecimal) or `0t`
    /// (text in which `\000` is an octal byte). Attributes in `user.` are added to files and
    /// directories only.
    #[arg(long, value_name = "NAME=VALUE", hide_short_help = true)]
    pub(crate) xattr_add: Vec<String>,

    /// Label everything according to this `file_contexts` file
    ///
    /// Sets `security.selinux` as setfiles(8) would. If several lines match a path, one without
    /// special characters decides, otherwise the last one.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) selinux: Option<PathBuf>,
}

/// How patterns to exclude are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Syntax {
    #[default]
    Gitignore,
    Path,
    Wildcards,
    Regex,
}

/// What becomes of other file systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OtherFileSystems {
    Empty,
    Leave,
}
