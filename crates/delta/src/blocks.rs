//! The blocks of an image's data area.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use coldpress_image::{Error, Image, StoredBlock, walk};

/// A data block or a fragment block.
#[derive(Debug)]
pub(crate) struct DataBlock {
    pub(crate) stored: StoredBlock,
    /// Of a fragment block: where in it tail ends lie, ascending, each range once.
    pub(crate) tails: Vec<Range<u32>>,
}

/// All blocks of the data area that are not sparse, by position, each once.
///
/// # Cost
///
/// Reads all metadata; some 50 bytes for each block and 8 for each tail end.
pub(crate) fn data_blocks(image: &Image) -> Result<Vec<DataBlock>, Error> {
    let mut blocks: BTreeMap<u64, DataBlock> = BTreeMap::new();
    let mut seen = HashSet::new();
    let block_size = image.superblock().block_size;
    walk(image, &mut |visited| {
        // A file of many names may have a long block list, which is read once.
        if visited.inode.link_count > 1 && !seen.insert(visited.at) {
            return Ok(());
        }
        let Some(file) = visited.file(image)? else {
            return Ok(());
        };
        for stored in image.stored_blocks(&file) {
            if let Entry::Vacant(place) = blocks.entry(stored.start)
                && !stored.word.is_sparse()
            {
                let tails = Vec::new();
                place.insert(DataBlock { stored, tails });
            }
        }
        let Some((tail, stored)) = file
            .tail
            .and_then(|tail| Some((tail, image.stored_fragment(tail)?)))
        else {
            return Ok(());
        };
        if !stored.word.is_sparse() {
            let tails = Vec::new();
            let block = blocks.entry(stored.start);
            let block = block.or_insert(DataBlock { stored, tails });
            let len = block_size.tail_bytes(file.size_bytes);
            block
                .tails
                .push(tail.offset..tail.offset.saturating_add(len));
        }
        Ok(())
    })?;
    let mut blocks: Vec<DataBlock> = blocks.into_values().collect();
    for block in &mut blocks {
        block
            .tails
            .sort_unstable_by_key(|tail| (tail.start, tail.end));
        block.tails.dedup();
    }
    Ok(blocks)
}
