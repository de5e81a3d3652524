//! ZIP archives: jars, `omni.ja`, wheels, zipapps, documents.

mod arrange;
mod content;
mod end;
mod entry;
mod findings;
mod header;
mod settings;
mod write;

use std::ops::Range;

use coldpress_image::ReadAt;

pub use arrange::Arrangement;
pub use content::{Content, Verified};
pub use entry::Entry;
pub use findings::Finding;
pub use settings::{Layout, Settings, Storing, UnknownWord};

use crate::bytes::{size_of, up_to, whole};
use crate::error::{Corrupt, Error, Rule, entry_part};
use crate::field::number32;
use end::{End, RECORD};

/// The largest directory that is read: room for a million entries with long names. Directories are
/// in memory as a whole.
const DIRECTORY_BYTES_MAX: u64 = 256 << 20;

/// An archive whose directory, local headers and descriptors agree, and whose entries lie apart.
#[derive(Clone, Debug)]
pub struct Zip {
    /// In the order of the directory.
    pub entries: Vec<Entry>,
    /// Bytes of the file.
    pub size_bytes: u64,
    /// Bytes before the archive that are none of it: a script, a program.
    pub prefix_bytes: u64,
    /// Bytes between entries to which nothing refers.
    pub gap_bytes: u64,
    /// Bytes that the archive asks to have read ahead, if its index is at the beginning.
    pub readahead_bytes: Option<u32>,
    pub(crate) end: End,
    /// Places of the entries in the directory, by their places in the file.
    pub(crate) by_place: Vec<usize>,
}

impl Zip {
    /// Reads the directory and every local header; `None` if it is no ZIP archive.
    ///
    /// # Errors
    ///
    /// Where it contradicts itself, or cannot be read.
    ///
    /// # Cost
    ///
    /// Two small reads for each entry, in the order of their places. Memory in proportion to the
    /// directory, of at most 256 MiB.
    pub fn read(source: &dyn ReadAt) -> Result<Option<Self>, Error> {
        let size_bytes = size_of(source)?;
        let Some(end) = End::find(source, size_bytes)? else {
            return Ok(None);
        };
        let mut entries = directory(source, &end)?;
        let mut by_place: Vec<usize> = (0..entries.len()).collect();
        by_place.sort_by_key(|&index| entries.get(index).map(|entry| entry.range.start));
        for &index in &by_place {
            if let Some(entry) = entries.get_mut(index) {
                entry.read_local(source, size_bytes)?;
            }
        }
        let parts = parts(&entries, &by_place, &end);
        check_apart(&parts)?;
        let head = up_to(source, 0, 8)?;
        let has_index = head.get(4..) == Some(RECORD.as_slice());
        let first = by_place.first().and_then(|&index| entries.get(index));
        let begin = first.map_or(end.directory.start, |entry| entry.range.start);
        let claimed = parts.iter().filter(|(range, _)| range.start >= begin);
        let claimed: u64 = claimed.map(|(range, _)| range.end - range.start).sum();
        Ok(Some(Self {
            gap_bytes: (end.range.end - begin).saturating_sub(claimed),
            prefix_bytes: if has_index { 0 } else { begin },
            readahead_bytes: has_index.then(|| number32(&head, 0)),
            entries,
            size_bytes,
            end,
            by_place,
        }))
    }

    /// The entries by their places in the file.
    pub fn by_place(&self) -> impl Iterator<Item = &Entry> {
        self.by_place
            .iter()
            .filter_map(|&index| self.entries.get(index))
    }

    /// The directory, bytes of the file.
    pub fn directory(&self) -> Range<u64> {
        self.end.directory.clone()
    }

    /// The end records and the comment, bytes of the file.
    pub fn end(&self) -> Range<u64> {
        self.end.start..self.end.range.end
    }

    /// The comment of the archive.
    pub fn comment(&self) -> &[u8] {
        &self.end.comment
    }

    /// Bytes behind the archive that are none of it.
    pub fn trailing_bytes(&self) -> u64 {
        self.size_bytes - self.end.range.end
    }
}

/// The records of the directory.
fn directory(source: &dyn ReadAt, end: &End) -> Result<Vec<Entry>, Error> {
    let start = end.directory.start;
    let found = end.directory.end - start;
    if found > DIRECTORY_BYTES_MAX {
        let (field, limit) = ("directory bytes", DIRECTORY_BYTES_MAX);
        let rule = Rule::TooMuch {
            field,
            found,
            limit,
        };
        return Err(Corrupt::new("end record", end.range.start, rule).into());
    }
    let len = usize::try_from(found).unwrap_or(usize::MAX);
    let bytes = whole(source, start, len, "directory")?;
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let (entry, len) = Entry::of_record(rest, start + at as u64, end.base)?;
        entries.push(entry);
        at += len;
    }
    let found = entries.len() as u64;
    // Old tools let the number of entries overflow.
    let is_same = found == end.entries || !end.is_zip64 && found % 0x1_0000 == end.entries;
    if !is_same {
        let (field, expected, elsewhere) = ("entries", end.entries, "in the end record");
        let rule = Rule::Disagrees {
            field,
            found,
            expected,
            elsewhere,
        };
        return Err(Corrupt::new("directory", start, rule).into());
    }
    Ok(entries)
}

/// What lies where, in the order of places.
fn parts(entries: &[Entry], by_place: &[usize], end: &End) -> Vec<(Range<u64>, String)> {
    let entries = by_place.iter().filter_map(|&index| entries.get(index));
    let mut parts: Vec<(Range<u64>, String)> = entries
        .map(|entry| (entry.range.clone(), entry_part(&entry.name)))
        .collect();
    if !end.directory.is_empty() {
        parts.push((end.directory.clone(), "the directory".to_owned()));
    }
    parts.push((end.start..end.range.end, "the end record".to_owned()));
    parts.sort_by_key(|(range, _)| (range.start, range.end));
    parts
}

/// Entries that share bytes are how a small archive unpacks to petabytes.
fn check_apart(parts: &[(Range<u64>, String)]) -> Result<(), Corrupt> {
    for pair in parts.windows(2) {
        let [(range, part), (next, other)] = pair else {
            continue;
        };
        if range.end > next.start {
            let (end, start, other) = (range.end, next.start, other.clone());
            let rule = Rule::Overlap { end, other, start };
            return Err(Corrupt::new(part.clone(), range.start, rule));
        }
    }
    Ok(())
}
