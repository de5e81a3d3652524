//! The plan that follows recorded starts: everything in the order in which it was needed.
//!
//! A start that reads the image from front to back needs each block once, and readahead of the
//! device brings what comes next. So the data area, the inode table and the directory table of the
//! working set follow the first access. Two sizes of the kernel make packing matter: it keeps 8
//! metadata blocks of 8 KiB and 3 fragment blocks, so what is needed together must be in one
//! block, or the block is read again and again.

use coldpress_format::BlockSize;
use coldpress_trace::{Profile, WorkingSet};

use crate::hot::HotData;
use crate::plan::Plan;
use crate::tree::{NodeId, Tree};

/// What fewer than this share of the recordings touched stands behind everything else. Half: it is
/// more likely not needed than needed, and then only in the way.
const SURE_SHARE: f64 = 0.5;

/// The plan of recordings, of which there may be one: first what at least half of them touched,
/// then the rest, so that no fragment or metadata block that every start reads is filled with what
/// few need; both in the order of first accesses.
///
/// - Data: the blocks of a file stand where one of its full blocks was first touched; those of a
///   large file of which less than half was touched stand behind all other data. A file smaller
///   than a block goes into the fragment block that is being filled. So does the tail end of a
///   larger file, if a page of it was surely needed, where that was; otherwise it stays with its
///   blocks. A fragment block stands where its first member is needed: that is when the kernel
///   reads it.
/// - Inodes: directories in the order in which they were first needed, then everything else in
///   that order. A metadata block that holds the inode of a directory is not compressed, so they
///   share as few as can be.
/// - Directories: a listing stands where it was first read or a name below it was looked up.
///
/// Paths that the tree does not have are left out. A node with several paths is planned once, by
/// the path that was accessed first.
///
/// # Cost
///
/// O(n log n) in the steps of the profile; a byte for each node of the tree.
pub fn plan(tree: &Tree, profile: &Profile, block_size: BlockSize) -> Plan {
    let (sure, all) = (profile.working_set(SURE_SHARE), profile.working_set(0.0));
    plan_in_turn(tree, &[&sure, &all], block_size)
}

/// The plan of working sets, each behind those before it, whose things it does not repeat.
fn plan_in_turn(tree: &Tree, sets: &[&WorkingSet], block_size: BlockSize) -> Plan {
    let mut data = HotData::new(tree, block_size);
    for set in sets {
        data.place(&set.files);
    }
    let inodes = sets.iter().flat_map(|set| needed(tree, set));
    let directories = sets.iter().flat_map(|set| searched(tree, set));
    let is_directory = |path: &Vec<u8>| tree.find(path).is_some_and(|id| tree.is_directory(id));
    let (mut inodes, leaves): (Vec<_>, Vec<_>) = root_and_first_of_each(tree, inodes)
        .into_iter()
        .partition(is_directory);
    inodes.extend(leaves);
    Plan {
        data: data.items,
        inodes,
        directories: root_and_first_of_each(tree, directories),
        encoding: Vec::new(),
    }
}

/// The nodes whose inodes a start needs.
fn needed<'a>(tree: &'a Tree, set: &'a WorkingSet) -> impl Iterator<Item = (&'a [u8], NodeId)> {
    let accessed = set.files.iter().map(|file| &file.path);
    let paths = set.lookups.iter().chain(accessed).chain(&set.lists);
    paths.flat_map(|path| tree.descend(path))
}

/// The directories whose listings a start reads.
fn searched<'a>(tree: &'a Tree, set: &'a WorkingSet) -> impl Iterator<Item = (&'a [u8], NodeId)> {
    let listed = set.lists.iter().flat_map(|path| tree.descend(path));
    let searched = set.lookups.iter().flat_map(|path| above(tree, path));
    listed
        .chain(searched)
        .filter(|&(_, id)| tree.is_directory(id))
}

/// The directories in which the names of a path were searched.
fn above<'a>(tree: &'a Tree, path: &'a [u8]) -> impl Iterator<Item = (&'a [u8], NodeId)> {
    tree.descend(path)
        .filter(|(reached, _)| reached.len() < path.len())
}

fn root_and_first_of_each<'a>(
    tree: &'a Tree,
    nodes: impl Iterator<Item = (&'a [u8], NodeId)>,
) -> Vec<Vec<u8>> {
    let mut has = vec![false; tree.nodes.len()];
    let root = tree.descend(b"/").take(1);
    root.chain(nodes)
        .filter(|(_, id)| !std::mem::replace(&mut has[id.index()], true))
        .map(|(path, _)| path.to_vec())
        .collect()
}

#[cfg(test)]
mod tests {
    use coldpress_trace::{Access, Event, PAGE_SIZE_BYTES, Step, Trace};

    use super::*;
    use crate::plan::PlanItem;
    use crate::tree::tests::tree;

    const PAGE: u64 = PAGE_SIZE_BYTES;

    fn trace(accesses: &[(Access, &str)]) -> Trace {
        let event = |&(access, path): &(Access, &str)| Event {
            time_us: 0,
            pid: 1,
            access,
            path: path.as_bytes().to_vec(),
        };
        Trace {
            events: accesses.iter().map(event).collect(),
            ..Trace::default()
        }
    }

    fn read(first_page: u64, last_page: u64) -> Access {
        Access::Read {
            first_page,
            last_page,
        }
    }

    fn map(first_page: u64, last_page: u64) -> Access {
        Access::Map {
            first_page,
            last_page,
        }
    }

    fn blocks(path: &str) -> PlanItem {
        PlanItem::Blocks(path.as_bytes().to_vec())
    }

    fn fragment(paths: &[&str]) -> PlanItem {
        PlanItem::Fragment(paths.iter().map(|path| path.as_bytes().to_vec()).collect())
    }

    /// Blocks of two pages.
    fn planned(files: &[(&str, u64)], accesses: &[(Access, &str)]) -> Plan {
        let block_size = BlockSize::new(8192).expect("legal");
        plan(&tree(files), &Profile::from(&trace(accesses)), block_size)
    }

    /// What, files, accesses, data of the plan.
    type Case<'a> = (
        &'a str,
        &'a [(&'a str, u64)],
        &'a [(Access, &'a str)],
        Vec<PlanItem>,
    );

    #[test]
    fn data_stands_where_it_was_first_needed() {
        let large = 4 * PAGE + 100;
        let cases: &[Case<'_>] = &[
            (
                "blocks and tail by their own first access",
                &[("/a", large), ("/b", 50)],
                &[
                    (read(4, 4), "/a"),
                    (read(0, 0), "/b"),
                    (Access::Fault { page: 1 }, "/a"),
                ],
                vec![fragment(&["/a", "/b"]), blocks("/a")],
            ),
            (
                "one read of all: blocks before the tail",
                &[("/a", large)],
                &[(read(0, 4), "/a")],
                vec![blocks("/a"), fragment(&["/a"])],
            ),
            (
                "a tail that is only mapped stays with its blocks",
                &[("/a", large)],
                &[(Access::Fault { page: 0 }, "/a"), (map(0, 4), "/a")],
                vec![blocks("/a")],
            ),
            (
                "a mapped small file is needed, mapped blocks are needed",
                &[("/a", large), ("/s", 5)],
                &[(map(0, 0), "/s"), (map(2, 4), "/a")],
                vec![fragment(&["/s"]), blocks("/a")],
            ),
            (
                "a fragment block stands at its first member and closes when the next is too large",
                &[("/a", 5000), ("/b", 3000), ("/c", 8192), ("/d", 200)],
                &[
                    (read(0, 0), "/a"),
                    (read(0, 0), "/c"),
                    (read(0, 0), "/b"),
                    (read(0, 0), "/d"),
                    (read(0, 1), "/c"),
                ],
                vec![fragment(&["/a", "/b"]), blocks("/c"), fragment(&["/d"])],
            ),
            (
                "what the tree lacks, has no data for or knows by another name",
                &[("/d/", 0), ("/d/f", 7), ("/l=/d/f", 0), ("/empty", 0)],
                &[
                    (read(0, 0), "/gone"),
                    (read(0, 0), "/d"),
                    (read(0, 0), "/empty"),
                    (read(0, 0), "/l"),
                    (read(0, 0), "/d/f"),
                ],
                vec![fragment(&["/l"])],
            ),
        ];
        for (what, files, accesses, expected) in cases {
            assert_eq!(planned(files, accesses).data, *expected, "{what}");
        }
    }

    #[test]
    fn a_large_file_of_which_little_was_touched_stands_behind_the_others() {
        const MIB: u64 = 1 << 20;
        let files = [
            ("/large", 9 * MIB + 1),
            ("/a", PAGE),
            ("/b", 3 * PAGE),
            ("/full", 9 * MIB),
        ];
        let last = 9 * MIB / PAGE;
        let accesses = [
            (read(7, 7), "/large"),
            (read(0, 0), "/a"),
            (read(last, last), "/large"),
            (read(100, last - 1), "/full"),
            (read(0, 0), "/b"),
        ];
        let expected = [
            fragment(&["/a", "/large"]),
            blocks("/full"),
            blocks("/b"),
            blocks("/large"),
        ];
        assert_eq!(planned(&files, &accesses).data, expected);
    }

    #[test]
    fn what_few_recordings_touched_stands_behind_what_most_did() {
        let step = |recordings, path: &str| Step {
            access: read(0, 0),
            recordings,
            path: path.as_bytes().to_vec(),
        };
        let profile = Profile {
            recordings: 4,
            steps: vec![
                step(1, "/rare/a"),
                step(4, "/s"),
                step(1, "/rare/blocks"),
                step(2, "/often/b"),
                step(1, "/s"), // Repeated by hand.
                step(1, "/rare/c"),
            ],
            ..Profile::default()
        };
        let tree = tree(&[
            ("/often/", 0),
            ("/often/b", 9),
            ("/rare/", 0),
            ("/rare/a", 9),
            ("/rare/blocks", 2 * PAGE),
            ("/rare/c", 9),
            ("/s", 9),
        ]);
        let plan = plan(&tree, &profile, BlockSize::new(8192).expect("legal"));
        let data = [
            fragment(&["/s", "/often/b"]),
            fragment(&["/rare/a", "/rare/c"]),
            blocks("/rare/blocks"),
        ];
        assert_eq!(plan.data, data);
        let inodes = [
            "/",
            "/often",
            "/rare",
            "/s",
            "/often/b",
            "/rare/a",
            "/rare/blocks",
            "/rare/c",
        ];
        assert_eq!(plan.inodes, inodes.map(|path| path.as_bytes().to_vec()));
        let directories = ["/", "/often", "/rare"];
        assert_eq!(
            plan.directories,
            directories.map(|path| path.as_bytes().to_vec())
        );
    }

    #[test]
    fn pages_behind_the_end_of_a_file_that_shrank_are_ignored() {
        let plan = planned(&[("/a", 2 * PAGE + 9)], &[(read(3, 9), "/a")]);
        assert_eq!(plan.data, []);
    }

    #[test]
    fn inodes_and_listings_follow_the_first_need_directories_before_what_is_in_them() {
        let files = [
            ("/a/", 0),
            ("/a/b/", 0),
            ("/a/b/c", 9),
            ("/e/", 0),
            ("/e/f/", 0),
        ];
        let accesses = [
            (Access::Lookup, "/e"),
            (read(0, 0), "/a/b/c"),
            (Access::List, "/e/f"),
            (Access::Lookup, "/a/b/c"),
            (Access::Lookup, "/e/f/missing/x"),
        ];
        let plan = planned(&files, &accesses);
        let expected: [&[u8]; 6] = [b"/", b"/e", b"/a", b"/a/b", b"/e/f", b"/a/b/c"];
        assert_eq!(plan.inodes, expected);
        let expected: [&[u8]; 5] = [b"/", b"/a", b"/a/b", b"/e", b"/e/f"];
        assert_eq!(plan.directories, expected);
    }

    #[test]
    fn a_working_set_of_files_alone_is_planned_with_their_directories() {
        let mut set = trace(&[(read(0, 0), "/a/f")]).working_set();
        set.lookups.clear();
        set.lists.clear();
        let tree = tree(&[("/a/", 0), ("/a/f", 1)]);
        let plan = plan_in_turn(&tree, &[&set], BlockSize::MIN);
        assert_eq!(plan.inodes, [&b"/"[..], b"/a", b"/a/f"]);
    }
}
