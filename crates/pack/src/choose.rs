//! Which pages are packed, if not all have room.

use crate::touched_pages::{TouchedBlock, TouchedPage};

/// The pages of the blocks that save most for each page, in the order in which they were touched.
///
/// A block is packed with all its touched pages or not at all: a part of them saves no read. Each
/// has one way to be packed, so that taking the best ratio first is the front of all choices.
///
/// * `pages_max`: pages there is room for.
pub(crate) fn choose(blocks: &[TouchedBlock], pages_max: usize) -> Vec<TouchedPage> {
    let ratio = |block: &TouchedBlock| {
        let pages = u32::try_from(block.pages.len()).unwrap_or(u32::MAX);
        block.cost_bytes / f64::from(pages)
    };
    let mut by_ratio: Vec<&TouchedBlock> = blocks.iter().collect();
    by_ratio.sort_by(|left, right| ratio(right).total_cmp(&ratio(left)));
    let mut chosen = Vec::new();
    for block in by_ratio {
        if chosen.len() + block.pages.len() <= pages_max {
            chosen.extend_from_slice(&block.pages);
        }
    }
    chosen.sort_by_key(|page| (page.rank, page.file, page.page));
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(pages: std::ops::Range<u64>, cost_bytes: f64) -> TouchedBlock {
        let page = |page| TouchedPage {
            file: 0,
            page,
            rank: 100 - page,
        };
        TouchedBlock {
            pages: pages.map(page).collect(),
            cost_bytes,
        }
    }

    #[test]
    fn what_saves_most_for_a_page_comes_first_and_the_order_is_that_of_the_start() {
        let blocks = [block(0..10, 100.0), block(10..12, 50.0), block(12..13, 1.0)];
        for (pages_max, expected) in [
            (0, vec![]),
            (1, vec![12]),
            (2, vec![11, 10]),
            (3, vec![12, 11, 10]),
            (11, vec![12, 11, 10]),
            (12, (0..12).rev().collect()),
            (99, (0..13).rev().collect()),
        ] {
            let chosen = choose(&blocks, pages_max);
            let pages: Vec<u64> = chosen.iter().map(|page| page.page).collect();
            assert_eq!(pages, expected, "{pages_max}");
        }
    }
}
