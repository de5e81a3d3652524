//! Sort files beside the sources that they are for.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use coldpress_layout::{Dialect, NodeId, SortFile, SortFlag, Tree};
use coldpress_trace::import::{Imported, PATH_BYTES_MAX};
use coldpress_writer::Input;

/// The directories of the tree in which mksquashfs would look for the paths of its sort file.
pub fn sources(tree: &Tree, inputs: &[Input]) -> Vec<NodeId> {
    let source = |input: &Input| match input {
        Input::Entry { name, .. } => tree.find(&[b"/", name.as_slice()].concat()),
        _ => Some(NodeId::ROOT),
    };
    let mut sources: Vec<_> = inputs.iter().filter_map(source).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// Makes paths of mksquashfs that begin with `/`, `./` or `../`, which name files of this machine,
/// relative to the source in which they lie.
pub fn bring_inside(file: &mut SortFile, inputs: &[Input]) {
    if file.dialect != Dialect::Mksquashfs {
        return;
    }
    let directory = |input: &Input| match input {
        Input::Directory(path) | Input::Entry { path, .. } => path.canonicalize().ok(),
        _ => None,
    };
    let directories: Vec<PathBuf> = inputs.iter().filter_map(directory).collect();
    for entry in &mut file.entries {
        let path = &entry.path;
        if ![&b"/"[..], b"./", b"../"]
            .iter()
            .any(|begin| path.starts_with(begin))
        {
            continue;
        }
        let inside = |directory: &PathBuf| {
            let path = resolved(Path::new(OsStr::from_bytes(path)))?;
            Some(
                path.strip_prefix(directory)
                    .ok()?
                    .as_os_str()
                    .as_bytes()
                    .to_vec(),
            )
        };
        if let Some(inside) = directories.iter().find_map(inside) {
            entry.path = inside;
        }
    }
}

/// A path without symbolic links but for the last name, which mksquashfs does not follow.
fn resolved(path: &Path) -> Option<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Some(parent.canonicalize().ok()?.join(name)),
        _ => path.canonicalize().ok(),
    }
}

/// The files that sort files name, the first in the image first, as a recording.
///
/// * `texts`: the files, which are parts of one.
pub fn used_files<'a>(texts: impl Iterator<Item = &'a [u8]>, dialect: Dialect) -> Imported {
    let texts: Vec<&[u8]> = texts.collect();
    let (mut entries, mut unread) = (Vec::new(), Vec::new());
    for (text, part) in texts.iter().zip(0..) {
        let (file, findings) = SortFile::parse_all(text, dialect);
        let wrong = findings.iter().map(|finding| finding.line);
        unread.extend(wrong.map(|line| (part, line, "not a line of a sort file")));
        for entry in file.entries {
            let is_pattern = |flag| matches!(flag, SortFlag::Glob | SortFlag::GlobNoPath);
            if entry.flags.iter().copied().any(is_pattern) {
                unread.push((
                    part,
                    entry.line,
                    "a pattern; `plan convert` finds what it matches",
                ));
            } else if entry.path.len() >= PATH_BYTES_MAX {
                unread.push((
                    part,
                    entry.line,
                    "the path is longer than the kernel allows",
                ));
            } else {
                entries.push(entry);
            }
        }
    }
    match dialect {
        Dialect::Mksquashfs => entries.sort_by_key(|entry| Reverse(entry.priority)),
        Dialect::Gensquashfs => entries.sort_by_key(|entry| entry.priority),
    }
    unread.sort_unstable_by_key(|(part, line, _)| (*part, *line));
    let mut imported = Imported::of_files(entries.into_iter().map(|entry| entry.path));
    for (part, number, why) in unread {
        let text = texts.get(part).copied();
        let at = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let lines = text.unwrap_or_default().split(|&byte| byte == b'\n');
        imported.cannot_read(part, number, why, || {
            lines.clone().nth(at).unwrap_or_default()
        });
    }
    imported
}
