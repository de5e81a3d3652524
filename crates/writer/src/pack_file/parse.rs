//! Lines of a pack file to entries.

mod glob;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::{PackAction, PackEntry, PackGlob, PackObject, PackPattern};
use crate::description::{
    LINE_MAX_BYTES, Malformed, PATH_EXPECTED, SourceLine, Word, Words, device, is_space, number,
    path_in_image,
};
use crate::scan::TARGET_MAX_BYTES;

const TYPE_EXPECTED: &str = "dir, file, slink, link, nod, pipe, sock or glob";
const OWNER_EXPECTED: &str = "a number below 4294967296";

/// Parses a pack file.
///
/// # Errors
///
/// [`Malformed`] for the first part that is wrong.
pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Vec<PackEntry>, Malformed> {
    let path: Arc<Path> = path.into();
    let mut entries = Vec::new();
    for (line, number) in bytes.split(|&byte| byte == b'\n').zip(1..) {
        let place = SourceLine::File {
            path: path.clone(),
            line: number,
        };
        let first = line.iter().find(|&&byte| !is_space(byte));
        if first.is_some_and(|&byte| byte != b'#') {
            entries.push(entry(line, &place)?);
        }
    }
    Ok(entries)
}

fn entry(line: &[u8], place: &SourceLine) -> Result<PackEntry, Malformed> {
    let mut words = Words::new(line, place);
    if line.len() > LINE_MAX_BYTES || line.contains(&0) {
        let (start, bytes) = (0, line);
        let expected = "a line of at most 1048576 bytes without NUL bytes";
        return Err(words.wrong(Word { start, bytes }, expected));
    }
    let kind = words.word();
    let can_be_root = matches!(kind.bytes, b"dir" | b"glob");
    let path = path(&mut words, can_be_root, kind)?;
    let action = match kind.bytes {
        b"glob" => PackAction::Glob(glob::glob(&mut words)?),
        b"link" => {
            // Mode and owners of a link are those of its target.
            let _ = (words.word(), words.word(), words.word());
            PackAction::Link {
                target: link_target(&mut words)?,
            }
        }
        _ => PackAction::Add {
            mode: words.mode()?,
            uid: words.decimal(u32::MAX.into(), OWNER_EXPECTED)?,
            gid: words.decimal(u32::MAX.into(), OWNER_EXPECTED)?,
            object: object(&mut words, kind)?,
        },
    };
    Ok(PackEntry {
        path,
        action,
        place: place.clone(),
    })
}

/// The path of the entry; `kind` is checked with it, because it says what paths may be.
fn path(words: &mut Words<'_>, can_be_root: bool, kind: Word<'_>) -> Result<Vec<u8>, Malformed> {
    if !matches!(
        kind.bytes,
        b"dir" | b"file" | b"slink" | b"link" | b"nod" | b"pipe" | b"sock" | b"glob"
    ) {
        return Err(words.wrong(kind, TYPE_EXPECTED));
    }
    let (word, name) = quoted(words, b"\"")?;
    let path = canonical(&name).filter(|_| !name.is_empty());
    let path = path.ok_or_else(|| words.wrong(word, PATH_EXPECTED))?;
    if path.is_empty() && !can_be_root {
        return Err(words.wrong(word, "a path other than `/`, which is always a directory"));
    }
    Ok(path)
}

/// A path in the image; `.` in it means nothing.
fn canonical(path: &[u8]) -> Option<Vec<u8>> {
    let names = path.split(|&byte| byte == b'/');
    let names: Vec<&[u8]> = names.filter(|name| name != b".").collect();
    path_in_image(&names.join(&b'/'))
}

fn object(words: &mut Words<'_>, kind: Word<'_>) -> Result<PackObject, Malformed> {
    let object = match kind.bytes {
        b"file" => {
            let location = rest(words)?;
            let location = (!location.is_empty()).then(|| file_name(&location));
            return Ok(PackObject::File { location });
        }
        b"slink" => {
            return Ok(PackObject::Symlink {
                target: symlink_target(words)?,
            });
        }
        b"nod" => return nod(words),
        b"pipe" => PackObject::Fifo,
        b"sock" => PackObject::Socket,
        _ => PackObject::Directory,
    };
    words.skip_spaces();
    if words.rest().first() != Some(&b'#') {
        words.end()?;
    }
    Ok(object)
}

fn nod(words: &mut Words<'_>) -> Result<PackObject, Malformed> {
    let kind = words.word();
    let is_block = match kind.bytes {
        b"b" | b"B" => true,
        b"c" | b"C" => false,
        _ => return Err(words.wrong(kind, "`b` for a block device or `c` for a character device")),
    };
    let (major, minor) = device(words)?;
    words.end()?;
    Ok(if is_block {
        PackObject::BlockDevice { major, minor }
    } else {
        PackObject::CharDevice { major, minor }
    })
}

fn symlink_target(words: &mut Words<'_>) -> Result<Vec<u8>, Malformed> {
    words.skip_spaces();
    let word = Word {
        start: words.offset(),
        bytes: words.rest(),
    };
    let target = rest(words)?;
    if target.is_empty() || target.len() > TARGET_MAX_BYTES {
        let expected = "a target of 1 to 4095 bytes: the kernel follows no longer one";
        return Err(words.wrong(word, expected));
    }
    Ok(target)
}

fn link_target(words: &mut Words<'_>) -> Result<Vec<u8>, Malformed> {
    words.skip_spaces();
    let word = Word {
        start: words.offset(),
        bytes: words.rest(),
    };
    let target = canonical(&rest(words)?).filter(|target| !target.is_empty());
    target.ok_or_else(|| words.wrong(word, "the path of a file of the image"))
}

/// All that is left of the line, in quotation marks or as it is.
fn rest(words: &mut Words<'_>) -> Result<Vec<u8>, Malformed> {
    words.skip_spaces();
    if words.rest().first() == Some(&b'"') {
        let (_, text) = quoted(words, b"\"")?;
        words.end()?;
        return Ok(text);
    }
    let text = words.rest();
    words.seek(words.offset() + text.len());
    // What an editor of another system puts at the end of lines.
    Ok(text.strip_suffix(b"\r").unwrap_or(text).to_vec())
}

/// A word, or what one of `marks` stands around; there `\` goes before a mark or a `\`.
fn quoted<'a>(words: &mut Words<'a>, marks: &[u8]) -> Result<(Word<'a>, Vec<u8>), Malformed> {
    words.skip_spaces();
    let (start, line) = (words.offset(), words.rest());
    let Some(mark) = line.first().filter(|first| marks.contains(first)) else {
        let word = words.word();
        return Ok((word, word.bytes.to_vec()));
    };
    let mut text = Vec::new();
    let mut at = 1;
    loop {
        match line[at..] {
            [b'\\', byte, ..] if byte == *mark || byte == b'\\' => {
                text.push(byte);
                at += 1;
            }
            [byte, ref after @ ..] if byte == *mark && starts_space(after) => break,
            [byte, ..] if byte != *mark => text.push(byte),
            _ => {
                let word = Word { start, bytes: line };
                let expected = "a second quotation mark, and white space or nothing after it";
                return Err(words.wrong(word, expected));
            }
        }
        at += 1;
    }
    let bytes = &line[..=at];
    words.seek(start + bytes.len());
    Ok((Word { start, bytes }, text))
}

fn starts_space(text: &[u8]) -> bool {
    text.first().is_none_or(|&byte| is_space(byte))
}

fn file_name(name: &[u8]) -> PathBuf {
    OsStr::from_bytes(name).into()
}
