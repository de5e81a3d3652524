//! The content of files, from blocks that are decompressed once.

use std::ops::Range;
use std::sync::Arc;

use coldpress_format::{Corrupt, Part, Rule};
use coldpress_image::{Error, Image, StoredBlock};

use crate::cache::{Cache, CacheCounts};
use crate::content::Content;
use crate::file_map::{FileMap, Piece};

/// Decompressed data and fragment blocks.
pub(crate) struct Blocks {
    /// By image byte and word: a damaged image may read the same bytes in two ways.
    cache: Cache<(u64, u32), Vec<u8>>,
}

impl Blocks {
    pub(crate) fn new(image: &Image, limit_bytes: u64) -> Self {
        let block_bytes = image.superblock().block_size.bytes();
        Self {
            cache: Cache::new(limit_bytes, block_bytes.into()),
        }
    }

    pub(crate) fn counts(&self) -> CacheCounts {
        self.cache.counts()
    }

    /// Reads a range of a file; what is behind its end is left out.
    pub(crate) fn read(
        &self,
        image: &Image,
        map: &FileMap,
        range: Range<u64>,
    ) -> Result<Content, Error> {
        let len = range.end.min(map.size_bytes()).saturating_sub(range.start);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut joined = Vec::new();
        for piece in map.pieces(range) {
            match piece {
                Piece::Zeros(zeros) => joined.resize(joined.len() + zeros, 0),
                Piece::Block(block, within) => {
                    let content = self.block(image, &block)?;
                    let bytes = within_block(&block, &content, within.clone())?;
                    if bytes.len() == len {
                        return Ok(Content::shared(content, within));
                    }
                    joined.reserve(len - joined.len());
                    joined.extend_from_slice(bytes);
                }
            }
        }
        Ok(Content::joined(joined))
    }

    fn block(&self, image: &Image, block: &StoredBlock) -> Result<Arc<Vec<u8>>, Error> {
        let key = (block.start, block.word.word());
        self.cache.get(key, || {
            let (mut stored, mut content) = (Vec::new(), Vec::new());
            image.read_stored(block, &mut stored, &mut content)?;
            Ok(content)
        })
    }
}

/// The bytes of a block that are wanted.
///
/// Two files of a damaged image may differ about the length of one block, so that it is not enough
/// that the one who decompressed it found its own.
fn within_block<'a>(
    block: &StoredBlock,
    content: &'a [u8],
    within: Range<usize>,
) -> Result<&'a [u8], Corrupt> {
    let (found, expected) = (content.len() as u64, u64::from(block.len_bytes));
    if !block.is_fragment && found != expected {
        let field = "decompressed length";
        let rule = Rule::Mismatch {
            field,
            found,
            expected,
        };
        return Err(Corrupt::new(Part::DataBlock, block.start, rule));
    }
    let needed = within.end as u64;
    content.get(within).ok_or_else(|| {
        let rule = Rule::Truncated { needed, found };
        Corrupt::new(Part::FragmentBlock, block.start, rule)
    })
}
