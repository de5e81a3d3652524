//! `ureadahead`: files in the order of their opening, and the pieces of them to be read. Of its
//! pack, or of `ureadahead --dump`:
//!
//! ```text
//! /lib/libc.so.6 (1881 kB), 1 blocks (140 kB)
//!   [@##################################                                         ]
//!
//!     0, 143360 bytes (at 1209462784)
//! ```

mod pack;

use super::imported::Seen;
use super::notes::{Notes, map};
use super::text::{decimal, lines, rsplit_once, split_once};
use crate::event::Access;
pub(super) use pack::is_pack;

/// Whether the line is one of a dump, and of no other format.
pub(super) fn is_telling(line: &[u8]) -> bool {
    path_of(line).is_some() || is_summary(line)
}

/// The path of a line that begins a file.
fn path_of(line: &[u8]) -> Option<&[u8]> {
    let (file, pieces) = rsplit_once(line, b" kB), ")?;
    let (path, size_kib) = rsplit_once(file, b" (")?;
    let (count, rest) = split_once(pieces, b" blocks (")?;
    let is_whole = decimal::<u64>(size_kib).is_some() && decimal::<u64>(count).is_some();
    (is_whole && rest.ends_with(b" kB)") && path.starts_with(b"/")).then_some(path)
}

/// `17 inode groups, 2 files, 3 blocks (300 kB)`.
fn is_summary(line: &[u8]) -> bool {
    split_once(line, b" inode groups, ").is_some_and(|(count, _)| decimal::<u64>(count).is_some())
}

/// Offset and length of a line that tells a piece.
fn piece_of(line: &[u8]) -> Option<(u64, u64)> {
    let (offset, rest) = split_once(line.strip_prefix(b"\t")?, b", ")?;
    let (len_bytes, _) = split_once(rest, b" bytes (at ")?;
    Some((decimal(offset)?, decimal(len_bytes)?))
}

/// Reads a pack or a dump.
///
/// The recorder joins what was read, faulted and mapped by fault-around, so all pages are
/// uncertain.
pub(super) fn read(text: &[u8], notes: &mut Notes) {
    if is_pack(text) {
        pack::read(text, notes);
        return;
    }
    let mut file = None;
    for (line, number) in lines(text) {
        notes.begin_line(number);
        let time = (notes.next_time_us(), 0);
        if let Some(path) = path_of(line) {
            file = Some(path);
            notes.see(time.0, 0, Seen::Access(Access::Lookup), path);
        } else if let (Some(piece), Some(path)) = (piece_of(line), file) {
            notes.see_bytes(time, piece, map, path);
        } else if !is_talk(line) {
            notes.cannot_read(line, "neither a file nor a piece of one");
        }
    }
}

/// Blank lines, pictures of the pages, and the first two lines.
fn is_talk(line: &[u8]) -> bool {
    line.is_empty()
        || line.starts_with(b"  [")
        || is_summary(line)
        || split_once(line, b": created ").is_some()
}
