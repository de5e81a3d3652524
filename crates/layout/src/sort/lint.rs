//! What is wrong with a sort file or a plan: entries that do nothing, or not what they seem to do.

use std::collections::{HashMap, HashSet};
use std::fmt;

use coldpress_trace::PathText;

use super::locate::{Located, locate};
use super::rank::Matcher;
use super::{Dialect, SortEntry, SortFile};
use crate::error::SortRule;
use crate::tree::{Kind, NodeId, Tree};
use coldpress_glob::Glob;

/// A line, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line, counted from 1.
    pub line: u64,
    /// The path of its entry; empty if the line could not be read.
    pub path: Vec<u8>,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What can be wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The tool would refuse the line.
    #[error("{0}")]
    Line(SortRule),
    /// There is no such file.
    #[error("matches nothing")]
    Unmatched,
    /// The path names a file of the machine that builds.
    #[error("leads out of the source; write it relative to the source directory")]
    Outside,
    /// There are several such files.
    #[error("is in several sources; mksquashfs refuses the sort file")]
    Ambiguous,
    /// Only regular files have data.
    #[error("is {0}, which has no data to place")]
    NoData(&'static str),
    /// gensquashfs compares names of files.
    #[error("is a directory, but gensquashfs matches files; write `[glob_no_path]` and add `/*`")]
    Directory,
    /// An entry for the same files says the same.
    #[error("repeats line {line}")]
    Repeated {
        /// The other entry.
        line: u64,
    },
    /// An entry for the same files says something else, and counts.
    #[error("has another priority or flags in line {line}, which counts")]
    Contradicted {
        /// The other entry.
        line: u64,
    },
    /// Only directories have listings.
    #[error("is not a directory, so it has no listing to place")]
    NoDirectory,
    /// Every file that the pattern matches has an entry before.
    #[error("matches only what earlier lines match, first line {line}")]
    Shadowed {
        /// The first of those entries.
        line: u64,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.flaw {
            Flaw::Line(rule) => write!(formatter, "line {}: {rule}", self.line),
            flaw if self.path.is_empty() => {
                write!(formatter, "line {}: the root {flaw}", self.line)
            }
            flaw => write!(
                formatter,
                "line {}: `{}` {flaw}",
                self.line,
                PathText(&self.path)
            ),
        }
    }
}

impl SortFile {
    /// What is wrong with the entries, for a tree; by ascending place, each entry at most once.
    ///
    /// * `sources`: as in [`SortFile::plan`].
    ///
    /// # Cost
    ///
    /// O(n) in tree and entries; with gensquashfs's patterns, each is matched with each file.
    pub fn lint(&self, tree: &Tree, sources: &[NodeId]) -> Vec<Finding> {
        let flaws = match self.dialect {
            Dialect::Mksquashfs => self.mksquashfs_flaws(tree, sources),
            Dialect::Gensquashfs => self.gensquashfs_flaws(tree),
        };
        let found = self.entries.iter().zip(flaws);
        let found = found.filter_map(|(entry, flaw)| {
            Some(Finding {
                line: entry.line,
                path: entry.path.clone(),
                flaw: flaw?,
            })
        });
        found.collect()
    }

    fn mksquashfs_flaws(&self, tree: &Tree, sources: &[NodeId]) -> Vec<Option<Flaw>> {
        let has_data = has_data(tree);
        // The last entry counts, so the earlier ones are at fault.
        let mut later: HashMap<NodeId, &SortEntry> = HashMap::new();
        let mut flaws: Vec<_> = self
            .entries
            .iter()
            .rev()
            .map(|entry| match locate(tree, sources, &entry.path) {
                Located::Missing => Some(Flaw::Unmatched),
                Located::Outside => Some(Flaw::Outside),
                Located::Ambiguous => Some(Flaw::Ambiguous),
                Located::Node(id) if !has_data[id.index()] => Some(no_data(tree, id)),
                Located::Node(id) => {
                    let other = *later.entry(id).or_insert(entry);
                    (!std::ptr::eq(other, entry)).then(|| clash(entry, other))
                }
            })
            .collect();
        flaws.reverse();
        flaws
    }

    fn gensquashfs_flaws(&self, tree: &Tree) -> Vec<Option<Flaw>> {
        let matcher = Matcher::new(self);
        let paths = tree.paths();
        let walked = tree.walk().map(|(id, _)| id);
        let files: Vec<_> = walked.filter(|&id| tree.file_size(id).is_some()).collect();
        // By file the entry that decides, and the entries that decide anything.
        let deciding: HashMap<NodeId, usize> = files
            .iter()
            .filter_map(|&id| Some((id, matcher.first(&paths[id.index()])?)))
            .collect();
        let active: HashSet<usize> = deciding.values().copied().collect();
        let globs: HashMap<usize, &Glob> = matcher
            .globs
            .iter()
            .map(|(place, glob)| (*place, glob))
            .collect();
        let flaw = |(entry, place): (&SortEntry, usize)| match globs.get(&place) {
            None => {
                let whole = [b"/", entry.path.as_slice()].concat();
                // Of hard links only the first name is compared.
                let found = tree.find(&whole);
                let found = found.filter(|id| paths[id.index()] == whole);
                let Some(id) = found else {
                    return Some(Flaw::Unmatched);
                };
                match deciding.get(&id) {
                    _ if tree.is_directory(id) => Some(Flaw::Directory),
                    _ if tree.file_size(id).unwrap_or(0) == 0 => Some(no_data(tree, id)),
                    Some(&other) if other != place => Some(clash(entry, &self.entries[other])),
                    _ => None,
                }
            }
            Some(_) if active.contains(&place) => None,
            Some(glob) => {
                let fits = |id: &&NodeId| glob.matches(&paths[id.index()][1..]);
                let fitting = files.iter().filter(fits);
                let first = fitting.filter_map(|id| deciding.get(id)).min();
                Some(first.map_or(Flaw::Unmatched, |&first| Flaw::Shadowed {
                    line: self.entries[first].line,
                }))
            }
        };
        self.entries.iter().zip(0..).map(flaw).collect()
    }
}

/// How an entry stands to the one that counts in its place.
fn clash(entry: &SortEntry, other: &SortEntry) -> Flaw {
    let line = other.line;
    if entry.priority == other.priority && entry.flags == other.flags {
        Flaw::Repeated { line }
    } else {
        Flaw::Contradicted { line }
    }
}

/// By node: is a file with data, or a directory with one in it.
fn has_data(tree: &Tree) -> Vec<bool> {
    let mut has: Vec<bool> = tree
        .nodes
        .iter()
        .map(|node| matches!(node.kind, Kind::File { size_bytes: 1.. }))
        .collect();
    let walked: Vec<_> = tree.walk().map(|(id, _)| id).collect();
    // A directory is walked before what is in it.
    for id in walked.into_iter().rev().filter(|&id| tree.is_directory(id)) {
        let mut entries = tree.entries(id).iter();
        has[id.index()] = entries.any(|(_, child)| has[child.index()]);
    }
    has
}

pub(crate) fn no_data(tree: &Tree, id: NodeId) -> Flaw {
    Flaw::NoData(match tree[id].kind {
        Kind::File { .. } => "an empty file",
        Kind::Directory { .. } => "a directory",
        Kind::Symlink { .. } => "a symbolic link",
        Kind::BlockDevice { .. } | Kind::CharDevice { .. } => "a device",
        Kind::Fifo => "a named pipe",
        Kind::Socket => "a socket",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::tree;

    fn findings(dialect: Dialect, text: &str) -> Vec<String> {
        let mut tree = tree(&[
            ("/a", 1),
            ("/d/", 0),
            ("/d/x", 1),
            ("/d/e/", 0),
            ("/l", 0),
            ("/null", 0),
            ("/z=/a", 0),
        ]);
        tree.nodes[5].kind = Kind::Symlink {
            target: b"d".to_vec(),
        };
        let (file, mut found) = SortFile::parse_all(text.as_bytes(), dialect);
        found.extend(file.lint(&tree, &[NodeId::ROOT]));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn entries_of_mksquashfs_that_do_nothing_are_found() {
        let text = "a 1\nd 2\nl/x 3\n# c\nnone 4\nd/e 5\nl 6\nnull 7\n/etc 8\nz 9\nd 2\nb\n. 0\n";
        let expected = [
            "line 12: `b`, no priority follows the path; a space of the path is written `\\ `",
            "line 1: `a` has another priority or flags in line 10, which counts",
            "line 2: `d` repeats line 11",
            "line 5: `none` matches nothing",
            "line 6: `d/e` is a directory, which has no data to place",
            "line 7: `l` is a symbolic link, which has no data to place",
            "line 8: `null` is an empty file, which has no data to place",
            "line 9: `/etc` leads out of the source; write it relative to the source directory",
        ];
        assert_eq!(findings(Dialect::Mksquashfs, text), expected);
    }

    #[test]
    fn entries_of_gensquashfs_that_do_nothing_are_found() {
        let text = "1 a\n2 d\n3 l/x\n4 [glob] d/*\n5 [glob] *\n6 d/x\n7 z\n8 [glob] q*\n1 a\n9 null\n\
                    2 [glob] [ad]\n";
        let expected = [
            "line 2: `d` is a directory, but gensquashfs matches files; write `[glob_no_path]` \
             and add `/*`",
            "line 3: `l/x` matches nothing",
            "line 6: `d/x` has another priority or flags in line 4, which counts",
            "line 7: `z` matches nothing",
            "line 8: `q*` matches nothing",
            "line 9: `a` repeats line 1",
            "line 10: `null` is an empty file, which has no data to place",
            "line 11: `[ad]` matches only what earlier lines match, first line 1",
        ];
        assert_eq!(findings(Dialect::Gensquashfs, text), expected);
    }
}
