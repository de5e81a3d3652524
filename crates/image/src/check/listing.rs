//! The sparse name index of a directory against its listing.

use coldpress_format::{Corrupt, Directory, Part};

use super::equal;
use crate::directory::RawListing;

/// Bytes of a run's header, and of an entry before its name.
const HEADER_BYTES: usize = 12;
const ENTRY_BYTES: usize = 8;

/// Checks that each index entry names the first name of a run and the metadata block in which the
/// run's header begins: the kernel starts its search there without looking at what is before.
///
/// * `listing`: a listing that parses.
/// * `start`: image byte of the inode's metadata block, for errors.
/// * `table_start`: image byte of the directory table.
pub(super) fn check_index(
    directory: &Directory,
    listing: &RawListing,
    start: u64,
    table_start: u64,
) -> Result<(), Corrupt> {
    if directory.index.is_empty() {
        return Ok(());
    }
    let runs = runs(&listing.bytes);
    let at = (Part::DirectoryIndex, start);
    for entry in &directory.index {
        let offset = u64::from(entry.listing_offset);
        let run = runs.partition_point(|(run, _)| *run < offset);
        let (found, name) = runs.get(run).copied().unwrap_or_default();
        equal(at, "listing offset of an index entry", offset, found)?;
        // Names are compared with the run that has the name: positions say more than bytes.
        let expected = runs.iter().find(|(_, name)| *name == entry.name);
        if name != entry.name {
            let expected = expected.map_or(u64::MAX, |(offset, _)| *offset);
            equal(
                at,
                "run that begins with an index entry's name",
                offset,
                expected,
            )?;
        }
        let block = listing
            .blocks
            .partition_point(|(first, _)| *first <= offset);
        let block = block
            .checked_sub(1)
            .and_then(|index| listing.blocks.get(index));
        let expected = block.map_or(0, |(_, block)| block.saturating_sub(table_start));
        equal(
            at,
            "block start of an index entry",
            entry.block_start.into(),
            expected,
        )?;
    }
    Ok(())
}

/// The listing byte and the first name of each run.
fn runs(bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(count) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        let header = at;
        at += HEADER_BYTES;
        for number in 0..=u32::from_le_bytes(*count) {
            let Some(fixed) = bytes
                .get(at..)
                .and_then(|rest| rest.first_chunk::<ENTRY_BYTES>())
            else {
                return runs;
            };
            let [.., low, high] = *fixed;
            let name_len = usize::from(u16::from_le_bytes([low, high])) + 1;
            at += ENTRY_BYTES;
            if number == 0 {
                let name = bytes.get(at..).and_then(|rest| rest.get(..name_len));
                runs.push((header as u64, name.unwrap_or_default()));
            }
            at += name_len;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use coldpress_format::{Entry, IndexEntry, InodeKind, InodeRef, write_listing};

    use super::*;
    use crate::region::Region;

    fn long_listing() -> (Directory, RawListing) {
        let entries: Vec<_> = (0..2000_u32)
            .map(|number| Entry {
                name: format!("{number:08}").into(),
                inode: InodeRef {
                    block_start: 0,
                    offset: 0,
                },
                number: number + 1,
                kind: InodeKind::File,
            })
            .collect();
        let listing = write_listing(&entries, 0);
        let block_of = |at: u32| at / 8192 * 8194;
        let index = listing.marks.iter().map(|(at, first)| IndexEntry {
            listing_offset: *at,
            block_start: block_of(*at),
            name: entries[*first].name.clone(),
        });
        let directory = Directory {
            index: index.collect(),
            ..Directory::default()
        };
        let blocks = (0..listing.bytes.len() as u64).step_by(8192);
        let raw = RawListing {
            blocks: blocks.map(|at| (at, 500 + at / 8192 * 8194)).collect(),
            bytes: listing.bytes,
            extent: Region { start: 0, end: 0 },
        };
        (directory, raw)
    }

    #[test]
    fn every_field_of_an_index_entry_is_checked() {
        let (directory, listing) = long_listing();
        assert!(directory.index.len() >= 3);
        assert_eq!(check_index(&directory, &listing, 0, 500), Ok(()));
        let changes: [fn(&mut IndexEntry); 3] = [
            |entry| entry.listing_offset += 1,
            |entry| entry.block_start += 1,
            |entry| entry.name.push(b'x'),
        ];
        for change in changes {
            let mut damaged = directory.clone();
            change(&mut damaged.index[1]);
            assert!(check_index(&damaged, &listing, 0, 500).is_err());
        }
    }
}
