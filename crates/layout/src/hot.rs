//! The data that starts touch, in the order in which they do.
//!
//! Fragment blocks are filled in the order in which their members are first read, so a start is
//! done with one when it comes to the next: of the three that the kernel keeps two are left for
//! other threads. A tail that is only perhaps needed would make such a block longer for everybody.
//!
//! The blocks of a file lie together, so a large file takes its whole room wherever it stands. One
//! of which few blocks are touched is read in jumps anyway. Behind the others it leaves them
//! contiguous: of 4 MiB and more that nobody reads, none lies between two that everybody does.

use coldpress_format::BlockSize;
use coldpress_trace::{FileAccess, PAGE_SIZE_BYTES};

use crate::plan::PlanItem;
use crate::tails::Filling;
use crate::tree::{NodeId, Tree};

/// A file is sparsely touched if so many bytes of its blocks are not, and more than are. Less takes
/// a megabyte or two of the image: what lies behind is no farther than a few requests of readahead.
const UNTOUCHED_MIN_BYTES: u64 = 4 << 20;

/// The data area of a plan while it is laid out.
pub(crate) struct HotData<'tree> {
    tree: &'tree Tree,
    block_size: BlockSize,
    /// By node: its blocks, its tail end have a place.
    has: Vec<[bool; 2]>,
    /// What is placed so far.
    pub(crate) items: Vec<PlanItem>,
}

/// A part of a file that was needed. Orders by rank, then blocks before tails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    /// Whether it stands behind what is needed throughout.
    is_sparse: bool,
    rank: u64,
    part: Part,
    /// The place of the file among the accesses.
    file: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Blocks,
    Tail,
}

/// A regular file and its accesses.
struct Found<'a> {
    access: &'a FileAccess,
    /// The node that has its data.
    id: NodeId,
    size_bytes: u64,
}

impl<'tree> HotData<'tree> {
    pub(crate) fn new(tree: &'tree Tree, block_size: BlockSize) -> Self {
        Self {
            tree,
            block_size,
            has: vec![[false; 2]; tree.nodes.len()],
            items: Vec::new(),
        }
    }

    /// Places what accesses need behind what is placed, without repeating it.
    pub(crate) fn place(&mut self, accesses: &[FileAccess]) {
        let found = |access| Found::new(self.tree, access);
        let files: Vec<_> = accesses.iter().filter_map(found).collect();
        let needs = files.iter().zip(0..);
        let needs = needs.flat_map(|(file, place)| file.needs(place, self.block_size));
        let mut needs: Vec<_> = needs.collect();
        needs.sort_unstable();
        let mut filling = Filling::new(self.block_size);
        let mut fragment = 0; // The open fragment block, an index of items.
        for Need { part, file, .. } in needs {
            let file = &files[file];
            let has = &mut self.has[file.id.index()][usize::from(part == Part::Tail)];
            if std::mem::replace(has, true) {
                continue; // Another path of the same data was first.
            }
            let path = file.access.path.clone();
            match part {
                Part::Blocks => self.items.push(PlanItem::Blocks(path)),
                Part::Tail if filling.add_tail(file.size_bytes) => {
                    fragment = self.items.len();
                    self.items.push(PlanItem::Fragment(vec![path]));
                }
                Part::Tail => {
                    if let Some(PlanItem::Fragment(members)) = self.items.get_mut(fragment) {
                        members.push(path);
                    }
                }
            }
        }
    }
}

impl<'a> Found<'a> {
    fn new(tree: &Tree, access: &'a FileAccess) -> Option<Self> {
        let id = tree.find(&access.path)?;
        Some(Self {
            access,
            id: tree.data_of(id),
            size_bytes: tree.file_size(id)?,
        })
    }

    /// What of the file was needed, if anything.
    fn needs(&self, file: usize, block_size: BlockSize) -> impl Iterator<Item = Need> {
        let is_sparse = self.is_sparse(block_size);
        let parts = [
            (Part::Blocks, self.blocks_rank(block_size)),
            (Part::Tail, self.tail_rank(block_size)),
        ];
        parts.into_iter().filter_map(move |(part, rank)| {
            Some(Need {
                // A tail end lies in a fragment block, which is small.
                is_sparse: is_sparse && part == Part::Blocks,
                rank: rank?,
                part,
                file,
            })
        })
    }

    /// When a full block was first needed. A page that was only mapped counts: one page of each
    /// mapped window was needed, and the window lies in few blocks.
    fn blocks_rank(&self, block_size: BlockSize) -> Option<u64> {
        let pages = self.tail_first_page(block_size);
        self.access.touches(0..=pages.checked_sub(1)?)
    }

    /// When the tail end was first needed, if it should leave its blocks.
    ///
    /// A file that is all tail has been needed whatever the access was: the tail is all that can be
    /// read. The tail of a larger file must be certain. Fault-around and readahead reach the end of
    /// files that are needed in the middle, and such tails would fill the fragment blocks that
    /// everything waits for.
    fn tail_rank(&self, block_size: BlockSize) -> Option<u64> {
        if block_size.tail_bytes(self.size_bytes) == 0 {
            return None;
        }
        match self.tail_first_page(block_size) {
            0 => Some(self.access.first_rank),
            first_page => {
                let last_page = (self.size_bytes - 1) / PAGE_SIZE_BYTES;
                self.access.touches_certainly(first_page..=last_page)
            }
        }
    }

    /// Whether much more of the file's full blocks is not touched than is.
    fn is_sparse(&self, block_size: BlockSize) -> bool {
        let full_blocks = block_size.full_blocks(self.size_bytes);
        let touched = self.touched_blocks(block_size, full_blocks);
        let untouched = full_blocks - touched;
        untouched > touched && untouched * u64::from(block_size.bytes()) >= UNTOUCHED_MIN_BYTES
    }

    /// How many of the full blocks were touched.
    fn touched_blocks(&self, block_size: BlockSize, full_blocks: u64) -> u64 {
        let block_pages = u64::from(block_size.bytes()) / PAGE_SIZE_BYTES;
        let mut touched = 0;
        let mut next = 0; // The first block that no run so far has touched.
        for run in &self.access.pages {
            let first = (run.first_page / block_pages).max(next);
            let end = (run.last_page / block_pages).saturating_add(1);
            let end = end.min(full_blocks);
            touched += end.saturating_sub(first);
            next = next.max(end);
        }
        touched
    }

    /// The page at which the tail end begins; blocks are whole pages.
    fn tail_first_page(&self, block_size: BlockSize) -> u64 {
        let tail_bytes = u64::from(block_size.tail_bytes(self.size_bytes));
        (self.size_bytes - tail_bytes) / PAGE_SIZE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use coldpress_trace::PageRun;

    use super::*;

    /// A file of 40 MiB with these pages, in blocks of 128 KiB: 32 pages each, 320 blocks.
    fn touched(pages: &[(u64, u64)]) -> (u64, bool) {
        let run = |&(first_page, last_page): &(u64, u64)| PageRun {
            first_page,
            last_page,
            rank: 0,
            certain: true,
        };
        let access = FileAccess {
            path: b"/f".to_vec(),
            first_rank: 0,
            pages: pages.iter().map(run).collect(),
        };
        let file = Found {
            access: &access,
            id: NodeId(1),
            size_bytes: (40 << 20) + 7,
        };
        let block_size = BlockSize::DEFAULT;
        (
            file.touched_blocks(block_size, 320),
            file.is_sparse(block_size),
        )
    }

    #[test]
    fn touched_blocks_are_counted_once_and_tails_not() {
        let cases: &[(&[(u64, u64)], _)] = &[
            (&[], (0, true)),
            (&[(0, 0)], (1, true)),
            (&[(0, 3), (5, 31), (32, 32)], (2, true)),
            (&[(31, 32), (33, 64), (96, 96)], (4, true)),
            (&[(320 * 32, 320 * 32)], (0, true)),
            (&[(319 * 32, 1 << 40)], (1, true)),
            (&[(0, 159 * 32)], (160, false)),
            (&[(0, 159 * 32 - 1)], (159, true)),
            (&[(0, u64::MAX - 1)], (320, false)),
        ];
        for (pages, expected) in cases {
            assert_eq!(touched(pages), *expected, "{pages:?}");
        }
    }
}
