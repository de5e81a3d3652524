//! What there is to say of files.

use std::path::Path;

use coldpress_host::{Extents, Seeks};
use coldpress_report::text::{escaped_path, plural};
use coldpress_report::units::{bytes, count};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

const COLUMNS: [&str; 5] = ["extents", "mean", "size", "holes", "path"];
const COLUMNS_OF_START: [&str; 9] = [
    "touched", "on disk", "seeks", "read", "extents", "mean", "size", "holes", "path",
];

/// All that was found, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    files: Vec<Row>,
    total: Total,
    /// With a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<Start>,
}

/// A file.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// With escapes.
    path: String,
    size_bytes: u64,
    extents: u64,
    mean_extent_bytes: u64,
    extents_beyond_one: u64,
    allocated_bytes: u64,
    hole_bytes: u64,
    unwritten_bytes: u64,
    shared_bytes: u64,
    compressed_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<InStart>,
}

/// What a start does with a file.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct InStart {
    /// Place among the files that were touched, by their first access, from 1.
    pub(crate) access_rank: u64,
    /// Place among them on the disk; `null` if it has no place there.
    pub(crate) disk_rank: Option<u64>,
    pub(crate) seeks: u64,
    pub(crate) read_bytes: u64,
}

/// Of all files, those that are not listed among them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Total {
    files: u64,
    size_bytes: u64,
    extents: u64,
    extents_beyond_one: u64,
    hole_bytes: u64,
}

/// Of all files that a start touches.
#[derive(Clone, Copy, Debug, Serialize)]
struct Start {
    read_bytes: u64,
    seeks: u64,
    seeks_unfragmented: u64,
    distance_bytes: u64,
    /// Files that no root has.
    missing_files: u64,
}

impl Report {
    /// Those of a start: in its order. Others: those of most extents first.
    pub(crate) fn new(files: Vec<Row>) -> Self {
        let mut total = Total::default();
        for row in &files {
            total.files += 1;
            total.size_bytes = total.size_bytes.saturating_add(row.size_bytes);
            total.extents += row.extents;
            total.extents_beyond_one += row.extents_beyond_one;
            total.hole_bytes = total.hole_bytes.saturating_add(row.hole_bytes);
        }
        Self {
            files,
            total,
            start: None,
        }
    }

    /// Adds what the whole start does.
    pub(crate) fn with_start(mut self, seeks: &Seeks, missing_files: u64) -> Self {
        self.start = Some(Start {
            read_bytes: seeks.read_bytes,
            seeks: seeks.count,
            seeks_unfragmented: seeks.count_unfragmented,
            distance_bytes: seeks.distance_bytes,
            missing_files,
        });
        self
    }

    /// Keeps only the first files.
    pub fn truncate(&mut self, len: usize) {
        self.files.truncate(len);
    }

    /// A row for each file, in columns; empty without any.
    pub fn table(&self) -> String {
        if self.files.is_empty() {
            return String::new();
        }
        let mut table = Table::new();
        let columns = self.columns();
        table
            .load_preset(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(columns);
        for row in &self.files {
            table.add_row(row.cells());
        }
        // All but the path are numbers.
        for column in table.column_iter_mut().take(columns.len() - 1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.trim_fmt()
    }

    fn columns(&self) -> &'static [&'static str] {
        match self.start {
            Some(_) => &COLUMNS_OF_START,
            None => &COLUMNS,
        }
    }

    /// What is to be said below the table.
    pub fn sentences(&self) -> Vec<String> {
        let Total {
            files,
            extents,
            extents_beyond_one,
            ..
        } = self.total;
        let mut sentences = vec![format!(
            "{} in {}, {} beyond one for each file",
            plural(files, "file", "files"),
            plural(extents, "extent", "extents"),
            count(extents_beyond_one)
        )];
        if let Some(start) = &self.start {
            sentences.push(format!(
                "the start reads {} with {} over {}; {} if each file were one extent",
                bytes(start.read_bytes),
                plural(start.seeks, "seek", "seeks"),
                bytes(start.distance_bytes),
                count(start.seeks_unfragmented)
            ));
        }
        sentences
    }
}

impl Row {
    pub(crate) fn new(path: &Path, extents: &Extents, start: Option<InStart>) -> Self {
        Self {
            path: escaped_path(path),
            size_bytes: extents.size_bytes,
            extents: extents.count,
            mean_extent_bytes: extents.mean_bytes(),
            extents_beyond_one: extents.beyond_one(),
            allocated_bytes: extents.allocated_bytes,
            hole_bytes: extents.hole_bytes,
            unwritten_bytes: extents.unwritten_bytes,
            shared_bytes: extents.shared_bytes,
            compressed_bytes: extents.encoded_bytes,
            start,
        }
    }

    /// By which rows are sorted without a start.
    pub(crate) fn fewest_extents_last(&self) -> (std::cmp::Reverse<u64>, &str) {
        (std::cmp::Reverse(self.extents), &self.path)
    }

    fn cells(&self) -> Vec<String> {
        let start = self.start.iter().flat_map(|start| {
            let place = start.disk_rank.map_or_else(|| "-".to_owned(), count);
            [
                count(start.access_rank),
                place,
                count(start.seeks),
                bytes(start.read_bytes),
            ]
        });
        let always = [
            count(self.extents),
            bytes(self.mean_extent_bytes),
            bytes(self.size_bytes),
            bytes(self.hole_bytes),
            self.path.clone(),
        ];
        start.chain(always).collect()
    }
}
