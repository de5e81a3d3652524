//! The verb `find`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_size)]
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
    #[arg(long, value_name = "MODE", allow_hyphen_values = true, value_parser = parse_mode)]
    pub(crate) mode: Option<ModeTest>,

    /// Number of names: N, +N or -N
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_count)]
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

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Less than this.
    Less(u64),
    /// This.
    Equal(u64),
    /// More than this.
    More(u64),
}

impl Amount {
    /// Whether it holds for a number.
    pub(crate) fn holds(self, found: u64) -> bool {
        match self {
            Self::Less(number) => found < number,
            Self::Equal(number) => found == number,
            Self::More(number) => found > number,
        }
    }
}

/// A comparison with permission bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModeTest {
    /// These bits and no other.
    Exactly(u16),
    /// All of these.
    All(u16),
    /// One of these at least.
    Any(u16),
}

impl ModeTest {
    /// Whether it holds for a mode.
    pub(crate) fn holds(self, mode: u16) -> bool {
        match self {
            Self::Exactly(bits) => mode == bits,
            Self::All(bits) => mode & bits == bits,
            Self::Any(bits) => bits == 0 || mode & bits != 0,
        }
    }
}

fn parse_size(text: &str) -> Result<Amount, String> {
    parse_amount(text, coldpress_report::typed::parse_size_bytes)
}

fn parse_count(text: &str) -> Result<Amount, String> {
    let number = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_number);
        number.ok_or_else(|| "must be a whole number, with + or - before it perhaps".to_owned())
    };
    parse_amount(text, number)
}

fn parse_amount(
    text: &str,
    number: impl Fn(&str) -> Result<u64, String>,
) -> Result<Amount, String> {
    if let Some(text) = text.strip_prefix('+') {
        return Ok(Amount::More(number(text)?));
    }
    if let Some(text) = text.strip_prefix('-') {
        return Ok(Amount::Less(number(text)?));
    }
    Ok(Amount::Equal(number(text)?))
}

fn parse_mode(text: &str) -> Result<ModeTest, String> {
    let (kind, digits): (fn(u16) -> ModeTest, _) = match text.split_at_checked(1) {
        Some(("-", digits)) => (ModeTest::All, digits),
        Some(("/", digits)) => (ModeTest::Any, digits),
        _ => (ModeTest::Exactly, text),
    };
    let is_octal = digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    u16::from_str_radix(digits, 8)
        .ok()
        .filter(|bits| is_octal && *bits <= 0o7777)
        .map(kind)
        .ok_or_else(|| "must be octal digits, at most 7777, with - or / before them perhaps".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_signs() {
        for (text, amount) in [
            ("10", Some(Amount::Equal(10))),
            ("+2K", Some(Amount::More(2048))),
            ("-1m", Some(Amount::Less(1 << 20))),
            ("+", None),
            ("--1", None),
            ("", None),
        ] {
            assert_eq!(parse_size(text).ok(), amount, "{text}");
        }
        assert_eq!(parse_count("+1").ok(), Some(Amount::More(1)));
        assert!(parse_count("1K").is_err() && parse_count("++1").is_err());
        assert!(Amount::More(1).holds(2) && !Amount::More(1).holds(1));
        assert!(Amount::Less(1).holds(0) && !Amount::Less(1).holds(1));
        assert!(Amount::Equal(1).holds(1) && !Amount::Equal(1).holds(0));
    }

    #[test]
    fn modes_are_compared_exactly_or_by_bits() {
        for (text, mode, holds) in [
            ("644", 0o644, true),
            ("644", 0o4644, false),
            ("-022", 0o777, true),
            ("-022", 0o775, false),
            ("-022", 0o755, false),
            ("/022", 0o775, true),
            ("/022", 0o755, false),
            ("/0", 0, true),
        ] {
            let test = parse_mode(text).unwrap();
            assert_eq!(test.holds(mode), holds, "{text} {mode:o}");
        }
        for text in ["", "-", "8", "10000", "+7", "u+x", "--7", "-+7"] {
            assert!(parse_mode(text).is_err(), "{text}");
        }
    }
}
