//! Where the metadata of a file lies in the image.

use std::ops::Range;

use coldpress_format::{Directory, InodeKind, InodeRef, Part};

use crate::error::Error;
use crate::image::Image;
use crate::metadata::Stream;

/// Where an inode or a listing lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataPlace {
    /// Image byte of the metadata block in which it begins.
    pub block_start: u64,
    /// Its first byte in that block, after decompression.
    pub offset: u16,
    /// Image bytes that must be read for it: exactly its own if the block is stored as it is, whole
    /// blocks if they are compressed.
    pub image_bytes: Range<u64>,
    /// Whether the block in which it begins is compressed.
    pub is_compressed: bool,
}

impl MetadataPlace {
    fn new(block_start: u64, offset: u16, image_bytes: Range<u64>) -> Self {
        Self {
            block_start,
            offset,
            // A stored block has its header before the bytes.
            is_compressed: image_bytes.start == block_start,
            image_bytes,
        }
    }
}

impl Image {
    /// Where an inode lies, with its block list, target or index.
    ///
    /// # Errors
    ///
    /// As [`Image::inode`].
    pub fn inode_place(&self, at: InodeRef) -> Result<MetadataPlace, Error> {
        let (_, extent) = self.inode_with_extent(at)?;
        let block_start = self.inode_start(at);
        Ok(MetadataPlace::new(
            block_start,
            at.offset,
            extent.start..extent.end,
        ))
    }

    /// Whether an inode is stored in the extended form, with more or wider fields.
    ///
    /// # Errors
    ///
    /// As [`Image::inode`].
    pub fn is_extended(&self, at: InodeRef) -> Result<bool, Error> {
        let (table, block_start) = (self.inode_table, at.block_start.into());
        let mut stream = Stream::open(&self.store, table, Part::Inode, block_start, at.offset)?;
        let number = u16::from_le_bytes(stream.take()?);
        Ok(InodeKind::from_number(number).is_none())
    }

    /// Where a directory's listing lies; `None` if the directory is empty and so has none.
    ///
    /// # Errors
    ///
    /// As [`Image::entries`], but for what the listing says.
    pub fn listing_place(&self, directory: &Directory) -> Result<Option<MetadataPlace>, Error> {
        if directory.listing_bytes == 0 {
            return Ok(None);
        }
        let extent = self.listing(directory)?.extent;
        let block_start = self.listing_start(directory);
        Ok(Some(MetadataPlace::new(
            block_start,
            directory.offset,
            extent.start..extent.end,
        )))
    }
}
