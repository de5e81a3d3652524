//! El Torito: what the firmware starts.

use crate::field::little;
use crate::{SECTOR, SECTOR_BYTES};

/// Bytes of an entry of the catalogue.
pub const BOOT_ENTRY_BYTES: usize = 32;
/// What an entry begins with whose image can be started.
const BOOTABLE: u8 = 0x88;
/// The unit of sizes in the catalogue.
const UNIT_BYTES: u64 = 512;

/// An image that the firmware loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootImage {
    /// Byte of the file at which it begins.
    pub start: u64,
    /// Bytes of it that are loaded; 0 or 512 of large ones.
    pub size_bytes: u64,
    /// Its entry without the place.
    pub entry: [u8; BOOT_ENTRY_BYTES],
}

/// The images that a catalogue names, of at most 2048 bytes.
pub fn boot_images(catalog: &[u8]) -> Vec<BootImage> {
    let entries = catalog.chunks_exact(BOOT_ENTRY_BYTES);
    let entries = entries.take(SECTOR / BOOT_ENTRY_BYTES);
    let entries = entries.filter(|entry| entry.first() == Some(&BOOTABLE));
    let images = entries.map(|bytes| {
        let mut entry = [0; BOOT_ENTRY_BYTES];
        entry.copy_from_slice(bytes);
        entry[8..12].fill(0);
        BootImage {
            start: little(bytes, 8, 4) * SECTOR_BYTES,
            size_bytes: little(bytes, 6, 2) * UNIT_BYTES,
            entry,
        }
    });
    images.collect()
}
