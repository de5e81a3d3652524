//! Real data for samples: pieces of the programs, libraries and texts of this system.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use coldpress_codec::is_incompressible;
use coldpress_image::ReadAt as _;

/// Bytes of a piece: the largest block.
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// Where they are from.
const TREES: [&str; 3] = ["/usr/bin", "/usr/lib", "/usr/share"];
/// In this turn: half of them are libraries, as in most images.
const TURN: [usize; 4] = [0, 1, 2, 1];
/// Files of a tree that are looked at: a slow disk finds a hundred in a second.
const FILES_MAX: usize = 2_000;
/// Shorter files are passed over; their names would cost more than their bytes.
const FILE_MIN_BYTES: u64 = 1_024;
/// For the most part of a file this tells whether it is compressed already.
const HEAD_BYTES: usize = 64 << 10;

/// As many pieces as asked for, one behind the other; fewer if there is no such data.
///
/// * `poll`: asked for each directory and piece.
///
/// # Errors
///
/// [`io::ErrorKind::Interrupted`] if `poll` breaks.
pub(crate) fn pieces(
    count: usize,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> io::Result<Vec<u8>> {
    let shelves = TREES
        .into_iter()
        .map(|tree| Shelf::of(Path::new(tree), poll))
        .collect::<io::Result<Vec<_>>>()?;
    // A system without these has at least this program.
    let own = Shelf::of_file(Path::new("/proc/self/exe"));
    let mut data = Vec::with_capacity(count * PIECE_BYTES);
    for number in 0..count {
        if poll().is_break() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let shelf = TURN.get(number % TURN.len());
        let shelf = shelf.and_then(|tree| shelves.get(*tree));
        let share = (number as u64, count as u64);
        let piece = shelf.and_then(|shelf| shelf.piece(share));
        data.extend(piece.or_else(|| own.piece(share)).unwrap_or_default());
    }
    Ok(data)
}

/// Files that stand one behind the other.
#[derive(Debug)]
struct Shelf {
    files: Vec<(PathBuf, u64)>,
}

impl Shelf {
    fn of_file(path: &Path) -> Self {
        let len = fs::metadata(path).map_or(0, |metadata| metadata.len());
        Self {
            files: vec![(path.to_owned(), len)],
        }
    }

    /// The first files of a tree, directory by directory; what cannot be read is not there.
    fn of(tree: &Path, poll: &mut dyn FnMut() -> ControlFlow<()>) -> io::Result<Self> {
        let mut files = Vec::new();
        let mut pending = vec![tree.to_owned()];
        while let Some(directory) = pending.pop() {
            if poll().is_break() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
            let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            for path in paths {
                let Ok(metadata) = path.symlink_metadata() else {
                    continue;
                };
                if metadata.is_dir() {
                    pending.push(path);
                } else if metadata.is_file() && metadata.len() >= FILE_MIN_BYTES {
                    files.push((path, metadata.len()));
                }
                if files.len() >= FILES_MAX {
                    return Ok(Self { files });
                }
            }
        }
        Ok(Self { files })
    }

    /// A piece that begins at a share (number, of how many) of all bytes and goes on with the next
    /// files, and the first after the last; `None` if the files do not fill one.
    fn piece(&self, (number, of): (u64, u64)) -> Option<Vec<u8>> {
        let total: u64 = self.files.iter().map(|(_, len)| len).sum();
        let mut skipped = total / of.max(1) * number;
        let mut files = self.files.iter().cycle();
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        // Twice around: the first file may be begun in its middle, and short ones are read again.
        for _ in 0..self.files.len().saturating_mul(2) {
            let (path, len) = files.next()?;
            if skipped >= *len {
                skipped -= len;
                continue;
            }
            let room = PIECE_BYTES - piece.len();
            piece.extend(read(path, skipped, room).unwrap_or_default());
            skipped = 0;
            if piece.len() == PIECE_BYTES {
                return Some(piece);
            }
        }
        None
    }
}

/// At most `len` bytes of a file; none of one that is compressed already, which would be stored as
/// it is.
fn read(path: &Path, start: u64, len: usize) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = vec![0; len];
    let end = file.fill_at(&mut bytes, start)?;
    bytes.truncate(end);
    let head = bytes.get(..HEAD_BYTES).unwrap_or(&bytes);
    if is_incompressible(head) {
        bytes.clear();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go_on() -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn a_piece_goes_on_with_the_next_file() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("below")).unwrap();
        for (name, byte) in [("a", b'a'), ("b", b'b'), ("below/c", b'c')] {
            fs::write(directory.path().join(name), vec![byte; 600_000]).unwrap();
        }
        fs::write(directory.path().join("short"), "short").unwrap();
        let shelf = Shelf::of(directory.path(), &mut go_on).unwrap();
        assert_eq!(shelf.files.len(), 3);
        let piece = shelf.piece((0, 3)).unwrap();
        assert_eq!(piece.len(), PIECE_BYTES);
        assert_eq!((piece[0], piece[600_000]), (b'a', b'b'));
        let piece = shelf.piece((2, 3)).unwrap();
        assert_eq!((piece[0], piece[600_000]), (b'c', b'a'));
    }

    #[test]
    fn too_few_bytes_fill_no_piece_and_an_empty_shelf_has_none() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a"), vec![0; 2_000]).unwrap();
        let shelf = Shelf::of(directory.path(), &mut go_on).unwrap();
        assert_eq!(shelf.piece((0, 1)), None);
        let missing = Shelf::of(&directory.path().join("missing"), &mut go_on).unwrap();
        assert_eq!(missing.piece((0, 1)), None);
    }

    #[test]
    fn there_is_always_as_much_data_as_asked_for() {
        let data = pieces(3, &mut go_on).unwrap();
        assert_eq!(data.len(), 3 * PIECE_BYTES);
        let stopped = pieces(3, &mut || ControlFlow::Break(()));
        assert_eq!(stopped.unwrap_err().kind(), io::ErrorKind::Interrupted);
    }
}
