//! Lists of accesses that tools for container images keep.
//!
//! - Nydus: `path,size,elapsed` as CSV, the same as JSON lines, and prefetch files, which are one
//!   JSON document.
//! - eStargz: JSON lines of `ctr-remote image optimize --record-out`.

use serde::Deserialize;

use super::Format;
use super::imported::Seen;
use super::notes::{Notes, map};
use super::text::{decimal, lines, rsplit_once};
use crate::error::Error;
use crate::event::Access;

/// The first line of the CSV.
pub(super) const CSV_HEADINGS: &[u8] = b"path,size,elapsed";

/// One JSON line; of eStargz, only the path is there.
#[derive(Debug, Deserialize)]
struct Record {
    path: String,
    size: Option<u64>,
    /// Since the recorder began, in us.
    elapsed: Option<u64>,
}

/// A prefetch file. Its `version` is `v1`.
#[derive(Debug, Deserialize)]
struct Prefetch {
    files: Vec<PrefetchFile>,
}

#[derive(Debug, Deserialize)]
struct PrefetchFile {
    path: String,
    ranges: Option<Vec<Range>>,
}

/// Nydus reads pairs; its documents show objects.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
enum Range {
    Pair(u64, u64),
    Object { offset: u64, size: u64 },
}

impl Range {
    /// Offset and length, in bytes.
    fn bytes(self) -> (u64, u64) {
        match self {
            Self::Pair(offset, size) | Self::Object { offset, size } => (offset, size),
        }
    }
}

/// Reads any of the lists.
///
/// # Errors
///
/// [`Error::Document`] if a prefetch file is none.
pub(super) fn read(text: &[u8], format: Format, notes: &mut Notes) -> Result<(), Error> {
    let text = text.trim_ascii();
    if lines(text)
        .next()
        .is_some_and(|(line, _)| line == CSV_HEADINGS)
    {
        read_csv(text, notes);
        return Ok(());
    }
    if is_prefetch(text) {
        let prefetch: Prefetch = serde_json::from_slice(text)
            .map_err(|error| Error::document(format, &error, "a prefetch file of version v1"))?;
        read_prefetch(&prefetch, notes);
        return Ok(());
    }
    for (line, number) in lines(text).filter(|(line, _)| !line.is_empty()) {
        notes.begin_line(number);
        match serde_json::from_slice::<Record>(line) {
            Ok(record) => see(&record, notes),
            Err(_) => notes.cannot_read(line, "not a JSON object with a path"),
        }
    }
    Ok(())
}

/// Whether the text is one document rather than one on each line.
pub(super) fn is_prefetch(text: &[u8]) -> bool {
    let first = lines(text).next().map_or(text, |(line, _)| line);
    text.starts_with(b"{") && serde_json::from_slice::<Record>(first).is_err()
}

fn see(record: &Record, notes: &mut Notes) {
    let time_us = record.elapsed.unwrap_or_else(|| notes.next_time_us());
    let size_bytes = record.size;
    notes.see(
        time_us,
        0,
        Seen::File { size_bytes },
        record.path.as_bytes(),
    );
}

/// Sizes and times may be meant for people (`readable = true`): then they are not known.
fn read_csv(text: &[u8], notes: &mut Notes) {
    for (line, number) in lines(text).skip(1).filter(|(line, _)| !line.is_empty()) {
        notes.begin_line(number);
        let fields = rsplit_once(line, b",")
            .and_then(|(rest, elapsed)| Some((rsplit_once(rest, b",")?, elapsed)));
        let Some(((path, size), elapsed)) = fields else {
            notes.cannot_read(line, "not the three fields path, size and elapsed");
            continue;
        };
        let Some(path) = unquoted(path) else {
            notes.cannot_read(line, "the path ends on another line");
            continue;
        };
        let size_bytes = decimal(size);
        let time_us = decimal(elapsed).unwrap_or_else(|| notes.next_time_us());
        notes.see(time_us, 0, Seen::File { size_bytes }, &path);
    }
}

/// A field of CSV; `None` if its quotation mark is not closed.
fn unquoted(field: &[u8]) -> Option<Vec<u8>> {
    let Some(quoted) = field.strip_prefix(b"\"") else {
        return Some(field.to_vec());
    };
    let quoted = quoted.strip_suffix(b"\"")?;
    let mut text = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter();
    while let Some(&byte) = bytes.next() {
        if byte == b'"' && bytes.next() != Some(&b'"') {
            return None;
        }
        text.push(byte);
    }
    Some(text)
}

/// Ranges are what shall be fetched, which is more than what is needed: they are uncertain.
fn read_prefetch(prefetch: &Prefetch, notes: &mut Notes) {
    for file in &prefetch.files {
        let path = file.path.as_bytes();
        let Some(ranges) = &file.ranges else {
            notes.see_file(None, path);
            continue;
        };
        let lookup = Seen::Access(Access::Lookup);
        notes.see(notes.next_time_us(), 0, lookup, path);
        for range in ranges {
            notes.see_bytes((notes.next_time_us(), 0), range.bytes(), map, path);
        }
    }
}
