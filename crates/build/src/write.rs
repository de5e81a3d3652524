//! Writing an image, in the order in which it lies on disk.

use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use coldpress_codec::Settings;
use coldpress_format::{
    BlockSize, Compressor, Flags, Fragment, PADDING_SIZE, SUPERBLOCK_SIZE, Superblock,
};
use coldpress_layout::{Order, Tails};

use crate::data::DataArea;
use crate::error::Error;
use crate::ids::Ids;
use crate::inodes::{Contents, InodeTables, Numbers};
use crate::metadata::stored_header;
use crate::progress::{Meter, Progress};
use crate::source::Source;
use crate::uncompressed::Uncompressed;
use crate::xattrs::Xattrs;
use crate::{data, tables};

/// How an image is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The compressor; `None` stores everything as it is.
    pub compression: Option<Settings>,
    /// What is stored as it is although there is a compressor.
    pub uncompressed: Uncompressed,
    /// Bytes of a data block.
    pub block_size: BlockSize,
    /// Threads that compress.
    pub threads: NonZeroUsize,
    /// Bytes of blocks that may be in flight.
    pub memory_bytes: u64,
    /// Creation time of the image, seconds since 1970.
    pub modification_time_s: u32,
    /// Which tail ends are in fragment blocks, for the superblock's flags: the order decides.
    pub tails: Tails,
    /// Whether to write an export table, by which NFS finds inodes.
    pub exportable: bool,
    /// How metadata lies.
    pub metadata: Metadata,
}

/// How metadata lies in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metadata {
    /// In full metadata blocks.
    Dense,
    /// Each inode and each listing on pages of its own, uncompressed, so that reads at the block
    /// device tell what was looked up. For recording only.
    Spread,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Bytes of the image, padding included.
    pub image_bytes: u64,
    /// Number of inodes.
    pub inode_count: u32,
    /// Bytes of all files, each once.
    pub data_bytes: u64,
    /// Bytes of the data area.
    pub stored_bytes: u64,
    /// Bytes of the tables.
    pub table_bytes: u64,
    /// Number of fragment blocks.
    pub fragment_count: u32,
    /// Files that share the data of another.
    pub duplicate_files: u64,
    /// Bytes of such files.
    pub duplicate_bytes: u64,
    /// Bytes that sparse blocks save.
    pub sparse_bytes: u64,
}

/// Writes an image of `source` to the empty file `output`.
///
/// * `progress`: called after each block; stops the work when it breaks.
///
/// # Errors
///
/// [`Error`]; `output` then holds a part of an image.
///
/// # Cost
///
/// Each file is read once, duplicates that the source knows of not at all. Memory is that of the
/// tree, the tables and [`Options::memory_bytes`].
pub fn write(
    source: &Source,
    order: &Order,
    output: &File,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Summary, Error> {
    let mut meter = Meter::new(source.content_bytes(), progress);
    let mut image = Writer {
        output,
        end: SUPERBLOCK_SIZE as u64,
    };
    image.append(&options_block(options))?;
    let start = image.end;
    let data = data::write(source, order, output, start, options, &mut meter)?;
    let mut summary = Summary {
        data_bytes: source.content_bytes(),
        stored_bytes: data.end - start,
        sparse_bytes: data.sparse_bytes,
        ..Summary::default()
    };
    image.end = data.end;
    let superblock = write_tables(source, order, data, options, &mut image)?;
    output
        .write_all_at(&superblock.write(), 0)
        .map_err(Error::Write)?;
    summary.image_bytes = image.end.next_multiple_of(PADDING_SIZE);
    output.set_len(summary.image_bytes).map_err(Error::Write)?;

    summary.inode_count = superblock.inode_count;
    summary.fragment_count = superblock.fragment_count;
    summary.table_bytes = superblock.bytes_used - superblock.inode_table_start;
    summary.duplicate_files = source.tree.duplicates.len() as u64;
    summary.duplicate_bytes = source
        .tree
        .duplicates
        .keys()
        .map(|node| source.size_bytes(*node))
        .sum();
    Ok(summary)
}

/// Writes everything behind the data area, in disk order.
fn write_tables(
    source: &Source,
    order: &Order,
    mut data: DataArea,
    options: &Options,
    image: &mut Writer,
) -> Result<Superblock, Error> {
    let stored = options.stored();
    let ids = Ids::new(&source.tree, order)?;
    let xattrs = Xattrs::new(&source.tree, order);
    let contents = Contents::new(&source.tree, order, &ids, &xattrs, &mut data.files);
    let (inodes, numbers) = contents.pack(options, image)?;
    Ok(Superblock {
        inode_table_start: inodes.inode_table_start,
        directory_table_start: inodes.directory_table_start,
        fragment_table_start: Some(image.lookup(
            &fragment_entries(&data),
            stored.fragments,
            options,
        )?),
        export_table_start: if options.exportable {
            Some(image.lookup(&export_entries(&numbers, &inodes), stored.inodes, options)?)
        } else {
            None
        },
        id_table_start: image.lookup(&ids.entries(), stored.ids, options)?,
        xattr_table_start: match xattrs.pack(image.end, options)? {
            None => None,
            Some((bytes, header_start)) => {
                image.append(&bytes)?;
                Some(header_start)
            }
        },
        bytes_used: image.end,
        inode_count: u32::try_from(numbers.of.len()).expect("nodes are numbered with 32 bits"),
        modification_time_s: options.modification_time_s,
        block_size: options.block_size,
        fragment_count: u32::try_from(data.fragments.len()).expect("fewer than inodes"),
        compressor: options.compressor(),
        flags: options.flags(),
        id_count: ids.count(),
        root_inode: inodes.refs[0],
    })
}

fn fragment_entries(data: &DataArea) -> Vec<u8> {
    data.fragments
        .iter()
        .copied()
        .flat_map(Fragment::write)
        .collect()
}

/// For each inode number the inode's place.
fn export_entries(numbers: &Numbers, inodes: &InodeTables) -> Vec<u8> {
    let mut entries = vec![[0; 8]; numbers.of.len()];
    for (number, inode) in numbers.of.iter().zip(&inodes.refs) {
        entries[*number as usize - 1] = inode.word().to_le_bytes();
    }
    entries.into_flattened()
}

/// The metadata block behind the superblock; nothing where all options have their defaults.
fn options_block(options: &Options) -> Vec<u8> {
    let Some(recorded) = options.recorded() else {
        return Vec::new();
    };
    let content = recorded.write();
    [&stored_header(content.len()), content.as_slice()].concat()
}

impl Options {
    /// The compressor that the superblock names. An image without compression has to name one as
    /// well; every kernel knows gzip.
    fn compressor(&self) -> Compressor {
        self.compression
            .as_ref()
            .map_or(Compressor::Gzip, |settings| settings.compressor)
    }

    fn recorded(&self) -> Option<coldpress_format::CompressorOptions> {
        self.compression
            .as_ref()
            .and_then(|settings| settings.options(self.block_size))
    }

    fn flags(&self) -> Flags {
        let tails = match self.tails {
            Tails::None => Flags::NO_FRAGMENTS,
            Tails::Small => Flags::default(),
            Tails::All => Flags::ALL_FRAGMENTS,
        };
        let when = |condition: bool, flags| if condition { flags } else { Flags::default() };
        Flags::DUPLICATES
            .with(tails)
            .with(when(self.exportable, Flags::EXPORTABLE))
            .with(self.stored().flags())
            .with(when(self.recorded().is_some(), Flags::COMPRESSOR_OPTIONS))
    }
}

/// The end of the image so far.
pub(crate) struct Writer<'a> {
    output: &'a File,
    pub(crate) end: u64,
}

impl Writer<'_> {
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.output
            .write_all_at(bytes, self.end)
            .map_err(Error::Write)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Appends a table of entries; returns where its index starts.
    fn lookup(&mut self, entries: &[u8], is_stored: bool, options: &Options) -> Result<u64, Error> {
        let (bytes, index_start) = tables::lookup(entries, self.end, is_stored, options)?;
        self.append(&bytes)?;
        Ok(index_start)
    }
}
