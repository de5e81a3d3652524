//! How much of a profile a source still has.

mod moves;

use std::io::{self, Write};

use coldpress_layout::{How, Matched, Matching};
use coldpress_report::text::{escaped, fields, plural};
use coldpress_report::units;
use coldpress_trace::PAGE_SIZE_BYTES;
use serde::Serialize;

use moves::{Move, moves};

/// How many moves are printed; all of what is stale is.
const MOVES_MAX: usize = 20;

/// How much of a profile a source still has, as it serializes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileCheck {
    /// The file of the profile, escaped.
    pub profile: String,
    /// What it is compared with, escaped.
    pub source: String,
    /// Recordings in the profile.
    pub recordings: u32,
    paths: u64,
    found_by_path: usize,
    found_by_name: usize,
    found_by_content: usize,
    stale_paths: u64,
    touched_bytes: u64,
    stale_bytes: u64,
    /// Files of another length than the profile knows.
    resized_files: usize,
    stale_path_percent: f64,
    stale_byte_percent: f64,
    /// The larger one of both.
    staleness_percent: f64,
    /// The staleness that is allowed, if there is a limit.
    pub fail_stale_percent: Option<f64>,
    /// Whether more is stale than allowed.
    pub too_stale: bool,
    /// Found elsewhere than by path.
    moved: Vec<Move>,
    stale: Vec<StalePath>,
}

/// Something that is stale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct StalePath {
    /// With escapes.
    path: String,
    stale_bytes: u64,
    reason: &'static str,
}

impl ProfileCheck {
    /// Counts what was found and where. What only the caller knows is empty.
    pub fn new(matching: &Matching) -> Self {
        let staleness = matching.staleness();
        let found = |how: How| {
            let paths = matching.paths.iter();
            let found = paths.filter_map(|path| path.found.as_ref());
            found.filter(|(found, _)| *found == how).count()
        };
        let resized = matching.paths.iter().filter(|path| path.is_resized);
        Self {
            profile: String::new(),
            source: String::new(),
            recordings: 0,
            paths: staleness.paths,
            found_by_path: found(How::Path),
            found_by_name: found(How::Name),
            found_by_content: found(How::Content),
            stale_paths: staleness.stale_paths,
            touched_bytes: staleness.bytes,
            stale_bytes: staleness.stale_bytes,
            resized_files: resized.count(),
            stale_path_percent: staleness.path_percent(),
            stale_byte_percent: staleness.byte_percent(),
            staleness_percent: staleness.percent(),
            fail_stale_percent: None,
            too_stale: false,
            moved: moves(matching),
            stale: matching.stale().into_iter().map(stale_path).collect(),
        }
    }

    /// Writes sums, the first moves, and all that is stale.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self {
            found_by_path,
            found_by_name,
            found_by_content,
            stale_paths,
            stale_path_percent,
            stale_byte_percent,
            ..
        } = self;
        let [touched, stale] = [self.touched_bytes, self.stale_bytes].map(units::bytes);
        let rows = [
            (
                "paths",
                format!(
                    "{}: {found_by_path} by path, {found_by_name} by name, {found_by_content} by \
                 content, {stale_paths} stale ({stale_path_percent:.1} %)",
                    self.paths
                ),
            ),
            (
                "bytes",
                format!("{touched} touched, {stale} stale ({stale_byte_percent:.1} %)"),
            ),
            (
                "resized",
                plural(self.resized_files as u64, "file", "files"),
            ),
            ("staleness", format!("{:.1} %", self.staleness_percent)),
        ];
        write!(out, "{}", fields(&rows))?;
        if !self.moved.is_empty() {
            writeln!(out, "\nfound elsewhere:")?;
        }
        for Move {
            from,
            to,
            by,
            paths,
        } in self.moved.iter().take(MOVES_MAX)
        {
            let paths = plural(*paths, "path", "paths");
            writeln!(out, "  {from}: {to} (by {by}, {paths})")?;
        }
        if let Some(more @ 1..) = self.moved.len().checked_sub(MOVES_MAX) {
            writeln!(out, "  and {more} more, which --json lists")?;
        }
        if !self.stale.is_empty() {
            writeln!(out, "\nstale:")?;
        }
        for row in &self.stale {
            let bytes = units::bytes(row.stale_bytes);
            writeln!(out, "  {}: {}, {bytes}", row.path, row.reason)?;
        }
        Ok(())
    }
}

fn stale_path(matched: &Matched) -> StalePath {
    StalePath {
        path: escaped(&matched.path),
        stale_bytes: matched.stale_pages.saturating_mul(PAGE_SIZE_BYTES),
        reason: if matched.found.is_some() {
            "shorter now"
        } else {
            "not found"
        },
    }
}
