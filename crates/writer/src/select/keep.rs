//! Selection from a finished source: what a start needs, and what is asked for beside it.

use std::collections::BTreeSet;

use coldpress_layout::{Kind, NodeId, Tree};

use super::Rules;
use crate::draft;
use crate::source::Source;

impl Source {
    /// Leaves out everything but some nodes, what patterns match with all that is below it, and the
    /// directories above both.
    ///
    /// What stays keeps all its names: a recording knows a file with several by one of them. Which
    /// files have the same content is forgotten; it is to be found again.
    ///
    /// * `wanted`: a directory stays without what is in it.
    /// * `include`: patterns as those of [`Selection::include`](super::Selection::include); one
    ///   that takes back leaves out.
    ///
    /// # Cost
    ///
    /// O(n) in nodes and names, and a comparison with each pattern for each name.
    pub fn keep_only(&mut self, wanted: &BTreeSet<NodeId>, include: &Rules) {
        let tree = &mut self.tree;
        let (directories, mut stays) = chosen(tree, wanted, include);
        // Those below come after those above.
        for &directory in directories.iter().rev() {
            let mut entries = tree.entries(directory).iter();
            stays[directory.index()] |= entries.any(|(_, node)| stays[node.index()]);
        }
        let places = draft::places(stays);
        for directory in directories {
            if let Kind::Directory { entries } = &mut tree.nodes[directory.index()].kind {
                entries.retain_mut(|(_, node)| {
                    let place = places[node.index()];
                    *node = place.unwrap_or(*node);
                    place.is_some()
                });
            }
        }
        draft::retain(&mut tree.nodes, &places);
        draft::retain(&mut self.contents, &places);
        tree.duplicates.clear();
        tree.duplicate_tails.clear();
    }
}

/// All directories, each before those in it, and for each node whether it stays for its own sake.
/// The root does.
fn chosen(tree: &Tree, wanted: &BTreeSet<NodeId>, include: &Rules) -> (Vec<NodeId>, Vec<bool>) {
    let mut stays = vec![false; tree.nodes.len()];
    stays[NodeId::ROOT.index()] = true;
    let mut directories = Vec::new();
    let mut pending = vec![(NodeId::ROOT, false, include.start())];
    while let Some((directory, is_included, progress)) = pending.pop() {
        directories.push(directory);
        for (name, node) in tree.entries(directory) {
            let is_directory = tree.is_directory(*node);
            let (decision, below) = include.enter(&progress, name, is_directory);
            let is_included = decision.unwrap_or(is_included);
            stays[node.index()] |= is_included || wanted.contains(node);
            if is_directory {
                pending.push((*node, is_included, below));
            }
        }
    }
    (directories, stays)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use coldpress_layout::Node;

    use super::*;
    use crate::content::Content;
    use crate::draft::Draft;

    fn node(kind: Kind) -> Node {
        Node {
            kind,
            mode: 0o755,
            uid: 0,
            gid: 0,
            mtime_s: 0,
            xattrs: Arc::default(),
        }
    }

    /// Paths that end with a slash are directories; `/z` is `/a/b/one` under another name.
    fn source() -> Source {
        let directory = || node(Kind::Directory { entries: vec![] });
        let mut draft = Draft::new(directory());
        for path in [
            "/a/",
            "/a/b/",
            "/a/b/one",
            "/a/b/two",
            "/a/c/",
            "/a/c/three",
            "/d/",
            "/e/",
            "/e/f/",
            "/e/f/four",
        ] {
            let (above, name) = path.trim_end_matches('/').rsplit_once('/').unwrap();
            let above = draft.find(format!("{above}/").as_bytes()).unwrap();
            let new = if path.ends_with('/') {
                directory()
            } else {
                node(Kind::File { size_bytes: 0 })
            };
            let new = draft.add(new, Content::Nothing).unwrap();
            draft.link(above, name.as_bytes().to_vec(), new);
        }
        let one = draft.find(b"/a/b/one").unwrap();
        draft.link(NodeId::ROOT, b"z".to_vec(), one);
        draft.finish()
    }

    /// The paths of a tree, without the root, sorted.
    fn paths(tree: &Tree) -> Vec<String> {
        let mut pending = vec![(NodeId::ROOT, String::new())];
        let mut paths = Vec::new();
        while let Some((directory, above)) = pending.pop() {
            for (name, node) in tree.entries(directory) {
                let path = format!("{above}/{}", name.escape_ascii());
                paths.push(path.clone());
                pending.push((*node, path));
            }
        }
        paths.sort();
        paths
    }

    #[test]
    fn what_is_wanted_or_included_stays_with_the_directories_above() {
        // Wanted, included, what is left.
        let cases: &[(&[&str], &[&str], &[&str])] = &[
            (&[], &[], &[]),
            (&["/"], &[], &[]),
            (&["/d"], &[], &["/d"]),
            (&["/a"], &[], &["/a"]),
            (&["/a/b/two"], &[], &["/a", "/a/b", "/a/b/two"]),
            // All names of a file.
            (&["/z"], &[], &["/a", "/a/b", "/a/b/one", "/z"]),
            (&[], &["/z"], &["/a", "/a/b", "/a/b/one", "/z"]),
            // All that is below an included directory, but for what a later pattern takes back.
            (
                &[],
                &["/a"],
                &[
                    "/a",
                    "/a/b",
                    "/a/b/one",
                    "/a/b/two",
                    "/a/c",
                    "/a/c/three",
                    "/z",
                ],
            ),
            (
                &[],
                &["/a", "!c"],
                &["/a", "/a/b", "/a/b/one", "/a/b/two", "/z"],
            ),
            (&["/d"], &["four"], &["/d", "/e", "/e/f", "/e/f/four"]),
            (&["/a/c/three"], &["nothing"], &["/a", "/a/c", "/a/c/three"]),
        ];
        for &(wanted, included, left) in cases {
            let mut source = source();
            let nodes = wanted.iter().map(|path| source.tree.find(path.as_bytes()));
            let nodes = nodes.collect::<Option<_>>().unwrap();
            let mut include = Rules::default();
            for pattern in included {
                include.add(pattern.as_bytes()).unwrap();
            }
            source.keep_only(&nodes, &include);
            assert_eq!(paths(&source.tree), left, "{wanted:?} {included:?}");
            source.tree.check().unwrap();
            assert_eq!(source.contents.len(), source.tree.nodes.len());
        }
    }

    #[test]
    fn duplicates_are_forgotten_as_their_data_may_be_gone() {
        let mut source = source();
        let [two, three] =
            [&b"/a/b/two"[..], b"/a/c/three"].map(|path| source.tree.find(path).unwrap());
        source.tree.duplicates.insert(three, two);
        source.keep_only(&BTreeSet::from([three]), &Rules::default());
        assert_eq!(source.tree.duplicates.len(), 0);
        source.tree.check().unwrap();
    }
}
