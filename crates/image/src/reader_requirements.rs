//! What an image asks of who reads it: a kernel, a program.

use std::collections::{BTreeSet, HashSet};

use coldpress_format::{
    BlockSize, Body, Compressor, CompressorOptions, METADATA_BLOCK_SIZE, MetadataHeader, Part,
};

use crate::error::Error;
use crate::image::Image;
use crate::region::Region;
use crate::stream_header;
use crate::walk::walk;

/// Bytes of a block that are looked at; the headers of xz with four filters have some 40.
const LOOKED_AT_BYTES: usize = 64;

/// What an image asks of who reads it, beyond SquashFS 4.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderRequirements {
    /// The compressor.
    pub compressor: Compressor,
    /// The options that the image records for it.
    pub options: Option<CompressorOptions>,
    /// Bytes of a data block, which may not be less than a page of the kernel's memory.
    pub block_size: BlockSize,
    /// Whether tail ends share blocks.
    pub has_fragments: bool,
    /// Whether there are extended attributes.
    pub has_xattrs: bool,
    /// The owners and groups.
    pub ids: Vec<u32>,
    /// Bytes of the image without padding: a device that shows less of it hides its tables.
    pub bytes_used: u64,
    /// Numbers of the filters that blocks of xz went through, as the xz format numbers them: 4 x86,
    /// 5 powerpc, 6 ia64, 7 arm, 8 armthumb, 9 sparc, 10 arm64, 11 riscv.
    pub xz_filters: BTreeSet<u64>,
    /// Kinds of checksums of blocks of xz: 0 none, 1 CRC32, 4 CRC64, 10 SHA-256.
    pub xz_checks: BTreeSet<u8>,
    /// The largest dictionary of xz or window of zstd, in bytes; 0 for other compressors.
    pub window_bytes: u64,
    /// The longest target of a symlink, in bytes, and the first path that has it.
    pub longest_target: (u64, Vec<u8>),
}

impl ReaderRequirements {
    /// The most bytes of a dictionary or window that a kernel has for this image: it allocates the
    /// larger of block and metadata block, or what the options of xz say.
    pub fn window_bytes_max(&self) -> u64 {
        match self.options {
            Some(CompressorOptions::Xz {
                dictionary_size, ..
            }) => dictionary_size.into(),
            _ => u64::from(self.block_size.bytes()).max(METADATA_BLOCK_SIZE as u64),
        }
    }

    /// Looks at every inode, and at the first bytes of every block if the compressor is xz or zstd.
    ///
    /// # Errors
    ///
    /// As [`walk`]; [`Error::Corrupt`] if a block lies outside the data area.
    ///
    /// # Cost
    ///
    /// Reads all inodes and listings, and 64 bytes of each block; holds the start of each block.
    pub fn of(image: &Image) -> Result<Self, Error> {
        let superblock = image.superblock();
        let mut requirements = Self {
            compressor: superblock.compressor,
            options: image.options(),
            block_size: superblock.block_size,
            has_fragments: superblock.fragment_count > 0,
            has_xattrs: superblock.xattr_table_start.is_some(),
            ids: image.ids().to_vec(),
            bytes_used: superblock.bytes_used,
            xz_filters: BTreeSet::new(),
            xz_checks: BTreeSet::new(),
            window_bytes: 0,
            longest_target: (0, Vec::new()),
        };
        let has_headers = matches!(superblock.compressor, Compressor::Xz | Compressor::Zstd);
        let mut seen = Seen::default();
        walk(image, &mut |visited| {
            match &visited.inode.body {
                Body::Symlink(target) if target.len() as u64 > requirements.longest_target.0 => {
                    requirements.longest_target = (target.len() as u64, visited.path.to_vec());
                }
                Body::File(_) if has_headers && seen.inodes.insert(visited.inode.number) => {
                    let file = visited.file(image)?.unwrap_or_default();
                    for block in image.stored_blocks(&file) {
                        let is_compressed = block.word.is_compressed() && !block.word.is_sparse();
                        if is_compressed && seen.blocks.insert(block.start) {
                            requirements.look_at(
                                image,
                                block.start,
                                block.word.size_bytes().into(),
                            )?;
                        }
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        if has_headers {
            for fragment in image.fragments() {
                if fragment.size.is_compressed() && seen.blocks.insert(fragment.start) {
                    requirements.look_at(
                        image,
                        fragment.start,
                        fragment.size.size_bytes().into(),
                    )?;
                }
            }
            requirements.look_at_metadata(image, image.inode_table)?;
            requirements.look_at_metadata(image, image.directory_table)?;
        }
        Ok(requirements)
    }

    fn look_at_metadata(&mut self, image: &Image, table: Region) -> Result<(), Error> {
        let mut start = table.start;
        while start + MetadataHeader::SIZE <= table.end {
            let mut bytes = [0; 2];
            image.store.read_exact(&mut bytes, start)?;
            let header = MetadataHeader::parse(bytes, start)?;
            start += MetadataHeader::SIZE;
            let size_bytes = u64::from(header.size_bytes);
            table.check(Part::MetadataBlock, start, size_bytes)?;
            if header.compressed {
                self.look_at_bytes(image, start, size_bytes)?;
            }
            start += size_bytes;
        }
        Ok(())
    }

    fn look_at(&mut self, image: &Image, start: u64, size_bytes: u64) -> Result<(), Error> {
        image
            .data_area()
            .check(Part::DataBlock, start, size_bytes)?;
        self.look_at_bytes(image, start, size_bytes)
    }

    fn look_at_bytes(&mut self, image: &Image, start: u64, size_bytes: u64) -> Result<(), Error> {
        let mut bytes = [0; LOOKED_AT_BYTES];
        let len = usize::try_from(size_bytes).map_or(bytes.len(), |len| len.min(bytes.len()));
        let bytes = bytes.get_mut(..len).unwrap_or_default();
        image.store.read_exact(bytes, start)?;
        match self.compressor {
            Compressor::Xz => {
                // A stream that does not begin as one is damage, which `check` finds.
                if let Some(needs) = stream_header::xz(bytes) {
                    self.xz_filters.extend(needs.filters);
                    self.xz_checks.insert(needs.check);
                    self.window_bytes = self.window_bytes.max(needs.dictionary_bytes);
                }
            }
            Compressor::Zstd => {
                let window = stream_header::zstd_window_bytes(bytes).unwrap_or(0);
                self.window_bytes = self.window_bytes.max(window);
            }
            _ => {}
        }
        Ok(())
    }
}

/// What was looked at: names may share an inode, and files their blocks.
#[derive(Debug, Default)]
struct Seen {
    inodes: HashSet<u32>,
    blocks: HashSet<u64>,
}
