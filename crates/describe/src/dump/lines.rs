//! Ranges as lines of text.

use std::fmt::Write as _;
use std::io::{self, Write};

use coldpress_image::{DumpField, DumpOwner, DumpRange, DumpRecord, DumpValue, Stored};
use coldpress_report::text::{hex, iso_utc, quoted_bytes};

/// Bytes of a field that are printed in hexadecimal.
const SHOWN_BYTES: usize = 16;

/// Writes a range with its records as lines.
///
/// # Errors
///
/// If it cannot be written.
pub fn dump_lines(out: &mut impl Write, range: &DumpRange) -> io::Result<()> {
    writeln!(out, "{}", range_line(range))?;
    for record in &range.records {
        writeln!(out, "  {}", record_line(range, record))?;
        for field in &record.fields {
            write_field(out, range, record, field)?;
        }
    }
    Ok(())
}

fn range_line(range: &DumpRange) -> String {
    let DumpRange {
        start, len_bytes, ..
    } = range;
    let mut line = format!("{start} +{len_bytes} {}: {}", range.area.name(), range.what);
    if let Some((stored, content_bytes)) = range.content {
        match stored {
            Stored::Stored => line.push_str(", stored"),
            Stored::Compressed => push(
                &mut line,
                format_args!(", compressed, {content_bytes} bytes"),
            ),
        }
    }
    for owner in &range.owners {
        push(
            &mut line,
            format_args!("; {} byte {}", owner_text(owner), owner.offset),
        );
    }
    if range.more_owners > 0 {
        push(&mut line, format_args!("; and {} more", range.more_owners));
    }
    if range.overlap_bytes > 0 {
        let bytes = range.overlap_bytes;
        push(
            &mut line,
            format_args!("; overlaps what is before by {bytes} bytes"),
        );
    }
    if let Some(damage) = &range.damage {
        push(&mut line, format_args!("; damaged: {damage}"));
    }
    if range.records.is_empty() && !range.raw.is_empty() {
        push(
            &mut line,
            format_args!("; {}", shown(&range.raw, range.len_bytes)),
        );
    }
    line
}

fn owner_text(owner: &DumpOwner) -> String {
    match &owner.path {
        Some(path) => quoted_bytes(path),
        None => format!("inode {}, which no directory names,", owner.number),
    }
}

fn record_line(range: &DumpRange, record: &DumpRecord) -> String {
    let position = match range.content {
        Some((Stored::Compressed, _)) => format!("{}:{}", range.start, record.offset),
        _ => (range.start + range.header_bytes + record.offset).to_string(),
    };
    let mut line = format!("{position} +{} {}", record.len_bytes, record.what);
    if let Some(path) = &record.path {
        push(&mut line, format_args!(" {}", quoted_bytes(path)));
    }
    if record.more_bytes > 0 {
        let bytes = record.more_bytes;
        push(
            &mut line,
            format_args!("; {bytes} bytes more in the next block"),
        );
    }
    if record.overlap_bytes > 0 {
        let bytes = record.overlap_bytes;
        push(
            &mut line,
            format_args!("; overlaps what is before by {bytes} bytes"),
        );
    }
    let raw = raw(range, record.offset, record.len_bytes);
    if record.fields.is_empty() && !raw.is_empty() {
        push(
            &mut line,
            format_args!("; {}", shown(raw, record.len_bytes)),
        );
    }
    line
}

fn write_field(
    out: &mut impl Write,
    range: &DumpRange,
    record: &DumpRecord,
    field: &DumpField,
) -> io::Result<()> {
    let DumpField {
        offset,
        len_bytes,
        name,
        value,
    } = field;
    write!(out, "    {offset} +{len_bytes} {name}")?;
    match value {
        DumpValue::Number(number) => write!(out, " {number}")?,
        DumpValue::Meaning(number, text) => write!(out, " {number} ({text})")?,
        DumpValue::Mode(mode) => write!(out, " {mode:04o}")?,
        DumpValue::Time(time_s) => write!(out, " {time_s} ({})", iso_utc(*time_s))?,
        DumpValue::Text(text) => write!(out, " {}", quoted_bytes(text))?,
        DumpValue::BlockList(words) => {
            for (index, word) in words.iter().enumerate() {
                let text = DumpValue::block_word_text(*word);
                write!(out, "\n      {index}: {word} ({text})")?;
            }
        }
    }
    // A text says its bytes itself, and a list would be as long again.
    if !matches!(value, DumpValue::Text(_) | DumpValue::BlockList(_)) {
        let raw = raw(range, record.offset + offset, *len_bytes);
        if !raw.is_empty() {
            write!(out, " [{}]", hex(raw))?;
        }
    }
    writeln!(out)
}

/// Bytes of the content, if they lie in the image as they are.
fn raw(range: &DumpRange, offset: u64, len_bytes: u64) -> &[u8] {
    let position = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
    let bytes = range.raw.get(position(offset)..).unwrap_or_default();
    bytes.get(..position(len_bytes)).unwrap_or(bytes)
}

fn shown(raw: &[u8], len_bytes: u64) -> String {
    let first = raw.get(..SHOWN_BYTES).unwrap_or(raw);
    let more = if len_bytes > first.len() as u64 {
        ".."
    } else {
        ""
    };
    format!("[{}{more}]", hex(first))
}

fn push(line: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = line.write_fmt(text);
}
