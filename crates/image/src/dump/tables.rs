//! The tables found through an index.

use coldpress_format::METADATA_BLOCK_SIZE;

use super::emitter::{Emitter, unreferenced};
use super::fields::{FieldLayout, block_word, explain, numbers, reference};
use super::selection::Selection;
use super::{DumpArea, DumpField, DumpRange, DumpRecord};
use crate::error::Error;
use crate::image::Image;
use crate::region::Region;
use crate::survey::Survey;
use crate::table::Table;

/// Bytes of an index entry.
const INDEX_ENTRY_BYTES: usize = 8;
/// Index entries in one range.
const INDEX_ENTRIES: usize = 1024;

/// A table to hand over.
pub(super) struct Entries<'a> {
    pub(super) area: DumpArea,
    pub(super) table: &'a Table,
    /// What an entry is called.
    pub(super) what: &'static str,
    pub(super) layout: FieldLayout,
    /// Adds what an entry's numbers mean.
    pub(super) explain: &'a dyn Fn(&mut [DumpField]),
    /// Whether an entry is asked for, and whose it is.
    pub(super) owner: &'a dyn Fn(u64) -> (bool, Option<Vec<u8>>),
}

/// The fragment table, the export table and the id table.
pub(super) fn emit(
    emitter: &mut Emitter,
    image: &Image,
    survey: &Survey,
    selection: &Selection,
) -> Result<(), Error> {
    if let Some(table) = &image.fragment_table {
        let entries = Entries {
            area: DumpArea::FragmentTable,
            table,
            what: "fragment table entry",
            layout: &[("start", 8), ("size", 4), ("unused", 4)],
            explain: &|fields| explain(fields, "size", |number| Some(block_word(number))),
            owner: &|index| {
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                (selection.has_fragment(index), None)
            },
        };
        emit_table(emitter, image, &entries)?;
    }
    if let Some(table) = &image.export_table {
        let entries = Entries {
            area: DumpArea::ExportTable,
            table,
            what: "export table entry",
            layout: &[("inode", 8)],
            explain: &|fields| explain(fields, "inode", |number| Some(reference(number))),
            owner: &|index| {
                let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
                let node = survey.node_of_number(number);
                let is_selected =
                    node.map_or(selection.is_everything(), |node| selection.has(node));
                (is_selected, node.and_then(|node| survey.path(node)))
            },
        };
        emit_table(emitter, image, &entries)?;
    }
    let entries = Entries {
        area: DumpArea::IdTable,
        table: &image.id_table,
        what: "id",
        layout: &[("id", 4)],
        explain: &|_| {},
        owner: &|_| (selection.is_everything(), None),
    };
    emit_table(emitter, image, &entries)
}

fn emit_table(emitter: &mut Emitter, image: &Image, entries: &Entries) -> Result<(), Error> {
    if emitter.wants(entries.area) {
        emitter.gap(entries.table.start(), entries.area)?;
        emit_blocks(emitter, image, entries)?;
        emit_index(emitter, entries, entries.table.blocks().end)?;
    }
    emitter.skip(entries.table.index_end());
    Ok(())
}

/// The metadata blocks of a table.
pub(super) fn emit_blocks(
    emitter: &mut Emitter,
    image: &Image,
    entries: &Entries,
) -> Result<(), Error> {
    let table = entries.table;
    let starts = table.block_starts();
    let region = table.blocks();
    let ends = starts.iter().skip(1).chain([&region.end]);
    let per_block = METADATA_BLOCK_SIZE as u64 / table.entry_bytes().max(1);
    for ((start, end), number) in starts.iter().zip(ends).zip(0_u64..) {
        let (start, end) = (*start, *end);
        let mut range = DumpRange::new(entries.area, "metadata block", start, end - start);
        match image.store.metadata_block(start, Region { start, end }) {
            Ok(block) => {
                range.len_bytes = block.next - start;
                range = range.with_metadata(block.stored, block.content.len() as u64);
                let first = number * per_block;
                range.records = records(entries, &block.content, first, per_block, emitter);
                if block.stored {
                    range.raw.clone_from(&block.content);
                }
            }
            Err(error) => range.damage = Some(error.to_string()),
        }
        if emitter.is_selective() && range.records.is_empty() {
            emitter.skip(end);
        } else {
            emitter.emit(range)?;
        }
    }
    Ok(())
}

/// The entries in a block from the one with index `first` on.
fn records(
    entries: &Entries,
    content: &[u8],
    first: u64,
    count: u64,
    emitter: &Emitter,
) -> Vec<DumpRecord> {
    let len_bytes = entries.table.entry_bytes();
    let entry_len = usize::try_from(len_bytes).unwrap_or(usize::MAX);
    let indexes = first..entries.table.count().min(first + count);
    let (mut records, mut offset) = (Vec::new(), 0);
    for (index, bytes) in indexes.zip(content.chunks_exact(entry_len)) {
        let (is_selected, path) = (entries.owner)(index);
        if is_selected {
            let mut fields = numbers(bytes, entries.layout);
            (entries.explain)(&mut fields);
            records.push(DumpRecord {
                offset,
                len_bytes,
                what: entries.what,
                path,
                fields,
                ..DumpRecord::default()
            });
        }
        offset += len_bytes;
    }
    let left = (content.len() as u64).saturating_sub(offset);
    if left > 0 && !emitter.is_selective() {
        records.push(unreferenced(content, offset, left));
    }
    records
}

/// The index of a table: the starts of its metadata blocks.
///
/// * `start`: image byte at which it begins.
pub(super) fn emit_index(
    emitter: &mut Emitter,
    entries: &Entries,
    mut start: u64,
) -> Result<(), Error> {
    if emitter.is_selective() {
        return Ok(());
    }
    for starts in entries.table.block_starts().chunks(INDEX_ENTRIES) {
        let raw: Vec<u8> = starts
            .iter()
            .flat_map(|start| start.to_le_bytes())
            .collect();
        let len_bytes = raw.len() as u64;
        let mut range = DumpRange::new(entries.area, "index", start, len_bytes);
        let bytes = raw.chunks_exact(INDEX_ENTRY_BYTES);
        let offsets = (0_u64..).step_by(INDEX_ENTRY_BYTES);
        range.records = bytes
            .zip(offsets)
            .map(|(bytes, offset)| DumpRecord {
                offset,
                len_bytes: INDEX_ENTRY_BYTES as u64,
                what: "index entry",
                fields: numbers(bytes, &[("block", 8)]),
                ..DumpRecord::default()
            })
            .collect();
        range.raw = raw;
        start += len_bytes;
        emitter.emit(range)?;
    }
    Ok(())
}
