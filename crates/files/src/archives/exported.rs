//! The entries that a start used, as lists for other tools.

use anyhow::Context as _;
use coldpress_archive::Archive;
use coldpress_report::text::quoted_bytes;
use coldpress_trace::WorkingSet;
use coldpress_writer::Source;

use super::in_source::ARCHIVE_BYTES_MAX;

/// Whose list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// Gecko's log: archive and entry.
    Jars,
    /// `@electron/asar pack --ordering`.
    Asars,
    /// `jlink --order-resources`.
    Modules,
}

/// The entries of the archives of a source, in the order in which the start used the archives, and
/// the entries of each.
///
/// # Errors
///
/// If the source cannot be read, or an archive is damaged.
///
/// # Cost
///
/// Each archive is in memory for a moment; those above 1 GiB are left out.
pub fn export(list: ListOf, set: &WorkingSet, source: &Source) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    for file in set
        .files
        .iter()
        .filter(|file| Archive::is_likely(&file.path))
    {
        let node = source.tree.find(&file.path);
        let size_bytes = node.and_then(|node| source.tree.file_size(node));
        let size_bytes = size_bytes.filter(|size| *size <= ARCHIVE_BYTES_MAX);
        let Some((node, len)) = node.zip(size_bytes) else {
            continue;
        };
        let bytes = source.beginning(node, usize::try_from(len).unwrap_or(usize::MAX))?;
        let archive = Archive::read(&bytes);
        let archive =
            archive.with_context(|| format!("cannot read {}", quoted_bytes(&file.path)))?;
        let Some(archive) = archive.filter(|archive| list.takes(archive)) else {
            continue;
        };
        let parts = archive.parts();
        for part in archive
            .used_by_pages(file)
            .into_iter()
            .filter_map(|place| parts.get(place))
        {
            if list == ListOf::Jars {
                out.extend(file.path.strip_prefix(b"/").unwrap_or(&file.path));
                out.push(b' ');
            }
            out.extend(part.name);
            out.push(b'\n');
        }
    }
    Ok(out)
}

impl ListOf {
    fn takes(self, archive: &Archive) -> bool {
        match archive {
            Archive::Zip(_) => self == Self::Jars,
            Archive::Asar(_) => self == Self::Asars,
            Archive::Jimage(_) => self == Self::Modules,
        }
    }
}
