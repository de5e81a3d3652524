//! Where the bytes of an image come from.

use std::fs::{self, File};
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Advice, SeekFrom, fadvise};

use crate::error::Error;
use crate::image_file::ImageFile;

/// How bytes will be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadAdvice {
    /// Here and there: nothing is to be read ahead.
    Random,
    /// Single blocks, most of them in the order of the image. An [`ImageFile`](crate::ImageFile)
    /// then finds out how much to read at once.
    Blocks,
    /// These bytes, soon.
    WillNeed(Range<u64>),
}

/// What the kernel reads at a time on advice: no more than a disk takes as one request, 1280 KiB of
/// most (`force_page_cache_ra` in mm/readahead.c). Of virtual disks it is 254 pages, and the rest of
/// 1 MiB would be a request of its own.
const ADVISED_BYTES: u64 = 960 << 10;

/// Bytes that can be read at any position by several threads at once.
///
/// Files, byte slices, vectors, and everything that is shared or boxed of these are such sources;
/// [`Offset`] is a part of one. An [`Image`](crate::Image) reads metadata in pieces of up to 8 KiB
/// and data in whole blocks, and caches both, so a source need not.
pub trait ReadAt: Send + Sync {
    /// Reads bytes from byte `start` on into `buf`; returns how many, 0 only at the end or for an
    /// empty `buf`. Fewer than asked for may come at any time.
    ///
    /// # Errors
    ///
    /// Those of the medium. [`io::ErrorKind::Interrupted`] is tried again, any other ends what is
    /// being read.
    ///
    /// # Cost
    ///
    /// That of the medium; no lock is held while it is called.
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize>;

    /// Reads until `buf` is full or the bytes end; returns how many there were.
    ///
    /// # Errors
    ///
    /// Those of [`read_at`](Self::read_at), but for interrupted reads, which are tried again.
    fn fill_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        let mut len = 0;
        while let Some(rest) = buf.get_mut(len..).filter(|rest| !rest.is_empty()) {
            match self.read_at(rest, start.saturating_add(len as u64)) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(len)
    }

    /// How many bytes there are. It is asked once, when an image is opened.
    ///
    /// # Errors
    ///
    /// Those of the medium.
    fn size_bytes(&self) -> io::Result<u64>;

    /// Is told how it will be read. A source that is no file does nothing.
    fn advise(&self, _advice: ReadAdvice) {}
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

    fn advise(&self, advice: ReadAdvice) {
        // Who cannot take advice reads as ever.
        let _ = match advice {
            ReadAdvice::Random | ReadAdvice::Blocks => fadvise(self, 0, None, Advice::Random),
            ReadAdvice::WillNeed(range) => will_need(self, range),
        };
    }
}

/// Lets the kernel read a range, in steps that it does not cut short.
fn will_need(file: &File, range: Range<u64>) -> rustix::io::Result<()> {
    let mut start = range.start;
    while let Some(len) = NonZeroU64::new(range.end.saturating_sub(start).min(ADVISED_BYTES)) {
        fadvise(file, start, Some(len), Advice::WillNeed)?;
        start = start.saturating_add(len.get());
    }
    Ok(())
}

/// Opens an image file or block device.
///
/// # Errors
///
/// [`Error::Open`] if it cannot be opened.
pub(crate) fn open_source(path: &Path) -> Result<Box<dyn ReadAt>, Error> {
    match ImageFile::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(source) => {
            let path = path.to_path_buf();
            Err(Error::Open { path, source })
        }
    }
}

/// Opens a file that can be read at any position. A pipe is refused before it is opened, which
/// would wait for its writer.
///
/// # Errors
///
/// If it cannot be opened, or is neither a regular file nor a block device.
pub fn open_file(path: &Path) -> io::Result<File> {
    let file_type = fs::metadata(path)?.file_type();
    if file_type.is_file() || file_type.is_block_device() {
        return File::open(path);
    }
    let rule = "it must be a regular file or a block device";
    Err(io::Error::new(io::ErrorKind::InvalidInput, rule))
}

/// An image in memory.
impl ReadAt for [u8] {
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

/// An image in memory.
impl ReadAt for Vec<u8> {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        self.as_slice().read_at(buf, start)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        self.as_slice().size_bytes()
    }
}

/// `&'static [u8]`, as of `include_bytes!`.
impl<R: ReadAt + ?Sized> ReadAt for &R {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        (**self).read_at(buf, start)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        (**self).size_bytes()
    }

    fn advise(&self, advice: ReadAdvice) {
        (**self).advise(advice);
    }
}

/// `Arc<[u8]>`, `Arc<File>`: a source that someone else reads, too.
impl<R: ReadAt + ?Sized> ReadAt for Arc<R> {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        (**self).read_at(buf, start)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        (**self).size_bytes()
    }

    fn advise(&self, advice: ReadAdvice) {
        (**self).advise(advice);
    }
}

/// A source of a kind that is not known before.
impl<R: ReadAt + ?Sized> ReadAt for Box<R> {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        (**self).read_at(buf, start)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        (**self).size_bytes()
    }

    fn advise(&self, advice: ReadAdvice) {
        (**self).advise(advice);
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

    fn advise(&self, advice: ReadAdvice) {
        let shifted = |byte: u64| byte.saturating_add(self.start);
        self.inner.advise(match advice {
            ReadAdvice::WillNeed(range) => {
                ReadAdvice::WillNeed(shifted(range.start)..shifted(range.end))
            }
            advice => advice,
        });
    }
}

/// The first bytes of another source: an image without what lies behind it.
#[derive(Clone, Debug)]
pub struct Prefix<R> {
    /// The whole.
    pub inner: R,
    /// Bytes that are shown of it; it may have fewer.
    pub len: u64,
}

impl<R: ReadAt> ReadAt for Prefix<R> {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        let left = self.len.saturating_sub(start);
        let len = usize::try_from(left).map_or(buf.len(), |left| left.min(buf.len()));
        match buf.get_mut(..len) {
            Some(buf) if len > 0 => self.inner.read_at(buf, start),
            _ => Ok(0),
        }
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.inner.size_bytes()?.min(self.len))
    }

    fn advise(&self, advice: ReadAdvice) {
        self.inner.advise(advice);
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
    fn bytes_in_memory_are_the_same_however_they_are_held() {
        static BYTES: &[u8] = b"0123456789";
        let sources: [Box<dyn ReadAt>; 4] = [
            Box::new(BYTES),
            Box::new(BYTES.to_vec()),
            Box::new(Arc::<[u8]>::from(BYTES)),
            Box::new(Box::<[u8]>::from(BYTES)),
        ];
        for source in sources {
            let mut buf = [0; 4];
            assert_eq!(source.size_bytes().unwrap(), 10);
            assert_eq!(source.read_at(&mut buf, 8).unwrap(), 2);
            assert_eq!(buf, *b"89\0\0");
        }
    }

    #[test]
    fn nothing_is_read_behind_a_prefix() {
        for (len, bytes) in [(4, &b"0123"[..]), (0, b""), (99, b"0123456789")] {
            let inner = b"0123456789".to_vec();
            let source = Prefix { inner, len };
            let mut buf = [0; 20];
            let read = source.read_at(&mut buf, 0).unwrap();
            assert_eq!(&buf[..read], bytes);
            assert_eq!(source.size_bytes().unwrap(), bytes.len() as u64);
            assert_eq!(source.read_at(&mut buf, 99).unwrap(), 0);
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
