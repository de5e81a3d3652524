//! The order of inodes and of directory listings.
//!
//! The kernel keeps 8 metadata blocks of 8 KiB. A directory is listed, and then its entries are
//! looked up: so the inodes of one directory's files lie together, those of the plan in front and the
//! rest behind. Listings follow each other depth-first, as programs walk trees. Inodes of directories
//! stand in front of those of files, because a metadata block that holds one cannot be compressed.

use crate::order::Unmatched;
use crate::plan::Plan;
use crate::tree::{NodeId, Tree};

/// Every node once: those of the plan, the other directories, then directory by directory the
/// other entries.
pub(crate) fn inodes<'plan>(
    tree: &Tree,
    plan: &'plan Plan,
    unmatched: &mut Unmatched<'plan>,
) -> Vec<NodeId> {
    let planned = plan.inodes.iter().filter_map(|path| {
        let id = tree.find(path);
        unmatched.note(path, id.is_none());
        id
    });
    let entries = cold_directories(tree).flat_map(|id| tree.entries(id));
    let rest = cold_directories(tree).chain(entries.map(|&(_, id)| id));
    first_of_each(tree, planned.chain(rest))
}

/// Every directory once: those of the plan, then the rest depth-first.
pub(crate) fn directories<'plan>(
    tree: &Tree,
    plan: &'plan Plan,
    unmatched: &mut Unmatched<'plan>,
) -> Vec<NodeId> {
    let planned = plan.directories.iter().filter_map(|path| {
        let id = tree.find(path).filter(|&id| tree.is_directory(id));
        unmatched.note(path, id.is_none());
        id
    });
    first_of_each(tree, planned.chain(cold_directories(tree)))
}

fn cold_directories(tree: &Tree) -> impl Iterator<Item = NodeId> {
    tree.walk()
        .map(|(id, _)| id)
        .filter(|&id| tree.is_directory(id))
}

fn first_of_each(tree: &Tree, ids: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
    let mut has = vec![false; tree.nodes.len()];
    ids.filter(|id| !std::mem::replace(&mut has[id.index()], true))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::tree;

    fn example() -> Tree {
        // 1 /b, 2 /b/x, 3 /b/d, 4 /b/d/y, 5 /a, 6 /c, 7 /c/z; /c/l is /b/x
        let paths = [
            "/b/",
            "/b/x",
            "/b/d/",
            "/b/d/y",
            "/a",
            "/c/",
            "/c/z",
            "/c/l=/b/x",
        ];
        tree(&paths.map(|path| (path, 0)))
    }

    fn paths(paths: &[&str]) -> Vec<Vec<u8>> {
        paths.iter().map(|path| path.as_bytes().to_vec()).collect()
    }

    #[test]
    fn entries_of_a_directory_lie_together_behind_those_of_the_plan() {
        let cases: &[(&[&str], &[u32])] = &[
            (&[], &[0, 1, 3, 6, 5, 2, 4, 7]),
            (
                &["/", "/c", "/c/l", "/b/x", "/c"],
                &[0, 6, 2, 1, 3, 5, 4, 7],
            ),
            (&["/b/d/y"], &[4, 0, 1, 3, 6, 5, 2, 7]),
        ];
        for (plan, expected) in cases {
            let plan = Plan {
                inodes: paths(plan),
                ..Plan::default()
            };
            let ids = inodes(&example(), &plan, &mut Unmatched::default());
            assert_eq!(ids.iter().map(|id| id.0).collect::<Vec<_>>(), *expected);
        }
    }

    #[test]
    fn listings_are_depth_first_behind_those_of_the_plan() {
        let cases: &[(&[&str], &[u32])] = &[
            (&[], &[0, 1, 3, 6]),
            (&["/c", "/a", "/gone", "/c", "/b/d"], &[6, 3, 0, 1]),
        ];
        for (plan, expected) in cases {
            let plan = Plan {
                directories: paths(plan),
                ..Plan::default()
            };
            let mut unmatched = Unmatched::default();
            let ids = directories(&example(), &plan, &mut unmatched);
            assert_eq!(ids.iter().map(|id| id.0).collect::<Vec<_>>(), *expected);
        }
    }
}
