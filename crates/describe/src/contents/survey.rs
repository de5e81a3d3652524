//! What one walk over an image tells of its files and their data.
//!
//! No block is read: the sizes of blocks stand in the inodes, and what a tail end takes is its
//! share of its fragment block by length.

use std::collections::HashSet;

use coldpress_format::{Body, File};
use coldpress_image::{Error, Image, walk};

use super::blocks::Blocks;
use super::counts::Counts;
use super::kinds::Kinds;
use super::sizes::Sizes;

/// Everything that is counted.
#[derive(Debug, Default)]
pub struct Survey {
    pub(crate) counts: Counts,
    pub(crate) blocks: Blocks,
    pub(crate) kinds: Kinds,
    pub(crate) sizes: Sizes,
}

impl Survey {
    /// Walks the image.
    ///
    /// # Errors
    ///
    /// The first damage met.
    pub fn of(image: &Image) -> Result<Self, Error> {
        let mut survey = Self::default();
        let mut seen = HashSet::new();
        let mut data = SharedData::default();
        let mut tails = Tails::new(image.fragments().len());
        walk(image, &mut |visited| {
            let inode = visited.inode;
            let may_be_seen = inode.link_count > 1 && !matches!(inode.body, Body::Directory(_));
            if may_be_seen && !seen.insert(visited.at) {
                survey.counts.hard_links += 1;
                return Ok(());
            }
            let file = visited.file(image)?;
            survey.counts.add(inode, file.as_ref());
            if let Some(file) = &file {
                let block_size = image.superblock().block_size;
                let shares = data.add(file);
                let image_bytes = survey.blocks.add(file, block_size, shares);
                survey.sizes.add(file.size_bytes);
                let kind = survey
                    .kinds
                    .add(visited.path, inode.mode, file.size_bytes, image_bytes);
                if let Some(tail) = file.tail.filter(|_| !shares.tail) {
                    let tail_len = block_size.tail_bytes(file.size_bytes);
                    tails.add(tail.fragment, tail_len, kind);
                }
            }
            Ok(())
        })?;
        survey.blocks.add_fragments(image.fragments());
        for (kind, image_bytes) in tails.image_bytes(image) {
            survey.kinds.add_image_bytes(kind, image_bytes);
        }
        Ok(survey)
    }
}

/// What a file shares with one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Its data blocks.
    pub(crate) blocks: bool,
    /// Its tail end.
    pub(crate) tail: bool,
}

/// Where data lies that files before have.
#[derive(Debug, Default)]
struct SharedData {
    block_starts: HashSet<u64>,
    tails: HashSet<(u32, u32)>,
}

impl SharedData {
    fn add(&mut self, file: &File) -> Shares {
        let has_blocks = file.blocks.iter().any(|word| !word.is_sparse());
        let tail = file.tail.map(|tail| (tail.fragment, tail.offset));
        Shares {
            blocks: has_blocks && !self.block_starts.insert(file.start),
            tail: tail.is_some_and(|tail| !self.tails.insert(tail)),
        }
    }
}

/// The tail ends of a fragment block share its size.
struct Tails {
    /// Bytes of the tail ends of each fragment block.
    filled_bytes: Vec<u64>,
    /// Fragment block, length and kind of each tail end.
    tails: Vec<(u32, u32, usize)>,
}

impl Tails {
    fn new(fragment_count: usize) -> Self {
        Self {
            filled_bytes: vec![0; fragment_count],
            tails: Vec::new(),
        }
    }

    fn add(&mut self, fragment: u32, len: u32, kind: usize) {
        let index = usize::try_from(fragment).unwrap_or(usize::MAX);
        if let Some(filled) = self.filled_bytes.get_mut(index) {
            *filled += u64::from(len);
            self.tails.push((fragment, len, kind));
        }
    }

    /// The kind of each tail end and the image bytes that are its share.
    fn image_bytes(&self, image: &Image) -> impl Iterator<Item = (usize, f64)> {
        self.tails.iter().filter_map(|(fragment, len, kind)| {
            let index = usize::try_from(*fragment).ok()?;
            let size_bytes = image.fragments().get(index)?.size.size_bytes();
            let filled = self.filled_bytes.get(index).filter(|filled| **filled > 0)?;
            #[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
            let share = f64::from(*len) / *filled as f64;
            Some((*kind, share * f64::from(size_bytes)))
        })
    }
}
