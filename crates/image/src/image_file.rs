//! A file that an image is read from.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::read_window::ReadWindow;
use crate::source::{ReadAdvice, ReadAt, open_file};

/// A regular file or a block device, whose reads can follow the speed of the medium
/// ([`ReadAdvice::Blocks`]).
#[derive(Debug)]
pub struct ImageFile {
    file: File,
    window: ReadWindow,
    reads_blocks: AtomicBool,
}

impl ImageFile {
    /// Opens a file. A pipe is refused before it is opened, which would wait for its writer.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or is neither a regular file nor a block device.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: open_file(path)?,
            window: ReadWindow::default(),
            reads_blocks: AtomicBool::new(false),
        })
    }
}

impl ReadAt for ImageFile {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        if !self.reads_blocks.load(Ordering::Relaxed) {
            return self.file.read_at(buf, start);
        }
        let range = start..start.saturating_add(buf.len() as u64);
        let began = Instant::now();
        let request = self.window.request(&range);
        let requested_bytes = request.map_or(0, |request| {
            let len_bytes = request.end - request.start;
            if request.end > range.end {
                self.file.advise(ReadAdvice::WillNeed(request));
            }
            len_bytes
        });
        let read = self.file.read_at(buf, start);
        self.window.learn(requested_bytes, began.elapsed());
        read
    }

    fn size_bytes(&self) -> io::Result<u64> {
        self.file.size_bytes()
    }

    fn advise(&self, advice: ReadAdvice) {
        if !matches!(advice, ReadAdvice::WillNeed(_)) {
            let reads_blocks = advice == ReadAdvice::Blocks;
            self.reads_blocks.store(reads_blocks, Ordering::Relaxed);
        }
        self.file.advise(advice);
    }
}
