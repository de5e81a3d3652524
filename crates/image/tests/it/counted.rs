//! A source that counts what is read of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coldpress_image::ReadAt;

/// Bytes that are counted as they are read.
pub(crate) struct Counted {
    bytes: Vec<u8>,
    read_bytes: Arc<AtomicU64>,
}

impl Counted {
    /// Returns the source, and how many bytes were read of it so far.
    pub(crate) fn new(bytes: Vec<u8>) -> (Self, Arc<AtomicU64>) {
        let read_bytes = Arc::default();
        let source = Self {
            bytes,
            read_bytes: Arc::clone(&read_bytes),
        };
        (source, read_bytes)
    }
}

impl ReadAt for Counted {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        let len = ReadAt::read_at(&self.bytes, buf, start)?;
        self.read_bytes.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        self.bytes.size_bytes()
    }
}
