//! The order of inodes and of directory listings.
//!
//! A directory's inode states where its listing lies, a listing where the inodes of its entries
//! lie, and both in compressed blocks. So that everything that is referred to lies in front, the
//! part without a plan stands first in both tables, children before parents
//! ([`cold`]). Behind it stands the part that the plan asks for, in its order, as the
//! writer can store directory inodes uncompressed. That part must hold each directory that names
//! something of it, up to the root: references lead back, never forth.
//!
//! At the end of both tables is also the best place: the inode table ends beside the directory
//! table, and that beside the tables that each mount reads.

use crate::finder::Finder;
use crate::order::Unmatched;
use crate::plan::Plan;
use crate::tree::{NodeId, Tree};

mod cold;

use cold::Cold;

/// The order of both tables; see [`Order`](crate::Order).
pub(crate) struct MetadataOrder {
    pub(crate) inodes: Vec<NodeId>,
    pub(crate) cold_inodes: usize,
    pub(crate) directories: Vec<NodeId>,
    pub(crate) cold_directories: usize,
}

/// Completes a plan to the order of both tables.
pub(crate) fn order<'plan>(
    tree: &Tree,
    finder: &Finder<'_>,
    plan: &'plan Plan,
    unmatched: &mut Unmatched<'plan>,
) -> MetadataOrder {
    let inodes = named(finder, &plan.inodes, |_| true, unmatched);
    let listings = named(
        finder,
        &plan.directories,
        |id| tree.is_directory(id),
        unmatched,
    );
    let mut hot = vec![false; tree.nodes.len()];
    for id in inodes.iter().chain(&listings) {
        hot[id.index()] = true;
    }
    let directories = post_order(tree, &mut hot);
    let cold = Cold::new(tree, &directories, &hot);
    let mut order = MetadataOrder {
        cold_inodes: cold.inodes.len(),
        inodes: cold.inodes,
        cold_directories: cold.directories.len(),
        directories: cold.directories,
    };
    // Those that the plan leaves out follow from the root down.
    let rest = || {
        let directories = directories.iter().rev().copied();
        directories.filter(|id| hot[id.index()])
    };
    order
        .inodes
        .extend(first_of_each(tree, inodes.into_iter().chain(rest())));
    order
        .directories
        .extend(first_of_each(tree, listings.into_iter().chain(rest())));
    order
}

/// The nodes at the paths of a plan, without those that do not fit.
fn named<'plan>(
    finder: &Finder<'_>,
    paths: &'plan [Vec<u8>],
    fits: impl Fn(NodeId) -> bool,
    unmatched: &mut Unmatched<'plan>,
) -> Vec<NodeId> {
    let find = |path: &'plan Vec<u8>| {
        let id = finder.find(path).filter(|&id| fits(id));
        unmatched.note(path, id.is_none());
        id
    };
    paths.iter().filter_map(find).collect()
}

fn first_of_each(tree: &Tree, ids: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
    let mut has = vec![false; tree.nodes.len()];
    ids.filter(|id| !std::mem::replace(&mut has[id.index()], true))
        .collect()
}

/// All directories, each behind those below it, names in byte order. Makes those hot that name
/// something hot.
fn post_order(tree: &Tree, hot: &mut [bool]) -> Vec<NodeId> {
    let open = |id| (id, tree.entries(id).iter());
    let mut done = Vec::new();
    let mut levels = vec![open(NodeId::ROOT)];
    while let Some((id, entries)) = levels.last_mut() {
        let id = *id;
        match entries.next() {
            Some(&(_, child)) if tree.is_directory(child) => levels.push(open(child)),
            Some(&(_, child)) => hot[id.index()] |= hot[child.index()],
            None => {
                done.push(id);
                levels.pop();
                if let Some((parent, _)) = levels.last() {
                    hot[parent.index()] |= hot[id.index()];
                }
            }
        }
    }
    done
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

    fn ordered(plan: &Plan) -> MetadataOrder {
        let tree = example();
        let finder = Finder::new(&tree, plan);
        let mut unmatched = Unmatched::default();
        order(&tree, &finder, plan, &mut unmatched)
    }

    fn numbers(ids: &[NodeId]) -> Vec<u32> {
        ids.iter().map(|id| id.0).collect()
    }

    #[test]
    fn entries_stand_before_their_directory_and_the_plan_behind() {
        let cases: &[(&[&str], &[u32], &[u32])] = &[
            (&[], &[5, 4, 3, 2, 1, 7, 6, 0], &[]),
            // Whatever names something of the plan comes too, from the root down.
            (&["/b/x"], &[4, 5, 7, 3], &[2, 0, 6, 1]),
            (
                &["/", "/c", "/c/l", "/b/x", "/c"],
                &[4, 5, 7, 3],
                &[0, 6, 2, 1],
            ),
            (&["/b/d/y"], &[2, 7, 5, 6], &[4, 0, 1, 3]),
        ];
        for (plan, cold, hot) in cases {
            let plan = Plan {
                inodes: paths(plan),
                ..Plan::default()
            };
            let order = ordered(&plan);
            let (first, rest) = order.inodes.split_at(order.cold_inodes);
            assert_eq!(
                (numbers(first), numbers(rest)),
                (cold.to_vec(), hot.to_vec())
            );
        }
    }

    #[test]
    fn listings_stand_before_those_of_their_parents_and_the_plan_behind() {
        let cases: &[(&[&str], &[u32], &[u32])] = &[
            (&[], &[3, 1, 6, 0], &[]),
            (&["/c", "/a", "/gone", "/c", "/b/d"], &[], &[6, 3, 0, 1]),
            (&["/"], &[3, 1, 6], &[0]),
        ];
        for (plan, cold, hot) in cases {
            let plan = Plan {
                directories: paths(plan),
                ..Plan::default()
            };
            let order = ordered(&plan);
            let (first, rest) = order.directories.split_at(order.cold_directories);
            assert_eq!(
                (numbers(first), numbers(rest)),
                (cold.to_vec(), hot.to_vec())
            );
        }
    }
}
