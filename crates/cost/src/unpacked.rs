//! The files of an image as they would lie on a file system that compresses nothing.

use coldpress_format::BlockSize;
use coldpress_trace::PAGE_SIZE_BYTES;

use crate::geometry::{Extent, FileGeometry, Geometry, InodeGeometryKind};

/// An image without data blocks, with metadata blocks as large as what they hold; and where each
/// file begins: one behind the other, whole pages.
pub(crate) fn unpacked(geometry: &Geometry) -> (Geometry, Vec<u64>) {
    let mut unpacked = geometry.clone();
    unpacked.block_size = BlockSize::MIN;
    unpacked.fragments.clear();
    let mut end = 0_u64;
    let mut starts = Vec::with_capacity(unpacked.places.len());
    for place in &mut unpacked.places {
        starts.push(end);
        if let InodeGeometryKind::File(file) = &mut place.kind {
            file.blocks.clear();
            file.fragment = None;
            end = end.saturating_add(file.page_count().saturating_mul(PAGE_SIZE_BYTES));
        }
    }
    for block in &mut unpacked.metadata {
        block.stored_bytes = block.len_bytes;
        block.is_stored = true;
    }
    unpacked.image_bytes = end;
    unpacked.hash_tree = None;
    (unpacked, starts)
}

/// A page of a file that begins at a byte.
pub(crate) fn page(start: u64, file: &FileGeometry, page: u64) -> Option<Extent> {
    let bytes = BlockSize::MIN.bytes();
    (page < file.page_count()).then(|| Extent {
        start_byte: start.saturating_add(page.saturating_mul(PAGE_SIZE_BYTES)),
        stored_bytes: bytes,
        len_bytes: bytes,
        is_stored: true,
    })
}
