//! From the bytes of a block to what the image stores of it.

use coldpress_codec::{Encoder, is_incompressible};
use coldpress_image::StoredBlock;
use coldpress_layout::BlockEncoding;

use crate::error::Error;
use crate::options::Options;
use crate::reuse::Candidate;
use crate::uncompressed::Uncompressed;

/// Compresses blocks, or finds that they are better copied or stored as they are.
pub(crate) struct Packer {
    encoder: Option<Encoder>,
    /// What is stored as it is.
    stored_parts: Uncompressed,
    /// Room for a candidate: as it is stored, and its content.
    stored: Vec<u8>,
    content: Vec<u8>,
}

/// A block as it goes into the image.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_compressed: bool,
    /// Whether it comes from another image.
    pub(crate) is_copied: bool,
}

impl Options {
    pub(crate) fn packer(&self) -> Result<Packer, Error> {
        Ok(Packer {
            encoder: self.encoder()?,
            stored_parts: self.stored(),
            stored: Vec::new(),
            content: Vec::new(),
        })
    }
}

impl Packer {
    /// What the image stores of a data block, or of a fragment block.
    pub(crate) fn pack(
        &mut self,
        bytes: &[u8],
        is_fragment: bool,
        encoding: BlockEncoding,
    ) -> Result<Block, Error> {
        let mut compressed = Vec::new();
        let is_stored = if is_fragment {
            self.stored_parts.fragments
        } else {
            self.stored_parts.data
        };
        let is_compressed = match &mut self.encoder {
            None => false,
            Some(_)
                if is_stored || encoding == BlockEncoding::Stored || is_incompressible(bytes) =>
            {
                false
            }
            Some(encoder) => match encoding {
                BlockEncoding::Level(level) => {
                    encoder.compress_at_level(level, bytes, &mut compressed)?
                }
                _ => encoder.compress(bytes, &mut compressed)?,
            },
        };
        Ok(Block {
            bytes: if is_compressed {
                compressed
            } else {
                bytes.to_vec()
            },
            is_compressed,
            is_copied: false,
        })
    }

    /// The candidate, if it holds these bytes. One that cannot be read is none.
    pub(crate) fn copy(&mut self, bytes: &[u8], candidate: &Candidate) -> Option<Block> {
        self.copy_if(candidate, |content| content == bytes)
    }

    /// The candidate that is known to hold what is wanted; none if it cannot be read.
    pub(crate) fn copy_exact(&mut self, candidate: &Candidate) -> Option<Block> {
        self.copy_if(candidate, |_| true)
    }

    /// The candidate that was decompressed before and holds what is wanted.
    pub(crate) fn copy_verified(&mut self, candidate: &Candidate) -> Option<Block> {
        let Candidate { image, block, .. } = candidate;
        let read = image.read_undecoded(block, &mut self.stored);
        read.is_ok().then(|| self.copied(block))
    }

    /// The candidate, if it holds what is wanted.
    pub(crate) fn copy_if(
        &mut self,
        candidate: &Candidate,
        is_wanted: impl FnOnce(&[u8]) -> bool,
    ) -> Option<Block> {
        let Candidate { image, block, .. } = candidate;
        let read = image.read_stored(block, &mut self.stored, &mut self.content);
        (read.is_ok() && is_wanted(&self.content)).then(|| self.copied(block))
    }

    fn copied(&mut self, block: &StoredBlock) -> Block {
        Block {
            bytes: std::mem::take(&mut self.stored),
            is_compressed: block.word.is_compressed(),
            is_copied: true,
        }
    }
}
