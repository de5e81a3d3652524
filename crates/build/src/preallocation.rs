//! Writing a file whose space is set aside in large pieces.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use rustix::fs::FallocateFlags;

/// Space that is set aside at once: file systems find large extents for it, and asking costs
/// nothing against writing it.
const STEP_BYTES: u64 = 64 << 20;

/// A file with space behind what is written. What is left over goes back when the length is set.
pub(crate) struct Preallocated<'a> {
    file: &'a File,
    /// Byte up to which space is set aside; `None` where the file system cannot.
    end: Option<u64>,
}

impl<'a> Preallocated<'a> {
    pub(crate) fn new(file: &'a File) -> Self {
        Self { file, end: Some(0) }
    }

    pub(crate) fn write_all_at(&mut self, bytes: &[u8], start: u64) -> io::Result<()> {
        let needed = start + bytes.len() as u64;
        if let Some(end) = self.end.filter(|end| *end < needed) {
            let next = needed.next_multiple_of(STEP_BYTES);
            // Its length stays that of what was written. A refusal is no failure: the disk may
            // hold the image without the reserve, and if not, the write says so.
            let flags = FallocateFlags::KEEP_SIZE;
            let done = rustix::fs::fallocate(self.file, flags, end, next - end);
            self.end = done.is_ok().then_some(next);
        }
        self.file.write_all_at(bytes, start)
    }
}
