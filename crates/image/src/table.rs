//! The tables of entries of one size: ids, fragments, exports and xattr sets.
//!
//! An index, a list of image bytes, says where each metadata block of the table starts. The
//! checks are those of the kernel: the index has exactly one entry for each block that the count
//! of entries needs, entries ascend, and no two are farther apart than a full block.

use coldpress_format::{Corrupt, METADATA_BLOCK_SIZE, MetadataHeader, Part, Rule, table_blocks};

use crate::error::Error;
use crate::region::Region;
use crate::store::{MetadataBlock, Store};

/// Bytes of an index entry.
const INDEX_ENTRY_BYTES: u64 = 8;

/// A table whose index was read and checked.
pub(crate) struct Table {
    part: Part,
    entry_bytes: u64,
    count: u64,
    /// Image byte of each metadata block.
    blocks: Vec<u64>,
    /// Image byte at which the blocks end.
    end: u64,
    /// Image byte behind the index.
    index_end: u64,
}

impl Table {
    /// Reads the index of a table of `count` entries of `entry_bytes` bytes.
    ///
    /// * `blocks`: where the table's metadata blocks may lie; they end where it ends.
    /// * `index`: from the start of the index to the start of what follows it in the image.
    pub(crate) fn open(
        store: &Store,
        part: Part,
        blocks: Region,
        index: Region,
        (count, entry_bytes): (u64, u64),
    ) -> Result<Self, Error> {
        let block_count = table_blocks(count, entry_bytes);
        let index_bytes = block_count.saturating_mul(INDEX_ENTRY_BYTES);
        let index_end = index.check(part, index.start, index_bytes)?;
        let mut bytes = vec![0; usize::try_from(index_bytes).unwrap_or(usize::MAX)];
        store.read_exact(&mut bytes, index.start)?;
        let starts: Vec<u64> = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes))
            .collect();
        check_index(part, &starts, blocks, index.start)?;
        Ok(Self {
            part,
            entry_bytes,
            count,
            blocks: starts,
            end: blocks.end,
            index_end,
        })
    }

    /// A table that could not be opened: no entries.
    ///
    /// * `start`: image byte at which its index should start.
    pub(crate) fn missing(part: Part, start: u64) -> Self {
        Self {
            part,
            entry_bytes: 1,
            count: 0,
            blocks: Vec::new(),
            end: start,
            index_end: start,
        }
    }

    /// What it is.
    pub(crate) fn part(&self) -> Part {
        self.part
    }

    /// Image bytes of its metadata blocks.
    pub(crate) fn blocks(&self) -> Region {
        Region {
            start: self.start(),
            end: self.end,
        }
    }

    /// Image byte of each metadata block: the entries of its index.
    pub(crate) fn block_starts(&self) -> &[u64] {
        &self.blocks
    }

    /// Bytes of an entry.
    pub(crate) fn entry_bytes(&self) -> u64 {
        self.entry_bytes
    }

    /// How many entries it has.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Image byte of the first metadata block: the end of what lies before the table.
    pub(crate) fn start(&self) -> u64 {
        self.blocks.first().copied().unwrap_or(self.end)
    }

    /// Image byte behind the index.
    pub(crate) fn index_end(&self) -> u64 {
        self.index_end
    }

    fn block(&self, store: &Store, number: usize) -> Result<std::sync::Arc<MetadataBlock>, Error> {
        let start = self.blocks.get(number).copied().unwrap_or(self.end);
        let end = self.blocks.get(number + 1).copied().unwrap_or(self.end);
        store.metadata_block(start, Region { start, end })
    }

    fn truncated(&self, start: u64, needed: u64, found: usize) -> Error {
        let found = found as u64;
        Corrupt::new(self.part, start, Rule::Truncated { needed, found }).into()
    }

    /// The entry at `index` and the image byte of its metadata block; `None` behind the last.
    pub(crate) fn entry<const N: usize>(
        &self,
        store: &Store,
        index: u64,
    ) -> Result<Option<([u8; N], u64)>, Error> {
        if index >= self.count {
            return Ok(None);
        }
        let at = index.saturating_mul(self.entry_bytes);
        let block_size = METADATA_BLOCK_SIZE as u64;
        let number = usize::try_from(at / block_size).unwrap_or(usize::MAX);
        let offset = usize::try_from(at % block_size).unwrap_or(usize::MAX);
        let block = self.block(store, number)?;
        let content = block.content.get(offset..).unwrap_or_default();
        match content.first_chunk::<N>() {
            Some(bytes) => Ok(Some((*bytes, block.start))),
            None => Err(self.truncated(block.start, N as u64, content.len())),
        }
    }

    /// Visits every entry in order, with the image byte of its metadata block.
    pub(crate) fn for_each<const N: usize>(
        &self,
        store: &Store,
        mut visit: impl FnMut(&[u8; N], u64) -> Result<(), Corrupt>,
    ) -> Result<(), Error> {
        let per_block = METADATA_BLOCK_SIZE as u64 / self.entry_bytes;
        let mut left = self.count;
        for number in 0..self.blocks.len() {
            let block = self.block(store, number)?;
            let count = left.min(per_block);
            let (entries, _) = block.content.as_chunks::<N>();
            let Some(entries) = entries.get(..usize::try_from(count).unwrap_or(usize::MAX)) else {
                let needed = count.saturating_mul(self.entry_bytes);
                return Err(self.truncated(block.start, needed, block.content.len()));
            };
            for entry in entries {
                visit(entry, block.start)?;
            }
            left -= count;
        }
        Ok(())
    }
}

fn check_index(
    part: Part,
    starts: &[u64],
    blocks: Region,
    index_start: u64,
) -> Result<(), Corrupt> {
    let full_block = MetadataHeader::SIZE + METADATA_BLOCK_SIZE as u64;
    let ends = starts.iter().skip(1).chain([&blocks.end]);
    let mut lowest = blocks.start;
    for (start, end) in starts.iter().zip(ends) {
        // The kernel's test for both at once: start < end <= start + 8194.
        let low = lowest.max(end.saturating_sub(full_block));
        let high = end.saturating_sub(1);
        if !(low..=high).contains(start) {
            let rule = Rule::OutOfRange {
                field: "position of a metadata block",
                found: *start,
                low,
                high,
            };
            return Err(Corrupt::new(part, index_start, rule));
        }
        lowest = *start;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_entries_ascend_by_at_most_a_full_block() {
        for (starts, end, legal) in [
            (&[100][..], 8294, true),
            (&[100, 8294], 8300, true),
            (&[99], 4000, false),
            (&[100], 8295, false),
            (&[8294], 8294, false),
            (&[100, 100], 8294, false),
            (&[8000, 100], 8294, false),
            (&[100, u64::MAX], 8294, false),
            (&[u64::MAX], 8294, false),
        ] {
            let blocks = Region { start: 100, end };
            let checked = check_index(Part::IdTable, starts, blocks, end);
            assert_eq!(checked.is_ok(), legal, "{starts:?} {end}");
        }
    }
}
