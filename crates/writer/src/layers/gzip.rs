//! Gzip layers, read at any position without being kept decompressed.
//!
//! Whoever decompresses a layer for the first time, for its names and digests or its contents,
//! leaves copies of the decompressor behind, every few MiB. A later read goes on from the one
//! before its place. Reading on where the last read ended, which is the rule, needs none.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use coldpress_codec::Inflater;
use coldpress_image::ReadAt;

use super::paged::Decode;
use super::pages::{PAGE_BYTES, Page};
use crate::tar::compression::skip_zeros;

/// Bytes between two copies at first: what is decompressed in vain is half of it on average, 10 ms.
pub(super) const SPAN_BYTES: u64 = 4 << 20;
/// Copies at most, 40 MiB: then every second goes, and the distance doubles.
const COPIES_MAX: usize = 1024;
/// Compressed bytes that are read at once.
const INPUT_BYTES: usize = 64 << 10;

/// A place in a stream, and a decompressor that has come there.
#[derive(Debug)]
struct Place {
    /// Bytes decompressed so far, whole pages.
    plain_bytes: u64,
    /// Compressed bytes used up for them.
    compressed_bytes: u64,
    inflater: Inflater,
    /// Whether another member would begin here.
    is_between: bool,
}

impl Place {
    fn start() -> io::Result<Self> {
        Ok(Self {
            plain_bytes: 0,
            compressed_bytes: 0,
            inflater: Inflater::new().map_err(io::Error::other)?,
            is_between: false,
        })
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            inflater: self.inflater.try_clone().map_err(io::Error::other)?,
            ..*self
        })
    }

    /// Decompresses some bytes, none at the end.
    fn read(&mut self, compressed: &mut impl BufRead, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let input = compressed.fill_buf()?;
            if self.is_between {
                match input {
                    [] => return Ok(0),
                    // Tapes fill a stream up with them.
                    [0, ..] => return skip_zeros(compressed),
                    _ => self.inflater.restart(),
                }
                self.is_between = false;
                continue;
            }
            let has_ended = input.is_empty();
            let step = self.inflater.inflate(input, buf);
            let step = step.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            compressed.consume(step.read);
            self.compressed_bytes += step.read as u64;
            self.plain_bytes += step.written as u64;
            self.is_between = step.has_ended;
            if step.written > 0 {
                return Ok(step.written);
            }
            if has_ended && !step.has_ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Decompressors at several places of a stream, in order.
pub(super) struct Copies {
    places: Vec<Place>,
    span_bytes: u64,
}

impl Copies {
    /// * `span_bytes`: their distance, whole pages.
    pub(super) fn new(span_bytes: u64) -> Self {
        Self {
            places: Vec::new(),
            span_bytes,
        }
    }

    /// Where the next copy is due.
    fn due_bytes(&self) -> u64 {
        let last = self.places.last();
        last.map_or(0, |last| last.plain_bytes + self.span_bytes)
    }

    /// Takes a copy of what has come to where one is due.
    fn pass(&mut self, place: &Place) -> io::Result<()> {
        if place.plain_bytes != self.due_bytes() {
            return Ok(());
        }
        if self.places.len() == COPIES_MAX {
            let mut is_kept = false;
            self.places.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.span_bytes *= 2;
        }
        // After thinning it may not be due yet.
        if place.plain_bytes == self.due_bytes() {
            self.places.push(place.try_clone()?);
        }
        Ok(())
    }

    /// The last one in front of a byte.
    fn before(&self, wanted_bytes: u64) -> Option<&Place> {
        let after = self
            .places
            .partition_point(|copy| copy.plain_bytes <= wanted_bytes);
        self.places.get(after.checked_sub(1)?)
    }
}

/// The reading of a whole layer.
pub(super) struct Indexing<R> {
    compressed: R,
    now: Place,
    copies: Copies,
}

impl<R: BufRead> Indexing<R> {
    /// * `span_bytes`: the distance of the copies, whole pages.
    pub(super) fn new(compressed: R, span_bytes: u64) -> io::Result<Self> {
        Ok(Self {
            compressed,
            now: Place::start()?,
            copies: Copies::new(span_bytes),
        })
    }

    /// The copies.
    pub(super) fn finish(self) -> Copies {
        self.copies
    }
}

impl<R: BufRead> Read for Indexing<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.copies.pass(&self.now)?;
        // Not past the next copy, so that copies are at the beginnings of pages.
        let left = self.copies.due_bytes() - self.now.plain_bytes;
        let len = usize::try_from(left).map_or(buf.len(), |left| left.min(buf.len()));
        self.now.read(&mut self.compressed, &mut buf[..len])
    }
}

/// A layer whose pages are decompressed.
pub(super) struct Places {
    compressed: Arc<dyn ReadAt>,
    copies: Copies,
    /// Where the last read ended.
    last: Option<Place>,
}

impl Places {
    /// * `copies`: those that there are already.
    pub(super) fn new(compressed: Arc<dyn ReadAt>, copies: Copies) -> Self {
        Self {
            compressed,
            copies,
            last: None,
        }
    }

    /// Decompresses from the beginning of a page to its end, or that of the layer.
    fn next_page(&self, place: &mut Place) -> io::Result<Vec<u8>> {
        let mut page = vec![0; PAGE_BYTES];
        let mut compressed = io::BufReader::with_capacity(
            INPUT_BYTES,
            Positioned {
                bytes: &*self.compressed,
                next: place.compressed_bytes,
            },
        );
        let mut done = 0;
        while done < PAGE_BYTES {
            match place.read(&mut compressed, &mut page[done..])? {
                0 if done == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                0 => break,
                read => done += read,
            }
        }
        page.truncate(done);
        Ok(page)
    }

    /// The last place in front of a byte, to go on from.
    fn nearest(&mut self, wanted_bytes: u64) -> io::Result<Place> {
        let copy = self.copies.before(wanted_bytes);
        let from_bytes = copy.map_or(0, |copy| copy.plain_bytes);
        let is_nearer = |last: &mut Place| (from_bytes..=wanted_bytes).contains(&last.plain_bytes);
        if let Some(last) = self.last.take_if(is_nearer) {
            return Ok(last);
        }
        copy.map_or_else(Place::start, Place::try_clone)
    }
}

impl Decode for Places {
    fn decode(&mut self, number: u64, keep: &mut dyn FnMut(u64, &Page)) -> io::Result<Page> {
        let mut place = self.nearest(number * PAGE_BYTES as u64)?;
        loop {
            self.copies.pass(&place)?;
            let at = place.plain_bytes / PAGE_BYTES as u64;
            let page = Arc::new(self.next_page(&mut place)?);
            keep(at, &page);
            if at == number {
                self.last = Some(place);
                return Ok(page);
            }
        }
    }
}

/// Bytes from a place on, one after the other.
pub(super) struct Positioned<'a> {
    pub(super) bytes: &'a dyn ReadAt,
    pub(super) next: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.bytes.fill_at(buf, self.next)?;
        self.next += len as u64;
        Ok(len)
    }
}

#[cfg(test)]
mod tests;
