//! The content of a file as a stream of bytes.

use std::io::{self, Write};
use std::ops::Range;

use coldpress_format::File;

use crate::{Error, FileBlock, Image, ReadLimits};

/// Zeros written at once for a hole.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Writes a range of a file, or what there is of it; holes become zeros.
///
/// # Errors
///
/// If a block is damaged, or `out` cannot be written.
///
/// # Cost
///
/// As [`Image::visit_range`].
pub fn write_content<E: From<Error> + From<io::Error> + Send>(
    image: &Image,
    file: &File,
    range: Range<u64>,
    limits: &ReadLimits,
    out: &mut (impl Write + ?Sized),
) -> Result<(), E> {
    image.visit_range(file, range, limits, &mut |block| match block {
        FileBlock::Data(bytes) => Ok(out.write_all(bytes)?),
        FileBlock::Hole(mut len) => {
            while len > 0 {
                let part = usize::try_from(len).map_or(ZEROS.len(), |len| len.min(ZEROS.len()));
                out.write_all(&ZEROS[..part])?;
                len -= part as u64;
            }
            Ok(())
        }
    })
}
