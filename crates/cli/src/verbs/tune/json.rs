//! A choice as JSON.

use coldpress_format::Compressor;
use coldpress_host::Readahead;
use coldpress_tune::{Equivalent, OrderBy, Row};
use serde::Serialize;

use super::{Advice, why};
use crate::losses::Loss;

/// Everything that was predicted, and the choice.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    source: String,
    start: String,
    device: String,
    is_calibrated: bool,
    /// Several, or the only one, with what the recommended image does there.
    devices: Vec<Loss>,
    images: Vec<ImageRow>,
    /// The place of the recommended one in `images`.
    recommended: usize,
    /// Those to choose from.
    readaheads: Vec<String>,
    /// The one that the recommended image is to have: that with which it starts soonest, or `kernel`
    /// if that is hardly slower.
    recommended_readahead: Option<String>,
    why: Vec<String>,
    build: Option<String>,
    equivalents: Vec<EquivalentRow>,
}

/// An image that could be built.
#[derive(Debug, Serialize)]
struct ImageRow {
    name: String,
    /// The tool whose default it is.
    default_of: Option<&'static str>,
    compressor: Option<&'static str>,
    level: Option<i32>,
    /// Of xz, those that are tried for each block.
    filters: Option<String>,
    block_size_bytes: u32,
    tails: String,
    group: String,
    order: &'static str,
    raw_data: bool,
    hot_blocks_stored: bool,
    is_front: bool,
    /// The readahead with which it starts soonest, of those to choose from.
    readahead: Option<String>,
    predicted_s: f64,
    predicted_device_s: Vec<f64>,
    /// With each of `readaheads`.
    predicted_readahead_s: Vec<f64>,
    predicted_size_bytes: u64,
    predicted_size_error_bytes: u64,
    predicted_build_s: f64,
    predicted_memory_bytes: u64,
    predicted_page_cache_bytes: u64,
    predicted_reads: u64,
    predicted_read_bytes: u64,
    predicted_decompressed_bytes: u64,
}

/// How a tool is told to build it.
#[derive(Debug, Serialize)]
struct EquivalentRow {
    tool: &'static str,
    lines: Vec<String>,
    lacks: Vec<String>,
}

impl Document {
    pub(super) fn new(advice: &Advice) -> Self {
        let tuned = advice.tuned;
        let rows = tuned.rows.iter().zip(&tuned.is_front);
        let readaheads = advice.readaheads;
        Self {
            source: advice.args.source.display().to_string(),
            start: advice.start_text(),
            device: advice.conditions.population.name.clone(),
            is_calibrated: advice.conditions.population.main().is_calibrated,
            devices: advice.losses(),
            images: rows
                .map(|(row, is_front)| image(row, *is_front, readaheads))
                .collect(),
            recommended: tuned.chosen,
            readaheads: readaheads.iter().map(ToString::to_string).collect(),
            recommended_readahead: tuned.readahead(readaheads).map(|it| it.to_string()),
            why: why::why(advice),
            build: advice.build_line(),
            equivalents: advice.equivalents().into_iter().map(equivalent).collect(),
        }
    }
}

fn image(row: &Row, is_front: bool, readaheads: &[Readahead]) -> ImageRow {
    let candidate = &row.candidate;
    let outcome = &row.outcome;
    ImageRow {
        name: candidate.to_string(),
        default_of: row.tool,
        compressor: candidate.compressor().map(Compressor::name),
        level: candidate.compression.map(|settings| settings.level),
        filters: (!candidate.filters().is_empty()).then(|| candidate.filters().to_string()),
        block_size_bytes: candidate.block_size.bytes(),
        tails: format!("{:?}", candidate.tails).to_lowercase(),
        group: format!("{:?}", candidate.group).to_lowercase(),
        order: match candidate.order {
            OrderBy::Tree => "tree",
            OrderBy::SortFile => "sort-file",
            OrderBy::Plan => "plan",
        },
        raw_data: candidate.uncompressed.data,
        hot_blocks_stored: candidate.spends,
        is_front,
        readahead: readaheads.get(outcome.readahead).map(ToString::to_string),
        predicted_s: outcome.start_s,
        predicted_device_s: outcome.device_starts_s.clone(),
        predicted_readahead_s: outcome.readahead_starts_s.clone(),
        predicted_size_bytes: outcome.size_bytes,
        predicted_size_error_bytes: outcome.size_error_bytes,
        predicted_build_s: outcome.build_s,
        predicted_memory_bytes: outcome.memory_bytes,
        predicted_page_cache_bytes: outcome.page_cache_bytes,
        predicted_reads: outcome.reads,
        predicted_read_bytes: outcome.read_bytes,
        predicted_decompressed_bytes: outcome.decompressed_bytes,
    }
}

fn equivalent(equivalent: Equivalent) -> EquivalentRow {
    let Equivalent { tool, lines, lacks } = equivalent;
    EquivalentRow { tool, lines, lacks }
}
