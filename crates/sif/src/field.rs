//! Fields at places of a record.

/// A little-endian number of up to 8 bytes; what is not there is 0.
pub(crate) fn number(record: &[u8], at: usize, len: usize) -> u64 {
    let bytes = record.get(at..at.saturating_add(len)).unwrap_or_default();
    let little = bytes.iter().rev();
    little.fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// A 32-bit number.
pub(crate) fn number32(record: &[u8], at: usize) -> u32 {
    u32::try_from(number(record, at, 4)).unwrap_or_default()
}

/// A signed number, as times are.
pub(crate) fn signed(record: &[u8], at: usize) -> i64 {
    number(record, at, 8).cast_signed()
}

/// Bytes of a fixed number.
pub(crate) fn bytes<const LEN: usize>(record: &[u8], at: usize) -> [u8; LEN] {
    let mut field = [0; LEN];
    let found = record.get(at..).unwrap_or_default();
    let found = found.get(..LEN).unwrap_or(found);
    field
        .iter_mut()
        .zip(found)
        .for_each(|(to, from)| *to = *from);
    field
}

/// Puts bytes into a record; what does not fit is left out.
pub(crate) fn put(record: &mut [u8], at: usize, field: &[u8]) {
    let place = record.get_mut(at..).unwrap_or_default();
    place
        .iter_mut()
        .zip(field)
        .for_each(|(to, from)| *to = *from);
}
