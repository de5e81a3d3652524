//! Files with digests of other files, as `sha256sum` and the BSDs write them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use coldpress_image::ReadAt;
use coldpress_iso::{File, Iso};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use crate::container::pieces;
use crate::error::{Error, Rule};
use crate::field::read;

/// What the name of such a file ends with, in lower case.
const ENDINGS: [&str; 10] = [
    "sum.txt", "sums.txt", "sum", "sums", ".md5", ".sha1", ".sha224", ".sha256", ".sha384",
    ".sha512",
];
/// Bytes of all of them; one that is longer than what is left is something else.
const LISTS_BYTES_MAX: u64 = 64 << 20;
/// Lists that change together. There are rarely more than three.
const AFFECTED_MAX: usize = 64;

/// By path.
type Files<'a> = BTreeMap<&'a [u8], &'a File>;

/// A file with digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) file: File,
    /// Byte of the file system at which it begins.
    pub(crate) start: u64,
    /// Of files that are there.
    pub(crate) lines: Vec<Line>,
}

/// A digest of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Bytes of the file system that it takes, in hexadecimal digits.
    pub(crate) digits: Range<u64>,
    /// What it is of.
    pub(crate) file: File,
}

impl Line {
    /// Byte at which what it is of begins.
    fn of(&self) -> Option<u64> {
        self.file.sections.first().map(|section| section.data.start)
    }

    fn is_of(&self, starts: &BTreeSet<u64>) -> bool {
        self.of().is_some_and(|start| starts.contains(&start))
    }
}

/// All files with digests, and those digests whose files are there.
///
/// # Errors
///
/// If one cannot be read.
pub(crate) fn lists(iso: &Iso, source: &dyn ReadAt) -> Result<Vec<List>, Error> {
    let files = iso.shown().into_iter().flat_map(|tree| &tree.files);
    let files: Files<'_> = files.map(|file| (file.path.as_slice(), file)).collect();
    let mut lists = Vec::new();
    let mut left = LISTS_BYTES_MAX;
    for file in iso.shown().into_iter().flat_map(|tree| &tree.files) {
        let name = file.path.to_ascii_lowercase();
        let is_list = ENDINGS
            .iter()
            .any(|ending| name.ends_with(ending.as_bytes()));
        let [section] = file.sections.as_slice() else {
            continue;
        };
        let size_bytes = file.size_bytes();
        if !is_list || size_bytes > left {
            continue;
        }
        left -= size_bytes;
        let mut text = vec![0; usize::try_from(size_bytes).unwrap_or_default()];
        read(source, &mut text, section.data.start)?;
        let start = section.data.start;
        let lines = lines(&files, file, &text, start);
        let file = file.clone();
        lists.push(List { file, start, lines });
    }
    Ok(lists)
}

/// Those lists that change if the files that begin at these bytes do, each after all that it names.
///
/// # Errors
///
/// If there are too many of them, or lists name each other.
pub(crate) fn affected<'a>(
    lists: &'a [List],
    changed: &BTreeSet<u64>,
) -> Result<Vec<&'a List>, Error> {
    let refused = |list: &List, rule| {
        let part = String::from_utf8_lossy(&list.file.path).into_owned();
        Error::refused(part, list.start, rule)
    };
    let mut changed = changed.clone();
    let mut found: Vec<&List> = Vec::new();
    loop {
        let next = lists.iter().find(|list| {
            let is_new = !found.iter().any(|other| other.start == list.start);
            is_new && list.lines.iter().any(|line| line.is_of(&changed))
        });
        let Some(list) = next else {
            break;
        };
        if found.len() == AFFECTED_MAX {
            let limit = AFFECTED_MAX;
            return Err(refused(list, Rule::Lists { limit }));
        }
        changed.insert(list.start);
        found.push(list);
    }
    let mut ordered: Vec<&List> = Vec::new();
    while let Some(first) = found.first() {
        let left: BTreeSet<u64> = found.iter().map(|list| list.start).collect();
        let ready = found.iter().position(|list| {
            let mut others = list.lines.iter().filter(|it| it.of() != Some(list.start));
            !others.any(|line| line.is_of(&left))
        });
        let ready = ready.ok_or_else(|| refused(first, Rule::ListCycle))?;
        ordered.push(found.remove(ready));
    }
    Ok(ordered)
}

/// The digests of a list that are of files that change, with their new digits.
///
/// # Errors
///
/// If a file cannot be read.
pub(crate) fn digests(
    list: &List,
    changed: &BTreeSet<u64>,
    source: &dyn ReadAt,
) -> Result<Vec<(u64, Vec<u8>)>, Error> {
    let of_itself = Some(list.start);
    let lines = list.lines.iter();
    let lines = lines.filter(|line| line.is_of(changed) && line.of() != of_itself);
    let digits = lines.map(|line| {
        let len = line.digits.end - line.digits.start;
        Ok((line.digits.start, digits(len, &line.file, source)?))
    });
    digits.collect()
}

/// The digest of a file that has so many hexadecimal digits.
fn digits(len: u64, file: &File, source: &dyn ReadAt) -> Result<Vec<u8>, Error> {
    let digest = match len {
        32 => hash::<Md5>(file, source),
        40 => hash::<Sha1>(file, source),
        56 => hash::<Sha224>(file, source),
        64 => hash::<Sha256>(file, source),
        96 => hash::<Sha384>(file, source),
        _ => hash::<Sha512>(file, source),
    }?;
    Ok(hexadecimal(&digest))
}

pub(crate) fn hexadecimal(digest: &[u8]) -> Vec<u8> {
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
    digits.collect::<String>().into_bytes()
}

fn hash<D: Digest>(file: &File, source: &dyn ReadAt) -> Result<Vec<u8>, Error> {
    let mut digest = D::new();
    for section in &file.sections {
        let data = &section.data;
        pieces(data.end - data.start, |offset, piece| {
            read(source, piece, data.start + offset)?;
            digest.update(&*piece);
            Ok(())
        })?;
    }
    Ok(digest.finalize().to_vec())
}

/// The lines of a list whose files are there.
fn lines(files: &Files<'_>, list: &File, text: &[u8], start: u64) -> Vec<Line> {
    let mut at = start;
    let mut lines = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if let Some((digits, path)) = parse(line)
            && let Some(file) = named(files, list, path)
        {
            lines.push(Line {
                digits: at + digits.start as u64..at + digits.end as u64,
                file: file.clone(),
            });
        }
        at += line.len() as u64;
    }
    lines
}

/// Where the digits of a line are, and its path: `DIGEST  PATH`, `DIGEST *PATH`,
/// `ALGORITHM (PATH) = DIGEST`, or only a digest.
fn parse(line: &[u8]) -> Option<(Range<usize>, &[u8])> {
    let line = line.trim_ascii_end();
    let is_digest = |digits: &[u8]| {
        [32, 40, 56, 64, 96, 128].contains(&digits.len())
            && digits.iter().all(u8::is_ascii_hexdigit)
    };
    let first = line.split(u8::is_ascii_whitespace).next()?;
    if is_digest(first) {
        let path = line.get(first.len()..)?.trim_ascii_start();
        return Some((0..first.len(), path.strip_prefix(b"*").unwrap_or(path)));
    }
    let last = line.rsplit(|byte| *byte == b' ').next()?;
    let before = line.get(..line.len() - last.len())?.strip_suffix(b") = ")?;
    let open = before.iter().position(|byte| *byte == b'(')?;
    is_digest(last).then_some((line.len() - last.len()..line.len(), before.get(open + 1..)?))
}

/// The file of a path, from the directory of a list or from the root. A digest without a path is of
/// the file that the list is named after.
fn named<'a>(files: &Files<'a>, list: &File, path: &[u8]) -> Option<&'a File> {
    let slash = list.path.iter().rposition(|byte| *byte == b'/');
    let directory = list.path.get(..slash.map_or(0, |at| at + 1))?;
    if path.is_empty() {
        let dot = list.path.iter().rposition(|byte| *byte == b'.')?;
        return files.get(list.path.get(..dot)?).copied();
    }
    let path = path.strip_prefix(b".").unwrap_or(path);
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let near = files.get([directory, path].concat().as_slice());
    near.or_else(|| files.get(path)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_every_form() {
        let digest = "0123456789abcdef0123456789ABCDEF";
        for (line, at, path) in [
            (format!("{digest}  ./live/a b\n"), 0, "./live/a b"),
            (format!("{digest} *a\r\n"), 0, "a"),
            (format!("{digest}\n"), 0, ""),
            (format!("MD5 (live/a (1)) = {digest}"), 19, "live/a (1)"),
        ] {
            let (digits, found) = parse(line.as_bytes()).unwrap();
            assert_eq!(digits, at..at + 32, "{line}");
            assert_eq!(found, path.as_bytes(), "{line}");
        }
        for line in ["", "# a", "0123  a", "MD5 (a) = 0123", &"g".repeat(32)] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }
}
