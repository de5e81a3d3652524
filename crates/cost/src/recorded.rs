//! The image that starts are recorded from.

use coldpress_assemble::{MetadataLayout, TableOptions, TooMany};
use coldpress_format::{BlockSize, Compressor, SUPERBLOCK_SIZE};
use coldpress_layout::{NodeId, Plan, Tails, Tree, order};

use crate::geometry::Geometry;
use crate::predicted::{BlockSizes, ImageOptions};

/// Bytes of a data block in the image for each byte that it holds: what zstd's fastest level makes
/// of Debian's root file systems. Medium and program differ by far more than sources do.
const DATA_RATIO: f64 = 0.4;

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
    /// What an image of a tree looks like that its starts are recorded from: zstd, ordered by the
    /// tree, with metadata that is spread over pages so that each lookup is a read
    /// (ARCHITECTURE.md, "How a start is recorded").
    ///
    /// # Errors
    ///
    /// As [`Geometry::predicted`].
    ///
    /// # Cost
    ///
    /// As [`Geometry::predicted`].
    pub fn recorded(tree: &Tree, block_size: BlockSize) -> Result<Self, TooMany> {
        let (order, _) = order(tree, &Plan::default(), block_size, Tails::Small);
        let options = ImageOptions {
            compressor: Compressor::Zstd,
            block_size,
            data_start: SUPERBLOCK_SIZE as u64,
            tables: TableOptions {
                metadata: MetadataLayout::Spread,
                is_exportable: true,
            },
        };
        Self::predicted(tree, &order, &options, &Even)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Extent;
    use crate::predicted::tests::tree;

    #[test]
    fn each_lookup_of_a_recorded_start_reads_pages_of_its_own() {
        let geometry = Geometry::recorded(&tree(), BlockSize::DEFAULT).unwrap();
        let mut firsts: Vec<usize> = geometry.places.iter().map(|it| it.inode.first).collect();
        firsts.sort_unstable();
        // Seven inodes, two listings, a block of the fragment table and one of the ids.
        assert_eq!(firsts, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(geometry.metadata.len(), 7 + 2 + 2);
        assert_eq!((geometry.fragment_table, geometry.id_table), (Some(9), 10));
        let search = |path: &[u8]| geometry.names[path].search.map(|it| (it.first, it.last));
        // Listings of directories stand before those of their parents.
        assert_eq!((search(b"/"), search(b"/dir")), (None, Some((8, 8))));
        assert_eq!(search(b"/dir/a"), Some((7, 7)));
        let pages = &geometry.metadata[..9];
        for pair in pages.windows(2) {
            assert_eq!(pair[0].end(), pair[1].start_byte);
        }
        assert!(
            pages
                .iter()
                .all(|page| page.is_stored && page.start_byte % 4096 == 0)
        );
        let last = geometry.metadata.last().map(Extent::end);
        assert!(last < Some(geometry.image_bytes));
    }
}
