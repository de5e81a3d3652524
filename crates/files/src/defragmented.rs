//! What became of files that were to be rewritten in one extent.

use coldpress_host::{Defragmented, NamedFile};
use coldpress_report::text::{escaped_path, plural, quoted};
use coldpress_report::units::count;
use serde::Serialize;

/// A file that was looked at or rewritten, for `--json`.
#[derive(Debug, Serialize)]
pub struct DefragRow {
    /// With escapes.
    names: Vec<String>,
    size_bytes: u64,
    /// `rewritten`, `whole` (it was in one extent) or `no-better`.
    became: &'static str,
    extents_before: u64,
    /// Those it has now.
    extents: u64,
}

impl DefragRow {
    /// What became of a file.
    pub fn new(file: &NamedFile, done: &Defragmented) -> Self {
        let (became, before, now) = match done {
            Defragmented::Rewritten { before, after } => ("rewritten", before, after),
            Defragmented::Whole(extents) => ("whole", extents, extents),
            Defragmented::NoBetter { before, .. } => ("no-better", before, before),
        };
        Self {
            names: file.names.iter().map(|name| escaped_path(name)).collect(),
            size_bytes: before.size_bytes,
            became,
            extents_before: before.count,
            extents: now.count,
        }
    }
}

/// What became of a file, as a sentence.
pub fn defragmented(file: &NamedFile, done: &Defragmented) -> String {
    let name = quoted(file.path());
    let in_extents = |extents: u64| plural(extents, "extent", "extents");
    match done {
        Defragmented::Rewritten { before, after } => format!(
            "{name}: {}, now {}",
            in_extents(before.count),
            count(after.count)
        ),
        Defragmented::Whole(extents) => {
            format!("{name}: {}, already good", in_extents(extents.count))
        }
        Defragmented::NoBetter { before, copy } => format!(
            "{name}: {}, left as it was: a copy would have {}, as the free space of the disk is in \
            pieces",
            in_extents(before.count),
            count(copy.count)
        ),
    }
}
