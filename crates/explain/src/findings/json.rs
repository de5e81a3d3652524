//! What is told of a start, as JSON.

use coldpress_report::text::{escaped, escaped_path};
use serde::Serialize;

use super::{Findings, Origin, tables};
use crate::{
    AreaCost, BlockKind, ElfCost, EntryCost, FileCost, Reason, RepeatSum, RepeatedBlock, Totals,
};

/// All of it. Paths are escaped as `ls` prints them.
#[derive(Debug, Serialize)]
pub struct FindingsJson<'a> {
    image: String,
    /// Of a start.
    command: Option<&'a [String]>,
    device: &'a str,
    /// Of a start.
    read_ahead_kib: Option<u64>,
    /// The trace, if nothing was started.
    trace: Option<String>,
    kernel: &'a str,
    totals: &'a Totals,
    read_amplification: Option<f64>,
    decompression_amplification: Option<f64>,
    metadata: &'a [AreaCost],
    repeats: Repeats<'a>,
    files: Vec<File<'a>>,
    programs: Vec<Program<'a>>,
    archives: Vec<Entry<'a>>,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    archive: String,
    name: String,
    #[serde(flatten)]
    cost: &'a EntryCost,
}

#[derive(Debug, Serialize)]
struct Repeats<'a> {
    by_reason: &'a [RepeatSum],
    blocks: Vec<Block>,
}

#[derive(Debug, Serialize)]
struct Block {
    kind: &'static str,
    /// Of a data block.
    path: Option<String>,
    /// Of a data block in its file, of a fragment block in its table.
    index: Option<u64>,
    start_byte: u64,
    size_bytes: u64,
    times: u64,
    again_bytes: u64,
    reason: Reason,
}

#[derive(Debug, Serialize)]
struct File<'a> {
    path: String,
    #[serde(flatten)]
    cost: &'a FileCost,
    amplification: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Program<'a> {
    path: String,
    #[serde(flatten)]
    cost: Option<&'a ElfCost>,
    error: Option<String>,
}

impl<'a> FindingsJson<'a> {
    /// Everything, under the names of docs/explain.md.
    pub fn new(findings: &'a Findings) -> Self {
        let explanation = &findings.explanation;
        let file = |cost: &'a FileCost| File {
            path: tables::path(findings.map, cost.file),
            cost,
            amplification: cost.amplification(),
        };
        let programs = findings.programs.iter().map(|found| Program {
            path: tables::path(findings.map, found.file),
            cost: found.cost.as_ref().ok(),
            error: found.cost.as_ref().err().map(ToString::to_string),
        });
        let entry = |cost: &'a EntryCost| Entry {
            archive: tables::path(findings.map, cost.file),
            name: escaped(&cost.name),
            cost,
        };
        let blocks = explanation.repeats.blocks.iter();
        let (command, read_ahead_kib) = match findings.origin {
            Origin::Start {
                words,
                read_ahead_kib,
                ..
            } => (Some(words.as_slice()), Some(*read_ahead_kib)),
            Origin::Trace { .. } => (None, None),
        };
        Self {
            image: escaped_path(findings.image),
            command,
            device: findings.device,
            read_ahead_kib,
            trace: findings.trace.map(escaped_path),
            kernel: &findings.kernel,
            totals: &explanation.totals,
            read_amplification: explanation.totals.read_amplification(),
            decompression_amplification: explanation.totals.decompression_amplification(),
            metadata: &explanation.metadata,
            repeats: Repeats {
                by_reason: &explanation.repeats.by_reason,
                blocks: blocks.filter_map(|found| block(findings, found)).collect(),
            },
            files: explanation.files.iter().map(file).collect(),
            programs: programs.collect(),
            archives: findings.archives.iter().map(entry).collect(),
        }
    }
}

fn block(findings: &Findings, found: &RepeatedBlock) -> Option<Block> {
    let block = findings.map.blocks().get(found.block)?;
    let (kind, file, index) = match block.kind {
        BlockKind::Data { file, index } => ("data block", Some(file), Some(index)),
        BlockKind::Fragment(index) => ("fragment block", None, Some(index.into())),
        BlockKind::Metadata(area) => (area.name(), None, None),
    };
    Some(Block {
        kind,
        path: file.map(|file| tables::path(findings.map, file)),
        index,
        start_byte: block.start,
        size_bytes: block.size_bytes,
        times: found.times,
        again_bytes: found.again_bytes,
        reason: found.reason,
    })
}
