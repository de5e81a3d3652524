//! The start pack behind the image.

use coldpress_format::{BlockWord, Compressor, PackHeader, PackPiece};

use super::emitter::Emitter;
use super::fields::{FieldLayout, block_word, explain, meaning, numbers};
use super::{DumpArea, DumpField, DumpRange, DumpRecord, DumpValue};
use crate::error::Error;
use crate::image::Image;
use crate::start_pack::StartPack;

const AREA: DumpArea = DumpArea::StartPack;
const HEADER: FieldLayout = &[
    ("magic", 8),
    ("version", 2),
    ("compressor", 2),
    ("piece_count", 4),
    ("index_piece_count", 4),
    ("unused", 4),
    ("size_bytes", 8),
];
/// BLAKE3, and the half of it that an entry of the piece table holds.
const DIGEST_BYTES: usize = 32;
const HALF_BYTES: usize = 16;
const PIECE: FieldLayout = &[("size", 4), ("len_bytes", 4)];

/// The pack, if the image has one that can be used; else its bytes are padding.
pub(super) fn emit(emitter: &mut Emitter, image: &Image) -> Result<(), Error> {
    let Some(pack) = image.start_pack().ok().flatten() else {
        return Ok(());
    };
    emitter.gap(image.superblock().bytes_used, DumpArea::XattrTable)?;
    emitter.gap(pack.start(), DumpArea::Padding)?;
    if emitter.is_selective() || !emitter.wants(AREA) {
        emitter.skip(pack.end());
        return Ok(());
    }
    emit_table(emitter, image, &pack)?;
    emit_pages(emitter, image, &pack)
}

/// The header, the piece table, and the pieces of the index.
fn emit_table(emitter: &mut Emitter, image: &Image, pack: &StartPack) -> Result<(), Error> {
    let table_start = pack.start() + PackHeader::SIZE as u64;
    let header = range_of(
        image,
        "start pack header",
        pack.start(),
        PackHeader::SIZE as u64,
    )?;
    let mut fields = numbers(&header.raw, HEADER);
    explain(&mut fields, "compressor", |number| {
        let compressor = Compressor::from_number(u16::try_from(number).ok()?)?;
        Some(meaning(number, compressor.name()))
    });
    let names = ["superblock_digest", "table_digest", "header_digest"];
    fields.extend(digests(&header.raw, DIGEST_BYTES, &names));
    emitter.emit(with_records(
        header,
        vec![record("start pack header", 0, fields)],
    ))?;
    let table = range_of(
        image,
        "piece table",
        table_start,
        pack.header().table_bytes(),
    )?;
    let entries = table.raw.chunks(PackPiece::SIZE).zip(0_u64..);
    let entries = entries.map(|(bytes, place)| {
        let mut fields = numbers(bytes, PIECE);
        explain(&mut fields, "size", |number| Some(block_word(number)));
        fields.extend(digests(bytes, HALF_BYTES, &["digest"]));
        record("piece", place * PackPiece::SIZE as u64, fields)
    });
    let entries = entries.collect();
    emitter.emit(with_records(table, entries))?;
    let index_start = pack.start() + pack.header().pieces_offset();
    let index_end = pack
        .pieces()
        .first()
        .map_or(pack.end(), |(_, start)| *start);
    let len_bytes = index_end.saturating_sub(index_start);
    emitter.emit(DumpRange::new(AREA, "pack index", index_start, len_bytes))
}

/// The pieces of pages; each run of pages is a record.
fn emit_pages(emitter: &mut Emitter, image: &Image, pack: &StartPack) -> Result<(), Error> {
    let mut runs = pack.runs().peekable();
    let (mut stored, mut content) = (Vec::new(), Vec::new());
    for ((piece, start), number) in pack.pieces().iter().zip(0_u32..) {
        let size: BlockWord = piece.size;
        let range = DumpRange::new(AREA, "pages", *start, size.size_bytes().into());
        let mut range = range.with_content(!size.is_compressed(), piece.len_bytes.into());
        let read = pack.read_piece(image, number, &mut stored, &mut content);
        range.damage = read.err().map(|error| error.to_string());
        while let Some((run, (_, offset))) = runs.next_if(|(_, (at, _))| *at == number) {
            let file = usize::try_from(run.file).ok();
            let file = file.and_then(|file| pack.files().get(file));
            range.records.push(DumpRecord {
                offset: u64::from(offset),
                len_bytes: pack.run_bytes(run),
                what: "pages",
                path: file.map(|file| file.path.clone()),
                fields: vec![
                    said("first_page", run.first_page),
                    said("page_count", run.page_count.into()),
                ],
                ..DumpRecord::default()
            });
        }
        emitter.emit(range)?;
    }
    Ok(())
}

/// What the index says of a run, which takes no bytes where its pages lie.
fn said(name: &'static str, number: u64) -> DumpField {
    DumpField {
        offset: 0,
        len_bytes: 0,
        name,
        value: DumpValue::Number(number),
    }
}

/// The digests at the end of a structure, as they are usually written.
fn digests(bytes: &[u8], len: usize, names: &[&'static str]) -> Vec<DumpField> {
    let first = bytes.len().saturating_sub(names.len() * len);
    let parts = bytes.get(first..).unwrap_or_default().chunks(len);
    let parts = parts.zip(names).zip((first..).step_by(len));
    parts
        .map(|((digest, name), offset)| DumpField {
            offset: offset as u64,
            len_bytes: len as u64,
            name,
            value: DumpValue::Text(hex(digest)),
        })
        .collect()
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .flat_map(|byte| format!("{byte:02x}").into_bytes())
        .collect()
}

/// Bytes that lie in the image as they are.
fn range_of(image: &Image, what: &'static str, start: u64, len: u64) -> Result<DumpRange, Error> {
    let mut range = DumpRange::new(AREA, what, start, len);
    // At most 1.5 MiB: the number of pieces has a limit.
    range.raw = vec![0; usize::try_from(len).unwrap_or(0)];
    image.store.read_exact(&mut range.raw, start)?;
    Ok(range)
}

fn record(what: &'static str, offset: u64, fields: Vec<DumpField>) -> DumpRecord {
    DumpRecord {
        offset,
        len_bytes: fields.iter().map(|field| field.len_bytes).sum(),
        what,
        fields,
        ..DumpRecord::default()
    }
}

fn with_records(range: DumpRange, records: Vec<DumpRecord>) -> DumpRange {
    DumpRange { records, ..range }
}
