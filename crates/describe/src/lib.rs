//! What there is to say of an image and of a profile: values that serialize, and the same as text.
//!
//! ```text
//! contents     counts, blocks, kinds of files, parts of the image     contents.rs
//! listing      files, a line or a JSON object each                    listing.rs, file.rs
//! tree         the same as tree(1) draws it                           tree.rs
//! stat         a file, and where the image stores it                  stat.rs
//! dump         what every byte means                                  dump.rs
//! difference   what two images do not have in common                  difference.rs
//! identity     which tool made it, and how                            identification.rs
//! search       what must hold for a file to be found                  search.rs
//! profile      what a profile holds, and what of it a source has      profile_contents.rs, profile_check.rs
//! opening      why an image cannot be opened, and what to do          opening.rs
//! ```
//!
//! Images are hostile: whatever they say, memory is bounded by what the walk over the tree takes,
//! and damage is an error of the crate `image`. Texts go to a writer of the caller's.
#![forbid(unsafe_code)]

mod container;
mod contents;
pub mod difference;
mod dump;
mod file;
mod identification;
mod listing;
pub mod opening;
mod profile_check;
mod profile_contents;
mod search;
mod stat;
mod tree;

pub use container::Container;
pub use contents::{Contents, Survey};
pub use dump::{dump_json, dump_lines};
pub use file::{FileFacts, size_bytes};
pub use identification::Identification;
pub use listing::Listing;
pub use profile_check::ProfileCheck;
pub use profile_contents::ProfileContents;
pub use search::{Amount, ModeTest, Tests};
pub use stat::Stat;
pub use tree::{tree_json, tree_text};
