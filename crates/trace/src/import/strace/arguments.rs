//! The arguments of a call, and what strace writes in them.

use super::outcome::Outcome;
use crate::import::paths::PATH_BYTES_MAX;
use crate::import::text::{decimal, find, hexadecimal, split_digits};

/// Arguments that are looked at: no call has more than six.
const ARGUMENTS_MAX: usize = 8;

/// A call as strace prints it.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) arguments: Vec<&'a [u8]>,
    /// All arguments.
    pub(super) text: &'a [u8],
    pub(super) outcome: Outcome<'a>,
}

/// What a descriptor stands for, as `strace -y` tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file.
    Path(Vec<u8>),
    /// A pipe, a socket, a file that was deleted.
    Elsewhere,
}

/// A descriptor; `AT_FDCWD` has no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    pub(super) number: Option<u32>,
    pub(super) place: Option<Place>,
}

impl<'a> Call<'a> {
    /// Reads `3</etc/hosts>, "127.0"..., 4096) = 24`; `None` if it ends too early.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let mut arguments = Vec::new();
        let (mut at, mut begin, mut depth) = (0, 0, 0_u32);
        loop {
            let byte = *text.get(at)?;
            match byte {
                b'"' => at = string_end(text, at)?,
                b'/' if text.get(at + 1) == Some(&b'*') => at = comment_end(text, at)?,
                b'<' if is_place(text, at) => at = place_end(text, at)?,
                b'(' | b'[' | b'{' => depth += 1,
                b')' if depth == 0 => break,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => {
                    push(&mut arguments, &text[begin..at]);
                    begin = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        push(&mut arguments, &text[begin..at]);
        let result = text[at + 1..].trim_ascii_start().strip_prefix(b"=")?;
        Some(Self {
            arguments,
            text: &text[..at],
            outcome: Outcome::parse(result.trim_ascii()),
        })
    }

    /// An argument; empty if there are fewer.
    pub(super) fn argument(&self, index: usize) -> &'a [u8] {
        self.arguments.get(index).copied().unwrap_or_default()
    }
}

fn push<'a>(arguments: &mut Vec<&'a [u8]>, argument: &'a [u8]) {
    if arguments.len() < ARGUMENTS_MAX {
        arguments.push(argument.trim_ascii());
    }
}

/// The closing quotation mark of the string that begins at `at`.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        match text.get(end)? {
            b'\\' => end += 2,
            b'"' => return Some(end),
            _ => end += 1,
        }
    }
}

/// The last byte of the comment that begins at `at`.
fn comment_end(text: &[u8], at: usize) -> Option<usize> {
    let end = find(text.get(at + 2..)?, b"*/")?;
    Some(at + 2 + end + 1)
}

/// Whether `<` begins what `-y` tells of a descriptor, and is no shift or arrow.
fn is_place(text: &[u8], at: usize) -> bool {
    let is_descriptor =
        text[..at].last().is_some_and(u8::is_ascii_digit) || text[..at].ends_with(b"AT_FDCWD");
    is_descriptor && text.get(at + 1) != Some(&b'<')
}

/// The closing bracket of a place. Brackets in paths are escaped; `<char 1:3>` may stand behind
/// one, and addresses of sockets have arrows.
fn place_end(text: &[u8], at: usize) -> Option<usize> {
    let is_path = text.get(at + 1) == Some(&b'/');
    let mut depth = 0_u32;
    for (index, byte) in text.iter().enumerate().skip(at) {
        match byte {
            b'<' => depth += 1,
            b'>' if !is_path && text[..index].ends_with(b"-") => {}
            b'>' if depth == 1 => return Some(index),
            b'>' => depth -= 1,
            _ => {}
        }
    }
    None
}

impl Descriptor {
    /// Reads `3`, `3</etc/hosts>`, `AT_FDCWD</etc>`; `None` of anything else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let (number, rest) = if let Some(rest) = text.strip_prefix(b"AT_FDCWD") {
            (None, rest)
        } else {
            let (digits, rest) = split_digits(text);
            (Some(decimal(digits)?), rest)
        };
        let place = match rest.first() {
            None => None,
            Some(b'<') => Some(Place::parse(rest)?),
            Some(_) => return None,
        };
        Some(Self { number, place })
    }

    /// Reads `3</etc/hosts>` at the beginning of a text.
    pub(super) fn parse_prefix(text: &[u8]) -> Option<(u32, Place)> {
        let (digits, rest) = split_digits(text);
        rest.first().filter(|byte| **byte == b'<')?;
        Some((decimal(digits)?, Place::parse(rest)?))
    }
}

impl Place {
    /// Reads `</etc/hosts>`, which may be followed by `(deleted)`.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let end = place_end(text, 0)?;
        let told = &text[1..end];
        // Escaped in a path, so what begins here is the kind of a device.
        let kind = told.iter().position(|&byte| byte == b'<');
        let path = unescaped(&told[..kind.unwrap_or(told.len())]);
        let is_deleted = text[end + 1..].starts_with(b"(deleted)") || path.ends_with(b" (deleted)");
        let is_path = path.starts_with(b"/") && path.len() <= PATH_BYTES_MAX;
        Some(if is_path && !is_deleted {
            Self::Path(path)
        } else {
            Self::Elsewhere
        })
    }
}

/// The bytes of a string in quotation marks; `None` if the argument is none, or was cut.
pub(super) fn string(argument: &[u8]) -> Option<Vec<u8>> {
    argument.first().filter(|byte| **byte == b'"')?;
    let end = string_end(argument, 0)?;
    (end + 1 == argument.len()).then(|| unescaped(&argument[1..end]))
}

/// A number: decimal, or hexadecimal behind `0x`.
pub(super) fn number(argument: &[u8]) -> Option<u64> {
    match argument.strip_prefix(b"0x") {
        Some(digits) => hexadecimal(digits),
        None => decimal(argument),
    }
}

/// Text without the escapes of C: letters, up to three octal digits, two hexadecimal ones.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let Some((&escape, behind)) = rest.split_first() else {
            break;
        };
        let (value, used) = match escape {
            b'n' => (b'\n', 1),
            b't' => (b'\t', 1),
            b'r' => (b'\r', 1),
            b'v' => (0x0b, 1),
            b'f' => (0x0c, 1),
            b'a' => (0x07, 1),
            b'b' => (0x08, 1),
            b'0'..=b'7' => digits(rest, 8, 3),
            b'x' => {
                let (value, used) = digits(behind, 16, 2);
                (value, used + 1)
            }
            other => (other, 1),
        };
        bytes.push(value);
        rest = &rest[used..];
    }
    bytes
}

/// The byte that digits spell, and how many they are.
fn digits(text: &[u8], radix: u32, count_max: usize) -> (u8, usize) {
    let values = text.iter().take(count_max);
    let values = values.map_while(|&byte| char::from(byte).to_digit(radix));
    let (value, used) = values.fold((0, 0), |(value, used), digit| {
        (value * radix + digit, used + 1)
    });
    (u8::try_from(value & 0xff).unwrap_or(u8::MAX), used)
}
