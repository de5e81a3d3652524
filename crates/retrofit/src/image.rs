//! The image that is replaced.

use coldpress_format::{MAGIC, SUPERBLOCK_SIZE, Superblock};
use coldpress_image::ReadAt;

use crate::error::{Error, Rule};
use crate::field::{read, read_up_to};
use crate::program::Place;

/// Bytes read at once.
const WINDOW_BYTES: usize = 1 << 16;

/// The image that begins at a byte and ends before another.
///
/// # Errors
///
/// If it is no image of SquashFS 4.0, or cut short.
pub(crate) fn image(source: &dyn ReadAt, place: &Place) -> Result<Place, Error> {
    let start = place.start;
    let refused = |rule| Error::refused("image", start, rule);
    let mut superblock = [0; SUPERBLOCK_SIZE];
    let len = read_up_to(source, &mut superblock, start)?;
    let found = superblock.get(..len).unwrap_or_default();
    if !found.starts_with(&MAGIC.to_le_bytes()) {
        let found = found.get(..6).unwrap_or(found).escape_ascii().to_string();
        return Err(refused(Rule::NoImage { found }));
    }
    let parsed = Superblock::parse(found);
    let image_bytes = parsed
        .map_err(|corrupt| refused(Rule::Superblock(corrupt.to_string())))?
        .bytes_used;
    let end = start.checked_add(image_bytes);
    let end = end.filter(|end| *end <= place.end).ok_or_else(|| {
        refused(Rule::Outside {
            place: start,
            size_bytes: image_bytes,
            file_bytes: place.end,
        })
    })?;
    Ok(start..end)
}

/// Demands that nothing but zeros comes from a byte on.
///
/// # Errors
///
/// The first byte of what does.
pub(crate) fn check_end(source: &dyn ReadAt, end: u64, file_bytes: u64) -> Result<(), Error> {
    let mut window = vec![0; WINDOW_BYTES];
    let mut start = end;
    while start < file_bytes {
        let left = usize::try_from(file_bytes - start);
        let len = left.map_or(WINDOW_BYTES, |left| left.min(WINDOW_BYTES));
        let bytes = window.get_mut(..len).unwrap_or_default();
        read(source, bytes, start)?;
        if let Some((_, offset)) = bytes.iter().zip(0..).find(|(byte, _)| **byte != 0) {
            let start = start + offset;
            let mut magic = [0; 4];
            read_up_to(source, &mut magic, start)?;
            let rule = if magic == MAGIC.to_le_bytes() {
                Rule::SecondImage
            } else {
                Rule::Trailing { end }
            };
            return Err(Error::refused("data", start, rule));
        }
        start += len as u64;
    }
    Ok(())
}
