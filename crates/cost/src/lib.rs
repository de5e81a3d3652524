//! What a cold start would take, from an image that exists or from one that does not yet.
//!
//! Four values go in and one comes out:
//!
//! - [`Geometry`]: what lies where. Of an image that is there, or [predicted](Geometry::predicted)
//!   from a tree, its order and the [expected sizes of its blocks](BlockSizes), or that a start was
//!   [recorded](Geometry::recorded) from. Where things go in these is decided by the code that
//!   writes images, `coldpress-assemble`.
//! - [`AccessSequence`]: what a start asks for, in order, from a trace or a profile; and what the
//!   program takes when it waits for nothing.
//! - [`Medium`]: what a read costs. [`Machine`]: what decompressing costs.
//! - [`Reader`]: who reads the image: the kernel, a mount in user space, or another format as
//!   reference.
//! - [`Prediction`]: time, reads, bytes, pages in memory, and what the time is spent on.
//!
//! [`predict`] replays the sequence against a simulated reader: page cache, readahead, the
//! caches of fragment and metadata blocks, the decompressor, the limits of the medium. The
//! equations stand in docs/cost-model.md under the numbers that comments here refer to.
//!
//! The crate is pure: no files, threads or clock; the same values give the same prediction.
#![forbid(unsafe_code)]

mod access_sequence;
mod device;
mod event;
mod geometry;
mod hash_tree;
mod kernel;
mod listing;
mod machine;
mod medium;
mod pages;
mod predicted;
mod prediction;
mod readahead;
mod reader;
mod recorded;
mod replay;
mod rules;
mod slots;
mod speeds;
mod unpacked;

pub use access_sequence::{AccessSequence, AccessStep};
pub use event::{IoEvent, ReaderEvent};
pub use geometry::{
    DirectoryGeometry, Extent, FileGeometry, Geometry, InodeGeometry, InodeGeometryKind, Lookup,
    MetadataRange,
};
pub use hash_tree::HashTree;
pub use listing::searches;
pub use machine::Machine;
pub use medium::Medium;
pub use predicted::{BlockSizes, ImageOptions, METADATA_RATIO};
pub use prediction::{Causes, Limit, Prediction};
pub use reader::{Decompressors, Reader};
pub use replay::{predict, predict_in_detail};
pub use speeds::{Speed, Speeds};
