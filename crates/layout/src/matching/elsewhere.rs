//! The search in the whole tree, for what lies in another directory.

use std::collections::HashMap;

use super::How;
use super::search::{CANDIDATES_MAX, Search};
use super::version::versionless;
use crate::tree::NodeId;

/// All paths of a tree, and without versions.
pub(super) struct Paths {
    pub(super) plain: Vec<Vec<u8>>,
    versionless: Vec<Vec<u8>>,
}

impl Paths {
    pub(super) fn of(search: &Search<'_>) -> Self {
        let plain = search.tree.paths();
        let versionless = plain.iter().map(|path| versionless(path)).collect();
        Self { plain, versionless }
    }

    /// The only node that is nearest to a path without versions; `Err` has one of several.
    pub(super) fn nearest(
        &self,
        path: &[u8],
        nodes: impl Iterator<Item = NodeId>,
    ) -> Option<Result<NodeId, NodeId>> {
        let far = nodes.map(|node| (distance(path, &self.versionless[node.index()]), node));
        let far: Vec<_> = far.collect();
        let &(least, node) = far.iter().min_by_key(|(far, _)| *far)?;
        let is_only = far.iter().filter(|(far, _)| *far == least).count() == 1;
        Some(if is_only { Ok(node) } else { Err(node) })
    }
}

impl Search<'_> {
    /// Finds what has its name, and its directory's name, in one other place.
    pub(super) fn elsewhere(&mut self) {
        let missing = self.missing();
        if missing.is_empty() {
            return;
        }
        let paths = Paths::of(self);
        let mut named: HashMap<&[u8], Vec<NodeId>> = HashMap::new();
        for (path, node) in paths.versionless.iter().zip((0..).map(NodeId)) {
            named.entry(last_names(path)).or_default().push(node);
        }
        for (path, shape) in missing {
            let versionless = versionless(path);
            let nodes = named
                .get(last_names(&versionless))
                .map_or(&[][..], Vec::as_slice);
            if nodes.len() > CANDIDATES_MAX {
                continue;
            }
            let free = nodes
                .iter()
                .copied()
                .filter(|node| !self.is_taken[node.index()] && shape.fits(&self.tree[*node]));
            if let Some(Ok(node)) = paths.nearest(&versionless, free) {
                self.note(path, How::Name, node, paths.plain[node.index()].clone());
            }
        }
    }
}

/// The last two names of a path.
fn last_names(path: &[u8]) -> &[u8] {
    let slashes = path
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, byte)| **byte == b'/');
    let begin = slashes.map(|(place, _)| place).nth(1);
    path.get(begin.unwrap_or(0)..).unwrap_or_default()
}

/// How many directories one leaves and enters on the way from one file to another, without those
/// that both have in common at the beginning and at the end of their paths.
fn distance(path: &[u8], other: &[u8]) -> usize {
    let [left, right] = [path, other].map(|path| {
        let mut names: Vec<_> = path.split(|&byte| byte == b'/').collect();
        names.pop();
        names
    });
    let len = left.len().min(right.len());
    let same = |(left, right): &(&&[u8], &&[u8])| left == right;
    let begin = left.iter().zip(&right).take_while(same).count();
    let backwards = left.iter().rev().zip(right.iter().rev());
    let end = backwards.take(len - begin).take_while(same).count();
    left.len() + right.len() - 2 * (begin + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_leave_out_what_both_begin_and_end_with() {
        for (path, other, steps) in [
            ("/a", "/a", 0),
            ("/a", "/b", 0),
            ("/a/f", "/b/f", 2),
            ("/a/f", "/f", 1),
            ("/opt/app/lib/f", "/srv/app/lib/f", 2),
            ("/opt/app/lib/f", "/srv/app/f", 5),
            ("/lib/x/f", "/usr/lib/x/f", 1),
            ("/a/a/f", "/a/f", 1),
        ] {
            assert_eq!(
                distance(path.as_bytes(), other.as_bytes()),
                steps,
                "{path} {other}"
            );
            assert_eq!(
                distance(other.as_bytes(), path.as_bytes()),
                steps,
                "{other} {path}"
            );
        }
    }

    #[test]
    fn the_last_names_are_two() {
        for (path, names) in [
            ("/", "/"),
            ("/a", "/a"),
            ("/a/b", "/a/b"),
            ("/a/b/c", "/b/c"),
        ] {
            assert_eq!(last_names(path.as_bytes()), names.as_bytes());
        }
    }
}
