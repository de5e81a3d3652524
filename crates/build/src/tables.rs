//! Tables of fixed-size entries: fragment, export, id and xattr id table.

use crate::error::Error;
use crate::metadata;
use crate::options::Options;

/// A table as it lies in the image from byte `start` on: metadata blocks, then their index.
///
/// * `is_stored`: whether it is stored as it is.
///
/// Returns the bytes and the image byte at which the index begins.
pub(crate) fn lookup(
    entries: &[u8],
    start: u64,
    is_stored: bool,
    options: &Options,
) -> Result<(Vec<u8>, u64), Error> {
    let packed = metadata::pack(entries, is_stored, options)?;
    let index_start = start + packed.bytes.len() as u64;
    let mut bytes = packed.bytes;
    for block in packed.starts {
        bytes.extend((start + u64::from(block)).to_le_bytes());
    }
    Ok((bytes, index_start))
}
