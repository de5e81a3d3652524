//! The sizes of the files of a directory.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::Context as _;
use coldpress_bench::FileSizes;
use coldpress_report::text::quoted;

/// Counts the regular files of a tree by size, on its file system, and each once however many names
/// it has.
///
/// # Errors
///
/// If a directory cannot be read.
pub(super) fn file_sizes(directory: &Path) -> anyhow::Result<FileSizes> {
    let cannot_read = |path: &Path| format!("cannot read {}", quoted(path));
    let top = fs::metadata(directory).with_context(|| cannot_read(directory))?;
    let mut sizes = FileSizes::default();
    let mut linked = BTreeSet::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = fs::read_dir(&directory).with_context(|| cannot_read(&directory))?;
        for entry in entries {
            let entry = entry.with_context(|| cannot_read(&directory))?;
            let found = entry
                .metadata()
                .with_context(|| cannot_read(&entry.path()))?;
            if found.is_dir() && found.dev() == top.dev() {
                pending.push(entry.path());
            } else if found.is_file() && (found.nlink() == 1 || linked.insert(found.ino())) {
                sizes.add(found.len());
            }
        }
    }
    Ok(sizes)
}
