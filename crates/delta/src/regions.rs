//! Which bytes of a new image an old one has, and why it lacks the others.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

use blake3::Hash;
use coldpress_image::Image;

use crate::blocks::{DataBlock, data_blocks};
use crate::cause::Cause;
use crate::error::Error;

/// Bytes of the new image that would be transferred for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Image bytes; not empty.
    pub bytes: Range<u64>,
    /// Why.
    pub cause: Cause,
}

/// Gives each byte of the new image the reason why it would be transferred. Regions follow each
/// other without a gap, from 0 to `new_bytes`.
///
/// A fragment block of which some tail ends changed is divided as their bytes are.
///
/// * `new_bytes`: the length of the new file.
/// * `poll`: asked for each block; `Break` ends it.
///
/// # Errors
///
/// [`Error::Old`] and [`Error::New`] if an image is damaged, [`Error::Interrupted`].
///
/// # Cost
///
/// Reads both images, and decompresses what one of them has and the other has not, and all fragment
/// blocks of the old one. Memory is that of the block lists and 32 bytes for each block and tail
/// end.
pub fn regions(
    old: &Image,
    new: &Image,
    new_bytes: u64,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Region>, Error> {
    let old_blocks = Hashed::of(old, poll).map_err(|error| error.or(Error::Old))?;
    let new_blocks = Hashed::of(new, poll).map_err(|error| error.or(Error::New))?;
    let old_stored: HashSet<Hash> = old_blocks.hashes.iter().copied().collect();
    let new_stored: HashSet<Hash> = new_blocks.hashes.iter().copied().collect();
    let mut known = HashSet::new();
    for (block, hash) in old_blocks.blocks.iter().zip(&old_blocks.hashes) {
        // A data block of both can be told by its stored bytes.
        if !block.tails.is_empty() || !new_stored.contains(hash) {
            halt(poll)?;
            note_contents(old, block, &mut known).map_err(Error::Old)?;
        }
    }
    let mut laid = Laid::new(new, new_bytes);
    for (block, hash) in new_blocks.blocks.iter().zip(&new_blocks.hashes) {
        let start = block.stored.start;
        let end = start.saturating_add(block.stored.word.size_bytes().into());
        if old_stored.contains(hash) {
            laid.push(start..end, Cause::Moved);
            continue;
        }
        halt(poll)?;
        for (end, cause) in causes(new, block, &known, start..end).map_err(Error::New)? {
            laid.push(start..end, cause);
        }
    }
    Ok(laid.finish())
}

/// The blocks of an image with the hashes of their stored bytes.
struct Hashed {
    blocks: Vec<DataBlock>,
    hashes: Vec<Hash>,
}

/// Why blocks could not be hashed.
enum NotHashed {
    Image(coldpress_image::Error),
    Interrupted,
}

impl NotHashed {
    fn or(self, of_image: impl FnOnce(coldpress_image::Error) -> Error) -> Error {
        match self {
            Self::Image(error) => of_image(error),
            Self::Interrupted => Error::Interrupted,
        }
    }
}

impl Hashed {
    fn of(image: &Image, poll: &mut dyn FnMut() -> ControlFlow<()>) -> Result<Self, NotHashed> {
        let blocks = data_blocks(image).map_err(NotHashed::Image)?;
        let mut stored = Vec::new();
        let mut hashes = Vec::with_capacity(blocks.len());
        for block in &blocks {
            halt(poll).map_err(|_| NotHashed::Interrupted)?;
            let read = image.read_undecoded(&block.stored, &mut stored);
            read.map_err(NotHashed::Image)?;
            hashes.push(blake3::hash(&stored));
        }
        Ok(Self { blocks, hashes })
    }
}

fn halt(poll: &mut dyn FnMut() -> ControlFlow<()>) -> Result<(), Error> {
    match poll() {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted),
    }
}

/// Notes what a block of the old image holds: itself, and each tail end in it.
fn note_contents(
    image: &Image,
    block: &DataBlock,
    known: &mut HashSet<Hash>,
) -> Result<(), coldpress_image::Error> {
    let (mut stored, mut content) = (Vec::new(), Vec::new());
    image.read_stored(&block.stored, &mut stored, &mut content)?;
    known.insert(blake3::hash(&content));
    known.extend(block.tails.iter().map(|tail| tail_hash(&content, tail)));
    Ok(())
}

/// The hash of a tail end; of what a damaged inode says, as far as it is there.
fn tail_hash(content: &[u8], tail: &Range<u32>) -> Hash {
    let end = (tail.end as usize).min(content.len());
    let bytes = content.get(tail.start as usize..end).unwrap_or_default();
    blake3::hash(bytes)
}

/// Why the bytes of a block that the old image lacks are new: up to which image byte for which
/// reason.
fn causes(
    image: &Image,
    block: &DataBlock,
    known: &HashSet<Hash>,
    place: Range<u64>,
) -> Result<Vec<(u64, Cause)>, coldpress_image::Error> {
    let (mut stored, mut content) = (Vec::new(), Vec::new());
    image.read_stored(&block.stored, &mut stored, &mut content)?;
    if known.contains(&blake3::hash(&content)) {
        return Ok(vec![(place.end, Cause::Encoding)]);
    }
    let is_known = |tail: &&Range<u32>| known.contains(&tail_hash(&content, tail));
    let len = |tail: &Range<u32>| u64::from(tail.end.saturating_sub(tail.start));
    let all: u64 = block.tails.iter().map(len).sum();
    let unchanged: u64 = block.tails.iter().filter(is_known).map(len).sum();
    let size_bytes = place.end.saturating_sub(place.start);
    let repacked = size_bytes * unchanged / all.max(1);
    Ok(vec![
        (place.start + repacked, Cause::Repacked),
        (place.end, Cause::Content),
    ])
}

/// Regions from byte 0 on, while they are laid out.
struct Laid {
    regions: Vec<Region>,
    /// Image byte up to which there are regions.
    end: u64,
    /// Image byte at which the data area begins, as far as its blocks tell.
    tables: Range<u64>,
    new_bytes: u64,
}

impl Laid {
    fn new(image: &Image, new_bytes: u64) -> Self {
        let superblock = image.superblock();
        let tables = superblock.inode_table_start..superblock.bytes_used;
        let mut laid = Self {
            regions: Vec::new(),
            end: 0,
            tables,
            new_bytes,
        };
        laid.add(coldpress_format::SUPERBLOCK_SIZE as u64, Cause::Tables);
        laid
    }

    /// Adds a block. What stands before it is padding; blocks of a damaged image may overlap.
    fn push(&mut self, bytes: Range<u64>, cause: Cause) {
        self.add(bytes.start, Cause::Padding);
        self.add(bytes.end, cause);
    }

    /// The regions, with the tables and what follows them.
    fn finish(mut self) -> Vec<Region> {
        self.add(self.tables.start, Cause::Padding);
        self.add(self.tables.end, Cause::Tables);
        self.add(self.new_bytes, Cause::Padding);
        self.regions
    }

    fn add(&mut self, end: u64, cause: Cause) {
        let end = end.min(self.new_bytes);
        if end > self.end {
            let bytes = self.end..end;
            self.regions.push(Region { bytes, cause });
            self.end = end;
        }
    }
}
