//! Whole listings: bytes to entries and back.

use zerocopy::{FromBytes, IntoBytes};

use super::{Entry, EntryRef, RawDirectoryEntry, RawDirectoryHeader, is_legal_name, name_size};
use crate::METADATA_BLOCK_SIZE;
use crate::error::{Corrupt, Part, Rule};
use crate::inode::{InodeKind, InodeRef};

/// The most entries behind one header.
const RUN_MAX: u32 = 256;
/// The header's count is one less.
const COUNT_MAX: u64 = 255;

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
/// As [`append_listing`], to a buffer of its own.
///
/// # Panics
///
/// As [`append_listing`].
pub fn write_listing(entries: &[Entry], stream_offset: u64) -> Listing {
    let mut bytes = Vec::new();
    let entries = entries.iter().map(Entry::borrow);
    let marks = append_listing(entries, stream_offset, &mut bytes);
    Listing { bytes, marks }
}

/// Appends a listing to `output`; returns its marks.
///
/// * `entries`: ascending by name.
/// * `stream_offset`: where the listing will begin in the directory table before compression;
///   it decides where metadata blocks are crossed.
///
/// # Panics
///
/// If a name is empty or over 256 bytes, or the listing takes 4 GiB.
///
/// # Cost
///
/// Takes the entries one by one: memory is that of the listing.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in a buffer that is in memory"
)]
pub fn append_listing<'a>(
    entries: impl IntoIterator<Item = EntryRef<'a>>,
    stream_offset: u64,
    output: &mut Vec<u8>,
) -> Vec<(u32, usize)> {
    let listing_start = output.len();
    let mut marks = Vec::new();
    let mut marked_block = block_of(stream_offset);
    let mut open: Option<Run<'_>> = None;
    let mut header_at = listing_start;
    for (index, entry) in entries.into_iter().enumerate() {
        let at = output.len() - listing_start;
        let start = stream_offset + at as u64;
        let run = match &mut open {
            Some(run) if run.takes(&entry, start) => run,
            _ => {
                if block_of(start) > marked_block {
                    marked_block = block_of(start);
                    let at = u32::try_from(at).expect("a listing is below 4 GiB");
                    marks.push((at, index));
                }
                header_at = output.len();
                open.insert(Run::begin(entry, start, output))
            }
        };
        run.append(&entry, header_at, output);
    }
    marks
}

/// Where an entry lies in the directory table before compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntrySpan {
    /// First byte of the header that the entry's run begins with.
    pub run_start: u64,
    /// Byte behind the entry.
    pub end: u64,
}

/// Where each entry lies of a listing that [`append_listing`] writes.
///
/// * `entries`, `stream_offset`: as there.
pub fn listing_spans<'a>(
    entries: impl IntoIterator<Item = EntryRef<'a>>,
    stream_offset: u64,
) -> impl Iterator<Item = EntrySpan> {
    const HEADER_BYTES: u64 = size_of::<RawDirectoryHeader>() as u64;
    const ENTRY_BYTES: u64 = size_of::<RawDirectoryEntry>() as u64;
    let mut end = stream_offset;
    let mut open: Option<Run<'a>> = None;
    entries.into_iter().map(move |entry| {
        let run = match &mut open {
            Some(run) if run.takes(&entry, end) => run,
            _ => {
                let run = open.insert(Run::new(entry, end));
                end = end.saturating_add(HEADER_BYTES);
                run
            }
        };
        run.len = run.len.saturating_add(1);
        end = end.saturating_add(ENTRY_BYTES);
        end = end.saturating_add(entry.name.len() as u64);
        EntrySpan {
            run_start: run.start,
            end,
        }
    })
}

/// The metadata block that holds a byte of the directory table.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "the divisor is a constant other than 0"
)]
fn block_of(start: u64) -> u64 {
    start / METADATA_BLOCK_SIZE as u64
}

/// Entries that share a header.
struct Run<'a> {
    /// The first of them.
    base: EntryRef<'a>,
    /// Where the header begins in the directory table before compression.
    start: u64,
    /// How many they are.
    len: u32,
}

impl<'a> Run<'a> {
    /// A run without entries.
    fn new(base: EntryRef<'a>, start: u64) -> Self {
        Self {
            base,
            start,
            len: 0,
        }
    }

    /// Appends the header of a run without entries.
    fn begin(base: EntryRef<'a>, start: u64, output: &mut Vec<u8>) -> Self {
        let header = RawDirectoryHeader {
            count: 0.into(),
            inode_block_start: base.inode.block_start.into(),
            base_number: base.number.into(),
        };
        output.extend_from_slice(header.as_bytes());
        Self::new(base, start)
    }

    /// Whether an entry that would begin at byte `start` of the directory table belongs here.
    fn takes(&self, entry: &EntryRef<'_>, start: u64) -> bool {
        self.len < RUN_MAX
            && block_of(start) == block_of(self.start)
            && entry.inode.block_start == self.base.inode.block_start
            && number_delta(&self.base, entry).is_some()
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a run has at most 256 entries, and its header is in memory"
    )]
    fn append(&mut self, entry: &EntryRef<'_>, header_at: usize, output: &mut Vec<u8>) {
        let raw = RawDirectoryEntry {
            inode_offset: entry.inode.offset.into(),
            number_delta: number_delta(&self.base, entry)
                .expect("a run ends before its numbers overflow")
                .into(),
            kind: (entry.kind as u16).into(),
            name_size: u16::from(name_size(entry.name)).into(),
        };
        output.extend_from_slice(raw.as_bytes());
        output.extend_from_slice(entry.name);
        let count = output
            .get_mut(header_at..)
            .and_then(<[u8]>::first_chunk_mut)
            .expect("the header was appended");
        *count = self.len.to_le_bytes();
        self.len += 1;
    }
}

/// What an entry's inode number is more than that of the first entry of its run.
fn number_delta(base: &EntryRef<'_>, entry: &EntryRef<'_>) -> Option<i16> {
    let delta = entry.number.checked_signed_diff(base.number)?;
    i16::try_from(delta).ok()
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
