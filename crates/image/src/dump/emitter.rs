//! Ranges in order, with those that nothing else accounts for in between.

use std::ops::ControlFlow;

use coldpress_format::MetadataHeader;

use super::{DumpArea, DumpOptions, DumpRange, DumpRecord, Stored};
use crate::error::Error;
use crate::image::Image;

/// Bytes of what nothing refers to that are shown.
const SHOWN_BYTES: u64 = 32;
/// Bytes that are compared with zeros at once.
const CHUNK_BYTES: u64 = 64 << 10;

impl DumpRange {
    /// A range of which nothing more is known.
    pub(super) fn new(area: DumpArea, what: &'static str, start: u64, len_bytes: u64) -> Self {
        Self {
            start,
            len_bytes,
            area,
            what,
            overlap_bytes: 0,
            header_bytes: 0,
            content: None,
            owners: Vec::new(),
            more_owners: 0,
            damage: None,
            raw: Vec::new(),
            records: Vec::new(),
        }
    }

    /// States that it is a metadata block.
    pub(super) fn with_metadata(self, is_stored: bool, len_bytes: u64) -> Self {
        Self {
            header_bytes: MetadataHeader::SIZE,
            ..self.with_content(is_stored, len_bytes)
        }
    }

    /// States that it is a block with a content.
    pub(super) fn with_content(mut self, is_stored: bool, len_bytes: u64) -> Self {
        let stored = if is_stored {
            Stored::Stored
        } else {
            Stored::Compressed
        };
        self.content = Some((stored, len_bytes));
        self
    }
}

/// Hands ranges over, each where the last ended.
pub(super) struct Emitter<'a> {
    image: &'a Image,
    options: &'a DumpOptions,
    size_bytes: u64,
    /// Image byte behind the ranges so far.
    cursor: u64,
    visit: &'a mut dyn FnMut(DumpRange) -> ControlFlow<()>,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        image: &'a Image,
        options: &'a DumpOptions,
        size_bytes: u64,
        visit: &'a mut dyn FnMut(DumpRange) -> ControlFlow<()>,
    ) -> Self {
        Self {
            image,
            options,
            size_bytes,
            cursor: 0,
            visit,
        }
    }

    /// Whether anything of a part is asked for; if not, [`Self::skip`] does instead of its ranges.
    pub(super) fn wants(&self, area: DumpArea) -> bool {
        self.options.areas.is_empty() || self.options.areas.contains(&area)
    }

    /// Whether only what belongs to some paths is asked for.
    pub(super) fn is_selective(&self) -> bool {
        !self.options.paths.is_empty()
    }

    /// Goes on behind ranges that are not asked for.
    pub(super) fn skip(&mut self, end: u64) {
        self.cursor = self.cursor.max(end.min(self.size_bytes));
    }

    /// Hands a range over, before it one for bytes that were left out.
    pub(super) fn emit(&mut self, mut range: DumpRange) -> Result<(), Error> {
        self.gap(range.start, range.area)?;
        let end = range.start.saturating_add(range.len_bytes);
        if end > self.size_bytes {
            range.len_bytes = self.size_bytes.saturating_sub(range.start);
            let cut = || "the file ends before it does".to_owned();
            range.damage.get_or_insert_with(cut);
        }
        let end = end.min(self.size_bytes);
        if range.start < self.cursor {
            range.overlap_bytes = self.cursor.min(end).saturating_sub(range.start);
        }
        self.cursor = self.cursor.max(end);
        if range.len_bytes == 0 || !self.wants(range.area) {
            return Ok(());
        }
        self.hand_over(range)
    }

    fn hand_over(&mut self, range: DumpRange) -> Result<(), Error> {
        match (self.visit)(range) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    /// Hands over the bytes up to `end`, to which nothing refers.
    pub(super) fn gap(&mut self, end: u64, area: DumpArea) -> Result<(), Error> {
        let (start, end) = (self.cursor, end.min(self.size_bytes));
        if start >= end {
            return Ok(());
        }
        self.cursor = end;
        if !self.wants(area) || self.is_selective() {
            return Ok(());
        }
        let what = match self.is_zero(start, end) {
            Ok(true) => "zeros",
            _ => "unreferenced",
        };
        let mut range = DumpRange::new(area, what, start, end - start);
        if what != "zeros" {
            let len = usize::try_from((end - start).min(SHOWN_BYTES)).unwrap_or(0);
            let mut raw = vec![0; len];
            match self.image.store.read_exact(&mut raw, start) {
                Ok(()) => range.raw = raw,
                Err(error) => range.damage = Some(error.to_string()),
            }
        }
        self.hand_over(range)
    }

    fn is_zero(&self, mut start: u64, end: u64) -> Result<bool, Error> {
        let mut bytes = vec![0; usize::try_from(CHUNK_BYTES.min(end - start)).unwrap_or(0)];
        while start < end {
            let len = usize::try_from(end - start).map_or(bytes.len(), |len| len.min(bytes.len()));
            let chunk = bytes.get_mut(..len).unwrap_or_default();
            self.image.store.read_exact(chunk, start)?;
            if chunk.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            start += len as u64;
        }
        Ok(true)
    }

    /// Hands over the rest of the file.
    pub(super) fn finish(mut self, bytes_used: u64) -> Result<(), Error> {
        let area = DumpArea::XattrTable;
        self.gap(bytes_used, area)?;
        self.gap(self.size_bytes, DumpArea::Padding)
    }
}

/// Bytes of a content to which nothing refers.
pub(super) fn unreferenced(content: &[u8], offset: u64, len_bytes: u64) -> DumpRecord {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let len = usize::try_from(len_bytes).unwrap_or(usize::MAX);
    let bytes = content.get(start..).unwrap_or_default();
    let bytes = bytes.get(..len.min(bytes.len())).unwrap_or_default();
    let is_zero = bytes.iter().all(|byte| *byte == 0);
    DumpRecord {
        offset,
        len_bytes,
        what: if is_zero { "zeros" } else { "unreferenced" },
        ..DumpRecord::default()
    }
}
