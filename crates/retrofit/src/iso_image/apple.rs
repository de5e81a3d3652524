//! The partition map of Apple machines, which names a second file system of some media.

use coldpress_image::ReadAt;

use crate::error::Error;
use crate::field::read_up_to;

/// Blocks of the map: those of disks, and those of discs.
const BLOCKS_BYTES: [u64; 2] = [512, 2048];
/// What an entry begins with, and where its type stands ("Inside Macintosh: Devices", chapter 3).
const MARK: &[u8] = b"PM";
const TYPE_AT: usize = 48;
const TYPE: &[u8] = b"Apple_HFS";
/// Entries that are looked at.
const ENTRIES_MAX: u64 = 63;

/// Byte at which the entry of an HFS or HFS+ file system begins, if there is one.
pub(super) fn hfs(source: &dyn ReadAt) -> Result<Option<u64>, Error> {
    let mut entry = [0; TYPE_AT + TYPE.len()];
    for block_bytes in BLOCKS_BYTES {
        for start in (1..=ENTRIES_MAX).map(|number| number * block_bytes) {
            let len = read_up_to(source, &mut entry, start)?;
            if len < entry.len() || !entry.starts_with(MARK) {
                break;
            }
            if entry.ends_with(TYPE) {
                return Ok(Some(start));
            }
        }
    }
    Ok(None)
}
