//! Tables of fixed-size entries: fragment, export, id and xattr id table.

use crate::metadata::{BlockStarts, run};
use crate::sink::{Table, TableSink};

/// Where a table of fixed-size entries lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupTable {
    /// Image byte of its first metadata block.
    pub start: u64,
    /// Image byte behind its metadata blocks, where its index begins, or the header in front of it.
    pub index_start: u64,
    /// Image byte behind it.
    pub end: u64,
}

/// Makes a table that lies in the image from byte `start` on: metadata blocks, then their index.
///
/// * `header`: what stands between the two.
pub(crate) fn lookup<S: TableSink>(
    table: Table,
    entries: &[u8],
    start: u64,
    header: &[u8],
    sink: &mut S,
) -> Result<LookupTable, S::Error> {
    let mut starts = BlockStarts::default();
    sink.take(&run(table, entries, &[]), &mut starts)?;
    sink.place(table)?;
    let index_start = start + starts.size_bytes();
    let mut bytes = header.to_vec();
    for block in starts.iter() {
        bytes.extend((start + u64::from(block)).to_le_bytes());
    }
    sink.append(table, &bytes)?;
    let end = index_start + bytes.len() as u64;
    Ok(LookupTable {
        start,
        index_start,
        end,
    })
}
