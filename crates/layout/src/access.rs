//! The plan that follows a recorded start: everything in the order in which it was needed.
//!
//! A start that reads the image from front to back needs each block once, and readahead of the
//! device brings what comes next. So the data area, the inode table and the directory table of the
//! working set follow the first access. Two sizes of the kernel make packing matter: it keeps 8
//! metadata blocks of 8 KiB and 3 fragment blocks, so what is needed together must be in one
//! block, or the block is read again and again.

use coldpress_format::BlockSize;
use coldpress_trace::{FileAccess, PAGE_SIZE_BYTES, WorkingSet};

use crate::plan::{Plan, PlanItem};
use crate::tails::Filling;
use crate::tree::{NodeId, Tree};

/// The plan in which everything that was touched stands in the order of its first access.
///
/// - Data: the blocks of a file stand where one of its full blocks was first touched. A file
///   smaller than a block goes into the fragment block that is being filled. So does the tail end
///   of a larger file, if a page of it was surely needed, where that was; otherwise it stays with
///   its blocks. A fragment block stands where its first member is needed: that is when the
///   kernel reads it.
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
/// O(n log n) in the working set; a byte for each node of the tree.
pub fn plan(tree: &Tree, working_set: &WorkingSet, block_size: BlockSize) -> Plan {
    let WorkingSet {
        files,
        lookups,
        lists,
    } = working_set;
    let accessed = files.iter().map(|file| &file.path);
    let needed = lookups.iter().chain(accessed).chain(lists);
    let inodes = needed.flat_map(|path| tree.descend(path));
    let listed = lists.iter().flat_map(|path| tree.descend(path));
    let searched = lookups.iter().flat_map(|path| above(tree, path));
    let directories = listed
        .chain(searched)
        .filter(|&(_, id)| tree.is_directory(id));
    let is_directory = |path: &Vec<u8>| tree.find(path).is_some_and(|id| tree.is_directory(id));
    let (mut inodes, leaves): (Vec<_>, Vec<_>) = root_and_first_of_each(tree, inodes)
        .into_iter()
        .partition(is_directory);
    inodes.extend(leaves);
    Plan {
        data: data(tree, files, block_size),
        inodes,
        directories: root_and_first_of_each(tree, directories),
        packing: Vec::new(),
    }
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

/// A part of a file that was needed. Orders by rank, then blocks before tails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    rank: u64,
    part: Part,
    /// The place of the file in the working set.
    file: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Blocks,
    Tail,
}

fn data(tree: &Tree, files: &[FileAccess], block_size: BlockSize) -> Vec<PlanItem> {
    let found: Vec<_> = files
        .iter()
        .map(|file| regular_file(tree, &file.path))
        .collect();
    let mut needs = Vec::new();
    for ((access, found), file) in files.iter().zip(&found).zip(0..) {
        let Some((_, size_bytes)) = *found else {
            continue;
        };
        let ranks = [
            (Part::Blocks, blocks_rank(access, size_bytes, block_size)),
            (Part::Tail, tail_rank(access, size_bytes, block_size)),
        ];
        let ranks = ranks
            .into_iter()
            .filter_map(|(part, rank)| Some((part, rank?)));
        needs.extend(ranks.map(|(part, rank)| Need { rank, part, file }));
    }
    needs.sort_unstable();
    let mut items = Vec::new();
    let mut filling = Filling::new(block_size);
    let mut fragment = 0; // The open fragment block, an index of items.
    let mut has = vec![[false; 2]; tree.nodes.len()];
    for Need { part, file, .. } in needs {
        let Some((id, size_bytes)) = found[file] else {
            continue;
        };
        if std::mem::replace(&mut has[id.index()][usize::from(part == Part::Tail)], true) {
            continue; // Another path of the same data was first.
        }
        let path = files[file].path.clone();
        match part {
            Part::Blocks => items.push(PlanItem::Blocks(path)),
            Part::Tail if filling.add_tail(size_bytes) => {
                fragment = items.len();
                items.push(PlanItem::Fragment(vec![path]));
            }
            Part::Tail => {
                if let Some(PlanItem::Fragment(members)) = items.get_mut(fragment) {
                    members.push(path);
                }
            }
        }
    }
    items
}

/// The node that has the data of a regular file, and its length.
fn regular_file(tree: &Tree, path: &[u8]) -> Option<(NodeId, u64)> {
    let id = tree.find(path)?;
    Some((tree.data_of(id), tree.file_size(id)?))
}

/// When a full block was first needed. A page that was only mapped counts: one page of each
/// mapped window was needed, and the window lies in few blocks.
fn blocks_rank(access: &FileAccess, size_bytes: u64, block_size: BlockSize) -> Option<u64> {
    let pages = tail_first_page(size_bytes, block_size);
    access.touches(0..=pages.checked_sub(1)?)
}

/// When the tail end was first needed, if it should leave its blocks.
///
/// A file that is all tail has been needed whatever the access was: the tail is all that can be
/// read. The tail of a larger file must be certain. Fault-around and readahead reach the end of
/// files that are needed in the middle, and such tails would fill the fragment blocks that
/// everything waits for.
fn tail_rank(access: &FileAccess, size_bytes: u64, block_size: BlockSize) -> Option<u64> {
    if block_size.tail_bytes(size_bytes) == 0 {
        return None;
    }
    match tail_first_page(size_bytes, block_size) {
        0 => Some(access.first_rank),
        first_page => access.touches_certainly(first_page..=(size_bytes - 1) / PAGE_SIZE_BYTES),
    }
}

/// The page at which the tail end begins; blocks are whole pages.
fn tail_first_page(size_bytes: u64, block_size: BlockSize) -> u64 {
    (size_bytes - u64::from(block_size.tail_bytes(size_bytes))) / PAGE_SIZE_BYTES
}

#[cfg(test)]
mod tests {
    use coldpress_trace::{Access, Event, Trace};

    use super::*;
    use crate::tree::tests::tree;

    const PAGE: u64 = PAGE_SIZE_BYTES;

    fn working_set(accesses: &[(Access, &str)]) -> WorkingSet {
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
        .working_set()
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
        plan(&tree(files), &working_set(accesses), block_size)
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
        let mut set = working_set(&[(read(0, 0), "/a/f")]);
        set.lookups.clear();
        set.lists.clear();
        let plan = plan(&tree(&[("/a/", 0), ("/a/f", 1)]), &set, BlockSize::MIN);
        assert_eq!(plan.inodes, [&b"/"[..], b"/a", b"/a/f"]);
    }
}
