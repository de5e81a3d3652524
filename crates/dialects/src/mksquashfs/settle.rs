//! A request in the terms of the crates that write images.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use anyhow::Context as _;
use coldpress_host::memory;
use coldpress_layout::Group;
use coldpress_report::text::quoted;
use coldpress_writer::{
    Exclusions, Input, Matching, MetadataLayout, Mounts, Options, Overrides, Owners, Rules,
    Selection, SourceOptions, SyntheticRoot, Times, Uncompressed, Xattrs, exclude_file_lines,
};

use super::contradictions::SettledTimes;
use super::request::{Boundary, Excludes, Patterns, Request, Time};
use super::{definitions, inputs};
use crate::Warn;

/// What the steps of building need.
#[derive(Debug)]
pub struct Settled {
    /// What the image is built from.
    pub inputs: Vec<Input>,
    /// What of it goes into the image.
    pub source_options: SourceOptions,
    /// How it is written, but for the time of the image, which may depend on the tree.
    pub options: Options,
}

/// Settles a request.
///
/// * `now_s`: the time, seconds since 1970.
/// * `taken_names`: those in the root directory that sources cannot have.
/// * `warn`: takes what the user may not expect.
///
/// # Errors
///
/// If a file that it names cannot be read, or a pattern, mode or definition means nothing.
pub fn settle(
    request: &Request,
    times: SettledTimes,
    now_s: u32,
    taken_names: BTreeSet<Vec<u8>>,
    warn: Warn<'_>,
) -> anyhow::Result<Settled> {
    let threads = coldpress_host::threads(request.work.threads);
    let inputs = inputs::inputs(request, &taken_names, warn)?;
    let source_options = SourceOptions {
        selection: selection(request, &inputs, warn)?,
        overrides: overrides(request, times)?,
        latest_time_s: times.latest_s,
        xattrs: request.xattrs.stored,
        hard_links: request.hard_links,
        threads,
        pseudo: definitions::pseudo(request)?.map(Arc::new),
        synthetic_root: synthetic_root(times, now_s),
        taken_names,
        ..SourceOptions::default()
    };
    Ok(Settled {
        inputs,
        source_options,
        options: options(request, threads)?,
    })
}

pub(super) fn options(request: &Request, threads: NonZeroUsize) -> anyhow::Result<Options> {
    let raw = request.uncompressed;
    Ok(Options {
        compression: Some(request.compression.settings(request.block_size)?),
        uncompressed: Uncompressed {
            inodes: raw.inodes,
            ids: raw.ids || raw.inodes,
            data: raw.data,
            fragments: raw.fragments,
            xattrs: raw.xattrs,
        },
        block_size: request.block_size,
        threads,
        memory_bytes: match request.work.memory {
            None => memory::default_bytes(),
            Some(limit) => limit.bytes()?,
        },
        modification_time_s: 0,
        tails: request.tails(),
        group: Group::None,
        exportable: request.exportable,
        metadata: MetadataLayout::Dense,
        offset_bytes: request.offset_bytes,
        is_padded: request.pad,
        deduplicated: request.duplicates,
        without_xattrs: !request.xattrs.stored,
    })
}

fn selection(request: &Request, inputs: &[Input], warn: Warn<'_>) -> anyhow::Result<Selection> {
    let mut excludes = Vec::new();
    for exclude in &request.excludes {
        match exclude {
            Excludes::One(text) => excludes.push(text.as_bytes().to_vec()),
            Excludes::File(path) => {
                let text =
                    fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
                excludes.extend(exclude_file_lines(&text));
            }
        }
    }
    let exclusions = match request.patterns {
        Patterns::Paths => {
            let (exclusions, failures) = Exclusions::by_path(&request.sources, &excludes);
            for (path, error) in failures {
                warn(&format!("{} is not excluded: {error}", quoted(&path)));
            }
            exclusions
        }
        Patterns::Wildcards => Exclusions::by_pattern(&excludes, Matching::Wildcards)?,
        Patterns::Regex => Exclusions::by_pattern(&excludes, Matching::Regex)?,
    };
    let mut exclude = Rules::default();
    for place in inputs::places_of(&request.destination, inputs) {
        exclude.add(&place)?;
    }
    Ok(Selection {
        exclusions,
        exclude,
        mounts: match request.boundary {
            Boundary::None => Mounts::Enter,
            Boundary::Empty => Mounts::Empty,
            Boundary::Absent => Mounts::Leave,
        },
        max_depth: request.max_depth,
        ..Selection::default()
    })
}

/// A root directory that no source has is open to all and belongs to the caller.
fn synthetic_root(times: SettledTimes, now_s: u32) -> SyntheticRoot {
    let settled = [times.image, times.inodes, times.root];
    let is_reproducible = settled.contains(&Some(Time::Newest));
    SyntheticRoot {
        mode: 0o777,
        uid: rustix::process::getuid().as_raw(),
        gid: rustix::process::getgid().as_raw(),
        // An empty tree has no newest time.
        empty_time_s: if is_reproducible { 0 } else { now_s },
        replaces_archive_root: true,
    }
}

fn overrides(request: &Request, times: SettledTimes) -> anyhow::Result<Overrides> {
    let asked = &request.owners;
    let owners = Owners {
        uid: asked.uid,
        gid: asked.gid,
        root_uid: asked.root_uid,
        root_gid: asked.root_gid,
        offset: asked.offset,
    };
    let mut xattrs = Xattrs::default();
    if let Some(pattern) = &request.xattrs.exclude {
        xattrs
            .exclude(pattern)
            .context("cannot use `-xattrs-exclude`")?;
    }
    if let Some(pattern) = &request.xattrs.include {
        xattrs
            .include(pattern)
            .context("cannot use `-xattrs-include`")?;
    }
    for definition in &request.xattrs.add {
        xattrs
            .add(definition.as_bytes())
            .context("cannot use `-xattrs-add`")?;
    }
    Ok(Overrides {
        owners,
        file_mode: asked.file_mode.clone(),
        directory_mode: asked.directory_mode.clone(),
        root_mode: asked.root_mode.clone(),
        times: Times {
            image: times.image,
            inodes: times.inodes,
            root: times.root,
        },
        xattrs,
        contexts: None,
        pseudo_wins: request.pseudo_override,
    })
}
