//! The digests that `implantisomd5` puts into the primary volume descriptor.
//!
//! The field for applications begins with `ISO MD5SUM = `, and has the MD5 of the file system and
//! some digits of it after each fragment. Both are of the file system with spaces in that field,
//! but for some sectors at its end. Source: `libcheckisomd5.c` and `utilities.c` of isomd5sum
//! 1.2.3.

use coldpress_image::ReadAt;
use coldpress_iso::{APPLICATION_USE, Volume};
use md5::{Digest as _, Md5};

use super::checksums::hexadecimal;
use crate::error::Error;
use crate::field::{read, read_up_to};

const MARK: &str = "ISO MD5SUM = ";
const SKIPPED: &str = "SKIPSECTORS = ";
const FRAGMENTS: &str = "FRAGMENT SUMS = ";
const COUNT: &str = "FRAGMENT COUNT = ";
/// Digits of all fragments.
const FRAGMENT_DIGITS: u64 = 60;
/// Bytes hashed at once: a fragment ends with one of these.
const WINDOW_BYTES: usize = 32 << 10;

/// What became of the digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Implanted {
    None,
    /// The field, as it is to be.
    Again(Vec<u8>),
    /// The field, without digests that cannot be computed again.
    Cleared(Vec<u8>),
}

/// Computes the digests of a file system that has some.
///
/// # Errors
///
/// If it cannot be read.
///
/// # Cost
///
/// Reads all of it, if there are digests.
pub(crate) fn implanted(source: &dyn ReadAt, volume: &Volume) -> Result<Implanted, Error> {
    let field_start = volume.start + APPLICATION_USE.start;
    let mut field =
        vec![0; usize::try_from(APPLICATION_USE.end - APPLICATION_USE.start).unwrap_or(0)];
    read(source, &mut field, field_start)?;
    if !field.starts_with(MARK.as_bytes()) {
        return Ok(Implanted::None);
    }
    let again = match String::from_utf8(field.clone()) {
        Ok(text) => again(source, volume, &text)?,
        Err(_) => None,
    };
    Ok(again.map_or_else(
        || Implanted::Cleared(vec![b' '; field.len()]),
        |text| Implanted::Again(text.into_bytes()),
    ))
}

/// The field with other digests; `None` if they do not fit.
fn again(source: &dyn ReadAt, volume: &Volume, text: &str) -> Result<Option<String>, Error> {
    let value = |name: &str| text.split(';').find_map(|part| part.strip_prefix(name));
    let skipped_sectors: Option<u64> = value(SKIPPED).and_then(|it| it.trim().parse().ok());
    let count = value(COUNT).and_then(|it| it.trim().parse().ok());
    let (Some(whole), Some(skipped_sectors)) = (value(MARK), skipped_sectors) else {
        return Ok(None);
    };
    let skipped_bytes = skipped_sectors.saturating_mul(coldpress_iso::SECTOR_BYTES);
    let total_bytes = volume.size_bytes.saturating_sub(skipped_bytes);
    let count: u64 = count.unwrap_or(0);
    let (digest, digits) = digests(source, volume, total_bytes, count)?;
    let fragments = value(FRAGMENTS).unwrap_or_default();
    let fits = whole.len() == digest.len() && fragments.len() == digits.len();
    let with = |text: &str, name: &str, old: &str, new: &str| {
        text.replacen(&format!("{name}{old};"), &format!("{name}{new};"), 1)
    };
    let text = with(text, MARK, whole, &digest);
    Ok(fits.then(|| with(&text, FRAGMENTS, fragments, &digits)))
}

/// The digest of the whole, and the digits of its fragments.
fn digests(
    source: &dyn ReadAt,
    volume: &Volume,
    total_bytes: u64,
    count: u64,
) -> Result<(String, String), Error> {
    let field = volume.start + APPLICATION_USE.start..volume.start + APPLICATION_USE.end;
    let fragment_bytes = (total_bytes / count.saturating_add(1)).max(1);
    let digits_each = usize::try_from(FRAGMENT_DIGITS.checked_div(count).unwrap_or(0)).unwrap_or(0);
    let mut window = vec![0; WINDOW_BYTES];
    let (mut md5, mut digits, mut fragment) = (Md5::new(), Vec::new(), 0);
    let mut start = 0;
    while start < total_bytes {
        let left = usize::try_from(total_bytes - start).unwrap_or(WINDOW_BYTES);
        let piece = window.get_mut(..left.min(WINDOW_BYTES)).unwrap_or_default();
        let len = read_up_to(source, piece, start)?;
        let piece = piece.get_mut(..len).unwrap_or_default();
        if len == 0 {
            break;
        }
        for (byte, at) in piece.iter_mut().zip(start..) {
            if field.contains(&at) {
                *byte = b' ';
            }
        }
        md5.update(&*piece);
        if count > 0 && start / fragment_bytes != fragment {
            fragment = start / fragment_bytes;
            let so_far = md5.clone().finalize();
            // The first digit of each byte, as `%01x` prints it.
            let first = |byte: &u8| if *byte < 16 { *byte } else { *byte >> 4 };
            let first: Vec<u8> = so_far.iter().take(digits_each).map(first).collect();
            digits.extend(hexadecimal(&first).into_iter().skip(1).step_by(2));
        }
        start += len as u64;
    }
    let text = |digits: Vec<u8>| String::from_utf8(digits).unwrap_or_default();
    Ok((text(hexadecimal(&md5.finalize())), text(digits)))
}
