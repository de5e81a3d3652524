//! The directory table.

use coldpress_format::{Body, InodeKind};

use super::emitter::Emitter;
use super::fields::meaning;
use super::inodes::kind_name;
use super::selection::Selection;
use super::stream::{self, Item};
use super::{DumpArea, DumpField, DumpRecord, DumpValue};
use crate::error::Error;
use crate::image::Image;
use crate::survey::{ENTRY_BYTES, HEADER_BYTES, Header, Piece, RawEntry, Span, Survey, pieces};
use crate::walk::push_name;

/// Bytes of listings inside other listings that are told: all of them may lie in one metadata
/// block, whose records are in memory together and take a dozen times as much. Only inodes that no
/// directory names can have more, for the walk of the tree has the same bound.
const OVERLAPPING_MAX_BYTES: u64 = 1 << 20;

/// The directory table.
pub(super) fn emit(
    emitter: &mut Emitter,
    image: &Image,
    survey: &Survey,
    selection: &Selection,
) -> Result<(), Error> {
    let (area, region) = (DumpArea::DirectoryTable, image.directory_table);
    let account = &survey.directory_table;
    let spans = account.spans.iter();
    let (mut end, mut overlapping_bytes) = (0, 0_u64);
    let items = spans.flat_map(|span| {
        overlapping_bytes += span.end.min(end).saturating_sub(span.start);
        end = end.max(span.end);
        if overlapping_bytes > OVERLAPPING_MAX_BYTES {
            return Vec::new();
        }
        items(image, survey, selection, span)
    });
    stream::emit_account(emitter, image, survey, (area, region, account), items)
}

/// The headers and entries of one listing.
fn items(image: &Image, survey: &Survey, selection: &Selection, span: &Span) -> Vec<Item> {
    let inode = survey.nodes.get(span.node).map(|node| image.inode(node.at));
    let Some(Ok(inode)) = inode else {
        return Vec::new();
    };
    let Body::Directory(directory) = &inode.body else {
        return Vec::new();
    };
    let Ok((listing, _)) = image.listing_so_far(directory) else {
        return Vec::new();
    };
    let directory_path = survey.path(span.node);
    let is_selected = selection.has(span.node);
    let item = |offset: usize, len: usize, is_selected, record| {
        let start = span.start + offset as u64;
        Item {
            start,
            end: (start + len as u64).min(span.end.max(start)),
            is_selected,
            record,
        }
    };
    let made = |what, path, fields| DumpRecord {
        what,
        path,
        fields,
        ..DumpRecord::default()
    };
    let mut items = Vec::new();
    for piece in pieces(&listing.bytes) {
        items.push(match piece {
            Piece::Header { offset, raw } => {
                let record = made("listing header", directory_path.clone(), header_fields(raw));
                item(offset, HEADER_BYTES, is_selected, record)
            }
            Piece::Entry {
                offset,
                header,
                raw,
                name,
            } => {
                let child = survey.node_of_number(raw.number(header));
                let is_selected = is_selected || child.is_some_and(|child| selection.has(child));
                let mut path = directory_path.clone();
                if let Some(path) = &mut path {
                    push_name(path, name);
                }
                let record = made("listing entry", path, entry_fields(header, raw, name));
                item(offset, ENTRY_BYTES + name.len(), is_selected, record)
            }
            Piece::Rest { found: 0, .. } => continue,
            Piece::Rest { offset, found, .. } => {
                let record = made("unreadable", directory_path.clone(), Vec::new());
                item(offset, found, is_selected, record)
            }
        });
    }
    items
}

fn header_fields(raw: Header) -> Vec<DumpField> {
    let field = |offset, name, number: u32| DumpField {
        offset,
        len_bytes: 4,
        name,
        value: DumpValue::Number(number.into()),
    };
    let count = u64::from(raw.count);
    let mut fields = vec![
        field(0, "count", raw.count),
        field(4, "inode_block_start", raw.inode_block_start),
        field(8, "base_number", raw.base_number),
    ];
    if let Some(field) = fields.first_mut() {
        let text = format!("entries: {}", count + 1);
        field.value = DumpValue::Meaning(count, text);
    }
    fields
}

fn entry_fields(header: Header, raw: RawEntry, name: &[u8]) -> Vec<DumpField> {
    let field = |offset, name, value| DumpField {
        offset,
        len_bytes: 2,
        name,
        value,
    };
    let number = |number: u16| DumpValue::Number(number.into());
    let delta = u16::from_le_bytes(raw.number_delta.to_le_bytes());
    let of_inode = format!("{:+}: inode {}", raw.number_delta, raw.number(header));
    let kind = u64::from(raw.kind);
    let kind_text = InodeKind::from_number(raw.kind).map(kind_name);
    let kind_value = kind_text.map(|text| meaning(kind, text));
    let name_size = u16::try_from(name.len().saturating_sub(1)).unwrap_or(u16::MAX);
    vec![
        field(0, "inode_offset", number(raw.inode_offset)),
        field(
            2,
            "number_delta",
            DumpValue::Meaning(delta.into(), of_inode),
        ),
        field(4, "kind", kind_value.unwrap_or(DumpValue::Number(kind))),
        field(6, "name_size", number(name_size)),
        DumpField {
            offset: ENTRY_BYTES as u64,
            len_bytes: name.len() as u64,
            name: "name",
            value: DumpValue::Text(name.to_vec()),
        },
    ]
}
