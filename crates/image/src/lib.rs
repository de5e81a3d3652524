//! Reading SquashFS images: open, walk, read, check, extract.
//!
//! An [`Image`] is a superblock, a few small tables and a way to read bytes at a position
//! ([`ReadAt`]). Everything else is read when it is asked for: an inode by its reference, a
//! directory's entries, a range of a file. Decompressed metadata blocks and the blocks of partial
//! reads are kept in small arrays of independently locked slots, so an `&Image` is shared between
//! threads and no thread waits for another's decompression.
//!
//! On top of that stand [`walk`] (every path, depth-first), [`check`] (every structure, every
//! block), [`dump`] (every byte and what it is), [`diff`] (two images side
//! by side), [`extract`] (the only place that writes files),
//! [`write_tar`] (the same as one stream) and [`MetadataMap`] (from image bytes back to the inode
//! or listing that lies there).
//!
//! ```
//! use coldpress_format::Body;
//! use coldpress_image::{Error, Image, walk};
//! # fn main() -> Result<(), Error> {
//! # let image_bytes: &'static [u8] = include_bytes!("../tests/it/small-image");
//!
//! // From any source; `Image::open` takes the path of a file.
//! let image = Image::new(Box::new(image_bytes))?;
//!
//! let mut content_bytes = 0;
//! walk(&image, &mut |visited| {
//!     if let Body::File(file) = &visited.inode.body {
//!         content_bytes += file.size_bytes;
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(content_bytes, 14);
//!
//! // Bytes 7 to 11 of a file.
//! let mut buf = [0; 5];
//! if let Some((_, inode)) = image.find(b"/greeting")?
//!     && let Body::File(file) = &inode.body
//! {
//!     assert_eq!(image.read_at(file, 7, &mut buf)?, 5);
//! }
//! assert_eq!(&buf, b"world");
//! # Ok(())
//! # }
//! ```
//!
//! An image in the middle of a file is read through [`Offset`], and [`find_images`] tells where one
//! begins. `examples/parallel.rs` reads one file in several threads. With the feature `http` an
//! image is read from a server, range by range.
//!
//! Image bytes are hostile. Whatever they hold, each call ends with a value or an [`Error`] that
//! says where the image is broken: a stream of metadata never leaves its table, memory grows with
//! the bytes that really decompress and not with the sizes that the image claims, and directory
//! loops end the walk. Extraction stays beneath its destination (`openat2(2)`), never follows a
//! symbolic link and never writes into a file that it did not create.

mod allowance;
mod beneath;
mod check;
mod contents;
mod decoders;
mod diff;
mod directory;
mod dump;
mod error;
mod extents;
mod extract;
mod file;
mod find;
mod findings;
mod fragment_cache;
#[cfg(feature = "http")]
mod http;
mod image;
mod image_file;
pub mod image_path;
mod in_order;
mod inode;
mod lookup;
mod metadata;
mod metadata_map;
mod padding;
mod path_budget;
mod pieces;
mod place;
mod read_window;
mod reader_requirements;
mod region;
mod scattered;
mod slots;
mod source;
mod start_pack;
mod store;
mod stored;
mod stream_header;
mod survey;
mod table;
mod tar;
#[cfg(feature = "https")]
mod tls;
mod walk;
mod xattr;
mod xattr_budget;

pub use beneath::open_beneath;
pub use check::check;
pub use contents::write_content;
pub use diff::{
    BlockCounts, Comparison, Contrast, DiffError, DiffOptions, LayoutDifference, Side,
    TreeDifference, diff, first_difference,
};
pub use dump::{
    DumpArea, DumpField, DumpOptions, DumpOwner, DumpRange, DumpRecord, DumpValue, Dumped, Stored,
    dump,
};
pub use error::{Error, PathText};
pub use extract::{
    Attribute, Change, Choice, ExtractOptions, Extracted, KeepXattr, Metadata, NAMED_MAX,
    NotRestored, extract,
};
pub use file::FileBlock;
pub use find::{ImageOffset, Sif, find_images, read_sif};
pub use findings::{PROBLEMS_MAX, Problem, Severity};
#[cfg(feature = "http")]
pub use http::{HttpOptions, HttpRange};
pub use image::Image;
pub use image_file::ImageFile;
pub use in_order::ReadLimits;
pub use lookup::{Located, Lookup};
pub use metadata_map::{MetadataKind, MetadataMap};
pub use path_budget::PathBudget;
pub use place::MetadataPlace;
pub use reader_requirements::ReaderRequirements;
pub use scattered::{Delivery, Wanted};
pub use source::{Offset, Prefix, ReadAdvice, ReadAt, open_file};
pub use start_pack::{StartPack, pack_digest, pack_piece_digest};
pub use stored::StoredBlock;
pub use tar::{
    Archived, LeftOut, PlainEntry, TarOptions, write_tar, write_tar_end, write_tar_entry,
};
#[cfg(feature = "https")]
pub use tls::tls_config;
pub use walk::{Visited, Walker, walk, walk_chosen};
pub use xattr::Xattr;
pub use xattr_budget::XattrBudget;
