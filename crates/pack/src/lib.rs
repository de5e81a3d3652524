//! Writes start packs: the pages that a start touches, after the image that has them.
//!
//! ```text
//! WorkingSet --touched_pages--> pages by block --choose--> pages --lay_out--> runs in pieces --write
//! ```
//!
//! An image cannot move what lies inside a block: who needs one page reads and decompresses 128
//! KiB. A pack holds the pages alone, in the order of the start. Which pages are worth it under a
//! limit of size is decided by what reading their blocks would cost.
//!
//! The image stays as it is, byte for byte. Format: docs/start-pack.md.
#![forbid(unsafe_code)]

mod append;
mod choose;
mod error;
mod lay_out;
mod limit;
mod touched_pages;
mod write;

pub use append::{AppendOptions, append_pack};
pub use error::Error;
pub use limit::PackLimit;
pub use write::{PackOptions, PackSummary, Progress, write_pack};
