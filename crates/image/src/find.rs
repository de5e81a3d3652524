//! Images inside other files: an AppImage, a SIF container, a firmware.

use coldpress_format::{MAGIC, SUPERBLOCK_SIZE, Superblock};

use crate::error::Error;
use crate::source::ReadAt;
use crate::store::read_exact;

/// How far into a file images are looked for. Programs that start an AppImage have some 1 MB, the
/// kernels in front of a firmware's root file system a few.
const SEARCHED_BYTES: u64 = 64 << 20;
/// Bytes read at once.
const WINDOW_BYTES: usize = 1 << 20;

/// Where images begin in a file, ascending: bytes from the start of `source`.
///
/// Looks in the first 64 MiB, and behind the ELF program that the file may begin with, at any byte.
/// A beginning counts if it is a whole superblock of SquashFS 4.0 and the bytes that it states are
/// there; what lies inside an image that was found is not looked at. Whether the image is
/// sound, [`Image::new`](crate::Image::new) finds out.
///
/// # Errors
///
/// [`Error::Read`] if the source cannot be read.
///
/// # Cost
///
/// Reads up to 64 MiB and holds 1 MiB of it.
///
/// ```
/// # fn main() -> Result<(), coldpress_image::Error> {
/// let no_image = vec![0; 5000];
/// assert_eq!(coldpress_image::find_images(&no_image)?, []);
/// # Ok(())
/// # }
/// ```
pub fn find_images(source: &dyn ReadAt) -> Result<Vec<u64>, Error> {
    let size_bytes = source
        .size_bytes()
        .map_err(|source| Error::Read { start: 0, source })?;
    let mut found = search(source, size_bytes)?;
    let known = found.last().copied();
    if let Some(start) = behind_program(source, size_bytes)?
        && start >= SEARCHED_BYTES
        && known.is_none()
        && image_bytes(source, start, size_bytes)?.is_some()
    {
        found.push(start);
    }
    Ok(found)
}

/// Looks at every byte of the beginning.
fn search(source: &dyn ReadAt, size_bytes: u64) -> Result<Vec<u64>, Error> {
    let end = size_bytes.min(SEARCHED_BYTES);
    let magic = MAGIC.to_le_bytes();
    let mut found = Vec::new();
    let mut window = vec![0; WINDOW_BYTES];
    let mut start = 0;
    while start < end {
        let len = usize::try_from(end - start).map_or(WINDOW_BYTES, |len| len.min(WINDOW_BYTES));
        let bytes = window.get_mut(..len).unwrap_or_default();
        read_exact(source, bytes, start)?;
        // The next window begins with the last bytes of this one, in which a magic may begin.
        let mut next = start + (len.saturating_sub(magic.len() - 1)).max(1) as u64;
        for offset in positions(bytes, magic) {
            let at = start + offset as u64;
            if let Some(bytes) = image_bytes(source, at, size_bytes)? {
                found.push(at);
                next = at + bytes;
                break;
            }
        }
        start = next;
    }
    Ok(found)
}

fn positions(bytes: &[u8], magic: [u8; 4]) -> impl Iterator<Item = usize> + '_ {
    let windows = bytes.windows(magic.len()).enumerate();
    windows
        .filter(move |(_, window)| *window == magic)
        .map(|(offset, _)| offset)
}

/// Bytes of the image that begins at `start`, if one does.
fn image_bytes(source: &dyn ReadAt, start: u64, size_bytes: u64) -> Result<Option<u64>, Error> {
    let mut bytes = [0; SUPERBLOCK_SIZE];
    let left = size_bytes.saturating_sub(start);
    if left < bytes.len() as u64 {
        return Ok(None);
    }
    read_exact(source, &mut bytes, start)?;
    let superblock = Superblock::parse(&bytes).ok();
    Ok(superblock
        .map(|superblock| superblock.bytes_used)
        .filter(|used| *used <= left))
}

/// The byte behind the ELF program with which a file begins: the end of its section headers, which
/// linkers put last.
fn behind_program(source: &dyn ReadAt, size_bytes: u64) -> Result<Option<u64>, Error> {
    let mut header = [0; 64];
    if size_bytes < header.len() as u64 {
        return Ok(None);
    }
    read_exact(source, &mut header, 0)?;
    Ok(elf_end(&header).filter(|end| *end < size_bytes))
}

fn elf_end(header: &[u8; 64]) -> Option<u64> {
    let field = |at: usize, len: usize| {
        let bytes = header.get(at..at.checked_add(len)?)?;
        let little = bytes.iter().rev();
        Some(little.fold(0_u64, |value, byte| value << 8 | u64::from(*byte)))
    };
    // Magic, and little-endian.
    if header.get(..4)? != b"\x7fELF" || header.get(5)? != &1 {
        return None;
    }
    let (start, entry_bytes, count) = match header.get(4)? {
        1 => (field(32, 4)?, field(46, 2)?, field(48, 2)?),
        2 => (field(40, 8)?, field(58, 2)?, field(60, 2)?),
        _ => return None,
    };
    start.checked_add(entry_bytes * count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_program_is_that_of_its_section_headers() {
        let mut wide = [0; 64];
        wide[..6].copy_from_slice(b"\x7fELF\x02\x01");
        wide[40..48].copy_from_slice(&1000_u64.to_le_bytes());
        wide[58..62].copy_from_slice(&[64, 0, 10, 0]);
        assert_eq!(elf_end(&wide), Some(1640));
        let mut narrow = [0; 64];
        narrow[..6].copy_from_slice(b"\x7fELF\x01\x01");
        narrow[32..36].copy_from_slice(&500_u32.to_le_bytes());
        narrow[46..50].copy_from_slice(&[40, 0, 2, 0]);
        assert_eq!(elf_end(&narrow), Some(580));
        wide[40..48].fill(0xff);
        assert_eq!(elf_end(&wide), None);
        assert_eq!(elf_end(&[0; 64]), None);
    }
}
