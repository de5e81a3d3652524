//! An image against its tree.

use std::fmt;

use coldpress_codec::{Workers, ordered};
use coldpress_image::ReadAt;

use crate::CHUNK_BYTES;
use crate::error::{Error, Part};
use crate::geometry::Level;
use crate::hex::RootHash;
use crate::parameters::Parameters;
use crate::protect::{Advance, advanced, digests, read};
use crate::salted::Salted;
use crate::tree::{Tree, used_bytes};

/// The first block that does not have the hash that it should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A data block.
    Data {
        /// Its number, from 0.
        block: u64,
        /// Byte of the image at which it begins.
        start: u64,
    },
    /// A hash block; nothing below it can be trusted.
    Hashes {
        /// Its level; 0 has the hashes of data blocks.
        level: usize,
        /// Byte of the tree's file at which it begins.
        start: u64,
        /// Whether it is the uppermost one, which the root hash is of.
        is_root: bool,
    },
    /// The only data block, which the root hash is of.
    Only,
    /// The image goes on after the last data block, so nothing says what is right there.
    Uncovered {
        /// Byte of the image after the last data block.
        start: u64,
    },
}

impl Mismatch {
    /// Byte of the image that is wrong; `None` if it is the hash tree.
    pub fn image_byte(&self) -> Option<u64> {
        match self {
            Self::Data { start, .. } | Self::Uncovered { start } => Some(*start),
            Self::Hashes { .. } => None,
            Self::Only => Some(0),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data { block, start } => write!(
                f,
                "data block {block} at byte {start} does not have the hash that the hash tree says"
            ),
            Self::Hashes {
                level,
                start,
                is_root: false,
            } => write!(
                f,
                "the hash block of level {level} at byte {start} of the hash tree does not have \
                 the hash that the level above says"
            ),
            Self::Hashes {
                start,
                is_root: true,
                ..
            } => write!(
                f,
                "the uppermost hash block, at byte {start} of the hash tree, does not have the \
                 root hash"
            ),
            Self::Uncovered { start } => write!(
                f,
                "the hash tree has no hashes of the image from byte {start} on"
            ),
            Self::Only => write!(f, "the only data block does not have the root hash"),
        }
    }
}

/// Blocks that are compared with their hashes.
struct Children<'a> {
    source: &'a dyn ReadAt,
    part: Part,
    start: u64,
    count: u64,
    block_bytes: u64,
}

/// Where the hashes of blocks are, which are known to be right.
#[derive(Clone, Copy)]
enum Expected<'a> {
    Root(&'a RootHash),
    Level(Level),
}

impl Tree {
    /// Compares the tree with a root hash and an image with the tree; returns the first block that
    /// is not right. Hash blocks come first, from the root down, because they say what is right.
    ///
    /// * `data`: the image. If it is one of SquashFS, all of it must have hashes.
    /// * `hashes`: the file with the tree.
    ///
    /// # Errors
    ///
    /// [`Error::RootHash`] if this cannot be its root hash, [`Error::Short`] if the image does not
    /// have all data blocks, and if something cannot be read.
    ///
    /// # Cost
    ///
    /// Reads and hashes everything once. Memory: a chunk of one MiB and its hashes for each job.
    pub fn verify(
        &self,
        data: &dyn ReadAt,
        hashes: &dyn ReadAt,
        root_hash: &RootHash,
        workers: &Workers,
        advance: &mut Advance<'_>,
    ) -> Result<Option<Mismatch>, Error> {
        let parameters = &self.superblock.parameters;
        let expected_bytes = parameters.algorithm.digest_bytes();
        let found_bytes = root_hash.bytes().len();
        if found_bytes != expected_bytes {
            return Err(Error::RootHash {
                found_bytes,
                algorithm: parameters.algorithm.name(),
                expected_bytes,
            });
        }
        let (part, start) = (Part::Image, 0);
        let found_bytes = data.size_bytes().map_err(|source| Error::Read {
            part,
            start,
            source,
        })?;
        let needed_bytes = self.superblock.data_bytes();
        if found_bytes < needed_bytes {
            return Err(Error::Short {
                part,
                found_bytes,
                needed_bytes,
            });
        }
        if used_bytes(data)?.is_some_and(|used_bytes| used_bytes > needed_bytes) {
            return Ok(Some(Mismatch::Uncovered {
                start: needed_bytes,
            }));
        }
        let levels = &self.geometry.levels;
        let mut expected = Expected::Root(root_hash);
        for (level, of_level) in levels.iter().enumerate().rev() {
            let children = Children {
                source: hashes,
                part: Part::Tree,
                start: of_level.start,
                count: of_level.blocks,
                block_bytes: parameters.hash_block.bytes(),
            };
            let found = first_wrong(parameters, hashes, expected, &children, workers, advance)?;
            if let Some(block) = found {
                return Ok(Some(Mismatch::Hashes {
                    level,
                    start: of_level.start + block * children.block_bytes,
                    is_root: matches!(expected, Expected::Root(_)),
                }));
            }
            expected = Expected::Level(*of_level);
        }
        let children = Children {
            source: data,
            part: Part::Image,
            start: 0,
            count: self.superblock.data_blocks,
            block_bytes: parameters.data_block.bytes(),
        };
        let found = first_wrong(parameters, hashes, expected, &children, workers, advance)?;
        Ok(found.map(|block| match expected {
            Expected::Root(_) => Mismatch::Only,
            Expected::Level(_) => Mismatch::Data {
                block,
                start: block * children.block_bytes,
            },
        }))
    }
}

/// The number of the first block that does not have its hash.
fn first_wrong(
    parameters: &Parameters,
    hashes: &dyn ReadAt,
    expected: Expected<'_>,
    children: &Children<'_>,
    workers: &Workers,
    advance: &mut Advance<'_>,
) -> Result<Option<u64>, Error> {
    let salted = Salted::new(parameters);
    let block_bytes = children.block_bytes;
    let digest_bytes = parameters.algorithm.digest_bytes();
    let chunk_blocks = (CHUNK_BYTES / block_bytes).max(1);
    let chunks = children.count.div_ceil(chunk_blocks);
    let mut found = None;
    let ended = ordered(
        (0..chunks).map(Ok),
        workers,
        || Ok((Vec::new(), Vec::new())),
        |(bytes, entries): &mut (Vec<u8>, Vec<u8>), chunk| {
            let first = chunk * chunk_blocks;
            let count = chunk_blocks.min(children.count - first);
            let len = count * block_bytes;
            let start = children.start + first * block_bytes;
            read(children.source, children.part, start, len, bytes)?;
            let block_len = usize::try_from(block_bytes).unwrap_or(usize::MAX);
            let digests = digests(&salted, block_len, digest_bytes, bytes);
            let offsets = entries_of(parameters, hashes, expected, first..first + count, entries)?;
            let pairs = digests.chunks_exact(digest_bytes).zip(offsets);
            let wrong = pairs.zip(first..).find(|((digest, offset), _)| {
                entries
                    .get(*offset..)
                    .and_then(|entry| entry.get(..digest_bytes))
                    != Some(*digest)
            });
            Ok((wrong.map(|(_, block)| block), len))
        },
        |(wrong, len)| {
            if wrong.is_some() {
                found = wrong;
                // Nothing after it matters.
                return Err(Error::Interrupted);
            }
            advanced(advance(len))
        },
    );
    match found {
        Some(block) => Ok(Some(block)),
        None => ended.map(|()| None),
    }
}

/// Reads the hashes of a range of blocks, with what lies between them; returns the offset of each.
fn entries_of(
    parameters: &Parameters,
    hashes: &dyn ReadAt,
    expected: Expected<'_>,
    blocks: std::ops::Range<u64>,
    entries: &mut Vec<u8>,
) -> Result<impl Iterator<Item = usize> + use<>, Error> {
    let level = match expected {
        Expected::Root(root_hash) => {
            root_hash.bytes().clone_into(entries);
            Level {
                start: 0,
                blocks: 1,
            }
        }
        Expected::Level(level) => level,
    };
    let per_block = parameters.entries_per_block();
    let entry_bytes = parameters.entry_bytes() as u64;
    let hash_block_bytes = parameters.hash_block.bytes();
    let place = move |block: u64| {
        level.start + block / per_block * hash_block_bytes + block % per_block * entry_bytes
    };
    let start = place(blocks.start);
    if let Expected::Level(_) = expected {
        let end = place(blocks.end - 1) + entry_bytes;
        read(hashes, Part::Tree, start, end - start, entries)?;
    }
    Ok(blocks.map(move |block| usize::try_from(place(block) - start).unwrap_or(usize::MAX)))
}
