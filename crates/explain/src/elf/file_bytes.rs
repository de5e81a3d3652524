//! A file of an image as the ELF parser reads it: piece by piece, each piece once.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use coldpress_format::File;
use coldpress_image::Image;
use object::read::{ReadCache, ReadRef};

/// What is read at once at most: symbol tables and relocations of the largest browsers have some 30
/// MiB. A file may claim a section of any length, and a file full of holes has it.
const PIECE_MAX_BYTES: u64 = 128 << 20;

/// A file with the pieces of it that were read.
pub(super) struct FileBytes<'a>(ReadCache<Stream<'a>>);

impl<'a> FileBytes<'a> {
    pub(super) fn new(image: &'a Image, file: &'a File) -> Self {
        Self(ReadCache::new(Stream {
            image,
            file,
            position: 0,
        }))
    }

    pub(super) fn reference(&self) -> Bounded<'_, 'a> {
        Bounded(&self.0)
    }
}

/// The file from a position on.
struct Stream<'a> {
    image: &'a Image,
    file: &'a File,
    position: u64,
}

impl Read for Stream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.image.read_at(self.file, self.position, buf);
        let len = len.map_err(io::Error::other)?;
        self.position = self.position.saturating_add(len as u64);
        Ok(len)
    }
}

impl Seek for Stream<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(delta) => self.file.size_bytes.checked_add_signed(delta),
            SeekFrom::Current(delta) => self.position.checked_add_signed(delta),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// A reference to the file that gives out no piece of more than [`PIECE_MAX_BYTES`].
#[derive(Clone, Copy)]
pub(super) struct Bounded<'r, 'a>(&'r ReadCache<Stream<'a>>);

impl<'r> ReadRef<'r> for Bounded<'r, '_> {
    fn len(self) -> Result<u64, ()> {
        self.0.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'r [u8], ()> {
        if size > PIECE_MAX_BYTES {
            return Err(());
        }
        self.0.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'r [u8], ()> {
        self.0.read_bytes_at_until(range, delimiter)
    }
}
