//! The sparse name index of a directory against its listing.

use coldpress_format::{Corrupt, Directory, METADATA_BLOCK_SIZE, Part};

use super::listing::{Piece, pieces};
use crate::directory::RawListing;
use crate::findings::{equal, within};

/// Checks that each index entry names the first name of a run and the metadata block in which the
/// run's header begins: the kernel starts its search there without looking at what is before.
///
/// * `start`: image byte of the inode's metadata block, for errors.
/// * `table_start`: image byte of the directory table.
///
/// Returns the rules that it breaks.
pub(super) fn check(
    directory: &Directory,
    listing: &RawListing,
    start: u64,
    table_start: u64,
) -> Vec<Corrupt> {
    let mut broken = Vec::new();
    if directory.index.is_empty() {
        return broken;
    }
    let runs = runs(&listing.bytes);
    let at = (Part::DirectoryIndex, start);
    let mut expect = |checked: Result<(), Corrupt>| broken.extend(checked.err());
    let mut low = 0;
    for entry in &directory.index {
        let offset = u64::from(entry.listing_offset);
        let field = "listing offset of an index entry (they ascend)";
        expect(within(at, field, offset, (low, u64::MAX)));
        low = offset + 1;
        let run = runs.partition_point(|(run, _)| *run < offset);
        let (found, name) = runs.get(run).copied().unwrap_or_default();
        let field = "listing offset of an index entry";
        expect(equal(at, field, offset, found));
        if found != offset {
            continue;
        }
        if name != entry.name {
            // Names are compared with the run that has the name: positions say more than bytes.
            let named = runs.binary_search_by_key(&entry.name.as_slice(), |(_, name)| name);
            let named = named.ok().and_then(|run| runs.get(run));
            let named = named.map_or(u64::MAX, |(offset, _)| *offset);
            let field = "run that begins with an index entry's name";
            expect(equal(at, field, offset, named));
        }
        let (block, in_block) = place(directory, listing, offset);
        let (found, expected) = (entry.block_start.into(), block.saturating_sub(table_start));
        let field = "block start of an index entry";
        expect(equal(at, field, found, expected));
        let field = "offset in its metadata block of a run that the index leads to";
        let computed = (offset + u64::from(directory.offset)) % METADATA_BLOCK_SIZE as u64;
        expect(equal(at, field, in_block, computed));
    }
    broken
}

/// The metadata block that holds a byte of a listing, and the byte's offset there.
fn place(directory: &Directory, listing: &RawListing, offset: u64) -> (u64, u64) {
    let blocks = &listing.blocks;
    let behind = blocks.partition_point(|(first, _)| *first <= offset);
    let index = behind.saturating_sub(1);
    let (first, block) = blocks.get(index).copied().unwrap_or_default();
    let before = if index == 0 {
        directory.offset.into()
    } else {
        0
    };
    (block, offset.saturating_sub(first) + before)
}

/// The listing byte and the first name of each run.
fn runs(bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let (mut runs, mut header) = (Vec::new(), None);
    for piece in pieces(bytes) {
        match piece {
            Piece::Header { offset, .. } => header = Some(offset as u64),
            Piece::Entry { name, .. } => runs.extend(header.take().map(|offset| (offset, name))),
            Piece::Rest { .. } => {}
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
        type Change = fn(&mut Directory, &mut RawListing);
        let cases: [(Change, &str); 6] = [
            (
                |directory, _| directory.index[1].listing_offset += 1,
                "listing offset of an index entry is",
            ),
            (
                |directory, _| directory.index[1].block_start += 1,
                "block start of an index entry",
            ),
            (
                |directory, _| directory.index[1].name.push(b'x'),
                "begins with an index entry's name",
            ),
            (|directory, _| directory.index.swap(0, 1), "they ascend"),
            (
                |directory, _| directory.offset = 1,
                "offset in its metadata block",
            ),
            (
                |_, listing| listing.blocks[2].0 -= 1,
                "offset in its metadata block",
            ),
        ];
        let (directory, listing) = long_listing();
        assert!(directory.index.len() >= 3);
        assert_eq!(check(&directory, &listing, 0, 500), []);
        for (change, text) in cases {
            let (mut directory, mut listing) = long_listing();
            change(&mut directory, &mut listing);
            let broken = check(&directory, &listing, 0, 500);
            let is_it = |corrupt: &Corrupt| corrupt.to_string().contains(text);
            assert!(broken.iter().any(is_it), "{text}: {broken:?}");
        }
    }
}
