//! Which metadata blocks are read to find a name in a listing.

use crate::geometry::MetadataRange;

const METADATA_BLOCK_BYTES: u64 = 8192;
const HEADER_BYTES: u64 = 12;
const ENTRY_BYTES: u64 = 8;
const RUN_MAX: u32 = 256;

/// An entry of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedName {
    /// Bytes of the name.
    pub name_bytes: usize,
    /// Start of the metadata block that holds the inode, however it is counted.
    pub inode_block: u64,
    /// The inode's number.
    pub number: u32,
}

/// For each entry the metadata blocks that are read to find it; and the bytes of the listing.
///
/// The kernel reads a listing from its beginning to the name, or, if the directory has an index, from the metadata block in which the
/// name's run begins.
///
/// * `first_block`, `offset`: where the listing begins: the block by its place in
///   [`Geometry::metadata`](crate::Geometry::metadata), and the byte in what it holds.
pub fn searches(
    (first_block, offset): (usize, u32),
    is_indexed: bool,
    entries: impl IntoIterator<Item = ListedName>,
) -> (Vec<MetadataRange>, u64) {
    let mut end = u64::from(offset);
    let mut run: Option<Run> = None;
    let block = |byte: u64| {
        let further = usize::try_from(byte / METADATA_BLOCK_BYTES).unwrap_or(usize::MAX);
        first_block.saturating_add(further)
    };
    let search = |entry: ListedName| {
        let is_open = run.as_mut().is_some_and(|run| run.takes(&entry, end));
        if !is_open {
            run = Some(Run::begin(&entry, end));
            end += HEADER_BYTES;
        }
        end += ENTRY_BYTES + entry.name_bytes as u64;
        let run_start = run.as_ref().map_or(end, |run| run.start);
        MetadataRange {
            first: if is_indexed {
                block(run_start)
            } else {
                first_block
            },
            last: block(end - 1),
        }
    };
    let searches = entries.into_iter().map(search).collect();
    (searches, end - u64::from(offset))
}

/// Entries that share a header.
struct Run {
    start: u64,
    inode_block: u64,
    number: u32,
    len: u32,
}

impl Run {
    fn begin(entry: &ListedName, start: u64) -> Self {
        Self {
            start,
            inode_block: entry.inode_block,
            number: entry.number,
            len: 1,
        }
    }

    /// Whether an entry that would begin at a byte belongs here; it is counted then.
    fn takes(&mut self, entry: &ListedName, start: u64) -> bool {
        let takes = self.len < RUN_MAX
            && start / METADATA_BLOCK_BYTES == self.start / METADATA_BLOCK_BYTES
            && entry.inode_block == self.inode_block
            && i16::try_from(i64::from(entry.number) - i64::from(self.number)).is_ok();
        self.len += u32::from(takes);
        takes
    }
}

#[cfg(test)]
mod tests {
    use coldpress_format::{EntryRef, InodeKind, InodeRef, append_listing};

    use super::*;

    #[test]
    fn listings_end_where_written_ones_do() {
        for (count, offset) in [(1, 0), (300, 8000), (3000, 17), (3000, 8191)] {
            let names: Vec<String> = (0..count).map(|n| format!("{n:0>9}")).collect();
            let inode_block = |n: u32| n / 150 * 8194;
            let entries = names.iter().zip(1..).map(|(name, number)| EntryRef {
                name: name.as_bytes(),
                inode: InodeRef {
                    block_start: inode_block(number),
                    offset: 0,
                },
                number,
                kind: InodeKind::File,
            });
            let mut bytes = Vec::new();
            append_listing(entries, u64::from(offset), &mut bytes);
            let listed = names.iter().zip(1..).map(|(name, number)| ListedName {
                name_bytes: name.len(),
                inode_block: inode_block(number).into(),
                number,
            });
            let (found, len_bytes) = searches((5, offset), false, listed.clone());
            assert_eq!(len_bytes, bytes.len() as u64);
            let last = 5 + (offset as usize + bytes.len() - 1) / 8192;
            assert_eq!(found.last(), Some(&MetadataRange { first: 5, last }));
            let (found, _) = searches((5, offset), true, listed);
            let longest = found.iter().map(|range| range.last - range.first).max();
            assert!(longest <= Some(1), "{longest:?}");
            assert_eq!(found.last().map(|range| range.last), Some(last));
        }
    }
}
