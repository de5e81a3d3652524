//! Where each entry goes.
//!
//! | layout | bytes of the file |
//! |---|---|
//! | [`Layout::Tail`] | prefix, fixed, cold, hot, directory, end |
//! | [`Layout::Gecko`] | readahead, directory, end, fixed, hot, cold, end |
//! | [`Layout::Double`] | readahead, directory, end, fixed, hot, cold, directory, end |
//!
//! Fixed are entries that readers of streams need first. The directory keeps its order, so programs
//! that walk it, or take one of two entries of a name, see what they saw.

use std::collections::HashSet;
use std::ops::Range;

use coldpress_image::ReadAt;

use super::Zip;
use super::end::END_BYTES;
use super::entry::{DEFLATED, Entry, IN_EXTRA, fields};
use super::findings::is_signature;
use super::header::{ALIGNMENT, Header, record};
use super::settings::{Layout, Settings, Storing};
use crate::error::{Error, Refusal};
use crate::field::number;
use crate::placement::{Piece, Placement};

/// The largest alignment: a huge page of programs, and less than an extra field can fill.
const ALIGN_BYTES_MAX: u64 = 32 << 10;
/// What Android demands of entries that are not compressed.
const APK_ALIGN_BYTES: u64 = 4;

const APK_MANIFEST: &[u8] = b"AndroidManifest.xml";
/// What EPUB and `OpenDocument` demand at byte 0.
const MIMETYPE: &[u8] = b"mimetype";
/// What readers of streams want first.
const FIXED: [&[u8]; 3] = [MIMETYPE, b"META-INF/", b"META-INF/MANIFEST.MF"];

/// An entry at its new place.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// Its place in the directory.
    pub(crate) index: usize,
    /// Bytes of the new file.
    pub(crate) range: Range<u64>,
    /// Whether the start needs it.
    is_hot: bool,
    /// What of it changes; `None`: it is copied as it is.
    pub(crate) header: Option<Header>,
}

/// A new archive before it is written.
#[derive(Clone, Debug)]
pub struct Arrangement {
    pub(crate) settings: Settings,
    /// By their new places.
    pub(crate) placed: Vec<Placed>,
    /// The directory at the beginning, bytes of the new file.
    pub(crate) front: Option<Range<u64>>,
    /// The directory at the end.
    pub(crate) back: Option<Range<u64>>,
    /// From the first hot entry to the end of the last, bytes of the new file.
    pub hot: Range<u64>,
    /// How many entries are hot.
    pub hot_entries: usize,
    /// How many entries are decompressed.
    pub stored_entries: usize,
}

impl Zip {
    /// The layout that fits: with the index first if it is, or if Gecko reads it.
    pub fn fitting_layout(&self) -> Layout {
        let is_gecko = self
            .entries
            .iter()
            .any(|entry| entry.name == b"chrome.manifest");
        if self.prefix_bytes == 0 && (self.readahead_bytes.is_some() || is_gecko) {
            Layout::Double
        } else {
            Layout::Tail
        }
    }

    /// Decides where everything goes.
    ///
    /// * `hot`: places in [`Zip::entries`], in the order of the start.
    ///
    /// # Errors
    ///
    /// [`Refusal`] if it is signed, or the layout does not suit it.
    pub fn arrange(
        &self,
        source: &dyn ReadAt,
        hot: &[usize],
        settings: Settings,
    ) -> Result<Arrangement, Error> {
        let signed = self.signature(source)?;
        if let Some(by) = signed.clone().filter(|_| !settings.takes_signed) {
            return Err(Refusal::Signed { by }.into());
        }
        let has_front = settings.layout.has_front_index();
        self.check_beginning(has_front)?;
        let is_apk = self.entries.iter().any(|entry| entry.name == APK_MANIFEST);
        let own_align_bytes = if is_apk { APK_ALIGN_BYTES } else { 1 };
        let order = self.order(hot, settings.layout, signed.is_some());
        let stores = |entry: &Entry, is_hot: bool| match settings.storing {
            Storing::Nothing => false,
            Storing::Hot => is_hot && can_store(entry),
            Storing::All => can_store(entry),
        };
        let front_bytes = order.iter().filter_map(|&(index, is_hot)| {
            let entry = self.entries.get(index)?;
            Some(record(entry, 0, stores(entry, is_hot)).len() as u64)
        });
        let front_bytes = front_bytes.sum::<u64>();
        let mut at = if has_front {
            4 + front_bytes + END_BYTES as u64
        } else {
            self.prefix_bytes
        };
        let mut arrangement = Arrangement::new(settings, at);
        for (index, is_hot) in order {
            let Some(entry) = self.entries.get(index) else {
                continue;
            };
            let is_stored = stores(entry, is_hot);
            let align_bytes = match settings.align_bytes {
                0 => asked_alignment(entry).unwrap_or(own_align_bytes),
                asked => asked.min(ALIGN_BYTES_MAX),
            };
            let header = Header::new(entry, at, is_stored, align_bytes);
            let end = at + new_len(entry, header.as_ref());
            let range = at..end;
            at = end;
            arrangement.add(Placed {
                index,
                range,
                is_hot,
                header,
            });
        }
        [arrangement.front, arrangement.back] = self.directories(&arrangement, at, front_bytes)?;
        Ok(arrangement)
    }

    /// What has to be at byte 0 is there, and an index can be there.
    fn check_beginning(&self, has_front: bool) -> Result<(), Refusal> {
        let first = self.by_place().next();
        let what = match first.filter(|first| first.name == MIMETYPE) {
            Some(_) => "the entry `mimetype`".to_owned(),
            None if self.prefix_bytes > 0 => format!("the {} bytes before it", self.prefix_bytes),
            None => return Ok(()),
        };
        if has_front {
            return Err(Refusal::NeedsBeginning { what });
        }
        Ok(())
    }

    /// The places of the entries in the directory, in their new order, and which of them are hot.
    fn order(&self, hot: &[usize], layout: Layout, is_signed: bool) -> Vec<(usize, bool)> {
        let of = |index: &usize| self.entries.get(*index);
        let is_fixed = |index: &&usize| {
            of(index).is_some_and(|entry| {
                FIXED.contains(&entry.name.as_slice()) || is_signed && is_signature(entry)
            })
        };
        let fixed: Vec<usize> = self.by_place.iter().take_while(is_fixed).copied().collect();
        let mut taken: HashSet<usize> = fixed.iter().copied().collect();
        let is_new = |index: &&usize| of(index).is_some() && taken.insert(**index);
        let hot: Vec<usize> = hot.iter().filter(is_new).copied().collect();
        let is_cold = |index: &&usize| !taken.contains(*index);
        let cold: Vec<usize> = self.by_place.iter().filter(is_cold).copied().collect();
        let named = |some: Vec<usize>, is_hot| some.into_iter().map(move |index| (index, is_hot));
        let fixed = named(fixed, false);
        let (hot, cold) = (named(hot, true), named(cold, false));
        match layout {
            Layout::Tail => fixed.chain(cold).chain(hot).collect(),
            Layout::Gecko | Layout::Double => fixed.chain(hot).chain(cold).collect(),
        }
    }

    /// Where the directory goes, once or twice.
    ///
    /// * `at`: where the entries end.
    /// * `front_bytes`: its length if no position needs 64 bits.
    fn directories(
        &self,
        arrangement: &Arrangement,
        at: u64,
        front_bytes: u64,
    ) -> Result<[Option<Range<u64>>; 2], Refusal> {
        let len = arrangement
            .records(self)
            .map(|record| record.len() as u64)
            .sum::<u64>();
        let layout = arrangement.settings.layout;
        if layout.has_front_index() {
            let is_large = at.saturating_add(len) >= IN_EXTRA || self.entries.len() >= 0xffff;
            if is_large || len != front_bytes {
                return Err(Refusal::TooLarge);
            }
        }
        let front = layout.has_front_index().then_some(4..4 + len);
        let back = layout.has_back_index().then_some(at..at + len);
        Ok([front, back])
    }
}

impl Arrangement {
    fn new(settings: Settings, start: u64) -> Self {
        Self {
            settings,
            placed: Vec::new(),
            front: None,
            back: None,
            hot: start..start,
            hot_entries: 0,
            stored_entries: 0,
        }
    }

    fn add(&mut self, placed: Placed) {
        let is_stored = placed
            .header
            .as_ref()
            .is_some_and(|header| header.is_stored);
        self.stored_entries += usize::from(is_stored);
        if placed.is_hot {
            if self.hot_entries == 0 {
                self.hot.start = placed.range.start;
            }
            self.hot.end = placed.range.end;
            self.hot_entries += 1;
        }
        self.placed.push(placed);
    }

    /// The records of the new directory, in the order of the old one.
    pub(crate) fn records<'a>(&'a self, zip: &'a Zip) -> impl Iterator<Item = Vec<u8>> + 'a {
        let mut by_index: Vec<&Placed> = self.placed.iter().collect();
        by_index.sort_unstable_by_key(|placed| placed.index);
        by_index.into_iter().filter_map(|placed| {
            let entry = zip.entries.get(placed.index)?;
            let is_stored = placed
                .header
                .as_ref()
                .is_some_and(|header| header.is_stored);
            Some(record(entry, placed.range.start, is_stored))
        })
    }

    /// What the file asks to have read ahead: the index and what the start needs.
    pub(crate) fn readahead_bytes(&self) -> u32 {
        u32::try_from(self.hot.end).unwrap_or(u32::MAX)
    }

    /// What moved where.
    ///
    /// * `new_size_bytes`: what [`Zip::write`] returned.
    pub fn placement(&self, zip: &Zip, new_size_bytes: u64) -> Placement {
        let entries = self.placed.iter().filter_map(|placed| {
            Some(Piece {
                old: zip.entries.get(placed.index)?.range.clone(),
                new: placed.range.clone(),
                is_hot: placed.is_hot,
            })
        });
        let mut pieces: Vec<Piece> = entries.collect();
        let last = self.placed.last().map_or(0, |placed| placed.range.end);
        let end = self.back.as_ref().map_or(last, |back| back.end);
        let directory = self.front.as_ref().or(self.back.as_ref());
        let both = [
            (zip.directory(), directory.cloned().unwrap_or_default()),
            (zip.end.start..zip.size_bytes, end..new_size_bytes),
        ];
        pieces.extend(both.map(|(old, new)| Piece {
            old,
            new,
            is_hot: true,
        }));
        Placement::new(pieces)
    }
}

/// Bytes of an entry in the new archive.
fn new_len(entry: &Entry, header: Option<&Header>) -> u64 {
    let Some(header) = header else {
        return entry.range.end - entry.range.start;
    };
    let after = if header.is_stored {
        entry.content_bytes
    } else {
        entry.range.end - entry.data_start
    };
    header.bytes.len() as u64 + after
}

/// Whether an entry can stand decompressed, with sizes of 32 bits.
fn can_store(entry: &Entry) -> bool {
    let is_small = entry.content_bytes < IN_EXTRA && entry.packed_bytes < IN_EXTRA;
    entry.method == DEFLATED && !entry.is_encrypted() && is_small
}

/// What an entry that is not compressed was aligned to, by the field that says so.
fn asked_alignment(entry: &Entry) -> Option<u64> {
    let mut fields = fields(entry.local_extra());
    let (_, field) = fields.find(|(id, _)| *id == ALIGNMENT)?;
    Some(number(field, 0, 2).clamp(1, ALIGN_BYTES_MAX))
}
