//! One pseudo definition: bytes to [`Definition`].

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use coldpress_format::XattrPrefix;

use super::definition::{Action, Attributes, Definition, Object};
use super::value;
use crate::description::{
    Malformed, PATH_EXPECTED, SourceLine, Word, Words, device, is_space, number, path_in_image,
};
use crate::scan::TARGET_MAX_BYTES;

/// How the names of owners and dates are understood: what the system knows of them is asked by the
/// caller.
#[derive(Clone, Copy, Debug)]
pub struct Lookup {
    /// The number of a user.
    pub user: fn(&[u8]) -> Option<u32>,
    /// The number of a group.
    pub group: fn(&[u8]) -> Option<u32>,
    /// The time that a date such as `1 jan 1980` means, in s since 1970.
    pub date: fn(&[u8]) -> Option<u32>,
}

const USER_EXPECTED: &str = "a user: a number below 4294967296, or a name that this system knows";
const GROUP_EXPECTED: &str = "a group: a number below 4294967296, or a name that this system knows";
const TIME_EXPECTED: &str =
    "a time from 1970 to 2106: seconds since 1970, or a date in quotation marks";
const TYPE_EXPECTED: &str = "a type: one of d m b c f s i x h l L, D M B C F S I, or R; white \
space in a name needs a `\\` \
     before it or quotation marks";

/// Parses one definition.
///
/// * `data`: which of the pseudo files with data the definition stands in; `None` on the command
///   line, where `R` has no meaning.
///
/// # Errors
///
/// [`Malformed`] for the first part that is wrong.
pub(super) fn definition(
    line: &[u8],
    place: &SourceLine,
    data: Option<usize>,
    lookup: &Lookup,
) -> Result<Definition, Malformed> {
    let mut words = Words::new(line, place);
    let (word, name) = quoted(&mut words)?;
    let path = path_in_image(&name)
        .filter(|_| !name.is_empty())
        .ok_or_else(|| words.wrong(word, PATH_EXPECTED))?;
    let kind = words.word();
    let action = match kind.bytes {
        b"x" => xattr(&mut words)?,
        b"l" | b"h" => Action::Disk {
            path: OsStr::from_bytes(&file_name(&mut words)?).into(),
            follow: kind.bytes == b"h",
        },
        b"L" => link(&mut words)?,
        b"m" => Action::Modify(attributes(&mut words, false, lookup)?),
        b"M" => Action::Modify(attributes(&mut words, true, lookup)?),
        [letter @ (b'd' | b'b' | b'c' | b'f' | b's' | b'i')] => Action::Add {
            attributes: attributes(&mut words, false, lookup)?,
            object: object(&mut words, *letter)?,
        },
        [letter @ (b'D' | b'B' | b'C' | b'F' | b'S' | b'I')] => Action::Add {
            attributes: attributes(&mut words, true, lookup)?,
            object: object(&mut words, letter.to_ascii_lowercase())?,
        },
        b"R" => {
            let expected = "another type: `R` stands only in pseudo files, which hold its data";
            let file = data.ok_or_else(|| words.wrong(kind, expected))?;
            Action::Add {
                attributes: attributes(&mut words, true, lookup)?,
                object: stored(&mut words, file)?,
            }
        }
        _ => return Err(words.wrong(kind, TYPE_EXPECTED)),
    };
    words.end()?;
    Ok(Definition {
        path,
        action,
        place: place.clone(),
    })
}

/// Parses the metadata of the directories that definitions need and nothing has: `d 755 0 0`.
///
/// # Errors
///
/// [`Malformed`] for the first part that is wrong.
pub(super) fn directory(
    line: &[u8],
    place: &SourceLine,
    lookup: &Lookup,
) -> Result<Attributes, Malformed> {
    let mut words = Words::new(line, place);
    let kind = words.word();
    let attributes = match kind.bytes {
        b"d" => attributes(&mut words, false, lookup)?,
        b"D" => attributes(&mut words, true, lookup)?,
        _ => return Err(words.wrong(kind, "`d mode uid gid` or `D time mode uid gid`")),
    };
    words.end()?;
    Ok(attributes)
}

/// A word that may hold white space: inside quotation marks, or each with a `\` before it. A `\`
/// makes any byte mean itself.
fn quoted<'a>(words: &mut Words<'a>) -> Result<(Word<'a>, Vec<u8>), Malformed> {
    words.skip_spaces();
    let (start, line) = (words.offset(), words.rest());
    let mut text = Vec::new();
    let mut open = None;
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        match byte {
            b'"' => open = if open.is_none() { Some(at) } else { None },
            b'\\' => {
                at += 1;
                text.extend(line.get(at));
            }
            byte if is_space(byte) && open.is_none() => break,
            byte => text.push(byte),
        }
        at += 1;
    }
    let at = at.min(line.len());
    if let Some(open) = open {
        let word = Word {
            start: start + open,
            bytes: &line[open..],
        };
        return Err(words.wrong(word, "a second quotation mark"));
    }
    words.seek(start + at);
    let bytes = &line[..at];
    Ok((Word { start, bytes }, text))
}

fn attributes(
    words: &mut Words<'_>,
    is_timed: bool,
    lookup: &Lookup,
) -> Result<Attributes, Malformed> {
    let time_s = is_timed.then(|| time(words, lookup)).transpose()?;
    Ok(Attributes {
        time_s,
        mode: words.mode()?,
        uid: owner(words, lookup.user, USER_EXPECTED)?,
        gid: owner(words, lookup.group, GROUP_EXPECTED)?,
    })
}

fn time(words: &mut Words<'_>, lookup: &Lookup) -> Result<u32, Malformed> {
    let (word, text) = quoted(words)?;
    let seconds = number(word.bytes, 10).and_then(|seconds| u32::try_from(seconds).ok());
    let is_number = word.bytes.iter().all(u8::is_ascii_digit);
    let time_s = if is_number {
        seconds
    } else {
        (lookup.date)(&text)
    };
    time_s.ok_or_else(|| words.wrong(word, TIME_EXPECTED))
}

fn owner(
    words: &mut Words<'_>,
    named: fn(&[u8]) -> Option<u32>,
    expected: &'static str,
) -> Result<u32, Malformed> {
    let word = words.word();
    let id = match word.bytes {
        // unsquashfs writes numbers of 31 bits and a sign.
        [b'-', digits @ ..] if number(digits, 10).is_some() => number(digits, 10)
            .and_then(|id| i32::try_from(id).ok())
            .map(|id| id.wrapping_neg().cast_unsigned()),
        digits if digits.iter().all(u8::is_ascii_digit) => {
            number(digits, 10).and_then(|id| u32::try_from(id).ok())
        }
        name => named(name),
    };
    id.ok_or_else(|| words.wrong(word, expected))
}

fn object(words: &mut Words<'_>, letter: u8) -> Result<Object, Malformed> {
    Ok(match letter {
        b'd' => Object::Directory,
        b'f' => Object::Command {
            command: rest(words, "a command")?,
        },
        b's' => Object::Symlink {
            target: target(words)?,
        },
        b'i' => {
            let kind = words.word();
            match kind.bytes {
                b"f" => Object::Fifo,
                b"s" => Object::Socket,
                _ => return Err(words.wrong(kind, "`f` for a named pipe or `s` for a socket")),
            }
        }
        _ => {
            let (major, minor) = device(words)?;
            if letter == b'b' {
                Object::BlockDevice { major, minor }
            } else {
                Object::CharDevice { major, minor }
            }
        }
    })
}

fn stored(words: &mut Words<'_>, file: usize) -> Result<Object, Malformed> {
    // The limits of a file position in Linux.
    let max = i64::MAX.unsigned_abs();
    let len_bytes = words.decimal(max, "a length in bytes")?;
    let offset_bytes = words.decimal(max, "an offset in the data, in bytes")?;
    // The unsquashfs of squashfs-tools 4.5 does not write this.
    let sparse = words.word();
    let sparse = match sparse.bytes {
        b"1" => true,
        b"0" | b"" => false,
        _ => return Err(words.wrong(sparse, "1 for a file with holes or 0")),
    };
    Ok(Object::Data {
        file,
        offset_bytes,
        len_bytes,
        sparse,
    })
}

fn xattr(words: &mut Words<'_>) -> Result<Action, Malformed> {
    let expected = "NAME=VALUE, where NAME begins with user., trusted. or security.";
    let text = rest(words, expected)?;
    let word = Word {
        start: words.offset() - text.len(),
        bytes: &text,
    };
    let equals = text.iter().position(|&byte| byte == b'=');
    let name = equals
        .map(|equals| &text[..equals])
        .filter(|name| XattrPrefix::split(name).is_some())
        .ok_or_else(|| words.wrong(word, expected))?;
    let value = Word {
        start: word.start + name.len() + 1,
        bytes: &text[name.len() + 1..],
    };
    let expected = "a value of 1 to 65536 bytes; after 0s in base64, after 0x in hexadecimal, \
    after \
                    0t with bytes as \\ooo";
    Ok(Action::Xattr {
        name: name.to_vec(),
        value: value::decode(value.bytes).ok_or_else(|| words.wrong(value, expected))?,
    })
}

fn link(words: &mut Words<'_>) -> Result<Action, Malformed> {
    let (word, name) = quoted(words)?;
    let target = path_in_image(&name).filter(|target| !target.is_empty());
    Ok(Action::Link {
        target: target.ok_or_else(|| words.wrong(word, "the path of an earlier definition"))?,
    })
}

fn file_name(words: &mut Words<'_>) -> Result<Vec<u8>, Malformed> {
    let (word, name) = quoted(words)?;
    if name.is_empty() || name.contains(&0) {
        return Err(words.wrong(word, "the path of a file of this system"));
    }
    Ok(name)
}

fn target(words: &mut Words<'_>) -> Result<Vec<u8>, Malformed> {
    let target = rest(words, "the target of a symbolic link")?;
    if target.len() > TARGET_MAX_BYTES {
        let word = Word {
            start: words.offset() - target.len(),
            bytes: &target,
        };
        let expected = "a target of at most 4095 bytes: the kernel follows no longer one";
        return Err(words.wrong(word, expected));
    }
    Ok(target)
}

/// All that is left, with the white space at its end.
fn rest(words: &mut Words<'_>, expected: &'static str) -> Result<Vec<u8>, Malformed> {
    words.skip_spaces();
    let word = Word {
        start: words.offset(),
        bytes: words.rest(),
    };
    if word.bytes.is_empty() {
        return Err(words.wrong(word, expected));
    }
    if word.bytes.contains(&0) {
        return Err(words.wrong(word, "text without NUL bytes"));
    }
    words.seek(word.start + word.bytes.len());
    Ok(word.bytes.to_vec())
}
