//! The start that an image is to be fast for: what it touches, as a plan and as a sequence.

use std::path::Path;

use anyhow::Context as _;
use coldpress_cost::{AccessSequence, Geometry, Medium, Reader, predict};
use coldpress_explain::executable_pages;
use coldpress_format::BlockSize;
use coldpress_layout::Plan;
use coldpress_report::text::quoted;
use coldpress_trace::{Access, Header, PAGE_SIZE_BYTES, Profile, Trace, WorkingSet};
use coldpress_tune::FileCode;
use coldpress_writer::Source;

use crate::target::Target;

/// Program headers stand right behind the header of a file.
const HEADERS_BYTES: usize = 4096;

/// A start, of which there is one recording or what several have in common.
#[derive(Debug)]
pub enum Start {
    /// Of one recording.
    Trace(Trace),
    /// Of several, with the paths that the source has.
    Profile(Profile),
}

impl Start {
    /// Reads a trace.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the line that breaks a rule.
    pub fn read_trace(path: &Path) -> anyhow::Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
        let trace = Trace::parse(&bytes);
        let trace = trace.with_context(|| format!("cannot use {}", quoted(path)))?;
        Ok(Self::Trace(trace))
    }

    /// What it touches.
    pub fn working_set(&self) -> WorkingSet {
        match self {
            Self::Trace(trace) => trace.working_set(),
            Self::Profile(profile) => profile.working_set(0.0),
        }
    }

    /// The plan of an image of this block size.
    pub fn plan(&self, source: &Source, block_size: BlockSize) -> Plan {
        let of_trace;
        let profile = match self {
            Self::Trace(trace) => {
                of_trace = Profile::from(trace);
                &of_trace
            }
            Self::Profile(profile) => profile,
        };
        coldpress_layout::plan(&source.tree, profile, block_size)
    }

    /// What the program takes itself, in s (equation 9 of docs/cost-model.md); `None` if the
    /// recording does not tell how long it took.
    ///
    /// * `source`: what was recorded, or what is like it.
    pub fn program_s(&self, source: &Source, target: &Target) -> Option<f64> {
        let Self::Trace(trace) = self else {
            return None;
        };
        let wall_s = f64::from(trace.header.find("wall-us")?.parse::<u32>().ok()?) / 1e6;
        if !is_cold(&trace.header) {
            return Some(wall_s);
        }
        let sequence = self.sequence(0.0);
        let mut geometry = Geometry::recorded(&source.tree, block_size(&trace.header)).ok()?;
        for (path, pages) in code(source, &sequence) {
            geometry.set_executable(&path, pages);
        }
        let (medium, reader) = recorded_by(&trace.header, target);
        let reading = predict(&geometry, &sequence, &medium, &target.machine, &reader);
        Some((wall_s - reading.time_s).max(0.0))
    }

    /// What it asks a reader of an image for.
    ///
    /// * `compute_s`: what the program takes when it waits for nothing.
    pub fn sequence(&self, compute_s: f64) -> AccessSequence {
        match self {
            Self::Trace(trace) => AccessSequence::of_trace(trace, compute_s),
            Self::Profile(profile) => AccessSequence::of_profile(profile, 0.0, compute_s),
        }
    }
}

/// Whether the recorded start had to read; unless a recorder says otherwise, it had.
fn is_cold(header: &Header) -> bool {
    header
        .find("cold")
        .is_none_or(|cold| !cold.starts_with("no"))
}

/// What the blocks of the recorded image held.
fn block_size(header: &Header) -> BlockSize {
    let bytes = header.find("block-size").and_then(|text| text.parse().ok());
    let known = bytes.and_then(|bytes| BlockSize::new(bytes).ok());
    known.unwrap_or(BlockSize::DEFAULT)
}

/// From what the recorded image was read, and who read it: the kernel, or a mount in user space
/// that is asked for each page alone.
fn recorded_by(header: &Header, target: &Target) -> (Medium, Reader) {
    let is_fuse = header
        .find("recorder")
        .is_some_and(|it| it.starts_with("fuse"));
    if !is_fuse {
        let kib = header.find("read-ahead-kib");
        let kib = kib.and_then(|text| text.parse::<u64>().ok());
        let medium = Medium {
            mounted_readahead_bytes: kib.map(|kib| kib.saturating_mul(1024)),
            ..target.disk
        };
        return (medium, target.kernel);
    }
    let medium = Medium {
        readahead_bytes: PAGE_SIZE_BYTES,
        ..target.disk
    };
    (medium, Reader::FUSE)
}

/// The pages of code of the programs and libraries that a start maps. What is no program, or cannot
/// be read, has none.
pub fn code(source: &Source, sequence: &AccessSequence) -> Vec<FileCode> {
    let mut is_mapped = vec![false; sequence.paths.len()];
    for step in &sequence.steps {
        let maps = matches!(step.access, Access::Fault { .. } | Access::Map { .. });
        if let (true, Some(is_mapped)) = (maps, is_mapped.get_mut(step.path)) {
            *is_mapped = true;
        }
    }
    let mapped = sequence.paths.iter().zip(is_mapped);
    let mapped = mapped.filter_map(|(path, is_mapped)| is_mapped.then_some(path));
    mapped
        .filter_map(|path| {
            let node = source.tree.find(path)?;
            let headers = source.beginning(node, HEADERS_BYTES).ok()?;
            Some((path.clone(), executable_pages(&headers)?))
        })
        .collect()
}
