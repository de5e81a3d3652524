//! An annotated account of every byte of an image, in byte order.
//!
//! Two levels: ranges of image bytes, which follow each other without a gap up to the end of the
//! file, and the records in the content of a metadata block or fragment block, which follow each
//! other without a gap, too. What nothing refers to is a range or record of its own; what belongs
//! to several says how many of its bytes do. Damage is named where it is, and the rest goes on.

mod data;
mod emitter;
mod fields;
mod inodes;
mod listings;
mod selection;
mod start_pack;
mod stream;
mod superblock;
mod tables;
mod xattrs;

use std::ops::ControlFlow;

use coldpress_format::{MAGIC, SUPERBLOCK_SIZE};

use crate::check::check_metadata;
use crate::error::Error;
use crate::findings::Findings;
use crate::image::Image;
use crate::source::ReadAt;
use crate::store::read_exact;

use emitter::Emitter;
use selection::Selection;

/// What to account for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpOptions {
    /// These parts of the image only; all if there are none.
    pub areas: Vec<DumpArea>,
    /// What belongs to these absolute paths and those below them only; all if there are none.
    pub paths: Vec<Vec<u8>>,
}

/// The parts of an image, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DumpArea {
    /// The first 96 bytes.
    Superblock,
    /// The metadata block behind them.
    CompressorOptions,
    /// Data blocks and fragment blocks.
    DataArea,
    /// The inode table.
    InodeTable,
    /// The directory table.
    DirectoryTable,
    /// The fragment table and its index.
    FragmentTable,
    /// The export table and its index.
    ExportTable,
    /// The id table and its index.
    IdTable,
    /// The xattr pairs, the xattr id table, its header and its index.
    XattrTable,
    /// The start pack behind the image.
    StartPack,
    /// What else stands behind the image.
    Padding,
}

impl DumpArea {
    /// Every part, in order.
    pub const ALL: [Self; 11] = [
        Self::Superblock,
        Self::CompressorOptions,
        Self::DataArea,
        Self::InodeTable,
        Self::DirectoryTable,
        Self::FragmentTable,
        Self::ExportTable,
        Self::IdTable,
        Self::XattrTable,
        Self::StartPack,
        Self::Padding,
    ];

    /// Its name, such as `inode-table`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Superblock => "superblock",
            Self::CompressorOptions => "compressor-options",
            Self::DataArea => "data-area",
            Self::InodeTable => "inode-table",
            Self::DirectoryTable => "directory-table",
            Self::FragmentTable => "fragment-table",
            Self::ExportTable => "export-table",
            Self::IdTable => "id-table",
            Self::XattrTable => "xattr-table",
            Self::StartPack => "start-pack",
            Self::Padding => "padding",
        }
    }
}

/// A range of image bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpRange {
    /// Image byte of the first.
    pub start: u64,
    /// How many.
    pub len_bytes: u64,
    /// The part of the image.
    pub area: DumpArea,
    /// What it is, such as `data block`.
    pub what: &'static str,
    /// Bytes at its beginning that belong to a range before it, too.
    pub overlap_bytes: u64,
    /// Bytes before the content: the header of a metadata block.
    pub header_bytes: u64,
    /// Of a block: whether it lies in the image as it is, and the bytes that it holds.
    pub content: Option<(Stored, u64)>,
    /// Whose data it is; the first few.
    pub owners: Vec<DumpOwner>,
    /// How many more own it.
    pub more_owners: u64,
    /// What is wrong with it.
    pub damage: Option<String>,
    /// Bytes as they lie in the image, where that says something: of structures that are not
    /// compressed all, from the first record on; of what nothing refers to the first few.
    pub raw: Vec<u8>,
    /// What lies in its content, by offset.
    pub records: Vec<DumpRecord>,
}

/// Whether a block is stored as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Its content lies in the image.
    Stored,
    /// It must be decompressed.
    Compressed,
}

/// A file that a range belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpOwner {
    /// Its path, the first of several; none if no directory names it.
    pub path: Option<Vec<u8>>,
    /// Its inode number.
    pub number: u32,
    /// The byte of the file at which the range begins.
    pub offset: u64,
}

/// A structure in the content of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpRecord {
    /// Byte of the content at which it begins.
    pub offset: u64,
    /// Bytes that it takes there.
    pub len_bytes: u64,
    /// Bytes that it takes in the blocks behind, where they are called `rest`.
    pub more_bytes: u64,
    /// Bytes at its beginning that belong to a record before it, too.
    pub overlap_bytes: u64,
    /// What it is, such as `inode`.
    pub what: &'static str,
    /// Whose it is.
    pub path: Option<Vec<u8>>,
    /// What it says.
    pub fields: Vec<DumpField>,
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpField {
    /// Byte of the record at which it begins.
    pub offset: u64,
    /// Bytes that it takes.
    pub len_bytes: u64,
    /// Its name in docs/format.md.
    pub name: &'static str,
    /// What it says.
    pub value: DumpValue,
}

/// What a field says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpValue {
    /// A number.
    Number(u64),
    /// A number and what it means.
    Meaning(u64, String),
    /// Permission bits.
    Mode(u16),
    /// Seconds since 1970.
    Time(u32),
    /// A name, a target, a value.
    Text(Vec<u8>),
    /// The words of a block list.
    BlockList(Vec<u32>),
}

/// What a dump found beside the ranges.
#[derive(Debug, Default)]
pub struct Dumped {
    /// What kept tables from being found; their bytes are told as unreferenced.
    pub lost: Vec<Error>,
    /// How many rules of the format the metadata breaks, as [`check`](crate::check()) tells them.
    /// The bytes may be whole, and no range be damaged.
    pub broken_rules: u64,
}

/// Hands every range of an image to `visit`, in byte order.
///
/// Without `options` the ranges cover the file from its first byte to its last: each begins where
/// those before it end, but for its `overlap_bytes`. So do the records of a range with metadata
/// cover its content.
///
/// * `visit`: `Break` ends it.
/// * `poll`: asked from time to time while nothing is handed over; `Break` ends it.
///
/// # Errors
///
/// [`Error::Corrupt`] if it does not begin with a superblock, be it a damaged one;
/// [`Error::Interrupted`]; [`Error::Codec`] if the compressor is not supported; [`Error::NotFound`]
/// if a path is not there; [`Error::Read`] if not even the superblock can be read.
///
/// # Cost
///
/// Reads the whole image once, decompresses on all processors, and holds some 150 bytes for each
/// inode, 32 for each data block and the ranges of one block.
pub fn dump(
    source: Box<dyn ReadAt>,
    options: &DumpOptions,
    visit: &mut dyn FnMut(DumpRange) -> ControlFlow<()>,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Dumped, Error> {
    let read_failed = |source| Error::Read { start: 0, source };
    let size_bytes = source.size_bytes().map_err(read_failed)?;
    let len = usize::try_from(size_bytes)
        .unwrap_or(usize::MAX)
        .min(SUPERBLOCK_SIZE);
    let mut bytes = vec![0; len];
    read_exact(&*source, &mut bytes, 0)?;
    let (image, mut lost) = match Image::new_damaged(source) {
        Ok(opened) => opened,
        Err(Error::Corrupt(corrupt)) if is_superblock(&bytes) => {
            superblock::emit_alone(bytes, size_bytes, &corrupt, visit)?;
            return Ok(Dumped {
                lost: vec![corrupt.into()],
                broken_rules: 1,
            });
        }
        Err(error) => return Err(error),
    };
    let mut findings = Findings::default();
    let pack_end = image.start_pack().ok().flatten().map(|pack| pack.end());
    let survey = check_metadata(&image, pack_end, &mut findings, poll)?;
    let selection = Selection::new(&image, &survey, &options.paths)?;
    let mut emitter = Emitter::new(&image, options, size_bytes, visit);
    superblock::emit(&mut emitter, bytes)?;
    superblock::emit_options(&mut emitter, &image)?;
    data::emit(&mut emitter, &image, &survey, &selection)?;
    inodes::emit(&mut emitter, &image, &survey, &selection)?;
    listings::emit(&mut emitter, &image, &survey, &selection)?;
    tables::emit(&mut emitter, &image, &survey, &selection)?;
    xattrs::emit(&mut emitter, &image, &survey, &selection)?;
    start_pack::emit(&mut emitter, &image)?;
    emitter.finish(image.superblock().bytes_used)?;
    lost.dedup_by_key(|error| error.to_string());
    Ok(Dumped {
        lost,
        broken_rules: findings.error_count(),
    })
}

fn is_superblock(bytes: &[u8]) -> bool {
    bytes.len() == SUPERBLOCK_SIZE && bytes.starts_with(&MAGIC.to_le_bytes())
}
