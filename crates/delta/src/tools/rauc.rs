//! RAUC's block hash index, by which adaptive updates read only what no slot has.
//!
//! ```text
//! for each 4 KiB of the image    SHA-256 of them
//! ```
//!
//! When it installs an image, RAUC 1.8 takes a block of zeros from nowhere, another from the slot
//! that it overwrites, from what it has written, or from the running slot, and the rest from the
//! bundle. Source: `src/hash_index.c` and `src/update_handler.c` of RAUC 1.8. A bundle is an image
//! itself: with `streaming`, what is read of it are whole blocks of that, so these figures are the
//! least that is transferred.

use std::collections::HashSet;
use std::path::Path;

use coldpress_image::ReadAt as _;
use sha2::{Digest as _, Sha256};

use super::open;
use crate::error::Error;
use crate::transfer::{Part, Transfer};
use crate::updater::Pair;

/// Bytes of a block.
const BLOCK_BYTES: usize = 4096;

/// The bytes of the block hash index of a file, as RAUC writes it. The last block of a file whose
/// length is no multiple of 4 KiB is filled up with zeros; RAUC refuses such files.
///
/// # Errors
///
/// [`Error::File`], [`Error::Interrupted`].
///
/// # Cost
///
/// Reads the file once; 32 bytes of memory for each 4 KiB.
pub fn block_hash_index(path: &Path, stop: &mut dyn FnMut() -> bool) -> Result<Vec<u8>, Error> {
    Ok(hashes(path, stop)?.into_flattened())
}

pub(crate) fn measure(pair: Pair<'_>, stop: &mut dyn FnMut() -> bool) -> Result<Transfer, Error> {
    let old = hashes(pair.old, stop)?;
    let new = hashes(pair.new, stop)?;
    let mut known: HashSet<[u8; 32]> = old.into_iter().collect();
    known.insert(hash(&[0; BLOCK_BYTES]));
    let block_bytes = BLOCK_BYTES as u64;
    let starts = (0..).map(|number| number * block_bytes);
    let fetched = new.iter().zip(starts);
    let fetched = fetched.filter(|(hash, _)| known.insert(**hash));
    let parts = fetched.map(|(_, start)| Part::plain(start..start + block_bytes));
    Ok(Transfer {
        index_bytes: new.as_flattened().len() as u64,
        parts: parts.collect(),
        patch_bytes: 0,
    })
}

fn hashes(path: &Path, stop: &mut dyn FnMut() -> bool) -> Result<Vec<[u8; 32]>, Error> {
    /// Blocks that are read at once.
    const READ_BLOCKS: usize = 256;
    let file = open(path, "a file to compare")?;
    let mut hashes = Vec::new();
    let mut bytes = vec![0; READ_BLOCKS * BLOCK_BYTES];
    let mut start = 0;
    loop {
        if stop() {
            return Err(Error::Interrupted);
        }
        let len = file.fill_at(&mut bytes, start);
        let len = len.map_err(Error::file("a file to compare"))?;
        start += len as u64;
        bytes[len..].fill(0);
        let filled = len.next_multiple_of(BLOCK_BYTES);
        hashes.extend(bytes[..filled].chunks(BLOCK_BYTES).map(hash));
        if len < bytes.len() {
            return Ok(hashes);
        }
    }
}

fn hash(block: &[u8]) -> [u8; 32] {
    Sha256::digest(block).into()
}
