//! Bytes of an archive, read whole or not at all.

use std::io::Write;
use std::ops::{ControlFlow, Range};

use coldpress_image::ReadAt;

use crate::error::{Corrupt, Error, Rule};

/// Bytes that are copied at once.
pub(crate) const COPY_BYTES: usize = 1 << 20;

/// Reads up to `len` bytes from `start` on: fewer only at the end.
pub(crate) fn up_to(source: &dyn ReadAt, start: u64, len: usize) -> Result<Vec<u8>, Error> {
    let mut buffer = vec![0; len];
    let read = source.fill_at(&mut buffer, start);
    let read = read.map_err(|error| Error::Read { start, error })?;
    buffer.truncate(read);
    Ok(buffer)
}

/// Reads `len` bytes of what `part` names.
pub(crate) fn whole(
    source: &dyn ReadAt,
    start: u64,
    len: usize,
    part: &str,
) -> Result<Vec<u8>, Error> {
    let bytes = up_to(source, start, len)?;
    if bytes.len() == len {
        return Ok(bytes);
    }
    let (needed, room) = (len as u64, bytes.len() as u64);
    Err(Corrupt::new(part, start, Rule::CutOff { needed, room }).into())
}

/// The length of an archive.
pub(crate) fn size_of(source: &dyn ReadAt) -> Result<u64, Error> {
    let size = source.size_bytes();
    size.map_err(|error| Error::Read { start: 0, error })
}

/// Counts what is written, and asks whether to go on.
pub(crate) struct Sink<'a> {
    pub(crate) out: &'a mut dyn Write,
    pub(crate) at: u64,
    pub(crate) poll: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
}

impl Sink<'_> {
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes).map_err(Error::Write)?;
        self.at += bytes.len() as u64;
        match (self.poll)(self.at) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    pub(crate) fn copy(&mut self, source: &dyn ReadAt, range: Range<u64>) -> Result<(), Error> {
        let mut start = range.start;
        while start < range.end {
            let len = usize::try_from(range.end - start).unwrap_or(usize::MAX);
            let bytes = whole(source, start, len.min(COPY_BYTES), "archive")?;
            self.put(&bytes)?;
            start += bytes.len() as u64;
        }
        Ok(())
    }
}

/// Whether ranges of two archives hold the same.
pub(crate) fn same_bytes(
    (source, mut range): (&dyn ReadAt, Range<u64>),
    (new_source, new_range): (&dyn ReadAt, Range<u64>),
) -> Result<bool, Error> {
    let mut start = new_range.start;
    let mut is_same = new_range.end - start == range.end - range.start;
    while is_same && range.start < range.end {
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let bytes = whole(source, range.start, len.min(COPY_BYTES), "archive")?;
        is_same = whole(new_source, start, bytes.len(), "archive")? == bytes;
        range.start += bytes.len() as u64;
        start += bytes.len() as u64;
    }
    Ok(is_same)
}
