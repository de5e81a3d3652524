//! The digest that appimagetool puts into `.digest_md5`.
//!
//! It is the MD5 of what `appimage_type2_digest_md5` of libappimage hashes, which is not quite the
//! file without its digest, signature and key. The file is read in pieces of 4096 bytes, and each
//! piece is hashed whole:
//!
//! * What a section takes of a piece keeps the bytes that the piece before had there.
//! * So does what is missing at the end of the last piece.
//! * A section that begins where a piece begins is hashed.
//! * If several sections begin in one piece, the next begins later in the file by what was skipped
//!   twice, and the end of the file comes that much earlier.
//!
//! A digest is of use only to those who compute the same, so all of this is done here too.

use coldpress_image::ReadAt;
use md5::{Digest as _, Md5};

use crate::error::Error;
use crate::field::read_up_to;
use crate::program::{Section, Sections};

/// Bytes of an MD5.
pub(crate) const DIGEST_BYTES: usize = 16;
/// Bytes hashed at once.
const PIECE_BYTES: usize = 4096;

/// In the order in which they are looked for.
const SKIPPED: [Section; 3] = [Section::Digest, Section::Signature, Section::Key];

/// The digest of a file with these sections.
pub(crate) fn digest(
    source: &dyn ReadAt,
    sections: &Sections,
) -> Result<[u8; DIGEST_BYTES], Error> {
    let size_bytes = source.size_bytes();
    let size_bytes = size_bytes.map_err(|source| Error::Read { start: 0, source })?;
    let whole = PIECE_BYTES as u64;
    let skipped = SKIPPED.map(|section| sections.place(section));
    let mut md5 = Md5::new();
    let mut piece = [0; PIECE_BYTES];
    let mut position = 0;
    // Of a section that goes on in the next pieces.
    let mut left_over = 0;
    for _ in 0..size_bytes.div_ceil(whole) {
        let piece_start = position;
        let mut wanted = whole;
        if left_over > 0 {
            let part = match left_over % whole {
                0 => whole,
                part => part,
            };
            wanted -= part;
            left_over -= part;
            position += part;
        }
        for place in skipped.iter().flatten() {
            let Some(before @ 1..) = place.start.checked_sub(piece_start) else {
                continue;
            };
            if before >= whole {
                continue;
            }
            fill(source, &mut piece, 0, before, position)?;
            position += before;
            let taken = before + (place.end - place.start);
            if taken > wanted {
                left_over = taken - wanted;
                wanted = 0;
            } else {
                wanted -= taken;
            }
            position += whole.saturating_sub(wanted + before);
        }
        fill(source, &mut piece, whole - wanted, wanted, position)?;
        position += wanted;
        md5.update(piece);
    }
    Ok(md5.finalize().into())
}

/// Reads what there is of the file into a part of the piece.
fn fill(
    source: &dyn ReadAt,
    piece: &mut [u8],
    at: u64,
    len: u64,
    position: u64,
) -> Result<(), Error> {
    let at = usize::try_from(at).unwrap_or_default();
    let end = at + usize::try_from(len).unwrap_or_default();
    let part = piece.get_mut(at..end).unwrap_or_default();
    read_up_to(source, part, position)?;
    Ok(())
}
