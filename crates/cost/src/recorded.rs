//! The image that starts are recorded from.

use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{Kind, NodeId, Plan, Tails, Tree, order};

use crate::geometry::{DirectoryPlace, Extent, Geometry, MetadataRange, PlaceKind};
use crate::predicted::BlockSizes;

/// Bytes of a data block in the image for each byte that it holds: what zstd's fastest level makes of Debian's root file systems. Medium
/// and program differ by far more than sources do.
const DATA_RATIO: f64 = 0.4;
/// Each inode and each listing begins on a page of its own, behind the header of a metadata block.
const PAGE_BYTES: u32 = 4096;
const CONTENT_BYTES: usize = 4094;
/// Bytes of an inode's longest fixed part, of a word of its block list, of an entry of a listing beside its name.
const INODE_BYTES: usize = 56;
const WORD_BYTES: usize = 4;
const ENTRY_BYTES: usize = 8;

/// Blocks that are all compressed alike.
struct Even;

impl BlockSizes for Even {
    fn stored_bytes(&self, _file: NodeId, _block: u64, len_bytes: u32) -> u32 {
        compressed(len_bytes)
    }

    fn fragment_bytes(&self, _members: &[NodeId], len_bytes: u32) -> u32 {
        compressed(len_bytes)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of what fits"
)]
fn compressed(len_bytes: u32) -> u32 {
    (f64::from(len_bytes) * DATA_RATIO).ceil() as u32
}

impl Geometry {
    /// What an image of a tree looks like that its starts are recorded from: zstd, ordered by the tree, with metadata that is spread over
    /// pages so that each lookup is a read (ARCHITECTURE.md, "How a start is recorded").
    ///
    /// # Cost
    ///
    /// As [`Geometry::predicted`].
    pub fn recorded(tree: &Tree, block_size: BlockSize) -> Self {
        let (order, _) = order(tree, &Plan::default(), block_size, Tails::Small);
        let mut geometry = Self::predicted(tree, &order, Compressor::Zstd, block_size, &Even);
        geometry.spread(tree);
        geometry
    }

    /// Puts each inode and each listing on pages of its own, and the other tables behind them.
    fn spread(&mut self, tree: &Tree) {
        let first_table = self.fragment_table.unwrap_or(self.id_table);
        let tables = self.metadata.split_off(first_table);
        let mut pages = Pages {
            end: self.image_bytes.next_multiple_of(PAGE_BYTES.into()),
            metadata: Vec::new(),
        };
        for place in &mut self.places {
            let words = match &place.kind {
                PlaceKind::File(file) => file.blocks.len(),
                _ => 0,
            };
            let inode = pages.append(INODE_BYTES + words * WORD_BYTES);
            let first = inode.first;
            place.inode = MetadataRange { first, last: first };
            if let PlaceKind::File(file) = &mut place.kind {
                file.list = (first, 0);
            }
        }
        self.spread_listings(tree, &mut pages);
        let moved = |table: usize| pages.metadata.len() + (table - first_table);
        (self.fragment_table, self.id_table) =
            (self.fragment_table.map(moved), moved(self.id_table));
        for table in tables {
            pages.push(table);
        }
        (self.image_bytes, self.metadata) = (pages.end, pages.metadata);
    }

    fn spread_listings(&mut self, tree: &Tree, pages: &mut Pages) {
        let nodes = (0..).map(NodeId).zip(tree.paths());
        for (node, path) in nodes {
            let Kind::Directory { entries } = &tree[node].kind else {
                continue;
            };
            let parent = if path == b"/" { &b""[..] } else { &path };
            let first = pages.metadata.len();
            let mut len_bytes = 0;
            for (name, _) in entries {
                len_bytes += ENTRY_BYTES + name.len();
                let last = first + len_bytes / CONTENT_BYTES;
                if let Some(name) = self.names.get_mut(&[parent, b"/", name].concat()) {
                    name.search = Some(MetadataRange { first, last });
                }
            }
            let listing = (len_bytes > 0).then(|| pages.append(len_bytes));
            if let Some(place) = self.places.get_mut(node.index()) {
                place.kind = PlaceKind::Directory(DirectoryPlace {
                    listing,
                    is_indexed: false,
                });
            }
        }
    }
}

/// Metadata blocks that begin on pages.
struct Pages {
    /// Image byte behind the last.
    end: u64,
    metadata: Vec<Extent>,
}

impl Pages {
    /// Appends as many stored blocks as some bytes take.
    fn append(&mut self, len_bytes: usize) -> MetadataRange {
        let first = self.metadata.len();
        for _ in 0..=len_bytes / CONTENT_BYTES {
            self.push(Extent {
                start_byte: 0,
                stored_bytes: PAGE_BYTES,
                len_bytes: PAGE_BYTES,
                is_stored: true,
            });
        }
        let last = self.metadata.len() - 1;
        MetadataRange { first, last }
    }

    /// Puts a block behind the others.
    fn push(&mut self, block: Extent) {
        let block = Extent {
            start_byte: self.end,
            ..block
        };
        self.end = block.end();
        self.metadata.push(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicted::tests::tree;

    #[test]
    fn each_lookup_of_a_recorded_start_reads_pages_of_its_own() {
        let geometry = Geometry::recorded(&tree(), BlockSize::DEFAULT);
        let mut firsts: Vec<usize> = geometry.places.iter().map(|it| it.inode.first).collect();
        firsts.sort_unstable();
        // Seven inodes, two listings, a block of the fragment table and one of the ids.
        assert_eq!(firsts, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(geometry.metadata.len(), 7 + 2 + 2);
        assert_eq!((geometry.fragment_table, geometry.id_table), (Some(9), 10));
        let search = |path: &[u8]| geometry.names[path].search.map(|it| (it.first, it.last));
        assert_eq!((search(b"/"), search(b"/dir")), (None, Some((7, 7))));
        assert_eq!(search(b"/dir/a"), Some((8, 8)));
        for pair in geometry.metadata.windows(2) {
            assert_eq!(pair[0].end(), pair[1].start_byte);
        }
        let pages = geometry.metadata.iter().take(9);
        assert!({ pages }.all(|page| page.is_stored && page.start_byte % 4096 == 0));
        let last = geometry.metadata.last().map(Extent::end);
        assert_eq!(last, Some(geometry.image_bytes));
    }
}
