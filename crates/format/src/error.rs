//! What is wrong with an image: the part, the byte and the rule that it breaks.

use std::fmt;
use std::ops::RangeInclusive;

/// A part of the image that breaks a rule of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part} at byte {start}: {rule}")]
pub struct Corrupt {
    /// The structure that is broken.
    pub part: Part,
    /// Image byte at which the structure begins.
    pub start: u64,
    /// The rule that it breaks, with what was found.
    pub rule: Rule,
}

impl Corrupt {
    /// A broken rule of `part` at image byte `start`.
    pub const fn new(part: Part, start: u64, rule: Rule) -> Self {
        Self { part, start, rule }
    }

    /// Fails unless `allowed` has the value `found` of `field`.
    ///
    /// # Errors
    ///
    /// [`Rule::OutOfRange`].
    pub fn check_range(
        part: Part,
        start: u64,
        field: &'static str,
        found: u64,
        allowed: RangeInclusive<u64>,
    ) -> Result<(), Self> {
        if allowed.contains(&found) {
            return Ok(());
        }
        let (low, high) = allowed.into_inner();
        let rule = Rule::OutOfRange {
            field,
            found,
            low,
            high,
        };
        Err(Self::new(part, start, rule))
    }
}

/// The structures of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The first 96 bytes.
    Superblock,
    /// The metadata block behind the superblock.
    CompressorOptions,
    /// A block of file data.
    DataBlock,
    /// A block of several tail ends.
    FragmentBlock,
    /// A block of up to 8 KiB of metadata.
    MetadataBlock,
    /// A record of the inode table.
    Inode,
    /// A run header in a directory listing.
    DirectoryHeader,
    /// An entry of a directory listing.
    DirectoryEntry,
    /// The sparse name index of a directory.
    DirectoryIndex,
    /// The fragment table.
    FragmentTable,
    /// The export table.
    ExportTable,
    /// The id table.
    IdTable,
    /// The xattr id table, keys or values.
    XattrTable,
    /// Everything between the superblock and the inode table.
    DataArea,
    /// Zeros behind the image.
    Padding,
    /// The pages of a start, after the image.
    StartPack,
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Superblock => "superblock",
            Self::CompressorOptions => "compressor options",
            Self::DataBlock => "data block",
            Self::FragmentBlock => "fragment block",
            Self::MetadataBlock => "metadata block",
            Self::Inode => "inode",
            Self::DirectoryHeader => "directory header",
            Self::DirectoryEntry => "directory entry",
            Self::DirectoryIndex => "directory index",
            Self::FragmentTable => "fragment table",
            Self::ExportTable => "export table",
            Self::IdTable => "id table",
            Self::XattrTable => "xattr table",
            Self::DataArea => "data area",
            Self::Padding => "padding",
            Self::StartPack => "start pack",
        })
    }
}

/// The rules that a structure can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// The structure needs more bytes than there are.
    #[error("needs {needed} bytes, {found} are there")]
    Truncated {
        /// Bytes needed.
        needed: u64,
        /// Bytes found.
        found: u64,
    },
    /// A field must have one value.
    #[error("{field} is {found}, must be {expected}")]
    Mismatch {
        /// Name of the field.
        field: &'static str,
        /// What the image says.
        found: u64,
        /// What the rest of the image demands.
        expected: u64,
    },
    /// A field must lie between two bounds, both included.
    #[error("{field} is {found}, must be {low} to {high}")]
    OutOfRange {
        /// Name of the field.
        field: &'static str,
        /// What the image says.
        found: u64,
        /// Least legal value.
        low: u64,
        /// Greatest legal value.
        high: u64,
    },
    /// A field has a legal value that writers do not give it.
    #[error("{field} is {found}, usually {usual}")]
    Unusual {
        /// Name of the field.
        field: &'static str,
        /// What the image says.
        found: u64,
        /// What writers say there.
        usual: u64,
    },
    /// An inode that is there, but not in the tree.
    #[error("no directory names inode {number}")]
    Unnamed {
        /// Its number.
        number: u64,
    },
    /// Bytes that no other part of the image leads to.
    #[error("nothing refers to {len_bytes} bytes at offset {offset}")]
    Unreferenced {
        /// Offset of the first of them in the structure, after decompression.
        offset: u64,
        /// How many.
        len_bytes: u64,
    },
    /// A field has a legal value that this implementation refuses.
    #[error("{field} {found} is not supported")]
    Unsupported {
        /// Name of the field.
        field: &'static str,
        /// What the image says.
        found: u64,
    },
    /// A name is empty, too long, or has a byte that names cannot have.
    #[error("a name is empty, over 256 bytes, `.`, `..`, or holds `/` or a zero byte")]
    BadName,
    /// A symlink target ends at its first zero byte for everyone but the format.
    #[error("a symlink target holds a zero byte")]
    BadTarget,
    /// Names of a listing must ascend strictly, in byte order.
    #[error("a name does not sort after the one before it")]
    Unsorted,
    /// A directory contains itself, or has two parents.
    #[error("the directory is reached twice (a loop or a second parent)")]
    Loop,
    /// Bytes are not those of which a digest was made.
    #[error("the {of} does not match its digest")]
    WrongDigest {
        /// What was digested.
        of: &'static str,
    },
    /// What stands twice is not the same.
    #[error("differs from {from}")]
    Differs {
        /// What else holds it.
        from: &'static str,
    },
    /// Compressed bytes do not decode.
    #[error("the compressed bytes do not decode to at most {limit} bytes")]
    Undecodable {
        /// Bytes that the block may have.
        limit: u64,
    },
}
