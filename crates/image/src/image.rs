//! An open image.

use std::fmt;
use std::path::Path;

use coldpress_format::{
    CompressorOptions, Corrupt, Flags, Fragment, InodeRef, MetadataHeader, Part, Rule,
    SUPERBLOCK_SIZE, Superblock,
};

use crate::decoders::Decoders;
use crate::error::Error;
use crate::region::Region;
use crate::source::{ReadAt, open_file};
use crate::store::{Store, read_exact};
use crate::table::Table;
use crate::xattr::XattrSets;

/// A SquashFS 4.0 image.
///
/// Shared between threads by reference: everything is read with positional reads, and what is
/// cached has locks of its own that are never held while reading or decompressing. Nothing is
/// written, and the source must not change while it is open: what changed is told as damage, if at all.
pub struct Image {
    superblock: Superblock,
    options: Option<CompressorOptions>,
    pub(crate) store: Store,
    pub(crate) inode_table: Region,
    pub(crate) directory_table: Region,
    pub(crate) id_table: Table,
    pub(crate) export_table: Option<Table>,
    pub(crate) xattr_sets: Option<XattrSets>,
    ids: Vec<u32>,
    fragments: Vec<Fragment>,
}

impl Image {
    /// Opens an image file or block device.
    ///
    /// # Errors
    ///
    /// [`Error::Open`] if it cannot be opened, else as [`Image::new`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = open_file(path).map_err(|source| {
            let path = path.to_path_buf();
            Error::Open { path, source }
        })?;
        Self::new(Box::new(file))
    }

    /// Opens the image that `source` holds: reads the superblock, the compressor options, the id
    /// table, the fragment table and the indexes of the other tables.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if one of them breaks the format, a table is outside the image or the
    /// source is shorter than the image; [`Error::Codec`] if the compressor is not supported.
    ///
    /// # Cost
    ///
    /// Some ten reads; holds 4 bytes for each id, 16 for each fragment block, 8 for each metadata block
    /// of the other tables, and up to 10 MiB of blocks once they are read.
    pub fn new(source: Box<dyn ReadAt>) -> Result<Self, Error> {
        let size_bytes = source
            .size_bytes()
            .map_err(|source| Error::Read { start: 0, source })?;
        let mut bytes = [0; SUPERBLOCK_SIZE];
        let len = usize::try_from(size_bytes).map_or(SUPERBLOCK_SIZE, |len| len.min(bytes.len()));
        read_exact(&*source, &mut bytes[..len], 0)?;
        let superblock = Superblock::parse(&bytes[..len])?;
        if size_bytes < superblock.bytes_used {
            let (needed, found) = (superblock.bytes_used, size_bytes);
            let rule = Rule::Truncated { needed, found };
            return Err(Corrupt::new(Part::Superblock, 0, rule).into());
        }
        let decoders = Decoders::new(superblock.compressor, superblock.block_size)?;
        let store = Store::new(source, decoders);
        let options = read_options(&store, &superblock)?;
        let tables = Tables::open(&store, &superblock)?;

        let mut ids = Vec::new();
        tables.ids.for_each::<4>(&store, |bytes, _| {
            ids.push(u32::from_le_bytes(*bytes));
            Ok(())
        })?;
        let mut fragments = Vec::new();
        if let Some(table) = &tables.fragments {
            table.for_each::<{ Fragment::SIZE }>(&store, |bytes, start| {
                fragments.push(Fragment::parse(bytes, superblock.block_size, start)?);
                Ok(())
            })?;
        }
        Ok(Self {
            options,
            store,
            inode_table: Region {
                start: superblock.inode_table_start,
                end: superblock.directory_table_start,
            },
            directory_table: tables.directories,
            id_table: tables.ids,
            export_table: tables.exports,
            xattr_sets: tables.xattrs,
            ids,
            fragments,
            superblock,
        })
    }

    /// The superblock.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// The compressor options that the image records.
    pub fn options(&self) -> Option<CompressorOptions> {
        self.options
    }

    /// The user and group ids that inodes name by index.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The fragment blocks.
    pub fn fragments(&self) -> &[Fragment] {
        &self.fragments
    }

    /// Where the inode with this number lies, by the export table.
    ///
    /// `None` if the image has no export table or the number is over its count.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the table is damaged; [`Error::Read`].
    ///
    /// # Cost
    ///
    /// One metadata block, if it is not cached.
    pub fn exported(&self, number: u32) -> Result<Option<InodeRef>, Error> {
        let (Some(table), Some(index)) = (&self.export_table, number.checked_sub(1)) else {
            return Ok(None);
        };
        let Some((bytes, start)) = table.entry::<8>(&self.store, index.into())? else {
            return Ok(None);
        };
        let word = u64::from_le_bytes(bytes);
        Ok(Some(InodeRef::parse(word, Part::ExportTable, start)?))
    }

    /// The data area: from behind the superblock to the inode table.
    pub(crate) fn data_area(&self) -> Region {
        Region {
            start: SUPERBLOCK_SIZE as u64,
            end: self.superblock.inode_table_start,
        }
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Image")
            .field("superblock", &self.superblock)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

fn read_options(
    store: &Store,
    superblock: &Superblock,
) -> Result<Option<CompressorOptions>, Error> {
    if !superblock.flags.contains(Flags::COMPRESSOR_OPTIONS) {
        return Ok(None);
    }
    let start = SUPERBLOCK_SIZE as u64;
    let end = superblock.inode_table_start;
    let block = store.metadata_block(start, Region { start, end })?;
    if !block.stored {
        // Nothing can be decompressed before the options are known.
        let rule = Rule::Mismatch {
            field: "compressed bit of the compressor options",
            found: 1,
            expected: 0,
        };
        return Err(Corrupt::new(Part::CompressorOptions, start, rule).into());
    }
    let at = start + MetadataHeader::SIZE;
    let options = CompressorOptions::parse(superblock.compressor, &block.content, at)?;
    Ok(Some(options))
}

/// The tables behind the inode table, opened from the last to the first as the kernel does: each
/// ends where the metadata blocks of the next begin.
struct Tables {
    directories: Region,
    fragments: Option<Table>,
    exports: Option<Table>,
    ids: Table,
    xattrs: Option<XattrSets>,
}

impl Tables {
    fn open(store: &Store, superblock: &Superblock) -> Result<Self, Error> {
        let low = superblock.directory_table_start;
        let open = |part, start, end, entries| {
            let blocks = Region {
                start: low,
                end: start,
            };
            Table::open(store, part, blocks, Region { start, end }, entries)
        };
        let mut end = superblock.bytes_used;
        let mut xattrs = None;
        if let Some(start) = superblock.xattr_table_start {
            let sets = XattrSets::open(store, Region { start, end }, superblock.id_table_start)?;
            end = sets.start();
            xattrs = Some(sets);
        }
        let (start, count) = (superblock.id_table_start, superblock.id_count.into());
        let ids = open(Part::IdTable, start, end, (count, 4))?;
        end = ids.start();
        let mut exports = None;
        if let Some(start) = superblock.export_table_start {
            let entries = (superblock.inode_count.into(), 8);
            let table = open(Part::ExportTable, start, end, entries)?;
            end = table.start();
            exports = Some(table);
        }
        let mut fragments = None;
        // Without fragments the position means nothing: some writers leave it out, others let it
        // point at the next table.
        if superblock.fragment_count > 0
            && let Some(start) = superblock.fragment_table_start
        {
            let entries = (superblock.fragment_count.into(), Fragment::SIZE as u64);
            let table = open(Part::FragmentTable, start, end, entries)?;
            end = table.start();
            fragments = Some(table);
        }
        let directories = Region { start: low, end };
        Ok(Self {
            directories,
            fragments,
            exports,
            ids,
            xattrs,
        })
    }
}
