//! Reads past the page cache, so that each one reaches the medium.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::stopwatch::{Elapsed, Stopwatch};

/// Direct I/O wants memory, places and lengths that are multiples of the medium's blocks, which
/// have 512 or 4096 bytes.
pub(super) const ALIGN_BYTES: usize = 4096;

/// A file or device that is read directly.
#[derive(Debug)]
pub(super) struct Direct {
    file: File,
    /// A multiple of [`ALIGN_BYTES`].
    size_bytes: u64,
}

/// Memory for one direct read.
#[derive(Debug)]
pub(super) struct Room {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

/// Random numbers: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
#[derive(Debug, Clone)]
pub(super) struct RandomBytes(pub(super) u64);

impl Direct {
    /// Opens something that is there, to be read.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_DIRECT);
        Self::of(options.open(path)?)
    }

    /// What was opened for direct reads.
    pub(super) fn of(mut file: File) -> io::Result<Self> {
        // The length of a block device is not in its metadata.
        let end = file.seek(SeekFrom::End(0))?;
        let size_bytes = end - end % ALIGN_BYTES as u64;
        Ok(Self { file, size_bytes })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Fills the room from a place, a multiple of [`ALIGN_BYTES`]; returns how long it took.
    pub(super) fn read(&self, room: &mut Room, start: u64) -> io::Result<Elapsed> {
        let watch = Stopwatch::start();
        self.file.read_exact_at(room.bytes_mut(), start)?;
        Ok(watch.elapsed())
    }

    /// Fills the room from a random place.
    pub(super) fn read_anywhere(
        &self,
        room: &mut Room,
        random: &mut RandomBytes,
    ) -> io::Result<Elapsed> {
        let pages = self.size_bytes.saturating_sub(room.len as u64) / ALIGN_BYTES as u64;
        self.read(room, random.below(pages + 1) * ALIGN_BYTES as u64)
    }
}

impl Room {
    /// * `len`: a multiple of [`ALIGN_BYTES`].
    pub(super) fn new(len: usize) -> Self {
        let bytes = vec![0_u8; len + ALIGN_BYTES];
        let start = bytes.as_ptr().align_offset(ALIGN_BYTES);
        Self { bytes, start, len }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        let range = self.start..self.start.saturating_add(self.len);
        self.bytes.get_mut(range).unwrap_or_default()
    }
}

impl RandomBytes {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`, which is at least 1: its bias is `count` / 2^64.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        self.next() % count.max(1)
    }

    /// Fills bytes that no medium or file system makes smaller.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            for (to, from) in chunk.iter_mut().zip(self.next().to_le_bytes()) {
                *to = from;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_aligned_and_as_long_as_they_are_to_be() {
        for len in [4096, 128 << 10, 1 << 20] {
            let mut room = Room::new(len);
            assert_eq!(room.bytes_mut().len(), len);
            assert_eq!(room.bytes_mut().as_ptr().addr() % ALIGN_BYTES, 0);
        }
    }

    #[test]
    fn random_bytes_stay_below_their_limit_and_are_not_all_alike() {
        let mut random = RandomBytes(1);
        let thrown: Vec<u64> = (0..1000).map(|_| random.below(7)).collect();
        for face in 0..7 {
            assert!(thrown.contains(&face), "{face}");
        }
        assert!(thrown.iter().all(|face| *face < 7));
        assert_eq!(random.below(0), 0);
        let mut bytes = [0; 4099];
        random.fill(&mut bytes);
        let zeros = bytes.iter().map(|byte| u32::from(*byte == 0)).sum::<u32>();
        assert!(zeros < 64, "{zeros}");
    }
}
