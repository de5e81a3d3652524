//! The file that an image is written to.

use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{Advice, FallocateFlags};

use crate::error::Error;

/// Space that is set aside at once: file systems find large extents for it, and asking costs
/// nothing against writing it.
const STEP_BYTES: u64 = 64 << 20;

/// What is written before the disk is asked to take it.
const FLUSH_BYTES: u64 = 8 << 20;

/// An image that grows at its end, in a file in which it may begin anywhere.
pub(crate) struct Sink<'a> {
    file: &'a File,
    /// Byte of the file at which the image begins.
    offset_bytes: u64,
    /// Image byte behind what was appended.
    pub(crate) end: u64,
    /// Image byte up to which the kernel was asked to write to the disk.
    flushed_end: u64,
    /// Byte of the file up to which space is set aside; `None` where the file system cannot. What
    /// is left over goes back when the length is set.
    reserved_end: Option<u64>,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(file: &'a File, offset_bytes: u64) -> Self {
        Self {
            file,
            offset_bytes,
            end: 0,
            flushed_end: 0,
            reserved_end: Some(0),
        }
    }

    /// Of a file whose image is added to from `start` on.
    pub(crate) fn behind(file: &'a File, offset_bytes: u64, start: u64) -> Self {
        Self {
            end: start,
            flushed_end: start,
            reserved_end: Some(offset_bytes + start),
            ..Self::new(file, offset_bytes)
        }
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = self.end + bytes.len() as u64;
        self.reserve(self.offset_bytes + end);
        self.write_at(bytes, self.end)?;
        self.end = end;
        if self.end - self.flushed_end >= FLUSH_BYTES {
            self.flush();
        }
        Ok(())
    }

    /// Lets the disk begin with what is written, so that nobody waits for all of it in the end.
    fn flush(&mut self) {
        let start = self.offset_bytes + self.flushed_end;
        // Starts writing and drops what is clean, which nothing is yet: the image stays cached. A
        // refusal changes nothing.
        let len = NonZeroU64::new(self.end - self.flushed_end);
        let _ = rustix::fs::fadvise(self.file, start, len, Advice::DontNeed);
        self.flushed_end = self.end;
    }

    /// Writes at an image byte.
    pub(crate) fn write_at(&self, bytes: &[u8], start: u64) -> Result<(), Error> {
        let written = self.file.write_all_at(bytes, self.offset_bytes + start);
        written.map_err(Error::Write)
    }

    /// Ends the image.
    pub(crate) fn finish(&self, len_bytes: u64) -> Result<(), Error> {
        // First to its end, so that zeros follow and not what may have stood there.
        [self.end, len_bytes].into_iter().try_for_each(|len_bytes| {
            let set = self.file.set_len(self.offset_bytes + len_bytes);
            set.map_err(Error::Write)
        })
    }

    fn reserve(&mut self, needed_end: u64) {
        if let Some(end) = self.reserved_end.filter(|end| *end < needed_end) {
            let next = needed_end.next_multiple_of(STEP_BYTES);
            // A refusal is no failure: the disk may hold the image without the reserve, and if
            // not, the write says so.
            let flags = FallocateFlags::KEEP_SIZE;
            let reserved = rustix::fs::fallocate(self.file, flags, end, next - end);
            self.reserved_end = reserved.is_ok().then_some(next);
        }
    }
}
