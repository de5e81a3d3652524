//! An open image.

use std::fmt;
use std::path::Path;

use coldpress_format::{
    BlockSize, CompressorOptions, Corrupt, Flags, Fragment, InodeRef, MetadataHeader, Part, Rule,
    SUPERBLOCK_SIZE, Superblock,
};

use crate::decoders::Decoders;
use crate::error::Error;
use crate::region::Region;
use crate::source::{ReadAdvice, ReadAt, open_source};
use crate::store::{Store, read_exact};
use crate::table::Table;
use crate::xattr::XattrSets;

/// Tables up to this size are read ahead in one read when an image is opened, which reads ten small
/// parts of them: a tenth of a second of a hard disk.
const TABLES_AHEAD_BYTES: u64 = 1 << 20;

/// A SquashFS 4.0 image.
///
/// Shared between threads by reference: everything is read with positional reads, and what is
/// cached has locks of its own that are never held while reading or decompressing. Nothing is
/// written, and the source must not change while it is open: what changed is told as damage, if at
/// all.
pub struct Image {
    superblock: Superblock,
    options: Option<CompressorOptions>,
    pub(crate) store: Store,
    pub(crate) inode_table: Region,
    pub(crate) directory_table: Region,
    pub(crate) fragment_table: Option<Table>,
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
        Self::new(open_source(path)?)
    }

    /// Opens an image file or block device as far as it can be read.
    ///
    /// # Errors
    ///
    /// [`Error::Open`] if it cannot be opened, else as [`Image::new_damaged`].
    pub fn open_damaged(path: &Path) -> Result<(Self, Vec<Error>), Error> {
        Self::new_damaged(open_source(path)?)
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
    /// Some ten reads, of tables that are read ahead at once if they have at most 1 MiB; holds 4
    /// bytes for each id, 16 for each fragment block, 8 for each metadata block of the other
    /// tables, and up to 10 MiB of blocks once they are read.
    pub fn new(source: Box<dyn ReadAt>) -> Result<Self, Error> {
        Self::assemble(source, &mut Err)
    }

    /// As [`Image::new`], but goes on behind damage: what cannot be read is missing in the image,
    /// and the errors say what that is.
    ///
    /// # Errors
    ///
    /// As [`Image::new`] for the superblock and the compressor, without which nothing is found.
    pub fn new_damaged(source: Box<dyn ReadAt>) -> Result<(Self, Vec<Error>), Error> {
        let mut errors = Vec::new();
        let image = Self::assemble(source, &mut |error| {
            errors.push(error);
            Ok(())
        })?;
        Ok((image, errors))
    }

    /// * `pass`: whether to go on behind an error.
    fn assemble(source: Box<dyn ReadAt>, pass: Pass) -> Result<Self, Error> {
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
            pass(Corrupt::new(Part::Superblock, 0, rule).into())?;
        }
        let tables = superblock.inode_table_start..superblock.bytes_used;
        if tables.end.saturating_sub(tables.start) <= TABLES_AHEAD_BYTES {
            source.advise(ReadAdvice::WillNeed(tables));
        }
        let decoders = Decoders::new(superblock.compressor, superblock.block_size)?;
        let store = Store::new(source, decoders);
        let options = read_options(&store, &superblock);
        let options = options.or_else(|error| pass(error).map(|()| None))?;
        let tables = Tables::open(&store, &superblock, pass)?;
        let ids = tables.read_ids(&store, pass)?;
        let fragments = tables.read_fragments(&store, superblock.block_size, pass)?;
        Ok(Self {
            options,
            store,
            inode_table: Region {
                start: superblock.inode_table_start,
                end: superblock.directory_table_start,
            },
            directory_table: tables.directories,
            fragment_table: tables.fragments,
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

    /// Tells the source how it will be read, by image bytes.
    pub fn advise(&self, advice: ReadAdvice) {
        self.store.advise(advice);
    }

    /// Image byte behind the superblock and the compressor options, where data begins.
    pub(crate) fn data_start(&self) -> u64 {
        let start = SUPERBLOCK_SIZE as u64;
        let options = self.options.and_then(|_| {
            let block = self.store.metadata_block(start, self.data_area());
            block.ok().map(|block| block.next)
        });
        options.unwrap_or(start)
    }

    /// The data area: from behind the superblock to the inode table.
    pub(crate) fn data_area(&self) -> Region {
        Region {
            start: SUPERBLOCK_SIZE as u64,
            end: self.superblock.inode_table_start,
        }
    }
}

/// Takes an error: lets it pass, so that the image is opened without what it is about, or not.
type Pass<'a> = &'a mut dyn FnMut(Error) -> Result<(), Error>;

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
    fn open(store: &Store, superblock: &Superblock, pass: Pass) -> Result<Self, Error> {
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
            match XattrSets::open(store, Region { start, end }, superblock.id_table_start) {
                Ok(sets) => {
                    end = sets.start();
                    xattrs = Some(sets);
                }
                Err(error) => pass(error)?,
            }
        }
        let (start, count) = (superblock.id_table_start, superblock.id_count.into());
        let ids = match open(Part::IdTable, start, end, (count, 4)) {
            Ok(table) => table,
            Err(error) => {
                pass(error)?;
                Table::missing(Part::IdTable, start)
            }
        };
        end = ids.start();
        let mut open_before = |part, start, entries| match open(part, start, end, entries) {
            Ok(table) => {
                end = table.start();
                Ok(Some(table))
            }
            Err(error) => pass(error).map(|()| None),
        };
        let mut exports = None;
        if let Some(start) = superblock.export_table_start {
            let entries = (superblock.inode_count.into(), 8);
            exports = open_before(Part::ExportTable, start, entries)?;
        }
        let mut fragments = None;
        // Without fragments the position means nothing: some writers leave it out, others let it
        // point at the next table.
        if superblock.fragment_count > 0
            && let Some(start) = superblock.fragment_table_start
        {
            let entries = (superblock.fragment_count.into(), Fragment::SIZE as u64);
            fragments = open_before(Part::FragmentTable, start, entries)?;
        }
        Ok(Self {
            directories: Region { start: low, end },
            fragments,
            exports,
            ids,
            xattrs,
        })
    }

    fn read_ids(&self, store: &Store, pass: Pass) -> Result<Vec<u32>, Error> {
        let mut ids = Vec::new();
        let read = self.ids.for_each::<4>(store, |bytes, _| {
            ids.push(u32::from_le_bytes(*bytes));
            Ok(())
        });
        read.or_else(pass)?;
        Ok(ids)
    }

    fn read_fragments(
        &self,
        store: &Store,
        block_size: BlockSize,
        pass: Pass,
    ) -> Result<Vec<Fragment>, Error> {
        let mut fragments = Vec::new();
        let mut damaged = Vec::new();
        let Some(table) = &self.fragments else {
            return Ok(fragments);
        };
        let read = table.for_each::<{ Fragment::SIZE }>(store, |bytes, start| {
            // Those behind a damaged one keep their index.
            fragments.push(
                Fragment::parse(bytes, block_size, start).unwrap_or_else(|corrupt| {
                    damaged.push(corrupt);
                    Fragment::LOST
                }),
            );
            Ok(())
        });
        for corrupt in damaged {
            pass(corrupt.into())?;
        }
        read.or_else(pass)?;
        Ok(fragments)
    }
}
