//! The inodes that a start asks for.

use coldpress_cost::{
    DirectoryGeometry, Extent, FileGeometry, InodeGeometry, InodeGeometryKind, MetadataRange,
};
use coldpress_format::{BlockSize, METADATA_BLOCK_SIZE};

use super::{extent_word, within, word};
use crate::error::Error;
use crate::packed::{Packer, Unpacker};

const FILE: u64 = 0;
const DIRECTORY: u64 = 1;
const SYMLINK: u64 = 2;
const OTHER: u64 = 3;
/// Runs of pages of code of one program: it has a few segments.
const RUNS_MAX: u64 = 64;

/// What places may refer to.
pub(super) struct Limits {
    pub(super) block_size: BlockSize,
    pub(super) image_bytes: u64,
    /// How many metadata blocks there are.
    pub(super) metadata: usize,
    /// How many fragment blocks there are.
    pub(super) fragments: usize,
}

pub(super) fn pack(places: &[&InodeGeometry], packer: &mut Packer) {
    packer.count(places.len());
    let mut end = 0;
    for place in places {
        pack_range(Some(place.inode), packer);
        match &place.kind {
            InodeGeometryKind::File(file) => {
                packer.number(FILE);
                pack_file(file, &mut end, packer);
            }
            InodeGeometryKind::Directory(directory) => {
                packer.number(DIRECTORY);
                pack_range(directory.listing, packer);
                packer.number(directory.is_indexed.into());
            }
            InodeGeometryKind::Symlink => packer.number(SYMLINK),
            InodeGeometryKind::Other => packer.number(OTHER),
        }
    }
}

/// * `end`: the byte behind the file before.
fn pack_file(file: &FileGeometry, end: &mut u64, packer: &mut Packer) {
    packer.number(file.size_bytes);
    packer.number(file.fragment.map_or(0, |fragment| u64::from(fragment) + 1));
    packer.count(file.list.0);
    packer.number(file.list.1.into());
    packer.count(file.executable.len());
    let mut page = 0;
    for (first, last) in &file.executable {
        packer.near(*first, page);
        packer.near(*last, *first);
        page = *last;
    }
    packer.count(file.blocks.len());
    if let Some(first) = file.blocks.first() {
        packer.near(first.start_byte, *end);
    }
    for block in &file.blocks {
        packer.number(word(block));
        *end = block.end();
    }
}

/// A range that there may be.
pub(super) fn pack_range(range: Option<MetadataRange>, packer: &mut Packer) {
    packer.count(range.map_or(0, |range| range.first.saturating_add(1)));
    if let Some(range) = range {
        packer.count(range.last.saturating_sub(range.first));
    }
}

pub(super) fn unpack(
    limits: &Limits,
    unpacker: &mut Unpacker,
) -> Result<Vec<InodeGeometry>, Error> {
    let mut places = Vec::new();
    let mut end = 0;
    for _ in 0..unpacker.count("a number of inodes")? {
        let inode = limits.range(unpacker)?;
        let inode = inode.ok_or_else(|| unpacker.wrong("an inode lies nowhere"))?;
        let number = unpacker.number()?;
        let kind = match number {
            FILE => InodeGeometryKind::File(limits.file(&mut end, unpacker)?),
            DIRECTORY => InodeGeometryKind::Directory(DirectoryGeometry {
                listing: limits.range(unpacker)?,
                is_indexed: unpacker.at_most(1, "whether there is an index,")? == 1,
            }),
            SYMLINK => InodeGeometryKind::Symlink,
            OTHER => InodeGeometryKind::Other,
            _ => return Err(unpacker.wrong(format!("{number} is no kind of inode"))),
        };
        places.push(InodeGeometry { inode, kind });
    }
    Ok(places)
}

impl Limits {
    /// A range that there may be. Its blocks may be missing: a damaged image says so too.
    pub(super) fn range(&self, unpacker: &mut Unpacker) -> Result<Option<MetadataRange>, Error> {
        let first = unpacker.place(self.metadata + 2, "metadata block")?;
        let Some(first) = first.checked_sub(1) else {
            return Ok(None);
        };
        let last = first + unpacker.place(self.metadata + 1, "metadata block further on,")?;
        Ok(Some(MetadataRange { first, last }))
    }

    fn file(&self, end: &mut u64, unpacker: &mut Unpacker) -> Result<FileGeometry, Error> {
        let size_bytes = unpacker.number()?;
        let fragment = unpacker.place(self.fragments + 1, "fragment block")?;
        let list_block = unpacker.place(self.metadata + 1, "metadata block")?;
        let list_byte =
            unpacker.at_most(METADATA_BLOCK_SIZE as u64, "a byte of a metadata block")?;
        let mut executable = Vec::new();
        let mut page = 0;
        for _ in 0..unpacker.at_most(RUNS_MAX, "the number of runs of code")? {
            let first = unpacker.near(page)?;
            let last = unpacker.near(first)?;
            executable.push((first, last));
            page = last;
        }
        let block_bytes = u64::from(self.block_size.bytes());
        let count = unpacker.count("the number of blocks")?;
        let blocks = match fragment {
            0 => size_bytes.div_ceil(block_bytes),
            _ => size_bytes / block_bytes,
        };
        if blocks != count as u64 {
            let rule = format!("a file of {size_bytes} bytes has {count} blocks, not {blocks}");
            return Err(unpacker.wrong(rule));
        }
        let mut start_byte = match count {
            0 => *end,
            _ => unpacker.near(*end)?,
        };
        let mut blocks = Vec::new();
        let mut rest = size_bytes;
        for _ in 0..count {
            let (stored_bytes, is_stored) = extent_word(block_bytes, unpacker)?;
            let len_bytes = rest.min(block_bytes);
            let extent = Extent {
                start_byte,
                stored_bytes,
                len_bytes: u32::try_from(len_bytes).unwrap_or(u32::MAX),
                is_stored,
            };
            start_byte = within(extent, self.image_bytes, unpacker)?.end();
            rest -= len_bytes;
            blocks.push(extent);
            *end = start_byte;
        }
        Ok(FileGeometry {
            size_bytes,
            blocks,
            fragment: u32::try_from(fragment)
                .ok()
                .and_then(|it| it.checked_sub(1)),
            list: (list_block, u32::try_from(list_byte).unwrap_or(u32::MAX)),
            executable,
        })
    }
}
