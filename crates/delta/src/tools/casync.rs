//! casync: chunks cut by content, each compressed in a store.
//!
//! ```text
//! 48 bytes    what the index is, and how long chunks are
//! 16 bytes    head of the table
//! 40 bytes    for each chunk: where it ends in the file, and its hash
//! 40 bytes    the end of the table, which begins with 0
//! ```
//!
//! Source: `caformat.h` of casync 2. Numbers are little-endian.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use coldpress_report::text::hex;

use super::{run, size_bytes};
use crate::error::Error;
use crate::transfer::{Part, Transfer};
use crate::updater::{Pair, Updater};

/// The first chunk of an index.
const HEAD_BYTES: usize = 64;

/// Bytes of an entry.
const ENTRY_BYTES: usize = 40;

pub(crate) fn measure(pair: Pair<'_>, stop: &mut dyn FnMut() -> bool) -> Result<Transfer, Error> {
    let store = pair.scratch.join("casync");
    let old = index(pair.old, (pair.scratch, &store), "old.caibx", stop)?;
    let known: HashSet<String> = chunks(&old)?.into_iter().map(|(_, id)| id).collect();
    let new = index(pair.new, (pair.scratch, &store), "new.caibx", stop)?;
    let mut fetched: HashMap<String, Part> = HashMap::new();
    let mut start = 0;
    for (end, id) in chunks(&new)? {
        let bytes = start..end;
        start = end;
        if known.contains(&id) || fetched.contains_key(&id) {
            continue;
        }
        let file = store.join(id.get(..4).unwrap_or_default());
        let file = file.join(format!("{id}.cacnk"));
        let transferred_bytes = size_bytes(&file, "a chunk in the store of casync")?;
        let part = Part {
            bytes,
            transferred_bytes,
        };
        fetched.insert(id, part);
    }
    let mut parts: Vec<Part> = fetched.into_values().collect();
    parts.sort_by_key(|part| part.bytes.start);
    Ok(Transfer {
        index_bytes: new.len() as u64,
        parts,
        patch_bytes: 0,
    })
}

/// Cuts a file into chunks; returns the index.
fn index(
    file: &Path,
    (scratch, store): (&Path, &Path),
    name: &str,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Vec<u8>, Error> {
    let index = scratch.join(name);
    let mut in_store = OsString::from("--store=");
    in_store.push(store);
    let args = vec![
        "casync".into(),
        "make".into(),
        in_store,
        index.clone().into(),
        file.into(),
    ];
    run("casync", args, stop)?;
    fs::read(&index).map_err(Error::file("the index of casync"))
}

/// The chunks of an index: where each ends in the file, and its hash.
fn chunks(index: &[u8]) -> Result<Vec<(u64, String)>, Error> {
    let mut chunks = Vec::new();
    let mut last_end = 0;
    let mut start = HEAD_BYTES;
    let fail = |start: usize, rule| Error::Unknown {
        updater: Updater::Casync,
        what: "the index",
        start: start as u64,
        rule,
    };
    loop {
        let entry = index.get(start..start + ENTRY_BYTES);
        let Some((end, id)) = entry.and_then(|entry| entry.split_first_chunk::<8>()) else {
            return Err(fail(start, "ends within its table"));
        };
        let end = u64::from_le_bytes(*end);
        if end == 0 {
            return Ok(chunks);
        }
        if end <= last_end {
            return Err(fail(start, "has a chunk that ends before it begins"));
        }
        chunks.push((end, hex(id)));
        last_end = end;
        start += ENTRY_BYTES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_is_none_is_an_error() {
        let mut index = vec![0; HEAD_BYTES];
        assert!(chunks(&index).is_err());
        for end in [5_u64, 9, 0] {
            index.extend(end.to_le_bytes());
            index.extend([7; 32]);
        }
        let ends: Vec<u64> = chunks(&index)
            .unwrap()
            .iter()
            .map(|chunk| chunk.0)
            .collect();
        assert_eq!(ends, [5, 9]);
        index[HEAD_BYTES + ENTRY_BYTES] = 5;
        assert!(chunks(&index).is_err());
        index.truncate(HEAD_BYTES + ENTRY_BYTES + 1);
        assert!(chunks(&index).is_err());
    }
}
