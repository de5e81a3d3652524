//! Data blocks, fragment blocks and what inodes say of them.

use std::mem::offset_of;

use coldpress_format::{BlockWord, Body, File, RawFile, RawInodeHeader, TailEnd};

use super::{FILE, SPARSE, TAIL, changed, stored, words};
use crate::case::Case;
use crate::image::Nasty;
use crate::model::Model;
use crate::packing::{Packing, WRITABLE};
use crate::sample::sample;
use crate::tables::Tables;

const RECORD: usize = size_of::<RawInodeHeader>();

/// The image after a file was changed.
fn with_file(index: usize, change: impl FnOnce(&mut File)) -> Nasty {
    changed(|model| {
        if let Body::File(file) = &mut model.nodes[index].inode.body {
            change(file);
        }
    })
}

/// Tail ends in fragment blocks that are not there, and outside of those that are.
pub fn tail_ends() -> Vec<Case> {
    let index = "fragment index is";
    let outside = "bytes, 100 are there";
    let tails = [
        (1, 50, index),
        (2, 50, index),
        (u32::MAX - 1, 50, index),
        (0, 51, outside),
        (0, 100, outside),
        (0, 4096, outside),
        (0, 1 << 31, outside),
        (0, u32::MAX, outside),
    ];
    let cases = tails.into_iter().map(|(fragment, offset, says)| {
        let image = with_file(TAIL, |file| file.tail = Some(TailEnd { fragment, offset }));
        let what = format!("a tail end at {offset:#x} of fragment block {fragment:#x}");
        Case::new(what, image.bytes, says)
    });
    let none = with_file(TAIL, |file| {
        file.tail = None;
        file.blocks = vec![BlockWord::SPARSE];
    });
    let whole = with_file(SPARSE, |file| {
        file.tail = Some(TailEnd {
            fragment: 0,
            offset: 0,
        });
    });
    cases
        .chain([
            Case::new("a hole instead of a tail end", none.bytes, ""),
            Case::new(
                "a tail end of no bytes",
                whole.bytes,
                "length of the tail end is 0",
            ),
        ])
        .collect()
}

/// Words of a block list with high bits, over the block size, or that add up to too much.
pub fn block_words() -> Vec<Case> {
    let image = stored();
    let at = image.inode_at[FILE] + RECORD + size_of::<RawFile>();
    let size = "block size on disk is";
    let mut cases = words(
        "word of a block list",
        &image,
        at,
        &[
            (1 << 25, size),
            (1 << 31, size),
            (u32::MAX, size),
            (0x1001, size),
            (0x0100_1001, size),
            (1 << 24, size),
            (0x1000, "data block at byte"),
            (0x0100_0fff, "decompressed length is"),
        ],
    );
    let at = image.inode_at[FILE] + RECORD + offset_of!(RawFile, start);
    let outside = "data block at byte";
    let starts = [
        (0, outside),
        (95, outside),
        (1 << 31, outside),
        (u32::MAX, outside),
    ];
    cases.extend(words("start of a file", &image, at, &starts));
    for start in [1 << 63, u64::MAX, i64::MAX.unsigned_abs()] {
        let image = with_file(FILE, |file| file.start = start);
        let what = format!("start of a file {start:#x}");
        cases.push(Case::new(what, image.bytes, "at byte"));
    }
    cases
}

/// Blocks that begin in the middle of others.
pub fn overlapping_blocks() -> Vec<Case> {
    let image = with_file(SPARSE, |file| {
        file.start = 97;
        file.blocks[0] = BlockWord::new(4096, false);
    });
    vec![Case::new("a block in a block", image.bytes, "")]
}

/// Data and fragment blocks that decompress to more or less than they should, by each compressor.
pub fn content_bombs() -> Vec<Case> {
    let cases = WRITABLE.into_iter().flat_map(|compressor| {
        [4095, 4097, 8192].map(|len| {
            let mut model = sample(Packing::compressed(compressor));
            let zeros = vec![0; len];
            bomb(&mut model, &zeros);
            let what = format!("{len} bytes in a {compressor} block of 4096");
            Case::new(
                what,
                Tables::new(&model).write().bytes,
                "data block at byte",
            )
        })
    });
    cases.collect()
}

/// Gives the sparse file one block that holds `content`.
fn bomb(model: &mut Model, content: &[u8]) {
    let start = model.data_end();
    let word = model.add_block(content);
    let Body::File(file) = &mut model.nodes[SPARSE].inode.body else {
        return;
    };
    file.start = start;
    file.blocks[0] = word;
}
