//! Gzip layers, read at any position without being kept decompressed.
//!
//! The first reading, which the names and digests need anyway, leaves copies of the decompressor
//! behind, every few MiB. A later read goes on from the one before its place. Reading on where the
//! last read ended, which is the rule, needs none.

use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex, PoisonError};

use coldpress_codec::Inflater;
use coldpress_image::ReadAt;

use super::packed::copy_from_page;
use super::pages::{PAGE_BYTES, Pages};
use crate::content::fill;
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

/// The first reading of a layer.
pub(super) struct Indexing<R> {
    compressed: R,
    now: Place,
    copies: Vec<Place>,
    span_bytes: u64,
}

impl<R: BufRead> Indexing<R> {
    /// * `span_bytes`: the distance of the copies, whole pages.
    pub(super) fn new(compressed: R, span_bytes: u64) -> io::Result<Self> {
        Ok(Self {
            compressed,
            now: Place::start()?,
            copies: Vec::new(),
            span_bytes,
        })
    }

    /// The copies, in order.
    pub(super) fn finish(self) -> Copies {
        Copies(self.copies)
    }

    /// Where the next copy is due.
    fn due_bytes(&self) -> u64 {
        let last = self.copies.last();
        last.map_or(0, |last| last.plain_bytes + self.span_bytes)
    }
}

impl<R: BufRead> Read for Indexing<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.now.plain_bytes == self.due_bytes() {
            if self.copies.len() == COPIES_MAX {
                let mut is_kept = false;
                self.copies.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                self.span_bytes *= 2;
            }
            // After thinning it may not be due yet.
            if self.now.plain_bytes == self.due_bytes() {
                self.copies.push(self.now.try_clone()?);
            }
        }
        // Not past the next copy, so that copies are at the beginnings of pages.
        let left = self.due_bytes() - self.now.plain_bytes;
        let len = usize::try_from(left).map_or(buf.len(), |left| left.min(buf.len()));
        self.now.read(&mut self.compressed, &mut buf[..len])
    }
}

/// Decompressors at several places of a stream.
pub(super) struct Copies(Vec<Place>);

/// A layer that was read once.
pub(super) struct Gzip {
    compressed: Arc<dyn ReadAt>,
    len_bytes: u64,
    layer: u32,
    pages: Arc<Pages>,
    /// One thread decompresses: another that waits finds the page that it needs more often than not.
    places: Mutex<Places>,
}

struct Places {
    copies: Vec<Place>,
    /// Where the last read ended.
    last: Option<Place>,
}

impl Gzip {
    /// * `len_bytes`: decompressed.
    /// * `layer`: its number among what shares `pages`.
    pub(super) fn new(
        compressed: Arc<dyn ReadAt>,
        copies: Copies,
        len_bytes: u64,
        layer: u32,
        pages: Arc<Pages>,
    ) -> Self {
        let places = Mutex::new(Places {
            copies: copies.0,
            last: None,
        });
        Self {
            compressed,
            len_bytes,
            layer,
            pages,
            places,
        }
    }

    fn page(&self, number: u64) -> io::Result<Arc<Vec<u8>>> {
        if let Some(page) = self.pages.get((self.layer, number)) {
            return Ok(page);
        }
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = self.pages.get((self.layer, number)) {
            return Ok(page);
        }
        let mut place = places.nearest(number * PAGE_BYTES as u64)?;
        loop {
            let at = place.plain_bytes / PAGE_BYTES as u64;
            let page = Arc::new(self.next_page(&mut place)?);
            self.pages.put((self.layer, at), Arc::clone(&page));
            if at == number {
                places.last = Some(place);
                return Ok(page);
            }
        }
    }

    /// Decompresses from the beginning of a page to its end, or that of the layer.
    fn next_page(&self, place: &mut Place) -> io::Result<Vec<u8>> {
        let left = self.len_bytes.saturating_sub(place.plain_bytes);
        let len = usize::try_from(left).map_or(PAGE_BYTES, |left| left.min(PAGE_BYTES));
        if len == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut page = vec![0; len];
        let mut compressed = io::BufReader::with_capacity(
            INPUT_BYTES,
            Positioned {
                bytes: &*self.compressed,
                next: place.compressed_bytes,
            },
        );
        let mut done = 0;
        while done < len {
            match place.read(&mut compressed, &mut page[done..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => done += read,
            }
        }
        Ok(page)
    }
}

impl Places {
    /// The last place in front of a byte, to go on from.
    fn nearest(&mut self, wanted_bytes: u64) -> io::Result<Place> {
        let after = self
            .copies
            .partition_point(|copy| copy.plain_bytes <= wanted_bytes);
        let copy = after.checked_sub(1).and_then(|at| self.copies.get(at));
        let from_bytes = copy.map_or(0, |copy| copy.plain_bytes);
        let is_nearer = |last: &mut Place| (from_bytes..=wanted_bytes).contains(&last.plain_bytes);
        if let Some(last) = self.last.take_if(is_nearer) {
            return Ok(last);
        }
        copy.map_or_else(Place::start, Place::try_clone)
    }
}

impl ReadAt for Gzip {
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

/// Bytes from a place on, one after the other.
pub(super) struct Positioned<'a> {
    pub(super) bytes: &'a dyn ReadAt,
    pub(super) next: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = fill(self.bytes, buf, self.next)?;
        self.next += len as u64;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn member(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Bytes that tell where they are, in members of these lengths.
    fn stream(members: &[usize]) -> (Vec<u8>, Vec<u8>) {
        let len: usize = members.iter().sum();
        let words = u32::try_from(len.div_ceil(4)).unwrap();
        let plain: Vec<u8> = (0..words).flat_map(u32::to_le_bytes).take(len).collect();
        let (mut packed, mut at) = (Vec::new(), 0);
        for len in members {
            packed.extend(member(&plain[at..at + len]));
            at += len;
        }
        (plain, packed)
    }

    fn indexed(packed: &[u8], plain: &[u8], span_bytes: u64) -> Gzip {
        let mut indexing = Indexing::new(packed, span_bytes).unwrap();
        let mut read = Vec::new();
        indexing.read_to_end(&mut read).unwrap();
        assert!(read == plain);
        let copies = indexing.finish();
        let compressed: Arc<dyn ReadAt> = Arc::new(packed.to_vec());
        Gzip::new(compressed, copies, plain.len() as u64, 0, Arc::default())
    }

    #[test]
    fn a_layer_is_read_at_any_position() {
        let page = PAGE_BYTES;
        for members in [
            &[9 * page + 5][..],
            &[page, page, page],
            &[1, 0, 3 * page, 17, page - 18, 1],
            &[100],
        ] {
            let (plain, mut packed) = stream(members);
            packed.extend([0; 700]);
            let gzip = indexed(&packed, &plain, 2 * page as u64);
            let last = plain.len() - 1;
            // Backwards, forwards, and again.
            for start in [
                last,
                0,
                page / 2,
                5 * page + 1,
                page,
                last,
                7 * page,
                3 * page,
            ] {
                let start = start.min(last);
                let mut buf = [0; 50];
                let len = gzip.read_at(&mut buf, start as u64).unwrap();
                assert!(len > 0);
                assert_eq!(buf[..len], plain[start..start + len], "{members:?} {start}");
            }
            assert_eq!(gzip.read_at(&mut [0], plain.len() as u64).unwrap(), 0);
        }
    }

    #[test]
    fn copies_are_bounded_and_still_lead_everywhere() {
        let page = PAGE_BYTES as u64;
        let (plain, packed) = stream(&[6 * PAGE_BYTES]);
        let mut indexing = Indexing::new(&packed[..], page).unwrap();
        while indexing.copies.len() < 4 {
            indexing.read_exact(&mut [0; 4096]).unwrap();
        }
        let kept: Vec<u64> = indexing
            .copies
            .iter()
            .map(|copy| copy.plain_bytes)
            .collect();
        assert_eq!(kept, [0, page, 2 * page, 3 * page]);
        let gzip = indexed(&packed, &plain, page);
        let mut buf = [0; 4];
        gzip.read_at(&mut buf, 4 * page + 8).unwrap();
        assert_eq!(
            gzip.places
                .lock()
                .unwrap()
                .last
                .as_ref()
                .unwrap()
                .plain_bytes,
            5 * page
        );
    }

    #[test]
    fn a_stream_that_ends_early_is_an_error() {
        let (_, packed) = stream(&[100_000]);
        for len in [0, 5, packed.len() / 2, packed.len() - 1] {
            let mut indexing = Indexing::new(&packed[..len], SPAN_BYTES).unwrap();
            let error = indexing.read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{len}");
        }
        let (_, mut packed) = stream(&[10]);
        packed.extend(b"\0\0x");
        let mut indexing = Indexing::new(&packed[..], SPAN_BYTES).unwrap();
        let error = indexing.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
