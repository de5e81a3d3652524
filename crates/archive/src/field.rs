//! Little-endian fields at places of a record.

/// A number of up to 8 bytes; what is not there is 0.
pub(crate) fn number(record: &[u8], at: usize, len: usize) -> u64 {
    let bytes = record.get(at..at.saturating_add(len)).unwrap_or_default();
    let little = bytes.iter().rev();
    little.fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// A 32-bit number.
pub(crate) fn number32(record: &[u8], at: usize) -> u32 {
    u32::try_from(number(record, at, 4)).unwrap_or_default()
}

/// A 16-bit number.
pub(crate) fn number16(record: &[u8], at: usize) -> u16 {
    u16::try_from(number(record, at, 2)).unwrap_or_default()
}

/// A 16-bit number as a length.
pub(crate) fn len16(record: &[u8], at: usize) -> usize {
    number16(record, at).into()
}

/// Puts bytes into a record; what does not fit is left out.
pub(crate) fn put(record: &mut [u8], at: usize, field: &[u8]) {
    let place = record.get_mut(at..).unwrap_or_default();
    place
        .iter_mut()
        .zip(field)
        .for_each(|(to, from)| *to = *from);
}
