//! Ranges as JSON objects, one on each line.

use std::io::{self, Write};

use coldpress_image::{DumpField, DumpOwner, DumpRange, DumpRecord, DumpValue, Stored};
use coldpress_report::text::hex;
use serde::Serialize;

#[derive(Serialize)]
struct Range<'a> {
    start: u64,
    len: u64,
    part: &'static str,
    what: &'static str,
    #[serde(skip_serializing_if = "is_zero")]
    overlap: u64,
    /// Whether a block is stored as it is, and what it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_len: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    owners: Vec<Owner>,
    #[serde(skip_serializing_if = "is_zero")]
    more_owners: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<&'a str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    bytes_hex: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    records: Vec<Record>,
}

#[derive(Serialize)]
struct Owner {
    #[serde(flatten)]
    path: Option<Name>,
    inode: u32,
    offset: u64,
}

/// A path, and its bytes if they are not UTF-8.
#[derive(Serialize)]
struct Name {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes_hex: Option<String>,
}

#[derive(Serialize)]
struct Record {
    offset: u64,
    len: u64,
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    #[serde(skip_serializing_if = "is_zero")]
    overlap: u64,
    what: &'static str,
    #[serde(flatten)]
    path: Option<Name>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct Field {
    offset: u64,
    len: u64,
    name: &'static str,
    value: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Number(u64),
    Text(String),
    List(Vec<u32>),
}

/// Writes a range as a JSON object on one line.
///
/// # Errors
///
/// If it cannot be written.
pub fn dump_json(out: &mut impl Write, range: &DumpRange) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Range::new(range))?;
    writeln!(out)
}

impl<'a> Range<'a> {
    fn new(range: &'a DumpRange) -> Self {
        Self {
            start: range.start,
            len: range.len_bytes,
            part: range.area.name(),
            what: range.what,
            overlap: range.overlap_bytes,
            stored: range.content.map(|(stored, _)| stored == Stored::Stored),
            content_len: range.content.map(|(_, len_bytes)| len_bytes),
            owners: range.owners.iter().map(Owner::new).collect(),
            more_owners: range.more_owners,
            damage: range.damage.as_deref(),
            bytes_hex: hex(&range.raw),
            records: range.records.iter().map(Record::new).collect(),
        }
    }
}

impl Owner {
    fn new(owner: &DumpOwner) -> Self {
        Self {
            path: owner.path.as_deref().map(Name::new),
            inode: owner.number,
            offset: owner.offset,
        }
    }
}

impl Name {
    fn new(path: &[u8]) -> Self {
        Self {
            path: String::from_utf8_lossy(path).into_owned(),
            path_bytes_hex: std::str::from_utf8(path).is_err().then(|| hex(path)),
        }
    }
}

impl Record {
    fn new(record: &DumpRecord) -> Self {
        Self {
            offset: record.offset,
            len: record.len_bytes,
            more: record.more_bytes,
            overlap: record.overlap_bytes,
            what: record.what,
            path: record.path.as_deref().map(Name::new),
            fields: record.fields.iter().map(Field::new).collect(),
        }
    }
}

impl Field {
    fn new(field: &DumpField) -> Self {
        let (value, meaning) = match &field.value {
            DumpValue::Number(number) => (Value::Number(*number), None),
            DumpValue::Meaning(number, text) => (Value::Number(*number), Some(text.clone())),
            DumpValue::Mode(mode) => (Value::Number((*mode).into()), Some(format!("{mode:04o}"))),
            DumpValue::Time(time_s) => {
                let text = coldpress_report::text::iso_utc(*time_s);
                (Value::Number((*time_s).into()), Some(text))
            }
            DumpValue::Text(text) => {
                let lossy = String::from_utf8_lossy(text).into_owned();
                let bytes = std::str::from_utf8(text).is_err().then(|| hex(text));
                (Value::Text(lossy), bytes)
            }
            DumpValue::BlockList(words) => (Value::List(words.clone()), None),
        };
        Self {
            offset: field.offset,
            len: field.len_bytes,
            name: field.name,
            value,
            meaning,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
