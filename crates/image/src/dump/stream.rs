//! Tables that are streams of metadata blocks: the records cut where blocks end.

use std::iter::Peekable;

use super::emitter::{Emitter, unreferenced};
use super::{DumpArea, DumpOwner, DumpRange, DumpRecord};
use crate::error::Error;
use crate::image::Image;
use crate::region::Region;
use crate::survey::{Account, Block, Blocks, Survey};

/// A record at a position of a stream.
pub(super) struct Item {
    /// Position of its first byte.
    pub(super) start: u64,
    /// Position behind its last.
    pub(super) end: u64,
    /// Whether it is asked for.
    pub(super) is_selected: bool,
    /// What it says; where it lies is set when it is handed over.
    pub(super) record: DumpRecord,
}

/// A stream to hand over.
pub(super) struct Stream<'a> {
    pub(super) area: DumpArea,
    pub(super) region: Region,
    pub(super) blocks: &'a Blocks,
}

/// What reaches from one block into the next.
#[derive(Default)]
struct Open {
    /// The position up to which everything was told.
    position: u64,
    /// The position behind the last record, in a later block.
    end: u64,
    is_selected: bool,
    path: Option<Vec<u8>>,
}

/// Hands over a table that the survey accounts for, with the blocks that begin inside others.
///
/// * `items`: by start.
pub(super) fn emit_account(
    emitter: &mut Emitter,
    image: &Image,
    survey: &Survey,
    (area, region, account): (DumpArea, Region, &Account),
    items: impl Iterator<Item = Item>,
) -> Result<(), Error> {
    let mut strays = strays(image, survey, account, (area, region));
    let stream = Stream {
        area,
        region,
        blocks: &account.blocks,
    };
    emit(emitter, image, &stream, items, &mut strays)
}

/// Hands over the metadata blocks of a stream.
///
/// * `items`: by start.
pub(super) fn emit(
    emitter: &mut Emitter,
    image: &Image,
    stream: &Stream,
    items: impl Iterator<Item = Item>,
    between: &mut dyn FnMut(&mut Emitter, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut items = items.peekable();
    let mut open = Open::default();
    let end = stream.region.end;
    if emitter.wants(stream.area) {
        for block in stream.blocks.iter() {
            let len_bytes = block.end - block.start;
            let mut range = DumpRange::new(stream.area, "metadata block", block.start, len_bytes);
            range = range.with_metadata(block.stored, block.len_bytes.into());
            match image.store.metadata_block(block.start, stream.region) {
                Ok(read) => {
                    range.records = records(block, &read.content, &mut items, &mut open, emitter);
                    if block.stored {
                        range.raw.clone_from(&read.content);
                    }
                }
                Err(error) => {
                    range.content = None;
                    range.damage = Some(error.to_string());
                }
            }
            if emitter.is_selective() && range.records.is_empty() {
                emitter.skip(block.end);
            } else {
                emitter.emit(range)?;
            }
            between(emitter, block.end)?;
        }
        emitter.gap(end, stream.area)?;
    }
    emitter.skip(end);
    Ok(())
}

/// The records of one block.
fn records(
    block: &Block,
    content: &[u8],
    items: &mut Peekable<impl Iterator<Item = Item>>,
    open: &mut Open,
    emitter: &Emitter,
) -> Vec<DumpRecord> {
    let (start, end) = (block.position, block.position_end());
    let mut records = Vec::new();
    open.position = start;
    let is_selective = emitter.is_selective();
    if open.end > start {
        let len_bytes = open.end.min(end) - start;
        open.position = start + len_bytes;
        if open.is_selected {
            records.push(DumpRecord {
                len_bytes,
                more_bytes: open.end.saturating_sub(end),
                what: "rest",
                path: open.path.clone(),
                ..DumpRecord::default()
            });
        }
    }
    loop {
        let item = items.next_if(|item| item.start < end);
        let next = item.as_ref().map_or(end, |item| item.start);
        if next > open.position {
            let (offset, len_bytes) = (open.position - start, next - open.position);
            open.position = next;
            if !is_selective {
                records.push(unreferenced(content, offset, len_bytes));
            }
        }
        let Some(item) = item else {
            return records;
        };
        records.extend(place(block, item, open));
    }
}

/// Puts an item into a block.
fn place(block: &Block, item: Item, open: &mut Open) -> Option<DumpRecord> {
    let here_end = item.end.min(block.position_end());
    let overlap_bytes = open.position.min(here_end).saturating_sub(item.start);
    open.position = open.position.max(here_end);
    if item.end > open.end {
        open.end = item.end;
        open.is_selected = item.is_selected;
        open.path.clone_from(&item.record.path);
    }
    item.is_selected.then(|| DumpRecord {
        offset: item.start.saturating_sub(block.position),
        len_bytes: here_end.saturating_sub(item.start),
        more_bytes: item.end - here_end,
        overlap_bytes,
        ..item.record
    })
}

/// Hands over the blocks of references that lead into the middle of a metadata block, each behind
/// the block in which it lies.
fn strays<'a>(
    image: &'a Image,
    survey: &'a Survey,
    account: &'a Account,
    (area, region): (DumpArea, Region),
) -> impl FnMut(&mut Emitter, u64) -> Result<(), Error> + 'a {
    let mut strays = account.strays.iter().peekable();
    move |emitter, end| {
        while let Some((start, node)) = strays.next_if(|(start, _)| *start < end) {
            let what = "metadata block inside another";
            let read = image.store.metadata_block(*start, region);
            let len_bytes = read.as_ref().map_or(2, |block| block.next - block.start);
            let mut range = DumpRange::new(area, what, *start, len_bytes);
            if let Ok(block) = read {
                range = range.with_metadata(block.stored, block.content.len() as u64);
            }
            range.owners = vec![DumpOwner {
                path: survey.path(*node),
                number: survey.nodes.get(*node).map_or(0, |node| node.number),
                offset: 0,
            }];
            if !emitter.is_selective() {
                emitter.emit(range)?;
            }
        }
        Ok(())
    }
}
