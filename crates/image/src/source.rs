//! Where the bytes of an image come from.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;

use rustix::fs::SeekFrom;

use crate::error::Error;

/// Bytes that can be read at any position by several threads at once.
pub trait ReadAt: Send + Sync {
    /// Reads bytes from `start` on into `buf`; returns how many, 0 only at the end.
    ///
    /// # Errors
    ///
    /// Those of the medium.
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize>;

    /// How many bytes there are.
    ///
    /// # Errors
    ///
    /// Those of the medium.
    fn size_bytes(&self) -> io::Result<u64>;
}

/// A regular file or a block device.
impl ReadAt for File {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        FileExt::read_at(self, buf, start)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        let metadata = self.metadata()?;
        if metadata.file_type().is_block_device() {
            // A device states no length; reading is positional, so moving the cursor is harmless.
            return Ok(rustix::fs::seek(self, SeekFrom::End(0))?);
        }
        Ok(metadata.len())
    }
}

/// Opens an image file or block device.
///
/// # Errors
///
/// [`Error::Open`] if it cannot be opened.
pub fn open_source(path: &Path) -> Result<Box<dyn ReadAt>, Error> {
    match open_file(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(source) => {
            let path = path.to_path_buf();
            Err(Error::Open { path, source })
        }
    }
}

/// Opens a file that can be read at any position. A pipe is refused before it is opened, which
/// would wait for its writer.
fn open_file(path: &Path) -> io::Result<File> {
    let file_type = fs::metadata(path)?.file_type();
    if file_type.is_file() || file_type.is_block_device() {
        return File::open(path);
    }
    let rule = "it must be a regular file or a block device";
    Err(io::Error::new(io::ErrorKind::InvalidInput, rule))
}

/// An image in memory.
impl ReadAt for Vec<u8> {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let bytes = self.get(start..).unwrap_or_default();
        let len = bytes.len().min(buf.len());
        let (bytes, buf) = (&bytes[..len], &mut buf[..len]);
        buf.copy_from_slice(bytes);
        Ok(len)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

/// What lies behind the first `start` bytes of another source: an image inside another file.
#[derive(Clone, Debug)]
pub struct Offset<R> {
    /// The whole.
    pub inner: R,
    /// Bytes before the image.
    pub start: u64,
}

impl<R: ReadAt> ReadAt for Offset<R> {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        match self.start.checked_add(start) {
            Some(start) => self.inner.read_at(buf, start),
            None => Ok(0),
        }
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.inner.size_bytes()?.saturating_sub(self.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_read_at_any_position_is_opened() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RUSR).unwrap();
        fs::write(at("file"), "").unwrap();
        for (path, opened) in [
            (at("file"), true),
            (at("pipe"), false),
            (at("none"), false),
            ("/dev/null".into(), false),
            (directory.path().into(), false),
        ] {
            assert_eq!(open_file(&path).is_ok(), opened, "{}", path.display());
        }
    }

    #[test]
    fn reading_past_the_end_gives_nothing() {
        let source = Offset {
            inner: b"0123456789".to_vec(),
            start: 4,
        };
        assert_eq!(source.size_bytes().unwrap(), 6);
        for (start, expected) in [(0, &b"456"[..]), (4, b"89"), (6, b""), (u64::MAX, b"")] {
            let mut buf = [0; 3];
            let len = source.read_at(&mut buf, start).unwrap();
            assert_eq!(&buf[..len], expected, "{start}");
        }
    }
}
