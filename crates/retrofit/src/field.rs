//! Numbers and bytes at places.

use coldpress_image::ReadAt;

use crate::error::Error;

/// A little-endian number of up to 8 bytes; what is not there is 0.
pub(crate) fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let bytes = bytes.get(at..at.saturating_add(len)).unwrap_or_default();
    let little = bytes.iter().rev();
    little.fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Reads bytes that must be there.
///
/// # Errors
///
/// [`Error::Read`], also at the end of the file.
pub(crate) fn read(source: &dyn ReadAt, bytes: &mut [u8], start: u64) -> Result<(), Error> {
    let read_bytes = read_up_to(source, bytes, start)?;
    if read_bytes < bytes.len() {
        let start = start + read_bytes as u64;
        let source = std::io::ErrorKind::UnexpectedEof.into();
        return Err(Error::Read { start, source });
    }
    Ok(())
}

/// Reads bytes up to the end of the file; returns how many there are.
///
/// # Errors
///
/// [`Error::Read`].
pub(crate) fn read_up_to(
    source: &dyn ReadAt,
    bytes: &mut [u8],
    start: u64,
) -> Result<usize, Error> {
    let read = source.fill_at(bytes, start);
    read.map_err(|source| Error::Read { start, source })
}
