//! The start that an image is to be fast for: what it touches, as a plan and as a demand.

use std::path::Path;

use anyhow::Context as _;
use coldpress_build::Source;
use coldpress_cost::Demand;
use coldpress_explain::executable_pages;
use coldpress_format::BlockSize;
use coldpress_layout::Plan;
use coldpress_trace::{Access, Profile, Trace};
use coldpress_tune::FileCode;

use crate::text::quoted;

/// Program headers stand right behind the header of a file.
const HEADERS_BYTES: usize = 4096;

/// A start, of which there is one recording or what several have in common.
#[derive(Debug)]
pub(crate) enum Start {
    Trace(Trace),
    /// With the paths that the source has.
    Profile(Profile),
}

impl Start {
    /// Reads a trace.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the line that breaks a rule.
    pub(crate) fn read_trace(path: &Path) -> anyhow::Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
        let trace = Trace::parse(&bytes);
        let trace = trace.with_context(|| format!("cannot use {}", quoted(path)))?;
        Ok(Self::Trace(trace))
    }

    /// The plan of an image of this block size.
    pub(crate) fn plan(&self, source: &Source, block_size: BlockSize) -> Plan {
        let tree = &source.tree;
        match self {
            Self::Trace(trace) => coldpress_layout::plan(tree, &trace.working_set(), block_size),
            Self::Profile(profile) => coldpress_layout::plan_profile(tree, profile, block_size),
        }
    }

    /// How long the recording took, in s, if that is known.
    pub(crate) fn wall_s(&self) -> Option<f64> {
        let Self::Trace(trace) = self else {
            return None;
        };
        let wall_us = trace.header.find("wall-us")?.parse::<f64>().ok()?;
        Some(wall_us / 1e6)
    }

    /// What it asks a reader of an image for.
    ///
    /// * `compute_s`: what the program takes when it waits for nothing.
    pub(crate) fn demand(&self, compute_s: f64) -> Demand {
        match self {
            Self::Trace(trace) => Demand::of_trace(trace, compute_s),
            Self::Profile(profile) => Demand::of_profile(profile, 0.0, compute_s),
        }
    }
}

/// The pages of code of the programs and libraries that a start maps. What is no program, or cannot be
/// read, has none.
pub(crate) fn code(source: &Source, demand: &Demand) -> Vec<FileCode> {
    let mut is_mapped = vec![false; demand.paths.len()];
    for step in &demand.steps {
        let maps = matches!(step.access, Access::Fault { .. } | Access::Map { .. });
        if let (true, Some(is_mapped)) = (maps, is_mapped.get_mut(step.path)) {
            *is_mapped = true;
        }
    }
    let mapped = demand.paths.iter().zip(is_mapped);
    let mapped = mapped.filter_map(|(path, is_mapped)| is_mapped.then_some(path));
    mapped
        .filter_map(|path| {
            let node = source.tree.find(path)?;
            let headers = source.beginning(node, HEADERS_BYTES).ok()?;
            Some((path.clone(), executable_pages(&headers)?))
        })
        .collect()
}
