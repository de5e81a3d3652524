//! What an entry holds, decompressed and compared with its length and its CRC.

use std::io::{self, Read};

use coldpress_image::ReadAt;
use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::entry::{DEFLATED, Entry, STORED};
use crate::bytes::COPY_BYTES;
use crate::error::{Corrupt, Error, Rule, entry_part};

/// Bytes that are decompressed at once.
const STEP_BYTES: usize = 64 << 10;

/// What is known of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// It has the length and the CRC that are stated.
    Whole,
    /// It is encrypted, or compressed by a method that coldpress does not know.
    Unknown,
}

/// A range of a source, read from its beginning to its end.
struct Section<'a> {
    source: &'a dyn ReadAt,
    at: u64,
    end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let len = buf.len().min(left);
        let read = self
            .source
            .fill_at(buf.get_mut(..len).unwrap_or_default(), self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The content of an entry.
#[derive(Clone, Copy)]
pub struct Content<'a> {
    source: &'a dyn ReadAt,
    entry: &'a Entry,
}

impl std::fmt::Debug for Content<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.entry.fmt(formatter)
    }
}

impl Entry {
    /// Its content in the archive that it was read from.
    pub fn content<'a>(&'a self, source: &'a dyn ReadAt) -> Content<'a> {
        Content {
            source,
            entry: self,
        }
    }

    /// Whether its content can be read.
    pub fn is_readable(&self) -> bool {
        !self.is_encrypted() && matches!(self.method, STORED | DEFLATED)
    }
}

impl Content<'_> {
    /// Reads all of it, and gives it away in pieces of up to 64 KiB. Nothing is given of what
    /// cannot be read.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if it is longer or shorter than is stated, or has another CRC; those of `take`.
    ///
    /// # Cost
    ///
    /// Ends at the stated length, whatever the data would become.
    pub fn read(
        &self,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Verified, Error> {
        let Self { source, entry } = *self;
        if !entry.is_readable() {
            return Ok(Verified::Unknown);
        }
        let section = Section {
            source,
            at: entry.data_start,
            end: entry.data().end,
        };
        let mut reader: Box<dyn Read> = if entry.method == STORED {
            Box::new(section)
        } else {
            let len = usize::try_from(entry.packed_bytes).unwrap_or(usize::MAX);
            let buffer = vec![0; len.clamp(1, COPY_BYTES)];
            Box::new(DeflateDecoder::new_with_buf(section, buffer))
        };
        let fail = |rule| {
            Error::from(Corrupt::new(
                entry_part(&entry.name),
                entry.range.start,
                rule,
            ))
        };
        let expected = entry.content_bytes;
        let mut crc = Crc::new();
        let mut found = 0_u64;
        let mut step = vec![0; STEP_BYTES];
        loop {
            let read = reader.read(&mut step).map_err(|error| {
                let why = error.to_string();
                fail(Rule::Inflate { why })
            })?;
            let bytes = step.get(..read).unwrap_or_default();
            found += bytes.len() as u64;
            if bytes.is_empty() || found > expected {
                break;
            }
            crc.update(bytes);
            take(bytes)?;
        }
        if found != expected {
            return Err(fail(Rule::ContentBytes { found, expected }));
        }
        let (found, expected) = (crc.sum(), entry.crc32);
        if found != expected {
            return Err(fail(Rule::Crc { found, expected }));
        }
        Ok(Verified::Whole)
    }

    /// All of it in memory; `None` if it cannot be read.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn bytes(&self) -> Result<Option<Vec<u8>>, Error> {
        let mut all = Vec::new();
        let verified = self.read(&mut |bytes| {
            all.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok((verified == Verified::Whole).then_some(all))
    }
}
