//! Bytes that come once, kept compressed in a file without a name, to be read at any position.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use zstd_safe::{CCtx, DCtx, get_error_name};

use super::paged::Decode;
use super::pages::{PAGE_BYTES, Page};

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

    /// What was appended, and how many bytes it has.
    pub(crate) fn finish(mut self) -> io::Result<(Packed, u64)> {
        if !self.rest.is_empty() {
            self.write()?;
        }
        let packed = Packed {
            file: self.file,
            starts: self.starts,
            context: DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?,
            compressed: Vec::new(),
        };
        Ok((packed, self.len_bytes))
    }
}

/// What was packed.
pub(crate) struct Packed {
    file: File,
    starts: Vec<u64>,
    context: DCtx<'static>,
    compressed: Vec<u8>,
}

impl Decode for Packed {
    fn decode(&mut self, number: u64, keep: &mut dyn FnMut(u64, &Page)) -> io::Result<Page> {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let (Some(start), Some(end)) = (self.starts.get(index), self.starts.get(index + 1)) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let len = usize::try_from(end - start).map_err(io::Error::other)?;
        self.compressed.resize(len, 0);
        self.file.read_exact_at(&mut self.compressed, *start)?;
        let mut page = vec![0; PAGE_BYTES];
        let len = self.context.decompress(&mut page[..], &self.compressed);
        let len = len.map_err(|code| io::Error::other(get_error_name(code)))?;
        page.truncate(len);
        let page = Arc::new(page);
        keep(number, &page);
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use coldpress_image::ReadAt as _;

    use super::super::paged::Paged;
    use super::*;

    #[test]
    fn what_was_packed_is_read_at_any_position() {
        let directory = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0_u32..400_000).flat_map(u32::to_le_bytes).collect();
        let mut packing = Packing::new(directory.path()).unwrap();
        for piece in bytes.chunks(100_003) {
            packing.append(piece).unwrap();
        }
        let (packed, len_bytes) = packing.finish().unwrap();
        let packed = Paged::new(packed, len_bytes, 0, Arc::default());
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
