//! The command lines of mksquashfs and sqfstar.
//!
//! ```text
//! parse    words to options, by a table                     parse.rs, options.rs
//! request  what is asked for, a field for each meaning      request.rs, contradictions.rs
//! settle   the same in the terms of the other crates        settle.rs, inputs.rs, compression.rs, definitions.rs, sort.rs
//! options  those that say how an image is written, alone    image_options.rs
//! append   an image that is there decides how it goes on    appending.rs
//! report   what is printed                                  report.rs, help.rs
//! ```
//!
//! `docs/mksquashfs.md` lists all options.

mod appending;
mod compression;
mod contradictions;
mod definitions;
mod help;
mod image_options;
mod inputs;
mod options;
mod parse;
mod report;
mod request;
mod settle;
mod sort;

pub use appending::{appending_text, open_old, taken_names};
pub use contradictions::{SettledTimes, check};
pub use help::help;
pub use image_options::{ImageOptions, image_options};
pub use parse::parse;
pub use report::{beginning, processors, stored, summary};
pub use request::{Info, Print, Request, Talk, Time, Times, Work};
pub use settle::{Settled, settle};
pub use sort::plan;
