//! What pseudo files and pack files have in common: lines of words that describe files.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use coldpress_format::is_legal_name;

/// Longest line that is read, with its continuations. An extended attribute of the 64 KiB that
/// Linux allows takes 256 KiB when each byte is written as `\ooo`.
pub(crate) const LINE_MAX_BYTES: usize = 1 << 20;
/// Longest path. Eight times what Linux can name at once, and short enough that a line cannot
/// nest more directories than there is reason for.
const PATH_MAX_BYTES: usize = 8 * 4096;
/// How much of a wrong word an error shows.
const SHOWN_MAX_BYTES: usize = 60;

/// Where a definition stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceLine {
    /// On the command line.
    Argument {
        /// Which of those that are given there, from 1.
        number: u64,
    },
    /// In a file.
    File {
        /// The file.
        path: Arc<Path>,
        /// Its line, from 1; the first of those that a `\` at the end joins.
        line: u64,
    },
}

impl fmt::Display for SourceLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument { number } => write!(formatter, "definition {number}"),
            Self::File { path, line } => write!(formatter, "`{}` line {line}", path.display()),
        }
    }
}

/// A definition that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{place}, column {column}: found {}, expected {expected}",
    Found(found)
)]
pub struct Malformed {
    /// Where the definition stands.
    pub place: SourceLine,
    /// Where in it the wrong part begins, in bytes, from 1.
    pub column: usize,
    /// The part; empty for the end of the line.
    pub found: Vec<u8>,
    /// What could stand there.
    pub expected: &'static str,
}

struct Found<'a>(&'a [u8]);

impl fmt::Display for Found<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => formatter.write_str("the end of the line"),
            [shown @ .., _] if shown.len() >= SHOWN_MAX_BYTES => {
                let shown = &shown[..SHOWN_MAX_BYTES];
                write!(formatter, "`{}...`", shown.escape_ascii())
            }
            all => write!(formatter, "`{}`", all.escape_ascii()),
        }
    }
}

/// A part of a line without white space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    /// The first byte in the line.
    pub(crate) start: usize,
    pub(crate) bytes: &'a [u8],
}

/// A line that is read word by word.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    line: &'a [u8],
    at: usize,
    place: &'a SourceLine,
}

/// White space as C's `isspace` knows it, which both squashfs-tools and squashfs-tools-ng ask.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

impl<'a> Words<'a> {
    pub(crate) fn new(line: &'a [u8], place: &'a SourceLine) -> Self {
        Self { line, at: 0, place }
    }

    pub(crate) fn skip_spaces(&mut self) {
        let spaces = self.line[self.at..]
            .iter()
            .take_while(|&&byte| is_space(byte));
        self.at += spaces.count();
    }

    /// The bytes that are not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.line[self.at..]
    }

    /// Where the next byte stands in the line.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Goes on at another byte.
    pub(crate) fn seek(&mut self, at: usize) {
        self.at = at.min(self.line.len());
    }

    /// The next word and the white space before it; empty at the end of the line.
    pub(crate) fn word(&mut self) -> Word<'a> {
        self.skip_spaces();
        let start = self.at;
        let len = self.rest().iter().take_while(|&&byte| !is_space(byte));
        self.at += len.count();
        Word {
            start,
            bytes: &self.line[start..self.at],
        }
    }

    /// What stands at `word` is not what it should be.
    pub(crate) fn wrong(&self, word: Word<'_>, expected: &'static str) -> Malformed {
        Malformed {
            place: self.place.clone(),
            column: word.start + 1,
            found: word.bytes.to_vec(),
            expected,
        }
    }

    /// Demands that nothing but white space follows.
    pub(crate) fn end(&mut self) -> Result<(), Malformed> {
        self.skip_spaces();
        let word = Word {
            start: self.at,
            bytes: self.rest(),
        };
        if word.bytes.is_empty() {
            return Ok(());
        }
        Err(self.wrong(word, "the end of the line"))
    }

    /// A decimal number of at most `max`.
    pub(crate) fn decimal<N: TryFrom<u64>>(
        &mut self,
        max: u64,
        expected: &'static str,
    ) -> Result<N, Malformed> {
        let word = self.word();
        number(word.bytes, 10)
            .filter(|&number| number <= max)
            .and_then(|number| N::try_from(number).ok())
            .ok_or_else(|| self.wrong(word, expected))
    }

    /// Permission bits.
    pub(crate) fn mode(&mut self) -> Result<u16, Malformed> {
        let word = self.word();
        number(word.bytes, 8)
            .and_then(|mode| u16::try_from(mode).ok())
            .filter(|&mode| mode <= 0o7777)
            .ok_or_else(|| self.wrong(word, "a mode: an octal number of at most 7777"))
    }
}

/// Digits and nothing else.
pub(crate) fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let is_digit = |&byte: &u8| char::from(byte).is_digit(radix);
    let text = std::str::from_utf8(digits).ok()?;
    (digits.iter().all(is_digit)).then(|| u64::from_str_radix(text, radix).ok())?
}

/// What a path may be, for errors.
pub(crate) const PATH_EXPECTED: &str =
    "a path of at most 32768 bytes whose names have at most 256 bytes and are not `.` or `..`";

/// A path in the image: names with one slash between them and none around; empty for the root.
/// `None` if a name is one that no file can have.
pub(crate) fn path_in_image(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() > PATH_MAX_BYTES {
        return None;
    }
    let names = bytes.split(|&byte| byte == b'/');
    let names: Vec<&[u8]> = names.filter(|name| !name.is_empty()).collect();
    names
        .iter()
        .all(|name| is_legal_name(name))
        .then(|| names.join(&b'/'))
}

/// A device number: `major minor`.
pub(crate) fn device(words: &mut Words<'_>) -> Result<(u32, u32), Malformed> {
    // The bits that an inode has for them.
    let major = words.decimal(0xfff, "a major number of at most 4095")?;
    let minor = words.decimal(0xf_ffff, "a minor number of at most 1048575")?;
    Ok((major, minor))
}
