//! The programs and libraries among the files that cost most.

use coldpress_image::Image;

use crate::{Account, ElfCost, ElfError, Explanation, ImageMap, PageUse, Touch, explain_elf};

/// Files that are looked into: those that cost more than all others.
const LOOKED_INTO_MAX: usize = 200;

/// What was found in a file.
#[derive(Debug)]
pub struct ExplainedFile {
    /// Its index in the map of the image.
    pub file: usize,
    /// What the start did to it, or why that is not known.
    pub cost: Result<ElfCost, ElfError>,
}

/// Looks into the files that cost most, and into those of the paths that are wanted.
///
/// # Cost
///
/// Reads the headers of up to 200 files and of those that are wanted.
pub fn explain_programs(
    image: &Image,
    map: &ImageMap,
    account: &Account,
    explanation: &Explanation,
    is_wanted: &dyn Fn(&[u8]) -> bool,
) -> Vec<ExplainedFile> {
    let touches = account.touches();
    let wanted = |file: usize| {
        let path = map.files().get(file).map(|file| &*file.path);
        path.is_some_and(is_wanted)
    };
    let costs = explanation.files.iter().enumerate();
    let chosen = costs.filter(|(rank, cost)| *rank < LOOKED_INTO_MAX || wanted(cost.file));
    let none: &[Touch] = &[];
    let nothing = PageUse::default();
    let found = chosen.filter_map(|(_, cost)| {
        let touches = touches.get(&cost.file).map_or(none, Vec::as_slice);
        let pages = account.pages(cost.file).unwrap_or(&nothing);
        let cost_of_elf = explain_elf(image, map, cost.file, pages, touches).transpose()?;
        Some(ExplainedFile {
            file: cost.file,
            cost: cost_of_elf,
        })
    });
    found.collect()
}
