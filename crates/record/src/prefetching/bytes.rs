//! Bytes of an image, read into the memory of the machine.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use coldpress_image::Image;
use coldpress_trace::WorkingSet;
use rustix::fs::{Advice, fadvise};

use super::extents::{needed, reads};
use super::{Clock, Fetched, Limits};

/// The largest read.
const BUFFER_BYTES: usize = 1 << 20;

/// The bytes of an image that a working set needs, in the order in which they are read; and how
/// many of its files the image does not have.
pub fn extents_of(image: &Image, set: &WorkingSet) -> (Vec<Range<u64>>, u64) {
    let needed = needed(image, set);
    (reads(&needed.extents), needed.missing)
}

/// Reads the blocks of an image that a working set touches, in the order of the start.
///
/// What is copied is dropped at once; what counts are the pages that the kernel keeps.
///
/// * `file`: of the image, which begins at its byte `start`.
/// * `stop`: ends it before the next read.
pub fn read_bytes(
    image: &Image,
    (file, start): (&File, u64),
    set: &WorkingSet,
    limits: Limits,
    stop: &AtomicBool,
) -> Fetched {
    // The kernel is to bring what is asked for, and nothing behind it.
    let _ = fadvise(file, 0, None, Advice::Random);
    let (reads, missing) = extents_of(image, set);
    let wanted_bytes = reads.iter().map(|read| read.end - read.start).sum();
    let mut clock = Clock::new(limits, wanted_bytes, missing, stop);
    let mut buffer = vec![0; BUFFER_BYTES];
    for read in reads {
        let len = usize::try_from(read.end - read.start).unwrap_or(usize::MAX);
        let begun = Instant::now();
        let room = buffer.get_mut(..len).unwrap_or_default();
        let got = file.read_at(room, start.saturating_add(read.start));
        // A bad sector is met by whoever needs it.
        let got = got.map_or(0, |len| len as u64);
        if !clock.goes_on(got, begun.elapsed()) {
            break;
        }
    }
    clock.finish()
}
