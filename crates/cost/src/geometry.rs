//! What lies where in an image, whether or not it exists.

use std::collections::HashMap;

use coldpress_format::{BlockSize, BlockWord, Compressor, File};
use coldpress_trace::PAGE_SIZE_BYTES;

use crate::hash_tree::HashTree;

/// Everything that a reader asks the medium for, by position, and which paths need what of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// What compresses the blocks that are not stored.
    pub compressor: Compressor,
    /// What a data block holds, but for the last of a file.
    pub block_size: BlockSize,
    /// Bytes of the image.
    pub image_bytes: u64,
    /// Inodes; of predicted images in the order of the nodes, else in any.
    pub places: Vec<InodeGeometry>,
    /// What each absolute path names.
    pub names: HashMap<Vec<u8>, Lookup>,
    /// Fragment blocks by their index.
    pub fragments: Vec<Extent>,
    /// Metadata blocks of the tables that are read on demand, by position. Their headers of two
    /// bytes belong to them.
    pub metadata: Vec<Extent>,
    /// The place of the first metadata block of the fragment table in `metadata`; none has no
    /// fragments.
    pub fragment_table: Option<usize>,
    /// The place of the first metadata block of the id table in `metadata`.
    pub id_table: usize,
    /// The hash tree of dm-verity through which the image is read, if it is read through one.
    pub hash_tree: Option<HashTree>,
}

/// A piece of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Image byte at which it begins.
    pub start_byte: u64,
    /// Bytes in the image; 0 of a sparse block, which lies nowhere.
    pub stored_bytes: u32,
    /// What it holds.
    pub len_bytes: u32,
    /// Whether it is stored as it is, not compressed.
    pub is_stored: bool,
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The inode, in [`Geometry::places`].
    pub place: usize,
    /// The metadata blocks that are read to find the name in the listing of its directory; of the
    /// root none.
    pub search: Option<MetadataRange>,
}

/// Metadata blocks, by their places in [`Geometry::metadata`], both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataRange {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
}

/// An inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InodeGeometry {
    /// The blocks that hold it, with a directory's index, without a block list.
    pub inode: MetadataRange,
    /// What it is.
    pub kind: InodeGeometryKind,
}

/// What an inode is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InodeGeometryKind {
    /// A regular file.
    File(FileGeometry),
    /// A directory.
    Directory(DirectoryGeometry),
    /// A symbolic link; its target lies with the inode.
    Symlink,
    /// Anything else.
    Other,
}

/// A directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectoryGeometry {
    /// The blocks that hold its listing; an empty one has none.
    pub listing: Option<MetadataRange>,
    /// Whether it has an index, which lies with the inode.
    pub is_indexed: bool,
}

/// A regular file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileGeometry {
    /// Its length.
    pub size_bytes: u64,
    /// Its data blocks, with the last, short one if no fragment block holds the tail end.
    pub blocks: Vec<Extent>,
    /// The fragment block with its tail end.
    pub fragment: Option<u32>,
    /// Where its block list begins: the metadata block, and the byte in what it holds.
    pub list: (usize, u32),
    /// Pages, first and last, that programs map to be executed. The kernel reads them ahead
    /// otherwise than others.
    pub executable: Vec<(u64, u64)>,
}

impl Geometry {
    /// The file that a path names, if it names one.
    pub fn file(&self, path: &[u8]) -> Option<&FileGeometry> {
        match &self.places.get(self.names.get(path)?.place)?.kind {
            InodeGeometryKind::File(file) => Some(file),
            _ => None,
        }
    }

    /// Says which pages of a file are mapped to be executed; a path that names no file is passed
    /// over.
    pub fn set_executable(&mut self, path: &[u8], pages: Vec<(u64, u64)>) {
        let place = self.names.get(path).map(|name| name.place);
        let place = place.and_then(|place| self.places.get_mut(place));
        if let Some(InodeGeometry {
            kind: InodeGeometryKind::File(file),
            ..
        }) = place
        {
            file.executable = pages;
        }
    }
}

impl FileGeometry {
    /// The place of a file's data.
    ///
    /// * `list`: as [`FileGeometry::list`].
    pub fn new(file: &File, block_size: BlockSize, list: (usize, u32)) -> Self {
        let (mut start, mut rest) = (file.start, file.size_bytes);
        let blocks = file.blocks.iter().map(|word| {
            let len = rest.min(block_size.bytes().into());
            rest -= len;
            let block = Extent::new(start, *word, u32::try_from(len).unwrap_or(u32::MAX));
            start = block.end();
            block
        });
        Self {
            blocks: blocks.collect(),
            size_bytes: file.size_bytes,
            fragment: file.tail.map(|tail| tail.fragment),
            list,
            executable: Vec::new(),
        }
    }

    /// Pages that it has.
    pub fn page_count(&self) -> u64 {
        self.size_bytes.div_ceil(PAGE_SIZE_BYTES)
    }

    /// A data block; none behind the last, where the tail end is.
    pub fn block(&self, block: u64) -> Option<&Extent> {
        self.blocks.get(usize::try_from(block).ok()?)
    }
}

impl Extent {
    /// A data block or fragment block.
    pub fn new(start_byte: u64, word: BlockWord, len_bytes: u32) -> Self {
        Self {
            start_byte,
            stored_bytes: word.size_bytes(),
            len_bytes,
            is_stored: !word.is_sparse() && !word.is_compressed(),
        }
    }

    /// The image byte behind it.
    pub fn end(&self) -> u64 {
        self.start_byte.saturating_add(self.stored_bytes.into())
    }
}
