//! Blocks of an image that are compressed again.

use std::collections::HashSet;

use coldpress_image::{Image, StoredBlock};

use crate::error::Error;

/// Two levels of a compressor give the same bytes for a block now and then, not for so many.
const SAMPLES: usize = 12;

/// A compressed block.
pub(super) struct Sample {
    /// As it is stored.
    pub(super) stored: Vec<u8>,
    /// What it holds.
    pub(super) content: Vec<u8>,
}

/// A dozen compressed blocks, spread over the data area; the shortest first, by which recipes are
/// soon ruled out.
pub(super) fn read(image: &Image) -> Result<Vec<Sample>, Error> {
    let mut blocks: Vec<StoredBlock> = Vec::new();
    let mut seen = HashSet::new();
    coldpress_image::walk(image, &mut |visited| {
        if visited.inode.link_count > 1 && !seen.insert(visited.at) {
            return Ok(());
        }
        if let Some(file) = &visited.file(image)? {
            let is_compressed =
                |block: &StoredBlock| block.word.is_compressed() && !block.word.is_sparse();
            blocks.extend(image.stored_blocks(file).filter(is_compressed));
            let fragment = file.tail.and_then(|tail| image.stored_fragment(tail));
            blocks.extend(fragment.filter(is_compressed));
        }
        Ok(())
    })?;
    blocks.sort_by_key(|block| block.start);
    blocks.dedup_by_key(|block| block.start);
    let last = blocks.len().saturating_sub(1);
    let chosen = SAMPLES.min(blocks.len());
    let mut samples = Vec::with_capacity(chosen);
    for number in 0..chosen {
        let place = last * number / chosen.saturating_sub(1).max(1);
        let Some(block) = blocks.get(place) else {
            continue;
        };
        let (mut stored, mut content) = (Vec::new(), Vec::new());
        image.read_stored(block, &mut stored, &mut content)?;
        samples.push(Sample { stored, content });
    }
    samples.sort_by_key(|sample| sample.content.len());
    Ok(samples)
}
