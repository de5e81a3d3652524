//! Directory records.

use std::ops::Range;

use crate::SECTOR_BYTES;
use crate::error::{Error, Rule, check_inside};
use crate::field::{Fields, field};

/// Byte of a record at which its size is, in both forms.
pub const SIZE_AT: u64 = 10;
/// Bytes before the name.
const HEAD_BYTES: usize = 33;
const DIRECTORY: u8 = 2;
const GOES_ON: u8 = 0x80;

const PART: &str = "directory record";

/// A directory record.
#[derive(Clone, Debug)]
pub(crate) struct Record<'a> {
    /// Byte of the file at which it begins.
    pub(crate) start: u64,
    pub(crate) name: &'a [u8],
    /// What comes after the name: Rock Ridge.
    pub(crate) system_use: &'a [u8],
    pub(crate) data: Range<u64>,
    pub(crate) is_directory: bool,
    /// Whether the next record is of the same file.
    pub(crate) goes_on: bool,
}

impl<'a> Record<'a> {
    /// Reads the record at the beginning of the bytes, which end where its sector does; `None`
    /// where there are no more in this sector.
    pub(crate) fn parse(
        bytes: &'a [u8],
        start: u64,
        file_bytes: u64,
    ) -> Result<Option<Self>, Error> {
        let len = usize::from(bytes.first().copied().unwrap_or(0));
        if len == 0 {
            return Ok(None);
        }
        let room = bytes.len() as u64;
        let bytes = bytes.get(..len).ok_or_else(|| {
            let found = len as u64;
            Error::new(PART, start, Rule::Crosses { found, room })
        })?;
        let name_len = usize::from(bytes.get(HEAD_BYTES - 1).copied().unwrap_or(0));
        let expected = (HEAD_BYTES + name_len.max(1)) as u64;
        if (len as u64) < expected {
            let found = len as u64;
            return Err(Error::new(PART, start, Rule::Short { found, expected }));
        }
        let fields = Fields {
            part: PART,
            start,
            bytes,
        };
        let attributes = u64::from(bytes.get(1).copied().unwrap_or(0));
        let block = fields.both("its first block", 2, 4)? + attributes;
        let size_bytes = fields.both("its size", 10, 4)?;
        let flags = bytes.get(25).copied().unwrap_or(0);
        let place = block * SECTOR_BYTES;
        // An empty file may claim to be anywhere.
        let data = if size_bytes == 0 {
            place..place
        } else {
            place..check_inside(PART, start, place, size_bytes, file_bytes)?
        };
        // A byte after the name makes the length even.
        let after = HEAD_BYTES + name_len + usize::from(name_len.is_multiple_of(2));
        Ok(Some(Self {
            start,
            name: field(bytes, HEAD_BYTES, name_len),
            system_use: bytes.get(after..).unwrap_or_default(),
            data,
            is_directory: flags & DIRECTORY != 0,
            goes_on: flags & GOES_ON != 0,
        }))
    }

    /// Whether it is that of the directory itself.
    pub(crate) fn is_self(&self) -> bool {
        self.name == [0]
    }

    /// Whether it is that of the directory above.
    pub(crate) fn is_parent(&self) -> bool {
        self.name == [1]
    }
}

/// The size as a record has it at [`SIZE_AT`], in bytes of data.
pub fn size_field(size_bytes: u32) -> [u8; 8] {
    let [a, b, c, d] = size_bytes.to_le_bytes();
    [a, b, c, d, d, c, b, a]
}
