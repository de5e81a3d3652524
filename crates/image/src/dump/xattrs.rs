//! The xattr pairs and the xattr id table.

use coldpress_format::{XattrPrefix, XattrTable};

use super::emitter::Emitter;
use super::fields::{explain, numbers, reference};
use super::selection::Selection;
use super::stream::{self, Item, Stream};
use super::tables::{Entries, emit_blocks, emit_index};
use super::{DumpArea, DumpField, DumpRange, DumpRecord, DumpValue};
use crate::error::Error;
use crate::image::Image;
use crate::survey::{Pair, Survey, XattrSpan};
use crate::xattr::{RawPair, XattrSets};

/// The pairs, the table of the sets, its header and its index.
pub(super) fn emit(
    emitter: &mut Emitter,
    image: &Image,
    survey: &Survey,
    selection: &Selection,
) -> Result<(), Error> {
    let area = DumpArea::XattrTable;
    let Some(sets) = &image.xattr_sets else {
        return Ok(());
    };
    if !emitter.wants(area) {
        emitter.skip(sets.index_end());
        return Ok(());
    }
    emitter.gap(sets.start(), area)?;
    let stream = Stream {
        area,
        region: sets.pairs(),
        blocks: &survey.xattr_blocks,
    };
    let items = items(image, sets, survey, selection);
    stream::emit(emitter, image, &stream, items, &mut |_, _| Ok(()))?;
    let entries = Entries {
        area,
        table: sets.table(),
        what: "xattr id table entry",
        layout: &[("pairs", 8), ("count", 4), ("size", 4)],
        explain: &|fields| explain(fields, "pairs", |number| Some(reference(number))),
        owner: &|index| {
            let set = u32::try_from(index).unwrap_or(u32::MAX);
            (selection.has_set(set), None)
        },
    };
    emit_blocks(emitter, image, &entries)?;
    let start = sets.table().blocks().end;
    emit_header(emitter, image, start)?;
    emit_index(emitter, &entries, start + XattrTable::SIZE as u64)?;
    emitter.skip(sets.index_end());
    Ok(())
}

fn emit_header(emitter: &mut Emitter, image: &Image, start: u64) -> Result<(), Error> {
    if emitter.is_selective() {
        return Ok(());
    }
    let mut raw = vec![0; XattrTable::SIZE];
    image.store.read_exact(&mut raw, start)?;
    let len_bytes = raw.len() as u64;
    let mut range = DumpRange::new(DumpArea::XattrTable, "xattr table header", start, len_bytes);
    range.records = vec![DumpRecord {
        len_bytes,
        what: "xattr table header",
        fields: numbers(&raw, &[("pairs_start", 8), ("count", 4), ("unused", 4)]),
        ..DumpRecord::default()
    }];
    range.raw = raw;
    emitter.emit(range)
}

/// The pairs of each set, and values that stand alone.
fn items<'a>(
    image: &'a Image,
    sets: &'a XattrSets,
    survey: &'a Survey,
    selection: &'a Selection,
) -> impl Iterator<Item = Item> + 'a {
    let mut end = 0;
    survey.xattr_spans.iter().flat_map(move |span| {
        let is_inside = span.what == Pair::Value && span.end <= end;
        end = end.max(span.end);
        match span.what {
            _ if is_inside => Vec::new(),
            Pair::Set => set_items(image, sets, survey, selection, span),
            Pair::Value => vec![Item {
                start: span.start,
                end: span.end,
                is_selected: selection.has_set(span.set),
                record: DumpRecord {
                    what: "xattr value",
                    ..DumpRecord::default()
                },
            }],
        }
    })
}

fn set_items(
    image: &Image,
    sets: &XattrSets,
    survey: &Survey,
    selection: &Selection,
    span: &XattrSpan,
) -> Vec<Item> {
    let mut items = Vec::new();
    let blocks = &survey.xattr_blocks;
    // What cannot be read was left out of the spans.
    let _ = sets.for_each_pair(&image.store, span.set, &mut |pair| {
        let (block, offset) = pair.place;
        if let Some(start) = blocks.position(block, offset) {
            items.push(Item {
                start,
                end: (start + pair.len_bytes).min(blocks.len_bytes()),
                is_selected: selection.has_set(span.set),
                record: DumpRecord {
                    what: "xattr pair",
                    fields: fields(&pair, span.set),
                    ..DumpRecord::default()
                },
            });
        }
    });
    items
}

fn fields(pair: &RawPair, set: u32) -> Vec<DumpField> {
    let mut fields = Vec::new();
    let mut offset = 0;
    let mut push = |name, len_bytes: usize, value| {
        fields.push(DumpField {
            offset,
            len_bytes: len_bytes as u64,
            name,
            value,
        });
        offset += len_bytes as u64;
    };
    let number = |number: usize| DumpValue::Number(number as u64);
    let prefix = XattrPrefix::split(&pair.name);
    let name_len = prefix.map_or(0, |(_, name)| name.len());
    let elsewhere = pair.value_place.map_or(0, |_| XattrPrefix::OUT_OF_LINE);
    let kind = prefix.map_or(0, |(prefix, _)| prefix as u16) | elsewhere;
    push(
        "kind",
        2,
        DumpValue::Meaning(kind.into(), format!("of set {set}")),
    );
    push("name_size", 2, number(name_len));
    push("name", name_len, DumpValue::Text(pair.name.clone()));
    match pair.value_place {
        None => {
            push("value_size", 4, number(pair.value.len()));
            push(
                "value",
                pair.value.len(),
                DumpValue::Text(pair.value.clone()),
            );
        }
        Some((block, offset)) => {
            push("value_size", 4, number(8));
            let text = format!("in the metadata block at byte {block}, offset {offset}");
            push("reference", 8, DumpValue::Meaning(offset, text));
        }
    }
    fields
}
