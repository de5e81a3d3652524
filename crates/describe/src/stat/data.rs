//! Where the content of a file lies.

use coldpress_format::{BlockWord, File, TailEnd};
use coldpress_image::Image;
use serde::{Serialize, Serializer};

/// The content of a regular file.
#[derive(Debug, Serialize)]
pub(crate) struct Data<'a> {
    pub(crate) block_count: u64,
    pub(crate) compressed_count: u64,
    pub(crate) stored_count: u64,
    pub(crate) sparse_count: u64,
    /// What the inode says that sparse blocks save.
    pub(crate) sparse_bytes: u64,
    /// The image bytes of all data blocks, which follow each other; `None` if none takes bytes.
    pub(crate) extent: Option<Extent>,
    pub(crate) tail: Option<Tail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocks: Option<Blocks<'a>>,
}

/// A range of image bytes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Extent {
    pub(crate) start: u64,
    pub(crate) size_bytes: u64,
}

/// A tail end in a fragment block.
#[derive(Debug, Serialize)]
pub(crate) struct Tail {
    pub(crate) fragment: u32,
    /// Byte of the fragment block, after decompression.
    pub(crate) offset: u32,
    pub(crate) len_bytes: u32,
    /// The fragment block; `None` if the image does not have it.
    pub(crate) block: Option<Extent>,
    pub(crate) block_is_compressed: Option<bool>,
}

/// The data blocks of a file, listed when they are printed: there may be millions.
#[derive(Debug)]
pub(crate) struct Blocks<'a> {
    image: &'a Image,
    file: &'a File,
}

/// A data block.
#[derive(Debug, Serialize)]
pub(crate) struct Block {
    /// Byte of the file.
    pub(crate) offset: u64,
    /// Image byte.
    pub(crate) start: u64,
    /// Bytes in the image.
    pub(crate) size_bytes: u32,
    pub(crate) len_bytes: u32,
    pub(crate) kind: &'static str,
}

impl<'a> Data<'a> {
    /// * `lists_blocks`: whether each data block is listed.
    pub(crate) fn of(image: &'a Image, file: &'a File, lists_blocks: bool) -> Self {
        let (mut compressed, mut stored, mut sparse, mut size_bytes) = (0, 0, 0, 0_u64);
        for word in &file.blocks {
            size_bytes = size_bytes.saturating_add(word.size_bytes().into());
            match kind(*word) {
                "sparse" => sparse += 1,
                "compressed" => compressed += 1,
                _ => stored += 1,
            }
        }
        let start = file.start;
        let len_bytes = image.superblock().block_size.tail_bytes(file.size_bytes);
        Self {
            block_count: file.blocks.len() as u64,
            compressed_count: compressed,
            stored_count: stored,
            sparse_count: sparse,
            sparse_bytes: file.sparse_bytes,
            extent: (size_bytes > 0).then_some(Extent { start, size_bytes }),
            tail: file.tail.map(|tail| Tail::of(image, tail, len_bytes)),
            blocks: lists_blocks.then_some(Blocks { image, file }),
        }
    }
}

impl Tail {
    fn of(image: &Image, tail: TailEnd, len_bytes: u32) -> Self {
        let block = image.stored_fragment(tail);
        Self {
            fragment: tail.fragment,
            offset: tail.offset,
            len_bytes,
            block: block.map(|block| Extent {
                start: block.start,
                size_bytes: block.word.size_bytes().into(),
            }),
            block_is_compressed: block.map(|block| block.word.is_compressed()),
        }
    }
}

impl<'a> Blocks<'a> {
    /// In order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Block> + use<'a> {
        let block_bytes = u64::from(self.image.superblock().block_size.bytes());
        let blocks = self.image.stored_blocks(self.file).zip(0_u64..);
        blocks.map(move |(block, index)| Block {
            offset: index.saturating_mul(block_bytes),
            start: block.start,
            size_bytes: block.word.size_bytes(),
            len_bytes: block.len_bytes,
            kind: kind(block.word),
        })
    }
}

impl Serialize for Blocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

fn kind(word: BlockWord) -> &'static str {
    if word.is_sparse() {
        "sparse"
    } else if word.is_compressed() {
        "compressed"
    } else {
        "stored"
    }
}
