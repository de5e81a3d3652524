//! The pages that a start touched, block by block of the image that has them.

use std::collections::HashSet;

use coldpress_format::{Body, File, PACK_PAGE_BYTES, PackFile};
use coldpress_image::{Error, Image};
use coldpress_trace::{FileAccess, PAGE_SIZE_BYTES, WorkingSet};

const _: () = assert!(PACK_PAGE_BYTES == PAGE_SIZE_BYTES);

/// How likely a page is needed that was only mapped around one that was.
const MAPPED_SHARE: f64 = 0.5;
/// What a read of a block costs beside its bytes, in bytes: a stick of 30 MB/s and 1,500 reads in a
/// second, a hard disk of 100 MB/s and 120 lie on either side.
const READ_BYTES: f64 = 64.0 * 1024.0;

/// A page of a file that a start touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TouchedPage {
    /// Index of the file.
    pub(crate) file: u32,
    pub(crate) page: u64,
    /// When it was touched first.
    pub(crate) rank: u64,
}

/// The pages of one block that a start touched: with all of them in a pack, the block is not read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TouchedBlock {
    pub(crate) pages: Vec<TouchedPage>,
    /// What reading it costs, in bytes, times how likely it is needed.
    pub(crate) cost_bytes: f64,
}

/// What a start touched of an image.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    pub(crate) files: Vec<PackFile>,
    pub(crate) contents: Vec<File>,
    pub(crate) blocks: Vec<TouchedBlock>,
    /// Files of the recording that the image does not have.
    pub(crate) missing_files: u64,
}

/// Finds the files of a working set in an image.
///
/// # Errors
///
/// [`Error`] if the image cannot be read.
pub(crate) fn touched_pages(image: &Image, set: &WorkingSet) -> Result<Touched, Error> {
    let mut touched = Touched::default();
    let mut known = HashSet::new();
    for access in &set.files {
        let found = image.find(&access.path)?;
        let Some((inode, Body::File(file))) = found.map(|(at, inode)| (at, inode.body)) else {
            touched.missing_files += 1;
            continue;
        };
        // Of several names of one file the first counts: it was needed first.
        if file.size_bytes == 0 || !known.insert(inode) {
            continue;
        }
        let index = u32::try_from(touched.files.len()).unwrap_or(u32::MAX);
        touched.blocks.extend(blocks(image, &file, index, access));
        touched.files.push(PackFile {
            path: access.path.clone(),
            inode,
            size_bytes: file.size_bytes,
            digest: image.content_digest(&file),
        });
        touched.contents.push(file);
    }
    Ok(touched)
}

/// The blocks of a file that were touched, in their order in the file.
fn blocks(image: &Image, file: &File, index: u32, access: &FileAccess) -> Vec<TouchedBlock> {
    let block_bytes = u64::from(image.superblock().block_size.bytes());
    let page_count = file.size_bytes.div_ceil(PACK_PAGE_BYTES);
    let mut blocks: Vec<(u64, TouchedBlock)> = Vec::new();
    for run in &access.pages {
        let share = if run.certain { 1.0 } else { MAPPED_SHARE };
        for page in run.first_page..run.last_page.saturating_add(1).min(page_count) {
            let block = page * PACK_PAGE_BYTES / block_bytes;
            if blocks.last().is_none_or(|(last, _)| *last != block) {
                let none = TouchedBlock {
                    pages: Vec::new(),
                    cost_bytes: 0.0,
                };
                blocks.push((block, none));
            }
            if let Some((_, touched)) = blocks.last_mut() {
                let rank = run.rank;
                let file = index;
                touched.pages.push(TouchedPage { file, page, rank });
                touched.cost_bytes = touched.cost_bytes.max(share);
            }
        }
    }
    let cost = |(block, mut touched): (u64, TouchedBlock)| {
        touched.cost_bytes *= read_cost_bytes(image, file, block) + READ_BYTES;
        touched
    };
    blocks.into_iter().map(cost).collect()
}

/// Bytes of the image that are read for a block of a file: of the fragment block if it is the tail
/// end, none of a hole.
fn read_cost_bytes(image: &Image, file: &File, block: u64) -> f64 {
    let word = usize::try_from(block).ok();
    let word = word.and_then(|block| file.blocks.get(block)).copied();
    let tail = || Some(image.stored_fragment(file.tail?)?.word);
    word.or_else(tail)
        .map_or(0.0, |word| word.size_bytes().into())
}
