//! The entries of an archive in the order of their places.

use coldpress_archive::Archive;
use coldpress_report::Table;
use coldpress_report::text::escaped;
use coldpress_report::units::{bytes, count};
use serde::Serialize;

use super::Opened;

/// An entry.
#[derive(Debug, Serialize)]
pub struct Row {
    /// With escapes.
    name: String,
    /// Byte of the archive.
    start: u64,
    /// What it takes there.
    packed_bytes: u64,
    /// What it holds.
    content_bytes: u64,
    /// 0: as it is, 8: deflate.
    method: u16,
    /// Its place in the order of the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
}

/// The entries by their places.
///
/// * `used`: places of those that a start used, in its order.
pub fn rows(opened: &Opened, used: &[usize]) -> Vec<Row> {
    let parts = opened.archive.parts();
    let mut rows: Vec<Row> = parts
        .iter()
        .enumerate()
        .map(|(place, part)| {
            let rank = used.iter().position(|used| *used == place);
            let len = part.range.end - part.range.start;
            let (packed_bytes, content_bytes, method) = match &opened.archive {
                Archive::Asar(_) | Archive::Jimage(_) => (len, len, 0),
                Archive::Zip(zip) => zip.entries.get(place).map_or((len, len, 0), |entry| {
                    (entry.packed_bytes, entry.content_bytes, entry.method)
                }),
            };
            Row {
                name: escaped(part.name),
                start: part.range.start,
                packed_bytes,
                content_bytes,
                method,
                rank,
            }
        })
        .collect();
    rows.sort_by_key(|row| row.start);
    rows
}

/// The same as a table.
pub fn text(rows: &[Row]) -> String {
    let columns = ["byte", "packed", "content", "method", "used", "name"];
    let row = |row: &Row| {
        let method = match row.method {
            0 => "stored".to_owned(),
            8 => "deflate".to_owned(),
            other => format!("method {other}"),
        };
        let rank = row
            .rank
            .map_or("-".to_owned(), |rank| count(rank as u64 + 1));
        let sizes = [row.packed_bytes, row.content_bytes].map(bytes);
        let [packed, content] = sizes;
        vec![
            count(row.start),
            packed,
            content,
            method,
            rank,
            row.name.clone(),
        ]
    };
    let table = Table {
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.iter().map(row).collect(),
    };
    table.text()
}
