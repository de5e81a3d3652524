//! Comparing two images byte by byte.

use std::ops::ControlFlow;

use super::{DiffError, Side};
use crate::image::Image;

/// Bytes of each image that are read at once.
const PIECE_BYTES: usize = 1 << 20;

/// The first byte in which two images differ, padding and whatever else follows them included;
/// `None` if they are the same.
///
/// * `progress`: is given the bytes of the left image that were compared so far; stops the work
///   when it breaks.
///
/// # Errors
///
/// [`DiffError`] if one of them cannot be read, or the caller stops it.
///
/// # Cost
///
/// Reads both as far as they are the same.
pub fn first_difference(
    left: &Image,
    right: &Image,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<u64>, DiffError> {
    let left_bytes = left.store.size_bytes().map_err(DiffError::of(Side::Left))?;
    let right_bytes = right
        .store
        .size_bytes()
        .map_err(DiffError::of(Side::Right))?;
    let common_bytes = left_bytes.min(right_bytes);
    let (mut one, mut other) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
    let mut at = 0;
    while at < common_bytes {
        let len = usize::try_from(common_bytes - at).map_or(PIECE_BYTES, |it| it.min(PIECE_BYTES));
        one.truncate(len);
        other.truncate(len);
        let read = left.store.read_exact(&mut one, at);
        read.map_err(DiffError::of(Side::Left))?;
        let read = right.store.read_exact(&mut other, at);
        read.map_err(DiffError::of(Side::Right))?;
        if let Some(offset) = super::content::mismatch(&one, &other) {
            return Ok(Some(at + offset));
        }
        at += len as u64;
        if progress(at).is_break() {
            return Err(DiffError::Interrupted);
        }
    }
    Ok((left_bytes != right_bytes).then_some(common_bytes))
}
