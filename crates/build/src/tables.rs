//! Tables of fixed-size entries: fragment, export, id and xattr id table.

use crate::error::Error;
use crate::metadata::{self, Packed};
use crate::write::Options;

/// A table as it lies in the image from byte `start` on: metadata blocks, then their index.
///
/// Returns the bytes and the image byte at which the index begins.
pub(crate) fn lookup(
    entries: &[u8],
    start: u64,
    options: &Options,
) -> Result<(Vec<u8>, u64), Error> {
    let mut packed = Packed::default();
    metadata::pack(entries, options, &mut packed)?;
    let index_start = start + packed.bytes.len() as u64;
    let mut bytes = packed.bytes;
    for block in packed.starts {
        bytes.extend((start + u64::from(block)).to_le_bytes());
    }
    Ok((bytes, index_start))
}
