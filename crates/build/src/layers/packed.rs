//! Bytes that come once, kept compressed in a file without a name, to be read at any position.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use coldpress_image::ReadAt;
use zstd_safe::{CCtx, DCtx, get_error_name};

use super::pages::{PAGE_BYTES, Pages};

/// The fastest level of zstd's usual ones: a third as much work as reading gzip, and the scratch
/// file is about as large as a gzip layer.
const LEVEL: i32 = 1;

/// A file that grows page by page.
pub(crate) struct Packing {
    file: File,
    /// Where each page begins, and the end of the last.
    starts: Vec<u64>,
    /// What is not a whole page yet.
    rest: Vec<u8>,
    packed: Vec<u8>,
    context: CCtx<'static>,
    len_bytes: u64,
}

impl Packing {
    /// * `directory`: where the file lies.
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile_in(directory)?,
            starts: vec![0],
            rest: Vec::with_capacity(PAGE_BYTES),
            packed: vec![0; zstd_safe::compress_bound(PAGE_BYTES)],
            context: CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?,
            len_bytes: 0,
        })
    }

    /// Appends bytes.
    pub(crate) fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.len_bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let len = bytes.len().min(PAGE_BYTES - self.rest.len());
            let (now, later) = bytes.split_at(len);
            self.rest.extend_from_slice(now);
            bytes = later;
            if self.rest.len() == PAGE_BYTES {
                self.write()?;
            }
        }
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let packed = &mut self.packed[..];
        let len = self.context.compress(packed, &self.rest, LEVEL);
        let len = len.map_err(|code| io::Error::other(get_error_name(code)))?;
        let start = self.starts.last().copied().unwrap_or(0);
        self.file.write_all_at(&self.packed[..len], start)?;
        self.starts.push(start + len as u64);
        self.rest.clear();
        Ok(())
    }

    /// What was appended.
    ///
    /// * `layer`: its number among what shares `pages`.
    pub(crate) fn finish(mut self, layer: u32, pages: Arc<Pages>) -> io::Result<Packed> {
        if !self.rest.is_empty() {
            self.write()?;
        }
        Ok(Packed {
            file: self.file,
            starts: self.starts,
            len_bytes: self.len_bytes,
            layer,
            pages,
            decoder: Mutex::new(Decoder {
                context: DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?,
                packed: Vec::new(),
            }),
        })
    }
}

/// What was packed.
pub(crate) struct Packed {
    file: File,
    starts: Vec<u64>,
    len_bytes: u64,
    layer: u32,
    pages: Arc<Pages>,
    /// One thread decompresses: another that waits finds the page that it needs more often than not.
    decoder: Mutex<Decoder>,
}

struct Decoder {
    context: DCtx<'static>,
    packed: Vec<u8>,
}

impl Packed {
    fn page(&self, number: u64) -> io::Result<Arc<Vec<u8>>> {
        let key = (self.layer, number);
        if let Some(page) = self.pages.get(key) {
            return Ok(page);
        }
        let mut decoder = self.decoder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = self.pages.get(key) {
            return Ok(page);
        }
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let (Some(start), Some(end)) = (self.starts.get(index), self.starts.get(index + 1)) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let decoder = &mut *decoder;
        let len = usize::try_from(end - start).map_err(io::Error::other)?;
        decoder.packed.resize(len, 0);
        self.file.read_exact_at(&mut decoder.packed, *start)?;
        let mut page = vec![0; PAGE_BYTES];
        let len = decoder.context.decompress(&mut page[..], &decoder.packed);
        let len = len.map_err(|code| io::Error::other(get_error_name(code)))?;
        page.truncate(len);
        let page = Arc::new(page);
        self.pages.put(key, Arc::clone(&page));
        Ok(page)
    }
}

impl ReadAt for Packed {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        if start >= self.len_bytes || buf.is_empty() {
            return Ok(0);
        }
        let page = self.page(start / PAGE_BYTES as u64)?;
        Ok(copy_from_page(&page, start, buf))
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.len_bytes)
    }
}

/// Copies what a page has from a byte of the layer on; returns how much that is.
pub(super) fn copy_from_page(page: &[u8], start: u64, buf: &mut [u8]) -> usize {
    let offset = usize::try_from(start % PAGE_BYTES as u64).expect("less than a page");
    let bytes = page.get(offset..).unwrap_or_default();
    let len = bytes.len().min(buf.len());
    buf[..len].copy_from_slice(&bytes[..len]);
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_read_at_any_position() {
        let directory = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0_u32..400_000).flat_map(u32::to_le_bytes).collect();
        let mut packing = Packing::new(directory.path()).unwrap();
        for piece in bytes.chunks(100_003) {
            packing.append(piece).unwrap();
        }
        let packed = packing.finish(0, Arc::default()).unwrap();
        assert_eq!(packed.size_bytes().unwrap(), bytes.len() as u64);
        for start in [
            0,
            1,
            PAGE_BYTES - 1,
            PAGE_BYTES,
            3 * PAGE_BYTES + 7,
            bytes.len() - 1,
        ] {
            let mut buf = [0; 9];
            let len = packed.read_at(&mut buf, start as u64).unwrap();
            assert!(len > 0);
            assert_eq!(buf[..len], bytes[start..start + len], "{start}");
        }
        assert_eq!(packed.read_at(&mut [0], bytes.len() as u64).unwrap(), 0);
    }
}
