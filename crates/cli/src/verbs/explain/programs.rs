//! The programs and libraries among the files that cost most.

use coldpress_explain::{
    Account, ElfCost, ElfError, Explanation, ImageMap, PageUse, Touch, explain_elf,
};
use coldpress_image::Image;

use super::symbols::Orders;

/// Files that are looked into: those that cost more than all others.
const LOOKED_INTO_MAX: usize = 200;

/// What was found in a file.
pub(super) struct Explained {
    /// Its index in the map of the image.
    pub(super) file: usize,
    /// What the start did to it, or why that is not known.
    pub(super) cost: Result<ElfCost, ElfError>,
}

/// Looks into the files that cost most, and into those of which an order is wanted.
pub(super) fn explain(
    image: &Image,
    map: &ImageMap,
    account: &Account,
    explanation: &Explanation,
    orders: &Orders,
) -> Vec<Explained> {
    let touches = account.touches();
    let wanted = |file: usize| {
        let path = map.files().get(file).map(|file| &*file.path);
        path.is_some_and(|path| orders.want(path))
    };
    let costs = explanation.files.iter().enumerate();
    let chosen = costs.filter(|(rank, cost)| *rank < LOOKED_INTO_MAX || wanted(cost.file));
    let none: &[Touch] = &[];
    let nothing = PageUse::default();
    let found = chosen.filter_map(|(_, cost)| {
        let touches = touches.get(&cost.file).map_or(none, Vec::as_slice);
        let pages = account.pages(cost.file).unwrap_or(&nothing);
        let cost_of_elf = explain_elf(image, map, cost.file, pages, touches).transpose()?;
        Some(Explained {
            file: cost.file,
            cost: cost_of_elf,
        })
    });
    found.collect()
}
