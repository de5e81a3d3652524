//! Reading SquashFS images: open, walk, read, check, extract.
//!
//! An [`Image`] is a superblock, a few small tables and a way to read bytes at a position
//! ([`ReadAt`]). Everything else is read when it is asked for: an inode by its reference, a
//! directory's entries, a range of a file. Decompressed metadata blocks and the blocks of partial
//! reads are kept in small arrays of independently locked slots, so an `&Image` is shared between
//! threads and no thread waits for another's decompression.
//!
//! On top of that stand [`walk`] (every path, depth-first), [`check`] (every structure, every
//! block), [`diff`] (two images side by side), [`extract`] (the only place that writes) and
//! [`MetadataMap`] (from image bytes back to the inode or listing that lies there).
//!
//! Image bytes are hostile. Whatever they hold, each call ends with a value or an [`Error`] that
//! says where the image is broken: a stream of metadata never leaves its table, memory grows with
//! the bytes that really decompress and not with the sizes that the image claims, and directory
//! loops end the walk. Extraction stays beneath its destination (`openat2(2)`), never follows a
//! symbolic link and never writes into a file that it did not create.

mod check;
mod decoders;
mod diff;
mod directory;
mod error;
mod extract;
mod file;
mod image;
mod inode;
mod metadata;
mod metadata_map;
mod region;
mod slots;
mod source;
mod store;
mod stored;
mod table;
mod walk;
mod xattr;

pub use check::{PROBLEMS_MAX, Problem, check};
pub use diff::{
    BlockCounts, Comparison, Contrast, DiffError, DiffOptions, Layout, Side, TreeDifference, diff,
    first_difference,
};
pub use error::{Error, PathText};
pub use extract::{Attribute, ExtractOptions, Extracted, NotRestored, extract};
pub use file::FileBlock;
pub use image::Image;
pub use metadata_map::{MetadataKind, MetadataMap};
pub use source::{Offset, ReadAt};
pub use stored::StoredBlock;
pub use walk::{Visited, walk};
pub use xattr::Xattr;
