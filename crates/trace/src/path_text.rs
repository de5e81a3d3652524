//! Paths as text: how any byte string is spelled in one line of a trace or a plan.
//!
//! A Linux path is bytes, a text file is UTF-8 lines. Printable characters stand for themselves;
//! a backslash begins the escapes `\\`, `\n` and `\xHH`. What is printable is a fixed list here
//! and not the compiler's table of Unicode, so that the same path is spelled alike forever.

use std::fmt::{self, Write as _};

/// Bytes that a line of a trace or a plan may have, without its newline.
///
/// A path of 4096 bytes (`PATH_MAX`) takes at most four times as much when all is escaped.
pub const LINE_BYTES_MAX: usize = 64 << 10;

/// A path (or any byte string) that is displayed with escapes, in one line of UTF-8.
///
/// A space at the end is escaped too: editors and mail remove such spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathText<'a>(pub &'a [u8]);

impl fmt::Display for PathText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (body, end) = match self.0.split_last() {
            Some((b' ', body)) => (body, "\\x20"),
            _ => (self.0, ""),
        };
        for chunk in body.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '\\' => formatter.write_str("\\\\")?,
                    '\n' => formatter.write_str("\\n")?,
                    _ if is_printable(character) => formatter.write_char(character)?,
                    _ => write_hex(formatter, character.encode_utf8(&mut [0; 4]).as_bytes())?,
                }
            }
            write_hex(formatter, chunk.invalid())?;
        }
        formatter.write_str(end)
    }
}

fn write_hex(formatter: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes
        .iter()
        .try_for_each(|byte| write!(formatter, "\\x{byte:02x}"))
}

/// Whether a character stands for itself in the text.
///
/// Control characters do not, nor the invisible ones that break lines, reverse their direction or
/// hide: a reader must see the path that the program sees. Joiners (U+200C, U+200D) are part of
/// written words and stay.
pub fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
        )
}

/// Text that does not spell a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {byte} of the text: {problem}")]
pub struct PathTextError {
    /// Where the problem is, counted from 0 in the text.
    pub byte: usize,
    /// What is wrong there.
    pub problem: PathProblem,
}

/// What can be wrong with text that should spell a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathProblem {
    /// The path does not begin with a slash.
    #[error("a path begins with `/`, the root of the image")]
    NotAbsolute,
    /// The bytes are not UTF-8.
    #[error("not UTF-8; write other bytes as `\\xHH`")]
    NotUtf8,
    /// A control or invisible character stands for itself.
    #[error("U+{0:04X} is not printable; write its UTF-8 bytes as `\\xHH`")]
    Unprintable(u32),
    /// A backslash begins none of the three escapes.
    #[error("unknown escape; they are `\\\\`, `\\n` and `\\xHH`")]
    UnknownEscape,
}

/// Reads an absolute path from its text.
///
/// # Errors
///
/// [`PathTextError`] if the path does not begin with `/` or the text breaks a rule of [`unescape`].
pub fn parse_path(text: &[u8]) -> Result<Vec<u8>, PathTextError> {
    let path = unescape(text)?;
    if path.starts_with(b"/") {
        return Ok(path);
    }
    Err(PathTextError {
        byte: 0,
        problem: PathProblem::NotAbsolute,
    })
}

/// Reads any byte string from its text.
///
/// # Errors
///
/// [`PathTextError`] if the text is not UTF-8, has an unprintable character or an unknown escape.
pub fn unescape(text: &[u8]) -> Result<Vec<u8>, PathTextError> {
    let fail = |byte, problem| Err(PathTextError { byte, problem });
    let text = match str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => return fail(error.valid_up_to(), PathProblem::NotUtf8),
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut characters = text.char_indices();
    while let Some((byte, character)) = characters.next() {
        if character == '\\' {
            match parse_escape(characters.by_ref().map(|(_, character)| character)) {
                Some(escaped) => bytes.push(escaped),
                None => return fail(byte, PathProblem::UnknownEscape),
            }
        } else if is_printable(character) {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            return fail(byte, PathProblem::Unprintable(character.into()));
        }
    }
    Ok(bytes)
}

/// The byte of the escape whose backslash was taken.
fn parse_escape(mut characters: impl Iterator<Item = char>) -> Option<u8> {
    match characters.next()? {
        '\\' => Some(b'\\'),
        'n' => Some(b'\n'),
        'x' => {
            let high = characters.next()?.to_digit(16)?;
            let low = characters.next()?.to_digit(16)?;
            u8::try_from(high << 4 | low).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_spelled_as_documented() {
        let cases: &[(&[u8], &str)] = &[
            (b"/", "/"),
            (b"/usr/lib/a b", "/usr/lib/a b"),
            (b"/end ", "/end\\x20"),
            (b"/ends  ", "/ends \\x20"),
            (b"/a\\b\nc\td", "/a\\\\b\\nc\\x09d"),
            (b"/\xff\xc3\xa9\xc3", "/\\xff\u{e9}\\xc3"),
            ("/\u{202e}gpj".as_bytes(), "/\\xe2\\x80\\xaegpj"),
            (b"/nul\0del\x7f", "/nul\\x00del\\x7f"),
        ];
        for (path, text) in cases {
            assert_eq!(PathText(path).to_string(), *text);
            assert_eq!(parse_path(text.as_bytes()).as_deref(), Ok(*path), "{text}");
        }
    }

    #[test]
    fn wrong_text_is_reported_with_its_byte() {
        let cases: &[(&[u8], usize, PathProblem)] = &[
            (b"", 0, PathProblem::NotAbsolute),
            (b"usr", 0, PathProblem::NotAbsolute),
            (b"/a\r", 2, PathProblem::Unprintable(13)),
            (b"/a\xff", 2, PathProblem::NotUtf8),
            (b"/a\\", 2, PathProblem::UnknownEscape),
            (b"/a\\t", 2, PathProblem::UnknownEscape),
            (b"/abc\\x4", 4, PathProblem::UnknownEscape),
            (b"/abc\\x+4", 4, PathProblem::UnknownEscape),
            (
                "/abc\u{feff}".as_bytes(),
                4,
                PathProblem::Unprintable(0xfeff),
            ),
        ];
        for &(text, byte, problem) in cases {
            assert_eq!(
                parse_path(text),
                Err(PathTextError { byte, problem }),
                "{text:?}"
            );
        }
    }
}
