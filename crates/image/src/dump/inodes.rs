//! The inode table.

use coldpress_format::{Body, DeviceNumber, InodeKind};

use super::emitter::Emitter;
use super::fields::{FieldLayout, explain, meaning, none_if, numbers};
use super::selection::Selection;
use super::stream::{self, Item};
use super::{DumpArea, DumpField, DumpRecord, DumpValue};
use crate::error::Error;
use crate::image::Image;
use crate::inode::InodeRecord;
use crate::survey::{Span, Survey};

/// The number of a type's extended form is this much more than that of the basic form.
const EXTENDED: u16 = 7;
const NONE: u64 = u32::MAX as u64;

const HEADER: FieldLayout = &[
    ("kind", 2),
    ("mode", 2),
    ("uid_index", 2),
    ("gid_index", 2),
    ("mtime", 4),
    ("number", 4),
];

/// The inode table.
pub(super) fn emit(
    emitter: &mut Emitter,
    image: &Image,
    survey: &Survey,
    selection: &Selection,
) -> Result<(), Error> {
    let (area, region) = (DumpArea::InodeTable, image.inode_table);
    let account = &survey.inode_table;
    let items = account.spans.iter();
    let items = items.filter_map(|span| item(image, survey, selection, span));
    stream::emit_account(emitter, image, survey, (area, region, account), items)
}

fn item(image: &Image, survey: &Survey, selection: &Selection, span: &Span) -> Option<Item> {
    let record = image.inode_record(survey.nodes.get(span.node)?.at).ok()?;
    let is_selected = selection.has(span.node);
    let fields = if is_selected {
        fields(image, &record)
    } else {
        Vec::new()
    };
    Some(Item {
        start: span.start,
        end: span.end,
        is_selected,
        record: DumpRecord {
            what: "inode",
            path: survey.path(span.node),
            fields,
            ..DumpRecord::default()
        },
    })
}

fn fields(image: &Image, record: &InodeRecord) -> Vec<DumpField> {
    let mut fields = numbers(&record.fixed, HEADER);
    let header_bytes: usize = HEADER.iter().map(|(_, len)| len).sum();
    let kind = record
        .fixed
        .first_chunk::<2>()
        .map_or(0, |kind| u16::from_le_bytes(*kind));
    let rest = record.fixed.get(header_bytes..).unwrap_or_default();
    let more = numbers(rest, layout(kind)).into_iter();
    fields.extend(more.map(|field| DumpField {
        offset: field.offset + header_bytes as u64,
        ..field
    }));
    explain_all(image, &mut fields);
    push_list(record, &mut fields);
    fields
}

/// The record behind the header of an inode, by type.
const fn layout(kind: u16) -> FieldLayout {
    match kind {
        1 => &[
            ("block_start", 4),
            ("link_count", 4),
            ("size", 2),
            ("offset", 2),
            ("parent", 4),
        ],
        8 => &[
            ("link_count", 4),
            ("size", 4),
            ("block_start", 4),
            ("parent", 4),
            ("index_count", 2),
            ("offset", 2),
            ("xattr", 4),
        ],
        2 => &[
            ("start", 4),
            ("fragment", 4),
            ("tail_offset", 4),
            ("size", 4),
        ],
        9 => &[
            ("start", 8),
            ("size", 8),
            ("sparse", 8),
            ("link_count", 4),
            ("fragment", 4),
            ("tail_offset", 4),
            ("xattr", 4),
        ],
        3 | 10 => &[("link_count", 4), ("target_size", 4)],
        4 | 5 => &[("link_count", 4), ("device", 4)],
        11 | 12 => &[("link_count", 4), ("device", 4), ("xattr", 4)],
        6 | 7 => &[("link_count", 4)],
        13 | 14 => &[("link_count", 4), ("xattr", 4)],
        _ => &[],
    }
}

fn explain_all(image: &Image, fields: &mut [DumpField]) {
    explain(fields, "kind", |number| {
        let kind = u16::try_from(number).ok()?;
        let extended = if kind > EXTENDED { "extended " } else { "" };
        let basic = if kind > EXTENDED {
            kind - EXTENDED
        } else {
            kind
        };
        let name = kind_name(InodeKind::from_number(basic)?);
        Some(meaning(number, format!("{extended}{name}")))
    });
    explain(fields, "mode", |number| {
        u16::try_from(number).ok().map(DumpValue::Mode)
    });
    for (name, what) in [("uid_index", "user"), ("gid_index", "group")] {
        explain(fields, name, |number| {
            let id = image.ids().get(usize::try_from(number).ok()?)?;
            Some(meaning(number, format!("{what} {id}")))
        });
    }
    explain(fields, "mtime", |number| {
        u32::try_from(number).ok().map(DumpValue::Time)
    });
    for name in ["fragment", "xattr"] {
        explain(fields, name, |number| none_if(number, NONE));
    }
    explain(fields, "device", |number| {
        let DeviceNumber { major, minor } = DeviceNumber::decode(u32::try_from(number).ok()?);
        Some(meaning(number, format!("{major},{minor}")))
    });
}

/// What a type is called.
pub(super) const fn kind_name(kind: InodeKind) -> &'static str {
    match kind {
        InodeKind::Directory => "directory",
        InodeKind::File => "file",
        InodeKind::Symlink => "symlink",
        InodeKind::BlockDevice => "block device",
        InodeKind::CharDevice => "character device",
        InodeKind::Fifo => "named pipe",
        InodeKind::Socket => "socket",
    }
}

/// The list behind the fixed part.
fn push_list(record: &InodeRecord, fields: &mut Vec<DumpField>) {
    let mut offset = record.fixed.len() as u64;
    let mut push = |name, len_bytes, value| {
        fields.push(DumpField {
            offset,
            len_bytes,
            name,
            value,
        });
        offset += len_bytes;
    };
    match &record.inode.body {
        Body::File(file) if !file.blocks.is_empty() => {
            let words: Vec<u32> = file.blocks.iter().map(|word| word.word()).collect();
            push(
                "block_list",
                words.len() as u64 * 4,
                DumpValue::BlockList(words),
            );
        }
        Body::Symlink(target) => {
            let len_bytes = target.len() as u64;
            push("target", len_bytes, DumpValue::Text(target.clone()));
            if record.len_bytes > record.fixed.len() as u64 + len_bytes {
                let xattr = record.inode.xattr.map_or(NONE, u64::from);
                let value = none_if(xattr, NONE).unwrap_or(DumpValue::Number(xattr));
                push("xattr", 4, value);
            }
        }
        Body::Directory(directory) => {
            for entry in &directory.index {
                let name_size = entry.name.len() as u64;
                push(
                    "listing_offset",
                    4,
                    DumpValue::Number(entry.listing_offset.into()),
                );
                push(
                    "block_start",
                    4,
                    DumpValue::Number(entry.block_start.into()),
                );
                push(
                    "name_size",
                    4,
                    DumpValue::Number(name_size.saturating_sub(1)),
                );
                push("name", name_size, DumpValue::Text(entry.name.clone()));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_as_long_as_the_records() {
        use coldpress_format as format;
        for (kind, len) in [
            (1, size_of::<format::RawDirectory>()),
            (2, size_of::<format::RawFile>()),
            (3, size_of::<format::RawSymlink>()),
            (4, size_of::<format::RawDevice>()),
            (6, size_of::<format::RawIpc>()),
            (8, size_of::<format::RawExtendedDirectory>()),
            (9, size_of::<format::RawExtendedFile>()),
            (10, size_of::<format::RawSymlink>()),
            (12, size_of::<format::RawExtendedDevice>()),
            (14, size_of::<format::RawExtendedIpc>()),
        ] {
            let found: usize = layout(kind).iter().map(|(_, len)| len).sum();
            assert_eq!(found, len, "{kind}");
        }
    }
}
