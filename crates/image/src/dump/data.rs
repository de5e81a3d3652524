//! The data area.

use std::borrow::Cow;

use super::emitter::Emitter;
use super::selection::Selection;
use super::{DumpArea, DumpOwner, DumpRange, DumpRecord};
use crate::error::Error;
use crate::extents::{Extent, Kind, Shared, read_all};
use crate::image::Image;
use crate::survey::{Survey, Tail};

/// Owners of a shared block that are named.
const OWNERS_MAX: usize = 16;

/// Data and fragment blocks.
pub(super) fn emit(
    emitter: &mut Emitter,
    image: &Image,
    survey: &Survey,
    selection: &Selection,
) -> Result<(), Error> {
    let area = DumpArea::DataArea;
    let end = image.data_area().end;
    if emitter.wants(area) {
        let extents = selected(survey, selection);
        read_all(image, &extents, &mut |block, length| {
            for range in ranges(image, survey, selection, block, length) {
                emitter.emit(range)?;
            }
            Ok(())
        })?;
        emitter.gap(end, area)?;
    }
    emitter.skip(end);
    Ok(())
}

/// The extents that are asked for.
fn selected<'a>(survey: &'a Survey, selection: &Selection) -> Cow<'a, [Extent]> {
    if selection.is_everything() {
        return Cow::Borrowed(&survey.extents);
    }
    let is_selected = |extent: &&Extent| match (extent.kind, extent.node()) {
        (Kind::Fragment(index), _) => selection.has_fragment(index),
        (_, Some(node)) => selection.has(node),
        _ => false,
    };
    survey.extents.iter().filter(is_selected).copied().collect()
}

/// A block once, or a fragment block for each entry of the fragment table that leads to it.
fn ranges(
    image: &Image,
    survey: &Survey,
    selection: &Selection,
    block: Shared<'_>,
    length: Result<u64, Error>,
) -> Vec<DumpRange> {
    let Some(extent) = block.first() else {
        return Vec::new();
    };
    let (len_bytes, damage) = match length {
        Ok(len_bytes) => (len_bytes, None),
        Err(error) => (0, Some(error.to_string())),
    };
    let made = |what| {
        let range = DumpRange::new(DumpArea::DataArea, what, extent.start, extent.size_bytes());
        let mut range = range.with_content(!extent.is_compressed(), len_bytes);
        range.damage.clone_from(&damage);
        range
    };
    match extent.kind {
        Kind::Data { .. } => {
            let mut range = made("data block");
            range.owners = owners(image, survey, block);
            range.more_owners = block.len().saturating_sub(OWNERS_MAX) as u64;
            vec![range]
        }
        Kind::Fragment(_) => {
            let indexes = block.iter().filter_map(|extent| match extent.kind {
                Kind::Fragment(index) => Some(index),
                Kind::Data { .. } => None,
            });
            let tails = |index| {
                let mut range = made("fragment block");
                let tails_of = survey.tails_of(index);
                range.records = tails(survey, selection, tails_of, len_bytes);
                let end = |tail: &Tail| u64::from(tail.offset) + u64::from(tail.len_bytes);
                if range.damage.is_none() && tails_of.iter().any(|tail| end(tail) > len_bytes) {
                    range.damage = Some("a tail end reaches over its end".to_owned());
                }
                range
            };
            indexes.map(tails).collect()
        }
    }
}

fn owners(image: &Image, survey: &Survey, block: Shared<'_>) -> Vec<DumpOwner> {
    let block_bytes = u64::from(image.superblock().block_size.bytes());
    let owner = |extent: &Extent| {
        let Kind::Data { index, .. } = extent.kind else {
            return None;
        };
        let node = extent.node()?;
        Some(DumpOwner {
            path: survey.path(node),
            number: survey.nodes.get(node)?.number,
            offset: u64::from(index) * block_bytes,
        })
    };
    block.iter().take(OWNERS_MAX).filter_map(owner).collect()
}

/// The tail ends in a fragment block and what is between them.
fn tails(
    survey: &Survey,
    selection: &Selection,
    tails: &[Tail],
    len_bytes: u64,
) -> Vec<DumpRecord> {
    let mut records = Vec::new();
    let mut end = 0;
    for tail in tails {
        let node = usize::try_from(tail.node).unwrap_or(usize::MAX);
        let offset = u64::from(tail.offset);
        if selection.is_everything() {
            records.extend(nothing(end, offset.min(len_bytes)));
        }
        let tail_end = offset + u64::from(tail.len_bytes);
        let overlap_bytes = end.min(tail_end).saturating_sub(offset);
        end = end.max(tail_end);
        if selection.has(node) {
            records.push(DumpRecord {
                offset,
                len_bytes: tail.len_bytes.into(),
                overlap_bytes,
                what: "tail end",
                path: survey.path(node),
                ..DumpRecord::default()
            });
        }
    }
    if selection.is_everything() {
        records.extend(nothing(end, len_bytes));
    }
    records
}

fn nothing(start: u64, end: u64) -> Option<DumpRecord> {
    (start < end).then(|| DumpRecord {
        offset: start,
        len_bytes: end - start,
        what: "unreferenced",
        ..DumpRecord::default()
    })
}
