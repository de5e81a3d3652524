//! The end record: where the directory lies.
//!
//! ```text
//! entries | directory | zip64 end record, zip64 locator, if needed | end record, comment | more
//! ```
//!
//! Readers look for it from the end of the file on, and differ where more than one could be meant.
//! Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.14 to 4.3.16.

use std::ops::Range;

use coldpress_image::ReadAt;

use crate::bytes::{up_to, whole};
use crate::error::{Corrupt, Error, Rule};
use crate::field::{len16, number};

/// Bytes of an end record without its comment.
pub(crate) const END_BYTES: usize = 22;
/// Bytes of a zip64 end record without extensions.
pub(crate) const END64_BYTES: usize = 56;
/// Bytes of what points to it.
pub(crate) const LOCATOR_BYTES: usize = 20;
/// The longest comment.
const COMMENT_BYTES_MAX: usize = 0xffff;

pub(crate) const END: &[u8; 4] = b"PK\x05\x06";
pub(crate) const END64: &[u8; 4] = b"PK\x06\x06";
pub(crate) const LOCATOR: &[u8; 4] = b"PK\x06\x07";
pub(crate) const RECORD: &[u8; 4] = b"PK\x01\x02";

/// What an end record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The end record and its comment, bytes of the file.
    pub(crate) range: Range<u64>,
    /// Where the end begins: the zip64 record, if there is one.
    pub(crate) start: u64,
    /// The directory, bytes of the file.
    pub(crate) directory: Range<u64>,
    /// Byte of the file from which positions count: not 0 if something was put before the archive.
    pub(crate) base: u64,
    /// How many entries it states; above 65,535 without zip64 the rest of a division by 65,536.
    pub(crate) entries: u64,
    /// Whether it has a zip64 record.
    pub(crate) is_zip64: bool,
    /// The comment.
    pub(crate) comment: Vec<u8>,
}

/// The numbers of an end record or a zip64 one.
struct Stated {
    entries: u64,
    directory_bytes: u64,
    directory_start: u64,
    disks: [u64; 2],
}

impl End {
    /// Finds the end record of a file; `None` if it has none.
    pub(crate) fn find(source: &dyn ReadAt, size_bytes: u64) -> Result<Option<Self>, Error> {
        let tail_len = size_bytes.min((END_BYTES + COMMENT_BYTES_MAX) as u64);
        let tail_start = size_bytes - tail_len;
        let tail = up_to(source, tail_start, END_BYTES + COMMENT_BYTES_MAX)?;
        let Some(at) = last_record(&tail, tail_start)? else {
            return Ok(None);
        };
        let record = tail.get(at..).unwrap_or_default();
        let start = tail_start + at as u64;
        let comment = record.get(END_BYTES..END_BYTES + len16(record, 20));
        let comment = comment.unwrap_or_default().to_vec();
        let range = start..start + (END_BYTES + comment.len()) as u64;
        let short = Stated {
            entries: number(record, 10, 2),
            directory_bytes: number(record, 12, 4),
            directory_start: number(record, 16, 4),
            disks: [number(record, 4, 2), number(record, 6, 2)],
        };
        let long = zip64(source, start, &short)?;
        let is_zip64 = long.is_some();
        let (stated, start) = long.unwrap_or((short, start));
        if let Some(&found) = stated.disks.iter().find(|disk| **disk != 0) {
            return Err(Corrupt::new("end record", range.start, Rule::Disk { found }).into());
        }
        let (base, directory) = directory(source, start, &stated)?;
        Ok(Some(Self {
            range,
            start,
            directory,
            base,
            entries: stated.entries,
            is_zip64,
            comment,
        }))
    }
}

/// The record whose comment ends with the file; else, as something follows, the last one that fits.
fn last_record(tail: &[u8], tail_start: u64) -> Result<Option<usize>, Error> {
    let fits = |at: &usize| {
        let record = tail.get(*at..).unwrap_or_default();
        record.starts_with(END) && record.len() >= END_BYTES + len16(record, 20)
    };
    let last = tail.len().saturating_sub(END_BYTES - 1);
    let records: Vec<usize> = (0..last).rev().filter(fits).collect();
    let is_exact = |at: &&usize| {
        let record = tail.get(**at..).unwrap_or_default();
        record.len() == END_BYTES + len16(record, 20)
    };
    let mut exact = records.iter().filter(is_exact);
    match (exact.next(), exact.next()) {
        (Some(&second), Some(&first)) => {
            let (first, second) = (tail_start + first as u64, tail_start + second as u64);
            let rule = Rule::Ambiguous { first, second };
            Err(Corrupt::new("end record", first, rule).into())
        }
        (Some(&only), None) => Ok(Some(only)),
        _ => Ok(records.first().copied()),
    }
}

/// The zip64 record before an end record, and where it begins.
fn zip64(
    source: &dyn ReadAt,
    end_start: u64,
    short: &Stated,
) -> Result<Option<(Stated, u64)>, Error> {
    let Some(locator_start) = end_start.checked_sub(LOCATOR_BYTES as u64) else {
        return Ok(None);
    };
    let locator = whole(source, locator_start, LOCATOR_BYTES, "zip64 locator")?;
    if !locator.starts_with(LOCATOR) {
        return Ok(None);
    }
    // The position in the locator is wrong if something was put before the archive.
    let stated = number(&locator, 8, 8);
    let before = locator_start.saturating_sub(END64_BYTES as u64);
    for start in [stated, before] {
        let record = up_to(source, start, END64_BYTES)?;
        if record.len() < END64_BYTES || !record.starts_with(END64) || start >= locator_start {
            continue;
        }
        let long = Stated {
            entries: number(&record, 32, 8),
            directory_bytes: number(&record, 40, 8),
            directory_start: number(&record, 48, 8),
            disks: [number(&record, 16, 4), number(&record, 20, 4)],
        };
        let pairs = [
            ("entries", short.entries, long.entries, 0xffff),
            (
                "directory bytes",
                short.directory_bytes,
                long.directory_bytes,
                0xffff_ffff,
            ),
            (
                "the directory at",
                short.directory_start,
                long.directory_start,
                0xffff_ffff,
            ),
        ];
        for (field, found, expected, unknown) in pairs {
            if found != unknown && found != expected {
                let elsewhere = "in the zip64 end record";
                let rule = Rule::Disagrees {
                    field,
                    found,
                    expected,
                    elsewhere,
                };
                return Err(Corrupt::new("end record", end_start, rule).into());
            }
        }
        return Ok(Some((long, start)));
    }
    let expected = "the signature of a zip64 end record";
    Err(Corrupt::new("zip64 end record", stated, Rule::Signature { expected }).into())
}

/// The byte from which positions count, and the directory.
///
/// It lies where it is stated, or right before the end record if something was put before the
/// archive. Readers take one or the other, so it must not be in both places.
fn directory(
    source: &dyn ReadAt,
    end_start: u64,
    stated: &Stated,
) -> Result<(u64, Range<u64>), Error> {
    let len = stated.directory_bytes;
    let cut_off = |room| {
        let rule = Rule::CutOff { needed: len, room };
        Err(Corrupt::new("directory", stated.directory_start, rule).into())
    };
    let Some(relative) = end_start.checked_sub(len) else {
        return cut_off(end_start);
    };
    let absolute = stated.directory_start;
    if len == 0 {
        let base = end_start.checked_sub(absolute);
        return base.map_or_else(|| cut_off(0), |base| Ok((base, end_start..end_start)));
    }
    let is_there = |start: u64| -> Result<bool, Error> {
        Ok(start <= relative && up_to(source, start, RECORD.len())? == RECORD)
    };
    match (is_there(absolute)?, is_there(relative)?) {
        (true, true) if absolute != relative => {
            let (first, second) = (absolute, relative);
            let rule = Rule::Ambiguous { first, second };
            Err(Corrupt::new("directory", absolute, rule).into())
        }
        (true, _) => Ok((0, absolute..absolute + len)),
        (false, true) if absolute < relative => Ok((relative - absolute, relative..end_start)),
        _ => {
            let expected = "the signature of a directory record";
            Err(Corrupt::new("directory", absolute, Rule::Signature { expected }).into())
        }
    }
}

/// The end record of a directory, with a zip64 one before it if the numbers need that.
pub(crate) fn end_records(
    at: u64,
    directory: &Range<u64>,
    entries: u64,
    comment: &[u8],
    is_zip64: bool,
) -> Vec<u8> {
    let len = directory.end - directory.start;
    let needs = entries >= 0xffff || len >= 0xffff_ffff || directory.start >= 0xffff_ffff;
    let mut out = Vec::new();
    if is_zip64 || needs {
        out.extend(END64);
        out.extend((END64_BYTES as u64 - 12).to_le_bytes());
        // Made by and needed to read: version 4.5, the first with zip64.
        out.extend([45, 0, 45, 0]);
        out.extend([0; 8]);
        for field in [entries, entries, len, directory.start] {
            out.extend(field.to_le_bytes());
        }
        out.extend(LOCATOR);
        out.extend([0; 4]);
        out.extend(at.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
    }
    let entries = u16::try_from(entries).unwrap_or(u16::MAX);
    out.extend(END);
    out.extend([0; 4]);
    for field in [entries, entries] {
        out.extend(field.to_le_bytes());
    }
    for field in [len, directory.start] {
        out.extend(u32::try_from(field).unwrap_or(u32::MAX).to_le_bytes());
    }
    out.extend(
        u16::try_from(comment.len())
            .unwrap_or(u16::MAX)
            .to_le_bytes(),
    );
    out.extend(comment);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found() {
        for (entries, start, zip64) in [(1, 4, false), (70_000, 4, true), (3, 4, true)] {
            let mut file = b"junk".to_vec();
            file.extend([0; 46]);
            file.splice(4..8, *RECORD);
            let directory = start..50;
            file.extend(end_records(50, &directory, entries, b"hello", zip64));
            let size = file.len() as u64;
            let end = End::find(&file, size).expect("it is sound").expect("one");
            assert_eq!((end.directory, end.base), (directory, 0));
            assert_eq!((end.entries, end.is_zip64), (entries, zip64));
            assert_eq!(end.comment, b"hello");
            assert_eq!(end.range.end, size);
        }
    }

    #[test]
    fn two_ends_in_one_are_refused() {
        let inner = end_records(0, &(0..0), 0, b"", false);
        let file = end_records(0, &(0..0), 0, &inner, false);
        let error = End::find(&file, file.len() as u64).expect_err("two readings");
        assert!(error.to_string().contains("in two ways"), "{error}");
    }
}
