//! The superblock and the compressor options.

use std::ops::ControlFlow;

use coldpress_format::{Compressor, Corrupt, Flags, SUPERBLOCK_SIZE};

use super::emitter::{Emitter, unreferenced};
use super::fields::{FieldLayout, explain, meaning, none_if, numbers, options, reference};
use super::{DumpArea, DumpRange, DumpRecord, DumpValue};
use crate::error::Error;
use crate::image::Image;

const SUPERBLOCK: FieldLayout = &[
    ("magic", 4),
    ("inode_count", 4),
    ("modification_time", 4),
    ("block_size", 4),
    ("fragment_count", 4),
    ("compressor", 2),
    ("block_log", 2),
    ("flags", 2),
    ("id_count", 2),
    ("version_major", 2),
    ("version_minor", 2),
    ("root_inode", 8),
    ("bytes_used", 8),
    ("id_table_start", 8),
    ("xattr_table_start", 8),
    ("inode_table_start", 8),
    ("directory_table_start", 8),
    ("fragment_table_start", 8),
    ("export_table_start", 8),
];

/// The superblock.
pub(super) fn emit(emitter: &mut Emitter, bytes: Vec<u8>) -> Result<(), Error> {
    if emitter.is_selective() {
        emitter.skip(SUPERBLOCK_SIZE as u64);
        return Ok(());
    }
    emitter.emit(range(bytes))
}

/// A superblock that breaks a rule, and the rest of the file, in which nothing is found.
pub(super) fn emit_alone(
    bytes: Vec<u8>,
    size_bytes: u64,
    corrupt: &Corrupt,
    visit: &mut dyn FnMut(DumpRange) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut range = range(bytes);
    let start = range.len_bytes;
    range.damage = Some(corrupt.to_string());
    let len_bytes = size_bytes.saturating_sub(start);
    let rest = DumpRange::new(DumpArea::DataArea, "not found", start, len_bytes);
    for range in [range, rest] {
        if range.len_bytes > 0 && visit(range).is_break() {
            return Err(Error::Interrupted);
        }
    }
    Ok(())
}

fn range(bytes: Vec<u8>) -> DumpRange {
    let mut fields = numbers(&bytes, SUPERBLOCK);
    explain(&mut fields, "modification_time", |number| {
        u32::try_from(number).ok().map(DumpValue::Time)
    });
    explain(&mut fields, "compressor", |number| {
        let compressor = Compressor::from_number(u16::try_from(number).ok()?)?;
        Some(meaning(number, compressor.name()))
    });
    explain(&mut fields, "flags", |number| {
        let names = Flags(u16::try_from(number).ok()?).names();
        let text = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(" ")
        };
        Some(meaning(number, text))
    });
    explain(&mut fields, "root_inode", |number| Some(reference(number)));
    for name in [
        "xattr_table_start",
        "fragment_table_start",
        "export_table_start",
    ] {
        explain(&mut fields, name, |number| none_if(number, u64::MAX));
    }
    let len_bytes = bytes.len() as u64;
    let mut range = DumpRange::new(DumpArea::Superblock, "superblock", 0, len_bytes);
    range.records = vec![DumpRecord {
        len_bytes,
        what: "superblock",
        fields,
        ..DumpRecord::default()
    }];
    range.raw = bytes;
    range
}

/// The compressor options, if there are any.
pub(super) fn emit_options(emitter: &mut Emitter, image: &Image) -> Result<(), Error> {
    let start = SUPERBLOCK_SIZE as u64;
    let flags = image.superblock().flags;
    if !flags.contains(Flags::COMPRESSOR_OPTIONS) || emitter.is_selective() {
        return Ok(());
    }
    let area = DumpArea::CompressorOptions;
    let block = match image.store.metadata_block(start, image.data_area()) {
        Ok(block) => block,
        Err(error) => {
            let mut range = DumpRange::new(area, "compressor options", start, 2);
            range.damage = Some(error.to_string());
            return emitter.emit(range);
        }
    };
    let content_bytes = block.content.len() as u64;
    let range = DumpRange::new(area, "compressor options", start, block.next - start);
    let mut range = range.with_metadata(block.stored, content_bytes);
    let fields = numbers(&block.content, options(image.superblock().compressor));
    let end: u64 = fields.iter().map(|field| field.len_bytes).sum();
    range.records.push(DumpRecord {
        len_bytes: end,
        what: "options",
        fields,
        ..DumpRecord::default()
    });
    if end < content_bytes {
        let rest = unreferenced(&block.content, end, content_bytes - end);
        range.records.push(rest);
    }
    if block.stored {
        range.raw.clone_from(&block.content);
    }
    if image.options().is_none() {
        range.damage = Some("they break a rule of the format".to_owned());
    }
    emitter.emit(range)
}
