//! Writing SquashFS images: source to tree to plan to blocks to image.
//!
//! ```text
//! select  which of it the image holds                    select.rs
//! gather  what there is: names, metadata, sizes          gather.rs, scan.rs, draft.rs, source.rs
//! change  owners, modes, times, xattrs to be replaced    overrides.rs
//! order   what goes where: coldpress_layout              (not here, but sketches.rs)
//! keep    what an older image has of it                  former.rs, reuse.rs
//! sample  what candidates would give, without writing    sample.rs
//! write   data area, tables, superblock                  write.rs, data.rs; what lies where: coldpress_assemble
//! verify  the image holds what the source holds          verify.rs
//! append  to an image that grows in place                append.rs, recover.rs
//! judge   which tool made an image, with which settings  identify.rs
//! ```
//!
//! [`write()`] is the entry point and reads in the order of the image. The same source, order and
//! options give the same bytes for any number of threads: workers only compress, and one thread
//! takes their results in order. Nothing here prints or reads the clock; [`Source::watch`] may.

mod append;
mod base64;
mod content;
mod content_hash;
mod data;
mod description;
mod digest;
mod disk;
mod draft;
mod duplicates;
mod error;
mod former;
mod gather;
mod held;
mod identify;
mod image_input;
mod layers;
mod lazy;
mod options;
mod output;
mod overrides;
pub mod pack_file;
mod packer;
mod progress;
pub mod pseudo;
mod reader;
mod recover;
mod replaced;
mod reuse;
mod sample;
mod scan;
mod select;
mod shared_xattrs;
mod sink;
mod sketches;
mod source;
mod summary;
mod synthetic_root;
mod tables;
mod tar;
mod uncompressed;
mod verify;
mod warning;
mod write;

pub use append::Appending;
pub use coldpress_assemble::MetadataLayout;
pub use description::{Malformed, SourceLine};
pub use digest::{Digest, Hasher, NotADigest};
pub use error::Error;
pub use former::former;
pub use gather::{Input, SourceOptions, gather};
pub use identify::{Encoding, Habits, Identity, Numbering, Tool, identify};
pub use layers::{IndexPlace, Layer, LayerDefect, LayerKind, LayersInput, make_index};
pub use lazy::LazyImage;
pub use options::Options;
pub use output::Output;
pub use overrides::{FileContexts, Mode, Overrides, Owners, Time, Times, Xattrs, parse_time};
pub use progress::Progress;
pub use recover::recover;
pub use reuse::{NotReusable, Reuse};
pub use sample::{Estimate, SampleMeans, SampleOptions, SampledBlocks, Sampling};
pub use select::{
    Descent, Exclusions, Fate, Matching, Mounts, Pattern, Rules, Selection, exclude_file_lines,
};
pub use source::Source;
pub use summary::{Summary, TableSize};
pub use synthetic_root::SyntheticRoot;
pub use tar::{
    TarDefaults, TarDefect, TarInput, TarMember, TarMemberKind, TarMembers, TarOrigin, is_tar,
    scratch_file,
};
pub use uncompressed::Uncompressed;
pub use verify::{Difference, What, verify};
pub use warning::Warning;
pub use write::write;
