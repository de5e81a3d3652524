//! What an image looks like: where its data goes, what its tables hold, and where everything lies.
//!
//! This is the one place that decides it. Three sinks take what it makes:
//!
//! - the writer (`coldpress-writer`) compresses metadata blocks in parallel and appends them to a
//!   file,
//! - the sampler (also there) keeps their content, to try compressors on some of them,
//! - the cost model (`coldpress-cost`) keeps their lengths, and states what they take.
//!
//! So what is predicted of an image is what is written, but for the sizes of its blocks.
//!
//! ```text
//! data      block lists, fragment table, what duplicates share     data.rs, stated.rs
//! tables    the order of the tables in the image                   assemble.rs
//! inodes    inodes and listings, which refer to each other         inodes.rs, inodes/
//! ids, xattrs, lookup tables with their indexes                    ids.rs, xattrs.rs, tables.rs
//! sink      what takes metadata blocks                             sink.rs, metadata.rs
//! ```
//!
//! [`DataArea`] is filled by the writer block by block, with what blocks really take, or at once
//! from sizes that are [stated](DataArea::stated). [`assemble`] makes the tables of it.
//!
//! The crate is pure: no files, threads or clock.
#![forbid(unsafe_code)]

mod assemble;
mod data;
mod error;
mod ids;
mod inodes;
mod metadata;
mod sink;
mod stated;
mod tables;
mod xattrs;

pub use assemble::{Assembled, TableOptions, assemble};
pub use data::{DataArea, Duplicates, own_bytes, packed_tails};
pub use error::TooMany;
pub use inodes::{MetadataLayout, Numbers, PlacedListing, SPREAD_CONTENT_BYTES, listed_entries};
pub use metadata::BlockStarts;
pub use sink::{Run, Table, TableSink};
pub use stated::{FileBlock, FragmentBlock, StatedBlocks};
pub use tables::LookupTable;
