//! A tree that exists.

use coldpress_format::{
    self as squashfs, PADDING_SIZE, PackHeader, SUPERBLOCK_SIZE, pack_start, stated_pack_bytes,
};
use coldpress_image::ReadAt;

use crate::block_bytes::BlockBytes;
use crate::error::{Error, Part};
use crate::geometry::Geometry;
use crate::parameters::Parameters;
use crate::superblock::{SIGNATURE, SUPERBLOCK_BYTES, Superblock};

/// A tree of a file, whose superblock was read and checked.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Byte of the file at which the superblock begins.
    pub start: u64,
    /// What it is like.
    pub superblock: Superblock,
    /// Where its levels lie; all of them are in the file.
    pub geometry: Geometry,
}

impl Tree {
    /// Reads the superblock of a tree.
    ///
    /// * `source`: the file with the tree.
    /// * `start`: byte of it at which the superblock begins.
    ///
    /// # Errors
    ///
    /// If it cannot be read, breaks a rule, or describes a tree that does not fit into the file.
    pub fn read(source: &dyn ReadAt, start: u64) -> Result<Self, Error> {
        let part = Part::Tree;
        let failed = |source| Error::Read {
            part,
            start,
            source,
        };
        let mut bytes = [0; SUPERBLOCK_BYTES];
        let found = source.fill_at(&mut bytes, start).map_err(failed)?;
        if found < bytes.len() {
            return Err(Error::Short {
                part,
                found_bytes: start.saturating_add(found as u64),
                needed_bytes: start.saturating_add(SUPERBLOCK_BYTES as u64),
            });
        }
        let superblock = Superblock::parse(&bytes, start)?;
        let (parameters, data_blocks) = (&superblock.parameters, superblock.data_blocks);
        let geometry = Geometry::new(parameters, data_blocks, start, true)?;
        let tree = Self {
            start,
            superblock,
            geometry,
        };
        tree.inside(source)
    }

    /// A tree without superblock, of which everything is known.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn without_superblock(
        source: &dyn ReadAt,
        start: u64,
        parameters: Parameters,
        data_blocks: u64,
    ) -> Result<Self, Error> {
        let geometry = Geometry::new(&parameters, data_blocks, start, false)?;
        let superblock = Superblock {
            uuid: crate::Uuid::default(),
            parameters,
            data_blocks,
        };
        let tree = Self {
            start,
            superblock,
            geometry,
        };
        tree.inside(source)
    }

    /// The tree, if the file holds all of it.
    fn inside(self, source: &dyn ReadAt) -> Result<Self, Error> {
        let (part, start, needed_bytes) = (Part::Tree, self.start, self.geometry.end);
        let found_bytes = source.size_bytes().map_err(|source| Error::Read {
            part,
            start,
            source,
        })?;
        // veritysetup leaves out the zeros after a superblock without levels on some devices.
        if found_bytes < needed_bytes && !self.geometry.levels.is_empty() {
            return Err(Error::Short {
                part,
                found_bytes,
                needed_bytes,
            });
        }
        Ok(self)
    }

    /// The tree that was appended to a SquashFS image, and the byte at which the image ends, with
    /// the zeros that fill it up to a multiple of 4 KiB.
    ///
    /// * `source`: the image, from its first byte on. What is no image has no tree.
    ///
    /// # Errors
    ///
    /// As [`appended`](Self::appended).
    pub fn of_image(source: &dyn ReadAt) -> Result<Option<(Self, u64)>, Error> {
        let Some(used_bytes) = used_bytes(source)? else {
            return Ok(None);
        };
        let tree = Self::appended(source, used_bytes)?;
        let padded = used_bytes.checked_next_multiple_of(PADDING_SIZE);
        Ok(tree.map(|tree| {
            let end = padded.unwrap_or(used_bytes).min(tree.start);
            (tree, end)
        }))
    }

    /// The tree that was appended to an image, if there is one: its superblock begins where its
    /// data end, at the first data block or multiple of 4 KiB after the image, or after its start
    /// pack.
    ///
    /// * `source`: the image, from its first byte on.
    /// * `used_bytes`: those of the image without padding.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and if the superblock there is about other data.
    pub fn appended(source: &dyn ReadAt, used_bytes: u64) -> Result<Option<Self>, Error> {
        let padded = used_bytes.checked_next_multiple_of(PADDING_SIZE);
        let pack_end = pack_end(source, pack_start(used_bytes))?;
        let ends = BlockBytes::all().flat_map(|block| {
            [Some(used_bytes), padded].map(|end| end?.checked_next_multiple_of(block.bytes()))
        });
        let mut starts: Vec<u64> = ends.flatten().collect();
        let after_pack = |block: BlockBytes| {
            let end = pack_end?;
            end.checked_next_multiple_of(block.bytes())
        };
        starts.extend(BlockBytes::all().filter_map(after_pack));
        starts.sort_unstable();
        starts.dedup();
        for start in starts {
            let part = Part::Tree;
            let mut signature = [0; SIGNATURE.len()];
            let found = source
                .fill_at(&mut signature, start)
                .map_err(|source| Error::Read {
                    part,
                    start,
                    source,
                })?;
            if found < signature.len() {
                return Ok(None);
            }
            if signature == SIGNATURE {
                let tree = Self::read(source, start)?;
                let data_bytes = tree.superblock.data_bytes();
                if data_bytes != start {
                    return Err(Error::Superblock {
                        start: start + 72,
                        field: "number of data blocks",
                        found: format!("{} with {data_bytes} bytes", tree.superblock.data_blocks),
                        rule: "the data of an appended tree end where its superblock begins",
                    });
                }
                return Ok(Some(tree));
            }
        }
        Ok(None)
    }
}

/// Where the start pack ends that begins there, if one does.
fn pack_end(source: &dyn ReadAt, start: u64) -> Result<Option<u64>, Error> {
    let mut bytes = [0; PackHeader::SIZE];
    let part = Part::Image;
    let read = source.fill_at(&mut bytes, start);
    let found = read.map_err(|source| Error::Read {
        part,
        start,
        source,
    })?;
    let size_bytes = stated_pack_bytes(&bytes[..found]);
    Ok(size_bytes.and_then(|size_bytes| start.checked_add(size_bytes)))
}

/// Bytes of a SquashFS image without padding; `None` if it is no image.
pub(crate) fn used_bytes(source: &dyn ReadAt) -> Result<Option<u64>, Error> {
    let (part, start) = (Part::Image, 0);
    let mut bytes = [0; SUPERBLOCK_SIZE];
    let found = source
        .fill_at(&mut bytes, start)
        .map_err(|source| Error::Read {
            part,
            start,
            source,
        })?;
    let image = squashfs::Superblock::parse(&bytes[..found]);
    Ok(image.ok().map(|image| image.bytes_used))
}
