//! The verb `find`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldpress_describe::{Amount, ModeTest};

use crate::flags::place::PlaceArgs;

/// Find files of an image by name and metadata
///
/// Prints the paths that pass all tests, in byte order, including each PATH itself. Prints
/// unprintable bytes as `\xNN`, unless `-0` is given. Finding nothing is not an error.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Numbers: `+N` means more than N, `-N` less, `N` exactly N.

Example:
  coldpress find rootfs.sqfs /usr --type f --mode /6000 -l")]
pub(crate) struct FindArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Paths to search inside the image [default: /]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// End each path with a zero byte, and print it unescaped
    #[arg(short = '0', long, conflicts_with_all = ["long", "json"])]
    pub(crate) null: bool,

    /// Show type and mode, links, owner, group, size and time
    ///
    /// Owners are numbers; times are UTC. A device shows its major and minor number instead of a
    /// size.
    #[arg(short = 'l', long)]
    pub(crate) long: bool,

    /// Print everything about each file as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) tests: TestArgs,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// What must hold for a path.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tests")]
pub(crate) struct TestArgs {
    /// The last name of the path matches wildcards
    ///
    /// `*`, `?` and `[...]`, which also match leading dots.
    #[arg(long, value_name = "GLOB")]
    pub(crate) name: Option<OsString>,

    /// The whole path matches wildcards, which match slashes too
    #[arg(long, value_name = "GLOB")]
    pub(crate) path: Option<OsString>,

    /// A part of the path matches an extended regular expression
    ///
    /// A POSIX expression; `^` and `$` are the ends of the path.
    #[arg(long, value_name = "REGEX")]
    pub(crate) regex: Option<OsString>,

    /// Of one of these types: f, d, l, b, c, p, s
    ///
    /// Letters separated by commas, as in find(1): file, directory, symbolic link, block device,
    /// character device, named pipe, socket.
    #[arg(
        long,
        value_name = "TYPES",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub(crate) r#type: Vec<TypeLetter>,

    /// Size in bytes: N, +N or -N, with K, M or G
    ///
    /// The exact size: 1K is 1024 bytes and no other number. For directories, the size of the
    /// listing.
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = Amount::parse_size)]
    pub(crate) size: Option<Amount>,

    /// Modified after TIME
    ///
    /// Seconds since 1970 or a date, in UTC without a time zone.
    #[arg(long, value_name = "TIME")]
    pub(crate) newer: Option<String>,

    /// Modified before TIME
    #[arg(long, value_name = "TIME")]
    pub(crate) older: Option<String>,

    /// Owned by this user, a number or a name of /etc/passwd
    #[arg(long, value_name = "USER")]
    pub(crate) uid: Option<String>,

    /// Owned by this group, a number or a name of /etc/group
    #[arg(long, value_name = "GROUP")]
    pub(crate) gid: Option<String>,

    /// Permissions in octal: exactly MODE, all of -MODE, any of /MODE
    ///
    /// `/0` matches everything, as in find(1).
    #[arg(long, value_name = "MODE", allow_hyphen_values = true, value_parser = ModeTest::parse)]
    pub(crate) mode: Option<ModeTest>,

    /// Number of names: N, +N or -N
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = Amount::parse_count)]
    pub(crate) links: Option<Amount>,

    /// Has an extended attribute whose full name matches wildcards
    #[arg(long, value_name = "GLOB")]
    pub(crate) xattr: Option<OsString>,

    /// A file without content, or a directory without entries
    #[arg(long)]
    pub(crate) empty: bool,

    /// No more than N levels below PATH
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<usize>,

    /// At least N levels below PATH
    #[arg(long, value_name = "N")]
    pub(crate) min_depth: Option<usize>,
}

/// A type by its letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TypeLetter {
    F,
    D,
    L,
    B,
    C,
    P,
    S,
}
