//! Images inside other files: an AppImage, a SIF container, a firmware.

mod sif;

use coldpress_format::{MAGIC, SUPERBLOCK_SIZE, Superblock};

use crate::error::Error;
pub use crate::find::sif::Sif;
use crate::source::ReadAt;
use crate::store::read_exact;

/// Where an image begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageOffset {
    /// At this byte.
    Bytes(u64),
    /// Wherever one is found.
    Auto,
}

/// How far into a file images are looked for. Programs that start an AppImage have some 1 MB, the
/// kernels in front of a firmware's root file system a few.
const SEARCHED_BYTES: u64 = 64 << 20;
/// Bytes read at once.
const WINDOW_BYTES: usize = 1 << 20;

/// Where images begin in a file: bytes from the start of `source`.
///
/// The table of a SIF container is decisive; of several partitions the one that is run comes first.
/// In other files, looks at any byte of the first 64 MiB; if none begins there, behind the ELF
/// program that the file may begin with. A beginning counts if it is a whole superblock of SquashFS
/// 4.0 and the bytes that it states are there; what lies inside an image that was found is not
/// looked at. Whether the image is sound, [`Image::new`](crate::Image::new) finds out.
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
    let size_bytes = size_bytes(source)?;
    if let Some(container) = sif::read(source, size_bytes)? {
        // What else looks like an image there is content, as of an overlay or of a file that was
        // added.
        let mut images = Vec::new();
        for start in container.partitions() {
            if is_image(source, start, size_bytes)? {
                images.push(start);
            }
        }
        return Ok(images);
    }
    let mut found = search(source, size_bytes)?;
    if found.is_empty()
        && let Some(start) = behind_program(source, size_bytes)?
        && is_image(source, start, size_bytes)?
    {
        found.push(start);
    }
    Ok(found)
}

/// What a SIF container says of itself; `None` if the file is none. In one, only its table says
/// where images are.
///
/// # Errors
///
/// [`Error::Read`] if the source cannot be read.
pub fn read_sif(source: &dyn ReadAt) -> Result<Option<Sif>, Error> {
    sif::read(source, size_bytes(source)?)
}

fn size_bytes(source: &dyn ReadAt) -> Result<u64, Error> {
    source
        .size_bytes()
        .map_err(|source| Error::Read { start: 0, source })
}

/// Looks at every byte of the beginning.
fn search(source: &dyn ReadAt, size_bytes: u64) -> Result<Vec<u64>, Error> {
    let end = size_bytes.min(SEARCHED_BYTES + SUPERBLOCK_SIZE as u64);
    let mut found = Vec::new();
    let mut window = vec![0; WINDOW_BYTES];
    let mut start = 0;
    while start + SUPERBLOCK_SIZE as u64 <= end {
        let len = usize::try_from(end - start).map_or(WINDOW_BYTES, |len| len.min(WINDOW_BYTES));
        let bytes = window.get_mut(..len).unwrap_or_default();
        read_exact(source, bytes, start)?;
        let first = first_image(bytes, size_bytes.saturating_sub(start));
        if let Some((offset, image_bytes)) = first {
            found.push(start + offset);
            start += offset + image_bytes;
        } else {
            // The next window begins with what may be the beginning of a superblock.
            start += (len - SUPERBLOCK_SIZE + 1) as u64;
        }
    }
    Ok(found)
}

/// Where in a window the first image begins, and its bytes.
///
/// * `left_bytes`: from the beginning of the window to the end of the file.
fn first_image(window: &[u8], left_bytes: u64) -> Option<(u64, u64)> {
    let magic = MAGIC.to_le_bytes();
    let places = window.windows(SUPERBLOCK_SIZE).zip(0_u64..);
    places
        .filter(|(bytes, _)| bytes.starts_with(&magic))
        .find_map(|(bytes, offset)| {
            let image_bytes = Superblock::parse(bytes).ok()?.bytes_used;
            let fits = image_bytes <= left_bytes.saturating_sub(offset);
            fits.then_some((offset, image_bytes))
        })
}

/// Whether an image begins at this byte.
fn is_image(source: &dyn ReadAt, start: u64, size_bytes: u64) -> Result<bool, Error> {
    let left_bytes = size_bytes.saturating_sub(start);
    if left_bytes < SUPERBLOCK_SIZE as u64 {
        return Ok(false);
    }
    let mut bytes = [0; SUPERBLOCK_SIZE];
    read_exact(source, &mut bytes, start)?;
    Ok(first_image(&bytes, left_bytes).is_some())
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
    let field = |at, len| field(header, at, len);
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

/// A little-endian number of up to 8 bytes.
fn field(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    let little = bytes.iter().rev();
    Some(little.fold(0, |value, byte| value << 8 | u64::from(*byte)))
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
