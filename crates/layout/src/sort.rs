//! Sort files: the order of data as mksquashfs and gensquashfs are told it.
//!
//! Both tools give files priorities and write in that order, but hardly anything else is alike:
//!
//! | | mksquashfs `-sort` | gensquashfs `-S` |
//! |---|---|---|
//! | line | `PATH PRIORITY` | `PRIORITY [FLAGS] PATH` |
//! | first in the image | the highest | the lowest |
//! | within a priority | from the last name to the first | from the first name to the last |
//! | priorities | 16 bits | 64 bits |
//! | a directory | all below it | matches nothing; there are globs |
//! | of two lines for one file | the last counts | the first counts |
//! | the path is | in the source directory, symbolic links followed | in the image |
//!
//! What is not listed has priority 0, so with any sort file mksquashfs writes the rest of the
//! image backwards. A sort file orders file data, not metadata, and forms no fragment blocks.
//! So it becomes a [`Plan`](crate::Plan) only together with a tree, and a plan that became a sort
//! file is less than it was.
//!
//! The facts are those of mksquashfs 4.5.1 and gensquashfs 1.2.0, tried and not only read.

mod gensquashfs;
mod lint;
mod locate;
mod mksquashfs;
mod rank;
mod spread;
mod to_plan;

pub(crate) use lint::no_data;
pub use lint::{Finding, Flaw};
pub use spread::Loss;

use std::fmt;
use std::io;

use crate::error::{Error, SortRule};

/// Whose sort file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// `mksquashfs -sort FILE`.
    Mksquashfs,
    /// `gensquashfs -S FILE`.
    Gensquashfs,
}

/// A sort file. What its entries mean depends on the dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortFile {
    /// Whose it is.
    pub dialect: Dialect,
    /// Its entries, line by line.
    pub entries: Vec<SortEntry>,
}

/// A line of a sort file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortEntry {
    /// The line that it was read from, counted from 1; 0 if it was not.
    pub line: u64,
    /// mksquashfs: a file or directory, as its source directory would name it; empty for the
    /// source itself. gensquashfs: a file or a pattern, without slashes at the ends.
    pub path: Vec<u8>,
    /// The priority; for mksquashfs from -32768 to 32767.
    pub priority: i64,
    /// What else gensquashfs is told, in the order of the line. mksquashfs has no flags.
    pub flags: Vec<SortFlag>,
}

/// What gensquashfs can be told of the files of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortFlag {
    /// The path is a pattern in which nothing but a slash matches a slash.
    Glob,
    /// The path is a pattern; wildcards match slashes, too.
    GlobNoPath,
    /// Data begins at a block of the device.
    Align,
    /// The tail end goes into no fragment block.
    DontFragment,
    /// Blocks are stored as they are.
    DontCompress,
    /// The data is written even if another file has the same.
    DontDeduplicate,
    /// Blocks of zeros are written.
    NoSparse,
}

impl SortFlag {
    const ALL: [Self; 7] = [
        Self::Glob,
        Self::GlobNoPath,
        Self::Align,
        Self::DontFragment,
        Self::DontCompress,
        Self::DontDeduplicate,
        Self::NoSparse,
    ];

    /// The word for it in a sort file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Glob => "glob",
            Self::GlobNoPath => "glob_no_path",
            Self::Align => "align",
            Self::DontFragment => "dont_fragment",
            Self::DontCompress => "dont_compress",
            Self::DontDeduplicate => "dont_deduplicate",
            Self::NoSparse => "nosparse",
        }
    }
}

impl fmt::Display for SortFlag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl SortEntry {
    /// Whether both say the same, in whatever lines.
    fn is_same_as(&self, other: &Self) -> bool {
        self.path == other.path && self.priority == other.priority && self.flags == other.flags
    }
}

impl SortFile {
    /// Reads a sort file as the tool would.
    ///
    /// # Errors
    ///
    /// [`Error::Sort`] for the first line that the tool would refuse.
    ///
    /// # Cost
    ///
    /// Linear in the text; memory is proportional to it.
    pub fn parse(text: &[u8], dialect: Dialect) -> Result<Self, Error> {
        let entries = lines(text, dialect)
            .map(|(line, read)| read.map_err(|rule| Error::Sort { line, rule }))
            .collect::<Result<_, _>>()?;
        Ok(Self { dialect, entries })
    }

    /// Reads what can be read of a sort file, and tells which lines cannot.
    pub fn parse_all(text: &[u8], dialect: Dialect) -> (Self, Vec<Finding>) {
        let (mut entries, mut findings) = (Vec::new(), Vec::new());
        for (line, read) in lines(text, dialect) {
            match read {
                Ok(entry) => entries.push(entry),
                Err(rule) => findings.push(Finding {
                    line,
                    path: Vec::new(),
                    flaw: Flaw::Line(rule),
                }),
            }
        }
        (Self { dialect, entries }, findings)
    }

    /// Writes the sort file; entry by entry, without comments.
    ///
    /// # Errors
    ///
    /// Those of `out`; `InvalidInput` with an [`Error`] inside for an entry that the dialect has no
    /// line for: a line feed in the path, a priority out of range, a flag where there are none.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        for (entry, line) in self.entries.iter().zip(1..) {
            let mut text = spell(entry, self.dialect)
                .map_err(|rule| Error::Sort { line, rule })
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
            text.push(b'\n');
            out.write_all(&text)?;
        }
        Ok(())
    }
}

/// The entries of a text with their lines.
fn lines(
    text: &[u8],
    dialect: Dialect,
) -> impl Iterator<Item = (u64, Result<SortEntry, SortRule>)> {
    let parse = match dialect {
        Dialect::Mksquashfs => mksquashfs::parse,
        Dialect::Gensquashfs => gensquashfs::parse,
    };
    let lines = text.split(|&byte| byte == b'\n').zip(1..);
    lines.filter_map(move |(text, line)| {
        let read = if text.contains(&0) {
            Err(SortRule::Nul)
        } else {
            parse(text)
        };
        let entry = |entry| SortEntry { line, ..entry };
        Some((line, read.transpose()?.map(entry)))
    })
}

/// The line for an entry. It is written only if it is read again as the same.
fn spell(entry: &SortEntry, dialect: Dialect) -> Result<Vec<u8>, SortRule> {
    let text = match dialect {
        Dialect::Mksquashfs => mksquashfs::spell(entry),
        Dialect::Gensquashfs => gensquashfs::spell(entry),
    };
    let read: Vec<_> = lines(&text, dialect).take(2).collect();
    match read.as_slice() {
        [(_, Err(rule))] => Err(rule.clone()),
        [(_, Ok(again))] if again.is_same_as(entry) => Ok(text),
        _ => Err(SortRule::NoSpelling),
    }
}

/// What C calls space in the locale of both tools.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Text without the spaces in front.
fn trim_start(text: &[u8]) -> &[u8] {
    let begin = text.iter().position(|&byte| !is_space(byte));
    &text[begin.unwrap_or(text.len())..]
}

/// Text without the spaces behind.
fn trim_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| !is_space(byte));
    &text[..end.map_or(0, |last| last + 1)]
}

/// The decimal number at the beginning, and what follows it. Numbers too large for 64 bits are the
/// largest, which no dialect allows. `None` if no digit is there.
fn split_number<'text>(text: &'text [u8], signs: &[u8]) -> Option<(i64, &'text [u8])> {
    let sign = text.first().filter(|byte| signs.contains(byte));
    let digits = &text[usize::from(sign.is_some())..];
    let count = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (digits, rest) = digits.split_at(count);
    digits.first()?;
    let magnitude = digits.iter().fold(0_i64, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add((digit - b'0').into())
    });
    let is_negative = sign == Some(&b'-');
    Some((if is_negative { -magnitude } else { magnitude }, rest))
}
