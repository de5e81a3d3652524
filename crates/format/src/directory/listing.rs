//! Whole listings: bytes to entries and back.

use zerocopy::{FromBytes, IntoBytes};

use super::{Entry, RawDirectoryEntry, RawDirectoryHeader, is_legal_name, name_size};
use crate::METADATA_BLOCK_SIZE;
use crate::error::{Corrupt, Part, Rule};
use crate::inode::{InodeKind, InodeRef};

/// The most entries behind one header.
const RUN_MAX: usize = 256;
/// The header's count is one less.
const COUNT_MAX: u64 = RUN_MAX as u64 - 1;

/// Reads a whole listing.
///
/// * `bytes`: the listing, without anything behind it.
/// * `start`: image byte of the metadata block in which it begins, for errors.
///
/// # Errors
///
/// [`Corrupt`] if it is cut short, or a name is illegal or does not sort after the one before it
/// (equal names would let a file be written through a link of the same name, CVE-2021-41072).
///
/// # Cost
///
/// One allocation for each name; at least 9 bytes of listing stand behind each entry.
pub fn parse_listing(bytes: &[u8], start: u64) -> Result<Vec<Entry>, Corrupt> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (header, after) = RawDirectoryHeader::read_from_prefix(rest).map_err(|_| {
            let rule = Rule::Truncated {
                needed: size_of::<RawDirectoryHeader>() as u64,
                found: rest.len() as u64,
            };
            Corrupt::new(Part::DirectoryHeader, start, rule)
        })?;
        rest = after;
        let (part, field) = (Part::DirectoryHeader, "entry count less 1");
        let count = header.count.get();
        Corrupt::check_range(part, start, field, count.into(), 0..=COUNT_MAX)?;
        for _ in 0..=count {
            let (entry, after) = parse_entry(&header, rest, start)?;
            rest = after;
            if entries
                .last()
                .is_some_and(|before| before.name >= entry.name)
            {
                return Err(Corrupt::new(Part::DirectoryEntry, start, Rule::Unsorted));
            }
            entries.push(entry);
        }
    }
    Ok(entries)
}

fn parse_entry<'a>(
    header: &RawDirectoryHeader,
    bytes: &'a [u8],
    start: u64,
) -> Result<(Entry, &'a [u8]), Corrupt> {
    let fail = |rule| Corrupt::new(Part::DirectoryEntry, start, rule);
    let (raw, rest) = RawDirectoryEntry::read_from_prefix(bytes).map_err(|_| {
        fail(Rule::Truncated {
            needed: size_of::<RawDirectoryEntry>() as u64,
            found: bytes.len() as u64,
        })
    })?;
    let name_len = usize::from(raw.name_size.get()).saturating_add(1);
    let (name, rest) = rest.split_at_checked(name_len).ok_or_else(|| {
        fail(Rule::Truncated {
            needed: name_len as u64,
            found: rest.len() as u64,
        })
    })?;
    if !is_legal_name(name) {
        return Err(fail(Rule::BadName));
    }
    let kind = InodeKind::from_number(raw.kind.get()).ok_or_else(|| {
        fail(Rule::OutOfRange {
            field: "type",
            found: raw.kind.get().into(),
            low: 1,
            high: 7,
        })
    })?;
    let word = u64::from(header.inode_block_start.get()) << 16 | u64::from(raw.inode_offset.get());
    let inode = InodeRef::parse(word, Part::DirectoryEntry, start)?;
    let number = header
        .base_number
        .get()
        .wrapping_add_signed(raw.number_delta.get().into());
    Ok((
        Entry {
            name: name.to_vec(),
            inode,
            number,
            kind,
        },
        rest,
    ))
}

/// A listing as it lies on disk, with the places where an index may point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// For each metadata block after the first in which a run begins, the first such run: the byte
    /// of its header in the listing, and the index of its first entry.
    pub marks: Vec<(u32, usize)>,
}

/// Writes a listing.
///
/// * `entries`: sorted by name.
/// * `stream_offset`: where the listing will begin in the directory table before compression;
///   it decides where metadata blocks are crossed.
///
/// # Panics
///
/// If a name is empty or over 256 bytes, or the listing takes 4 GiB.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in a buffer that is in memory, and what is left of a slice"
)]
pub fn write_listing(entries: &[Entry], stream_offset: u64) -> Listing {
    let mut listing = Listing::default();
    let mut marked_block = stream_offset / METADATA_BLOCK_SIZE as u64;
    let mut rest = entries;
    while let Some(base) = rest.first() {
        let header_at = u32::try_from(listing.bytes.len()).expect("a listing is below 4 GiB");
        let header_start = stream_offset + u64::from(header_at);
        let header_block = header_start / METADATA_BLOCK_SIZE as u64;
        if header_block > marked_block {
            marked_block = header_block;
            let first = entries.len() - rest.len();
            listing.marks.push((header_at, first));
        }
        let (run, after) = rest.split_at(run_len(base, rest, header_start));
        rest = after;
        write_run(base, run, &mut listing.bytes);
    }
    listing
}

/// How many entries share the header of `base`, the first of them.
///
/// * `header_start`: where the header begins in the directory table before compression.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in a buffer that is in memory"
)]
fn run_len(base: &Entry, entries: &[Entry], header_start: u64) -> usize {
    let block_of = |start: u64| start / METADATA_BLOCK_SIZE as u64;
    let entries_start = header_start + size_of::<RawDirectoryHeader>() as u64;
    let mut start = entries_start;
    entries
        .iter()
        .take(RUN_MAX)
        .take_while(|entry| {
            // The first entry belongs to its header wherever it lies.
            let crossed = start > entries_start && block_of(start) > block_of(header_start);
            start += (size_of::<RawDirectoryEntry>() + entry.name.len()) as u64;
            !crossed
                && entry.inode.block_start == base.inode.block_start
                && number_delta(base, entry).is_some()
        })
        .count()
}

/// What an entry's inode number is more than that of the first entry of its run.
fn number_delta(base: &Entry, entry: &Entry) -> Option<i16> {
    let delta = entry.number.checked_signed_diff(base.number)?;
    i16::try_from(delta).ok()
}

fn write_run(base: &Entry, run: &[Entry], output: &mut Vec<u8>) {
    let count = u32::try_from(run.len().saturating_sub(1)).expect("a run is short");
    let header = RawDirectoryHeader {
        count: count.into(),
        inode_block_start: base.inode.block_start.into(),
        base_number: base.number.into(),
    };
    output.extend_from_slice(header.as_bytes());
    for entry in run {
        let raw = RawDirectoryEntry {
            inode_offset: entry.inode.offset.into(),
            number_delta: number_delta(base, entry)
                .expect("a run ends before its numbers overflow")
                .into(),
            kind: (entry.kind as u16).into(),
            name_size: u16::from(name_size(&entry.name)).into(),
        };
        output.extend_from_slice(raw.as_bytes());
        output.extend_from_slice(&entry.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, block_start: u32, number: u32) -> Entry {
        let inode = InodeRef {
            block_start,
            offset: 7,
        };
        Entry {
            name: name.into(),
            inode,
            number,
            kind: InodeKind::File,
        }
    }

    #[test]
    fn a_run_ends_with_the_inode_block_and_the_number_range() {
        let entries = [
            entry("a", 0, 1),
            entry("b", 0, 2),
            entry("c", 8194, 3),
            entry("d", 8194, 40_000),
        ];
        let listing = write_listing(&entries, 0);
        assert_eq!(listing.bytes.len(), 3 * 12 + 4 * 9);
        assert_eq!(parse_listing(&listing.bytes, 0).unwrap(), entries);
    }

    #[test]
    fn a_long_listing_is_marked_once_for_each_metadata_block() {
        let entries: Vec<_> = (0..3000)
            .map(|n| entry(&format!("{n:08}"), 0, n + 1))
            .collect();
        for stream_offset in [0, 5000, 8191] {
            let listing = write_listing(&entries, stream_offset);
            let blocks: Vec<_> = listing
                .marks
                .iter()
                .map(|(at, _)| (stream_offset + u64::from(*at)) / 8192)
                .collect();
            assert!(
                blocks.windows(2).all(|pair| pair[0] < pair[1]),
                "{blocks:?}"
            );
            assert!(blocks.len() >= 5);
            assert_eq!(parse_listing(&listing.bytes, 0).unwrap(), entries);
        }
    }

    #[test]
    fn listings_with_illegal_unsorted_or_equal_names_are_refused() {
        for names in [
            ["b", "a"],
            ["a", "a"],
            ["a", "x/y"],
            [".", "a"],
            ["..", "a"],
            ["a", "b\0"],
        ] {
            let bytes = write_listing(&names.map(|name| entry(name, 0, 1)), 0).bytes;
            assert!(parse_listing(&bytes, 0).is_err(), "{names:?}");
        }
    }

    #[test]
    fn a_listing_cut_anywhere_is_refused_or_shorter() {
        let entries = [entry("a", 0, 1), entry("b", 0, 2)];
        let bytes = write_listing(&entries, 0).bytes;
        for len in 1..bytes.len() {
            assert!(parse_listing(&bytes[..len], 0).is_err(), "{len}");
        }
    }
}
