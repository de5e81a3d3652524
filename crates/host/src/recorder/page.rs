//! Pages of the kernel's ring buffer.
//!
//! A page begins with a time and the number of bytes in use, then come the records. Each has a
//! header of 32 bits: 5 bits of type or length and 27 bits of time since the record before. The
//! form is that of `include/linux/ring_buffer.h`, which user space tools rely on. The pages come
//! from the kernel, but are read with the same suspicion as an image: a record that does not fit is
//! an error.

use std::path::Path;

use super::format::{Field, native_u32, parse_field};
use crate::Error;

// Type and length, 5 bits: 1..=28 is the length of the record in words of 4 bytes.
const LENGTH_FOLLOWS: u32 = 0;
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

const DELTA_BITS: u32 = 27;
/// Absolute times lack their 5 upper bits, which come from the time before.
const STAMP_BITS: u32 = 59;
/// The bits above in `commit` say that records were lost before this page; `stats` counts them.
const COMMIT_MASK: u64 = (1 << 27) - 1;

/// A buffer page may be made larger than 4 KiB, but the kernel takes no more than this.
const MAX_PAGE_BYTES: usize = 1 << 20;

/// A broken rule, and where in the page or record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) start_byte: usize,
    pub(super) rule: &'static str,
}

impl Damage {
    pub(super) fn located(self, path: &Path) -> Error {
        Error::Malformed {
            path: path.to_owned(),
            start_byte: self.start_byte,
            rule: self.rule,
        }
    }
}

/// One record of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) time_ns: u64,
    pub(super) data: &'a [u8],
}

/// Where the parts of a page lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageLayout {
    timestamp: Field,
    commit: Field,
    data: Field,
}

impl PageLayout {
    /// Reads `events/header_page`.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let layout = Self {
            timestamp: parse_field(text, "timestamp", path)?,
            commit: parse_field(text, "commit", path)?,
            data: parse_field(text, "data", path)?,
        };
        if layout.page_bytes() > MAX_PAGE_BYTES {
            return Err(Error::Malformed {
                path: path.to_owned(),
                start_byte: 0,
                rule: "a page of the ring buffer has at most 1 MiB",
            });
        }
        Ok(layout)
    }

    /// How much to read at a time: the kernel hands over whole pages.
    pub(super) fn page_bytes(&self) -> usize {
        self.data.offset.saturating_add(self.data.size)
    }

    /// The records of a page.
    pub(super) fn records<'a>(&self, page: &'a [u8]) -> Result<Records<'a>, Damage> {
        let time_ns = self.timestamp.number(page)?;
        let used = self.commit.number(page)? & COMMIT_MASK;
        let end = usize::try_from(used)
            .ok()
            .and_then(|used| self.data.offset.checked_add(used));
        let end = end.filter(|&end| end <= page.len()).ok_or(Damage {
            start_byte: self.commit.offset,
            rule: "a page is as long as what it says is in use",
        })?;
        Ok(Records {
            page: &page[..end],
            at: self.data.offset,
            time_ns,
        })
    }
}

/// Iterator over the records of a page; ends after the first damage.
#[derive(Debug)]
pub(super) struct Records<'a> {
    page: &'a [u8],
    at: usize,
    time_ns: u64,
}

impl<'a> Records<'a> {
    fn word(&self, at: usize) -> Result<u32, Damage> {
        match self.page.get(at..).and_then(<[u8]>::first_chunk) {
            Some(&bytes) => Ok(native_u32(bytes)),
            None => Err(Damage {
                start_byte: at,
                rule: "a record does not end after the page",
            }),
        }
    }

    /// The next record with data, if there is one.
    fn find_next(&mut self) -> Result<Option<Record<'a>>, Damage> {
        while self.at < self.page.len() {
            let start = self.at;
            let header = self.word(start)?;
            let (kind, delta) = split_header(header);
            let body = start + 4;
            match kind {
                PADDING if delta == 0 => return Ok(None),
                PADDING => {
                    // A record that was taken back; its length counts the word of the length.
                    self.time_ns = self.time_ns.wrapping_add(delta);
                    self.at = self.end(body, u64::from(self.word(body)?))?;
                }
                TIME_EXTEND => {
                    let high = u64::from(self.word(body)?);
                    self.time_ns = self.time_ns.wrapping_add((high << DELTA_BITS) + delta);
                    self.at = body + 4;
                }
                TIME_STAMP => {
                    let high = u64::from(self.word(body)?);
                    let low_bits = (high << DELTA_BITS) + delta;
                    self.time_ns = self.time_ns >> STAMP_BITS << STAMP_BITS | low_bits;
                    self.at = body + 4;
                }
                _ => {
                    self.time_ns = self.time_ns.wrapping_add(delta);
                    let data = if kind == LENGTH_FOLLOWS {
                        body + 4
                    } else {
                        body
                    };
                    self.at = if kind == LENGTH_FOLLOWS {
                        self.end(body, u64::from(self.word(body)?))?
                    } else {
                        self.end(body, u64::from(kind) * 4)?
                    };
                    return Ok(Some(Record {
                        time_ns: self.time_ns,
                        data: self.page.get(data..self.at).unwrap_or_default(),
                    }));
                }
            }
        }
        Ok(None)
    }

    /// Where a record ends, which has a length from `body` on; lengths are rounded up to words.
    fn end(&self, body: usize, len: u64) -> Result<usize, Damage> {
        let end = usize::try_from(len.next_multiple_of(4))
            .ok()
            .and_then(|len| body.checked_add(len))
            .filter(|&end| end <= self.page.len() && end > body);
        end.ok_or(Damage {
            start_byte: body,
            rule: "a record has a length and does not end after the page",
        })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.find_next();
        if !matches!(next, Ok(Some(_))) {
            self.at = self.page.len();
        }
        next.transpose()
    }
}

/// Type and time of a record. Bit fields begin at the low end on little-endian machines and at
/// the high end on the others.
fn split_header(header: u32) -> (u32, u64) {
    if cfg!(target_endian = "little") {
        (header & 31, u64::from(header >> 5))
    } else {
        (
            header >> DELTA_BITS,
            u64::from(header & ((1 << DELTA_BITS) - 1)),
        )
    }
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests;
