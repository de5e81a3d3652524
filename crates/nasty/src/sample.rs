//! A small image with something of everything.

use coldpress_format::{BlockWord, Body, File, TailEnd};

use crate::model::Model;
use crate::node::{directory, node};
use crate::packing::Packing;

/// Bytes of the sample's fragment block: two tail ends of 50.
pub const FRAGMENT_BYTES: usize = 100;
const TAIL_BYTES: usize = 50;
/// Bytes of a data block.
const BLOCK_BYTES: usize = 4096;

/// Bytes that do not compress, the same for the same seed.
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..len).map(|_| next()).collect()
}

/// Bytes that compress well.
pub fn text(seed: u64, len: usize) -> Vec<u8> {
    let line = format!("line of file {seed}, much like the others\n");
    line.bytes().cycle().take(len).collect()
}

/// Content of the file with blocks and a tail end.
pub fn file_content() -> Vec<u8> {
    text(1, 2 * BLOCK_BYTES + TAIL_BYTES)
}

/// A tree with something of everything: `/dir/file` (two blocks and a tail end), `/dir/sub/`,
/// `/fifo`, `/link` (a symlink), `/sparse` (holes), `/tail` (a tail end only, with two xattrs, the
/// second with its value out of line).
///
/// * `packing`: of a block size of 4 KiB.
pub fn sample(packing: Packing) -> Model {
    let mut model = Model::new(packing);
    let content = file_content();
    let (full, tail) = content.split_at(2 * BLOCK_BYTES);
    let blocks = full.chunks(BLOCK_BYTES);
    let blocks = blocks.map(|block| model.add_block(block)).collect();
    model.add_fragment(&[tail, &text(2, FRAGMENT_BYTES - TAIL_BYTES)].concat());

    let file = |size_bytes: usize, start, blocks, tail_offset: Option<u32>| {
        Body::File(File {
            start,
            size_bytes: size_bytes as u64,
            sparse_bytes: 0,
            tail: tail_offset.map(|offset| TailEnd {
                fragment: 0,
                offset,
            }),
            blocks,
        })
    };
    let start = packing.data_start();
    let mut tail_only = node(
        7,
        file(FRAGMENT_BYTES - TAIL_BYTES, 0, Vec::new(), Some(50)),
    );
    tail_only.inode.xattr = Some(0);
    let holes = vec![BlockWord::SPARSE; 20];
    model.nodes = vec![
        directory(
            1,
            8,
            &[
                (b"dir", 1),
                (b"fifo", 4),
                (b"link", 5),
                (b"sparse", 6),
                (b"tail", 7),
            ],
        ),
        directory(2, 1, &[(b"file", 2), (b"sub", 3)]),
        node(3, file(content.len(), start, blocks, Some(0))),
        directory(4, 2, &[]),
        node(5, Body::Fifo),
        node(6, Body::Symlink(b"dir/file".to_vec())),
        node(8, file(20 * BLOCK_BYTES, 0, holes, None)),
        tail_only,
    ];
    model.pairs = pairs();
    model.xattr_sets = vec![(0, 2)];
    model
}

/// `user.one`, and `user.two` with the value of the first.
fn pairs() -> Vec<u8> {
    [
        &[0, 0, 3, 0][..],
        b"one",
        &[5, 0, 0, 0],
        b"value",
        &[0, 1, 3, 0],
        b"two",
        &[8, 0, 0, 0],
        // The value of the first pair.
        &7_u64.to_le_bytes(),
    ]
    .concat()
}
