//! What a reader writes down while it reads.

use super::imported::{Imported, Seen, Sighting};
use super::paths::PATH_BYTES_MAX;
use super::{Part, paths};
use crate::error::Error;
use crate::event::{Access, PAGE_SIZE_BYTES};
use crate::excerpt::Excerpt;

/// How many of the lines that were not understood are kept.
pub const UNREAD_NAMED_MAX: usize = 3;

/// Bytes that a byte of text may become.
///
/// A short line can repeat a long path: it names an open file, or a file in a deep directory. Real
/// recordings stay below 8; a text that was made to grow is refused before memory is.
pub const GROWTH_MAX: u64 = 64;

/// Also a short text may name a few long paths.
const GROWTH_FREE_BYTES: u64 = 1 << 20;

/// Why a long path is not taken.
pub(super) const LONG: &str = "the path is longer than the kernel allows";

/// A line that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file of the recording, counted from 0.
    pub part: usize,
    /// Its line, counted from 1.
    pub line: u64,
    /// The beginning of the line.
    pub found: Excerpt,
    /// Why.
    pub why: &'static str,
}

/// What was understood so far, and where the reader is.
#[derive(Debug)]
pub(super) struct Notes {
    imported: Imported,
    part: usize,
    line: u64,
    limit_bytes: u64,
    /// What of it is left; `None` once more was asked for.
    left_bytes: Option<u64>,
}

impl Notes {
    pub(super) fn new(parts: &[Part<'_>]) -> Self {
        let text_bytes: u64 = parts.iter().map(|part| part.text.len() as u64).sum();
        let limit_bytes = text_bytes
            .saturating_mul(GROWTH_MAX)
            .saturating_add(GROWTH_FREE_BYTES);
        Self {
            imported: Imported::default(),
            part: 0,
            line: 0,
            limit_bytes,
            left_bytes: Some(limit_bytes),
        }
    }

    pub(super) fn begin_part(&mut self, part: usize) {
        self.part = part;
    }

    pub(super) fn begin_line(&mut self, line: u64) {
        self.line = line;
    }

    /// A time for what has none: a microsecond after the sighting before it.
    pub(super) fn next_time_us(&self) -> u64 {
        self.imported.sightings.len() as u64
    }

    /// Writes down an access to an absolute path.
    pub(super) fn see(&mut self, time_us: u64, pid: u32, seen: Seen, path: &[u8]) {
        let path = paths::join(b"/", path);
        if path.len() > PATH_BYTES_MAX {
            self.cannot_read(&path, LONG);
            return;
        }
        let size_bytes = path.len() + size_of::<Sighting>();
        if self.spend(size_bytes as u64) {
            self.imported.add(Sighting {
                time_us,
                pid,
                seen,
                path,
            });
        }
    }

    /// Writes down that a file was used, at the next time.
    pub(super) fn see_file(&mut self, size_bytes: Option<u64>, path: &[u8]) {
        self.see(self.next_time_us(), 0, Seen::File { size_bytes }, path);
    }

    /// Writes down that bytes of a file were accessed: `as_pages` makes an access of the first
    /// and last page. No bytes are no access.
    pub(super) fn see_bytes(
        &mut self,
        (time_us, pid): (u64, u32),
        (offset, len_bytes): (u64, u64),
        as_pages: fn(u64, u64) -> Access,
        path: &[u8],
    ) {
        if let Some(before_end) = len_bytes.checked_sub(1) {
            let last = offset.saturating_add(before_end);
            let access = as_pages(offset / PAGE_SIZE_BYTES, last / PAGE_SIZE_BYTES);
            self.see(time_us, pid, Seen::Access(access), path);
        }
    }

    /// Counts something that happened outside of what is recorded.
    pub(super) fn leave_out(&mut self) {
        self.imported.elsewhere_count += 1;
    }

    /// Counts a line that was not understood.
    pub(super) fn cannot_read(&mut self, text: &[u8], why: &'static str) {
        self.imported
            .cannot_read(self.part, self.line, why, || text);
    }

    /// Takes memory from what may be used; false if there is too little left.
    pub(super) fn spend(&mut self, size_bytes: u64) -> bool {
        self.left_bytes = self
            .left_bytes
            .and_then(|left| left.checked_sub(size_bytes));
        self.left_bytes.is_some()
    }

    pub(super) fn finish(self) -> Result<Imported, Error> {
        match self.left_bytes {
            Some(_) => Ok(self.imported),
            None => Err(Error::Growth {
                limit_bytes: self.limit_bytes,
            }),
        }
    }
}

/// Pages that were read.
pub(super) fn read(first_page: u64, last_page: u64) -> Access {
    Access::Read {
        first_page,
        last_page,
    }
}

/// Pages of which some were needed, it is not known which.
pub(super) fn map(first_page: u64, last_page: u64) -> Access {
    Access::Map {
        first_page,
        last_page,
    }
}
