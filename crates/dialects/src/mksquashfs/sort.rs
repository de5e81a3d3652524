//! The order of file data by sort files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use coldpress_layout::{Dialect, NodeId, Plan, SortEntry, SortFile};
use coldpress_report::text::quoted;
use coldpress_writer::{Input, Source};

use super::request::Request;
use super::settle::Settled;

/// The order of the data that is asked for; the default one without sort files.
///
/// # Errors
///
/// If a sort file cannot be read, or the line that breaks a rule.
pub fn plan(request: &Request, settled: &Settled, source: &Source) -> anyhow::Result<Plan> {
    if request.sort.is_empty() {
        return Ok(Plan::default());
    }
    let mut entries = Vec::new();
    for path in &request.sort {
        let text = fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
        let file = SortFile::parse(&text, Dialect::Mksquashfs);
        let file = file.with_context(|| format!("cannot use {}", quoted(path)))?;
        entries.extend(file.entries);
    }
    let places = places(&settled.inputs, source);
    let directories: Vec<PathBuf> = places.iter().map(|(path, _)| path.clone()).collect();
    let nodes: Vec<NodeId> = places.iter().map(|(_, node)| *node).collect();
    let sort = SortFile {
        dialect: Dialect::Mksquashfs,
        entries: entries
            .into_iter()
            .map(|entry| below_a_source(entry, &directories))
            .collect(),
    };
    let options = &settled.options;
    Ok(sort.plan(&source.tree, &nodes, options.block_size, options.tails))
}

/// The source directories and where they stand in the image.
fn places(inputs: &[Input], source: &Source) -> Vec<(PathBuf, NodeId)> {
    let place = |input: &Input| match input {
        Input::Directory(path) => Some((path.clone(), NodeId::ROOT)),
        Input::Entry { path, name } => {
            let at = [b"/", name.as_slice()].concat();
            Some((path.clone(), source.tree.find(&at)?))
        }
        _ => None,
    };
    inputs.iter().filter_map(place).collect()
}

/// An entry whose path begins with `/`, `./` or `../` is one of the file system, any other one of
/// the sources.
fn below_a_source(entry: SortEntry, sources: &[PathBuf]) -> SortEntry {
    let is_own = [&b"/"[..], b"./", b"../"]
        .iter()
        .any(|start| entry.path.starts_with(start));
    if !is_own {
        return entry;
    }
    let path = Path::new(OsStr::from_bytes(&entry.path)).canonicalize();
    let below = path.ok().and_then(|path| {
        let roots = sources
            .iter()
            .filter_map(|source| source.canonicalize().ok());
        let mut below =
            roots.filter_map(|root| path.strip_prefix(root).ok().map(Path::to_path_buf));
        below.next()
    });
    match below {
        Some(path) => SortEntry {
            path: path.into_os_string().into_encoded_bytes(),
            ..entry
        },
        None => entry,
    }
}
