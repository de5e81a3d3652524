//! Fields at places of a record.

use crate::error::{Error, Rule};

/// A little-endian number of up to 8 bytes; what is not there is 0.
pub(crate) fn little(record: &[u8], at: usize, len: usize) -> u64 {
    let bytes = field(record, at, len).iter().rev();
    bytes.fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Bytes at a place, as many as are there.
pub(crate) fn field(record: &[u8], at: usize, len: usize) -> &[u8] {
    let rest = record.get(at..).unwrap_or_default();
    rest.get(..len).unwrap_or(rest)
}

/// A record, for messages about its numbers.
pub(crate) struct Fields<'a> {
    pub(crate) part: &'static str,
    /// Byte of the file at which it begins.
    pub(crate) start: u64,
    pub(crate) bytes: &'a [u8],
}

impl Fields<'_> {
    /// A number of so many bytes that is there twice.
    pub(crate) fn both(&self, name: &'static str, at: usize, len: usize) -> Result<u64, Error> {
        let value = little(self.bytes, at, len);
        let bytes = field(self.bytes, at + len, len).iter();
        let big = bytes.fold(0, |value, byte| value << 8 | u64::from(*byte));
        if value != big {
            let rule = Rule::BothEndian {
                field: name,
                little: value,
                big,
            };
            return Err(Error::new(self.part, self.start, rule));
        }
        Ok(value)
    }
}
