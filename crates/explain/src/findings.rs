//! All that was found out about a start: as sentences, as tables, as JSON.

mod charts;
mod facts;
mod json;
mod page;
mod programs;
mod summary;
mod symbol_order;
pub mod tables;

use std::path::Path;

use crate::{ElfCost, EntryCost, Explanation, ImageMap};

pub use facts::facts;
pub use json::FindingsJson;
pub use page::explained_page;
pub use programs::{ExplainedFile, explain_programs};
pub use summary::write_summary;
pub use symbol_order::{Linker, is_meant, symbol_order};

/// A start and all that was found out about it.
#[derive(Debug)]
pub struct Findings<'a> {
    /// The file of the image.
    pub image: &'a Path,
    /// The medium, as it was named.
    pub device: &'a str,
    /// The trace of the start, if nothing was started.
    pub trace: Option<&'a Path>,
    /// The running kernel.
    pub kernel: String,
    /// What it comes from.
    pub origin: &'a Origin,
    /// What lies where in the image.
    pub map: &'a ImageMap,
    /// Reads, files, blocks.
    pub explanation: Explanation,
    /// Programs and libraries, those that cost most first.
    pub programs: Vec<ExplainedFile>,
    /// Entries of archives, those that were waited for longest first.
    pub archives: Vec<EntryCost>,
}

/// What findings come from, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A start that was recorded.
    Start {
        /// The program and its arguments, escaped.
        words: Vec<String>,
        /// Of the device.
        read_ahead_kib: u64,
    },
    /// A start that was predicted.
    Trace {
        /// The file, quoted.
        name: String,
        /// Whether the machine that it is predicted for was measured.
        is_calibrated: bool,
    },
}

impl Findings<'_> {
    /// Programs and libraries of which it is known what the start did to them.
    pub fn known_programs(&self) -> impl Iterator<Item = (usize, &ElfCost)> {
        let found = self.programs.iter();
        found.filter_map(|found| Some((found.file, found.cost.as_ref().ok()?)))
    }
}
