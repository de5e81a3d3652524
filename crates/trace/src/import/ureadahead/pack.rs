//! The pack of `ureadahead`, as a 64-bit machine with little-endian words keeps it.
//!
//! ```text
//! "ura" 2, flags, 3 zeros; device; time of its creation         8 bytes each
//! count, inode groups                                           8, 4 each
//! count, paths: group, 4 unused, inode, path to the first NUL   8, 272 each
//! count, pieces: place of the path, offset, length, position    8, 32 each
//! ```

use crate::event::Access;
use crate::import::imported::Seen;
use crate::import::notes::{Notes, map};

const MAGIC: &[u8] = b"ura\x02";
const HEADER_BYTES: usize = 24;
const GROUP_BYTES: usize = 4;
const PATH_BYTES: usize = 272;
/// Of a path in its entry.
const PATH_START: usize = 16;
const PIECE_BYTES: usize = 32;

/// Whether the bytes begin as a pack does.
pub(in crate::import) fn is_pack(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads a pack: its files in the order of their opening, each with its pieces. "Lines" are files.
pub(super) fn read(bytes: &[u8], notes: &mut Notes) {
    notes.begin_line(1);
    let Some((paths, pieces)) = tables(bytes) else {
        notes.cannot_read(MAGIC, "the pack is cut short, or none of a 64-bit machine");
        return;
    };
    let mut pieces_of = vec![Vec::new(); paths.len() / PATH_BYTES];
    for piece in pieces.chunks_exact(PIECE_BYTES) {
        let place = usize::try_from(word(piece, 0)).ok();
        match place.and_then(|place| pieces_of.get_mut(place)) {
            Some(pieces) => pieces.push((word(piece, 1), word(piece, 2))),
            None => notes.cannot_read(b"", "a piece of a file that the pack does not name"),
        }
    }
    for ((entry, pieces), number) in paths.chunks_exact(PATH_BYTES).zip(pieces_of).zip(1..) {
        notes.begin_line(number);
        let path = entry.get(PATH_START..).unwrap_or_default();
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        if !path.starts_with(b"/") {
            notes.cannot_read(path, "no absolute path");
            continue;
        }
        let time = (notes.next_time_us(), 0);
        notes.see(time.0, 0, Seen::Access(Access::Lookup), path);
        for piece in pieces {
            notes.see_bytes(time, piece, map, path);
        }
    }
}

/// The entries of paths and of pieces; `None` if there are fewer than it is said.
fn tables(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = bytes.split_at_checked(HEADER_BYTES)?;
    let (_, rest) = table(rest, GROUP_BYTES)?;
    let (paths, rest) = table(rest, PATH_BYTES)?;
    let (pieces, _) = table(rest, PIECE_BYTES)?;
    Some((paths, pieces))
}

/// A number of entries and what follows them.
fn table(bytes: &[u8], entry_bytes: usize) -> Option<(&[u8], &[u8])> {
    let (count, rest) = bytes.split_first_chunk()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    rest.split_at_checked(count.checked_mul(entry_bytes)?)
}

/// A word of an entry; 0 behind its end.
fn word(entry: &[u8], index: usize) -> u64 {
    let word = entry.chunks_exact(8).nth(index);
    let word = word.and_then(|word| word.first_chunk());
    word.map_or(0, |word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Format, Imported, Part, Settled, detect, read};

    /// A pack of paths, and of pieces of them.
    fn pack(paths: &[&str], pieces: &[[u64; 3]]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[1, 0, 0, 0], &[7; 16]].concat();
        // Two groups.
        bytes.extend(2_u64.to_le_bytes());
        bytes.extend([9; 8]);
        bytes.extend((paths.len() as u64).to_le_bytes());
        for path in paths {
            let mut entry = vec![0xff; PATH_BYTES];
            entry[PATH_START..][..path.len()].copy_from_slice(path.as_bytes());
            entry[PATH_START + path.len()] = 0;
            bytes.extend(entry);
        }
        bytes.extend((pieces.len() as u64).to_le_bytes());
        for [place, offset, len_bytes] in pieces {
            for word in [*place, *offset, *len_bytes, u64::MAX] {
                bytes.extend(word.to_le_bytes());
            }
        }
        bytes
    }

    fn import(bytes: &[u8]) -> Imported {
        assert_eq!(detect(bytes), Some(Format::Ureadahead));
        let part = Part {
            text: bytes,
            pid: None,
        };
        read(&[part], Format::Ureadahead, None).unwrap()
    }

    #[test]
    fn a_pack_tells_what_its_dump_does() {
        let pieces = [[1, 8192, 4097], [0, 0, 1], [1, 0, 4096], [1, 0, 0]];
        let imported = import(&pack(&["/a b", "/lib/c"], &pieces));
        assert_eq!(imported.unread_count, 0);
        let trace = imported.into_trace(|path, _| Settled {
            path: path.to_vec(),
            ..Settled::default()
        });
        let events: Vec<_> = trace
            .events
            .iter()
            .map(|event| (event.access, &*event.path))
            .collect();
        let expected = [
            (Access::Lookup, &b"/a b"[..]),
            (map(0, 0), b"/a b"),
            (Access::Lookup, b"/lib/c"),
            (map(2, 3), b"/lib/c"),
            (map(0, 0), b"/lib/c"),
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn damaged_packs_are_borne() {
        let whole = pack(
            &["/a", "b"],
            &[[0, 0, 4096], [2, 0, 4096], [u64::MAX, 0, 1]],
        );
        // A relative path, and two pieces of files that are not there.
        assert_eq!(import(&whole).unread_count, 3);
        for len in MAGIC.len()..whole.len() {
            let imported = import(&whole[..len]);
            assert_eq!(
                (imported.unread_count, imported.is_empty()),
                (1, true),
                "{len}"
            );
        }
        // A count that nothing can hold.
        let mut bytes = whole;
        bytes[HEADER_BYTES..][..8].fill(0xff);
        assert!(import(&bytes).is_empty());
    }
}
