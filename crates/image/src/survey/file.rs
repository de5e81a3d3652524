//! The blocks and the tail end of a regular file.

use coldpress_format::{BlockSize, Corrupt, File, Part};

use super::{Survey, Tail};
use crate::error::Error;
use crate::extents::{Extent, Kind};
use crate::file::{data_blocks, tail_len};
use crate::findings::{expect_usual, within};
use crate::image::Image;

/// Notes the blocks of a file; returns what is wrong with them.
///
/// * `start`: image byte of the inode's metadata block, for errors.
pub(super) fn note_file(
    survey: &mut Survey,
    image: &Image,
    node: usize,
    file: &File,
    start: u64,
) -> Vec<Error> {
    let block_size = image.superblock().block_size;
    let at = (Part::Inode, start);
    let node = u32::try_from(node).unwrap_or(u32::MAX);
    let mut errors = Vec::new();
    let mut expect = |checked: Result<(), Corrupt>| match checked {
        Ok(()) => true,
        Err(corrupt) => {
            errors.push(corrupt.into());
            false
        }
    };
    let sparse = (0, file.size_bytes);
    expect(within(at, "sparse bytes", file.sparse_bytes, sparse));
    if let Some(tail) = file.tail {
        let len_bytes = u32::try_from(tail_len(file, block_size)).unwrap_or(0);
        // The kernel refuses a tail end of no bytes.
        let is_there = (1, u64::MAX);
        expect(within(
            at,
            "length of the tail end",
            len_bytes.into(),
            is_there,
        ));
        if expect(image.fragment_of(tail).map(drop)) {
            survey.tails.push(Tail {
                fragment: tail.fragment,
                offset: tail.offset,
                len_bytes,
                node,
            });
        }
    }
    let sizes = file.blocks.iter().map(|word| u64::from(word.size_bytes()));
    let size: u64 = sizes.sum();
    if size == 0 {
        return errors;
    }
    let inside = image.data_area().check(Part::DataBlock, file.start, size);
    if expect(inside.map(drop)) {
        for (index, block) in (0_u32..).zip(data_blocks(file, block_size)) {
            let (found, high) = (block.word.size_bytes(), block.len);
            if found > high && block.word.is_compressed() {
                let field = "compressed size of a block (the kernel has room for its content only)";
                expect(within(at, field, found.into(), (0, high.into())));
            }
            if !block.word.is_sparse() {
                survey.extents.push(Extent {
                    start: block.start,
                    word: block.word.word(),
                    kind: Kind::Data {
                        len_bytes: block.len,
                        node,
                        index,
                    },
                });
            }
        }
    }
    errors
}

/// Fails, for a notice, if an inode states other sparse bytes than its sparse blocks save.
pub(super) fn check_sparse(
    file: &File,
    block_size: BlockSize,
    at: (Part, u64),
) -> Result<(), Corrupt> {
    let sparse = data_blocks(file, block_size).filter(|block| block.word.is_sparse());
    let saved: u64 = sparse.map(|block| u64::from(block.len)).sum();
    let found = file.sparse_bytes;
    // mksquashfs states 0 for files without holes on disk, counts a last short block as a whole
    // one, and leaves a byte so that st_blocks is not 0.
    if found == 0 || saved.abs_diff(found) < u64::from(block_size.bytes()) {
        return Ok(());
    }
    expect_usual(at, "sparse bytes", found, saved)
}
