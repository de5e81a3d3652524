//! The order in which a tool would write the files of a tree.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::locate::{Located, locate};
use super::{Dialect, SortEntry, SortFile, SortFlag};
use crate::tree::{NodeId, Tree};
use coldpress_glob::{Glob, Options};

/// A regular file in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ranked<'a> {
    pub(super) node: NodeId,
    /// The entry that decides its place, if one does.
    pub(super) entry: Option<&'a SortEntry>,
}

impl SortFile {
    /// Every regular file once, in the order in which the tool writes its data.
    pub(super) fn rank(&self, tree: &Tree, sources: &[NodeId]) -> Vec<Ranked<'_>> {
        let priority = |file: &Ranked| file.entry.map_or(0, |entry| entry.priority);
        let mut files = match self.dialect {
            Dialect::Mksquashfs => {
                let mut files = self.inherited(tree, sources);
                files.reverse();
                files.sort_by_key(|file| Reverse(priority(file)));
                files
            }
            Dialect::Gensquashfs => {
                let mut files = self.first_matches(tree);
                files.sort_by_key(priority);
                files
            }
        };
        let mut has = vec![false; tree.nodes.len()];
        files.retain(|file| !std::mem::replace(&mut has[file.node.index()], true));
        files
    }

    /// The names of files as mksquashfs visits them, depth-first; a file without an entry has
    /// that of the nearest directory above it.
    fn inherited(&self, tree: &Tree, sources: &[NodeId]) -> Vec<Ranked<'_>> {
        let mut entries: Vec<Option<&SortEntry>> = vec![None; tree.nodes.len()];
        for entry in &self.entries {
            if let Located::Node(id) = locate(tree, sources, &entry.path) {
                entries[id.index()] = Some(entry);
            }
        }
        let mut files = Vec::new();
        let mut pending = vec![(NodeId::ROOT, None)];
        while let Some((node, above)) = pending.pop() {
            let entry = entries[node.index()].or(above);
            if tree.file_size(node).is_some() {
                files.push(Ranked { node, entry });
            }
            let children = tree.entries(node).iter().rev();
            pending.extend(children.map(|&(_, child)| (child, entry)));
        }
        files
    }

    /// The files as gensquashfs lists them, depth-first; each has the first entry that matches.
    /// Of several names only the first counts.
    fn first_matches(&self, tree: &Tree) -> Vec<Ranked<'_>> {
        let matcher = Matcher::new(self);
        let paths = tree.paths();
        let files = tree.walk().map(|(node, _)| node);
        let files = files.filter(|&node| tree.file_size(node).is_some());
        let ranked = files.map(|node| Ranked {
            node,
            entry: matcher
                .first(&paths[node.index()])
                .map(|place| &self.entries[place]),
        });
        ranked.collect()
    }
}

/// The entries of gensquashfs, ready to be matched.
pub(super) struct Matcher<'a> {
    /// The first entry for each plain path.
    plain: HashMap<&'a [u8], usize>,
    /// The patterns, by ascending place.
    pub(super) globs: Vec<(usize, Glob)>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(file: &'a SortFile) -> Self {
        let mut matcher = Self {
            plain: HashMap::new(),
            globs: Vec::new(),
        };
        for (entry, place) in file.entries.iter().zip(0..) {
            match entry.is_glob() {
                Some(by_component) => {
                    let options = Options {
                        crosses_slashes: !by_component,
                        matches_leading_dots: true,
                        has_literal_brackets: true,
                    };
                    let glob = Glob::new(&entry.path, options);
                    matcher.globs.push((place, glob));
                }
                None => {
                    matcher.plain.entry(&entry.path).or_insert(place);
                }
            }
        }
        matcher
    }

    /// The place of the first entry that matches an absolute path.
    pub(super) fn first(&self, path: &[u8]) -> Option<usize> {
        let path = path.strip_prefix(b"/")?;
        let plain = self.plain.get(path).copied();
        let before = plain.unwrap_or(usize::MAX);
        let globs = self.globs.iter().take_while(|(place, _)| *place < before);
        let mut matching = globs.filter(|(_, glob)| glob.matches(path));
        matching.next().map(|(place, _)| *place).or(plain)
    }
}

impl SortEntry {
    /// Whether the path is a pattern, and if so whether only slashes match slashes in it.
    pub(super) fn is_glob(&self) -> Option<bool> {
        let mut flags = self.flags.iter().rev();
        flags.find_map(|flag| match flag {
            SortFlag::Glob => Some(true),
            SortFlag::GlobNoPath => Some(false),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::tree;

    /// The names of the files in their order.
    fn ranked(dialect: Dialect, text: &str) -> String {
        let tree = tree(&[
            ("/a", 1),
            ("/b", 1),
            ("/d/", 0),
            ("/d/x", 1),
            ("/d/y", 1),
            ("/e", 1),
            ("/z=/b", 0),
        ]);
        let file = SortFile::parse(text.as_bytes(), dialect).expect("legal");
        let paths = tree.paths();
        let files = file.rank(&tree, &[NodeId::ROOT]);
        let names = files.iter().map(|file| &paths[file.node.index()][1..]);
        let names: Vec<_> = names
            .map(|name| str::from_utf8(name).expect("ASCII"))
            .collect();
        names.join(" ")
    }

    #[test]
    fn mksquashfs_writes_high_priorities_first_and_backwards_within_one() {
        let cases = [
            ("", "b e d/y d/x a"),
            ("a 100", "a b e d/y d/x"),
            ("d 100\na 5\na -5", "d/y d/x b e a"),
            ("d -1\nd/x 1", "d/x b e a d/y"),
            ("b 3\nz 2\na 3", "a b e d/y d/x"),
            (". 100\na 3", "b e d/y d/x a"),
            ("d/../e 1", "e b d/y d/x a"),
        ];
        for (text, expected) in cases {
            assert_eq!(ranked(Dialect::Mksquashfs, text), expected, "{text}");
        }
    }

    #[test]
    fn gensquashfs_writes_low_priorities_first_and_forwards_within_one() {
        let cases = [
            ("", "a b d/x d/y e"),
            ("1 a", "b d/x d/y e a"),
            ("-1 [glob] *\n1 a", "a b e d/x d/y"),
            ("1 a\n-1 [glob_no_path] *", "b d/x d/y e a"),
            ("-5 d\n-5 e\n-6 /d/y\n9 d/y", "d/y e a b d/x"),
        ];
        for (text, expected) in cases {
            assert_eq!(ranked(Dialect::Gensquashfs, text), expected, "{text}");
        }
    }
}
