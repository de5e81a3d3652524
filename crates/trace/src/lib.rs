//! What a start accessed and when: events, profiles of several starts, and their files.
//!
//! A [`Trace`] is one recorded run: a [`Header`] that says where it comes from and [`Event`]s in
//! the order in which they happened. It knows paths, pages of 4 KiB and times, and nothing of
//! `SquashFS`, so a trace recorded from one image serves for the next build of the same software,
//! and a trace of another recorder can be converted by a script.
//!
//! The file is text that a person can read, cut and compare (docs/trace-format.md). It comes from
//! elsewhere, so [`Trace::parse`] gives a trace or an [`Error`] that names the line, and memory is
//! proportional to the text. [`PathText`] and [`parse_path`] are the spelling of paths in it; plans
//! are spelled alike.
//!
//! [`import`] makes traces of what other tools recorded, [`export`] lists of what a trace tells, as
//! other tools read them.
//!
//! [`Trace::working_set`] reduces events to what a layout needs: each file once with the pages
//! that were touched, the paths that were looked up and the directories whose listing was read,
//! all in the order of their first access.
//!
//! A [`Profile`] is what several recordings have in common and what they do not: the first access
//! to each thing, in one order, with how many recordings saw it (docs/profile-format.md). It gives
//! a working set as a trace does, and lives longer: `coldpress_layout` finds its files in the next
//! release.
#![forbid(unsafe_code)]

mod coverage;
mod error;
mod event;
mod excerpt;
pub mod export;
mod header;
pub mod import;
mod in_common;
mod line;
mod path_text;
mod profile;
mod text;
mod working_set;

pub use coverage::Coverage;
pub use error::{Error, Rule};
pub use event::{Access, Event, PAGE_COUNT_MAX, PAGE_SIZE_BYTES, SEARCHES_IN_VAIN_MAX, Trace};
pub use excerpt::Excerpt;
pub use header::Header;
pub use in_common::in_common;
pub use path_text::{
    LINE_BYTES_MAX, PathProblem, PathText, PathTextError, is_printable, parse_path, unescape,
};
pub use profile::{ContentHash, FileIdentity, Profile, Step};
pub use working_set::{FileAccess, PageRun, WorkingSet, parent};
