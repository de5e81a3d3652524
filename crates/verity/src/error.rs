//! What can go wrong when a tree is written or read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use coldpress_report::text::quoted;

/// What a byte position is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The bytes that the tree protects.
    Image,
    /// The file with the superblock and the hashes.
    Tree,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image => "image",
            Self::Tree => "hash tree",
        })
    }
}

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bytes cannot be read.
    #[error("cannot read the {part} at byte {start}")]
    Read {
        /// Of what.
        part: Part,
        /// The first byte wanted.
        start: u64,
        /// Why.
        source: io::Error,
    },
    /// The tree cannot be written.
    #[error("cannot write the hash tree at byte {start}")]
    Write {
        /// The first byte.
        start: u64,
        /// Why.
        source: io::Error,
    },
    /// A superblock breaks a rule.
    #[error("the verity superblock has a wrong {field} at byte {start}: {found}, but {rule}")]
    Superblock {
        /// Of the file, where the field begins.
        start: u64,
        /// The field.
        field: &'static str,
        /// What it holds.
        found: String,
        /// What it must be.
        rule: &'static str,
    },
    /// A file is shorter than its superblock says.
    #[error("the {part} ends at byte {found_bytes}, but must reach to byte {needed_bytes}")]
    Short {
        /// Which.
        part: Part,
        /// Its bytes.
        found_bytes: u64,
        /// The bytes that it must have.
        needed_bytes: u64,
    },
    /// The image does not consist of whole data blocks.
    #[error(
        "the image has {image_bytes} bytes, but must have a multiple of {block_bytes}, the bytes \
        of a data block; append the hash tree, which fills the image with zeros, or choose \
        smaller \
         data blocks"
    )]
    Unaligned {
        /// Those of the image.
        image_bytes: u64,
        /// Those of a data block.
        block_bytes: u64,
    },
    /// Positions in the tree would be no numbers of bytes of a file.
    #[error("{data_blocks} data blocks of {block_bytes} bytes are more than a hash tree can have")]
    TooLarge {
        /// Data blocks.
        data_blocks: u64,
        /// Bytes of each.
        block_bytes: u64,
    },
    /// There is nothing to protect.
    #[error("a hash tree needs at least one data block, and the image has none")]
    Empty,
    /// A tree would begin in the middle of a sector or a block.
    #[error("the hash tree would begin at byte {start}, which must be a multiple of {multiple_of}")]
    Misplaced {
        /// Where it was to begin.
        start: u64,
        /// Bytes of a sector, or of a hash block if there is no superblock.
        multiple_of: u64,
    },
    /// A root hash is not of the tree's algorithm.
    #[error(
        "the root hash has {found_bytes} bytes, but one of {algorithm} has {expected_bytes}; give \
         the root hash of this tree"
    )]
    RootHash {
        /// Bytes given.
        found_bytes: usize,
        /// The tree's algorithm.
        algorithm: &'static str,
        /// Bytes of its digests.
        expected_bytes: usize,
    },
    /// A file of the tree cannot be made or put in place.
    #[error(transparent)]
    Output(#[from] coldpress_writer::Error),
    /// A file cannot be opened or read.
    #[error("cannot read {}", quoted(path))]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The tree in a file cannot be read.
    #[error("cannot read the hash tree in {}", quoted(path))]
    InFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<Error>,
    },
    /// There is no tree.
    #[error(
        "{} has no hash tree: nothing is appended to it, and there is no {}; name the file with \
         the hash tree",
        quoted(image),
        quoted(beside)
    )]
    NoTree {
        /// The image.
        image: PathBuf,
        /// Where a tree could have been.
        beside: PathBuf,
    },
    /// A file holds no root hash.
    #[error("{} has no root hash: {rule}", quoted(path))]
    NoRootHash {
        /// The file.
        path: PathBuf,
        /// What one looks like.
        rule: String,
    },
    /// The progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn open(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        Self::Open { path, source }
    }

    /// The same error, with the file that has the tree.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        let (path, source) = (path.to_path_buf(), Box::new(self));
        Self::InFile { path, source }
    }
}
