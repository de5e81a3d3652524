//! The global header, in the first 128 bytes.

use std::ops::Range;

use crate::architecture::Architecture;
use crate::descriptor::DESCRIPTOR_BYTES;
use crate::error::{Error, Rule};
use crate::field::{bytes, number, put, signed};

/// Bytes of the header.
pub const HEADER_BYTES: usize = 128;

/// Where it says what it is: the magic, and the version of the format.
const MAGIC_AT: usize = 32;
const MAGIC: [u8; 10] = *b"SIF_MAGIC\0";
const VERSION_AT: usize = 42;
const VERSION: [u8; 3] = *b"01\0";

/// The most descriptors that are read. Tables have room for 48 unless someone asked for more.
const DESCRIPTORS_MAX: u64 = 4096;

/// What a container says of itself, and where its parts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The line by which Linux starts the file as a program; up to 32 bytes.
    pub launch: [u8; 32],
    /// What the system in it is made for.
    pub architecture: Architecture,
    /// A UUID.
    pub id: [u8; 16],
    /// When it was made, seconds since 1970.
    pub created_s: i64,
    /// When it was changed.
    pub modified_s: i64,
    /// Descriptors that say nothing.
    pub free_descriptors: u64,
    /// All descriptors, used and free.
    pub descriptors: u64,
    /// Byte at which they begin.
    pub table_start: u64,
    /// What they take, by the header.
    pub table_bytes: u64,
    /// Byte after which objects may be.
    pub data_start: u64,
    /// From there to the end of the last object.
    pub data_bytes: u64,
}

impl Header {
    /// Reads the beginning of a file; `None` if that is not one of a SIF container.
    ///
    /// # Errors
    ///
    /// [`Rule::Version`] if it is one of a version that is not known.
    pub fn parse(start: &[u8]) -> Result<Option<Self>, Error> {
        if start.len() < HEADER_BYTES || bytes::<10>(start, MAGIC_AT) != MAGIC {
            return Ok(None);
        }
        let found = bytes::<3>(start, VERSION_AT);
        if found != VERSION {
            let rule = Rule::Version {
                found: found.escape_ascii().to_string(),
            };
            return Err(Error::header(VERSION_AT as u64, rule));
        }
        Ok(Some(Self {
            launch: bytes(start, 0),
            architecture: Architecture::parse(bytes(start, 45)),
            id: bytes(start, 48),
            created_s: signed(start, 64),
            modified_s: signed(start, 72),
            free_descriptors: number(start, 80, 8),
            descriptors: number(start, 88, 8),
            table_start: number(start, 96, 8),
            table_bytes: number(start, 104, 8),
            data_start: number(start, 112, 8),
            data_bytes: number(start, 120, 8),
        }))
    }

    pub(crate) fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        put(&mut header, 0, &self.launch);
        put(&mut header, MAGIC_AT, &MAGIC);
        put(&mut header, VERSION_AT, &VERSION);
        put(&mut header, 45, &self.architecture.to_bytes());
        put(&mut header, 48, &self.id);
        let numbers = [
            self.created_s.cast_unsigned(),
            self.modified_s.cast_unsigned(),
            self.free_descriptors,
            self.descriptors,
            self.table_start,
            self.table_bytes,
            self.data_start,
            self.data_bytes,
        ];
        for (number, at) in numbers.iter().zip((64..).step_by(8)) {
            put(&mut header, at, &number.to_le_bytes());
        }
        header
    }

    /// The bytes of the descriptors that are there in a file of this size: at most 2.4 MB, whatever
    /// the header says.
    pub fn table(&self, file_bytes: u64) -> Range<u64> {
        let room = file_bytes.saturating_sub(self.table_start) / DESCRIPTOR_BYTES as u64;
        let count = self.descriptors.min(room).min(DESCRIPTORS_MAX);
        let start = self.table_start.min(file_bytes);
        start..start + count * DESCRIPTOR_BYTES as u64
    }

    /// The id as UUIDs are written.
    pub fn uuid(&self) -> String {
        let mut text = String::with_capacity(36);
        for (byte, index) in self.id.iter().zip(0..) {
            if [4, 6, 8, 10].contains(&index) {
                text.push('-');
            }
            for digit in [byte >> 4, byte & 15] {
                text.extend(char::from_digit(digit.into(), 16));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            launch: [b'#'; 32],
            architecture: Architecture::named("arm64"),
            id: *b"\x01\x23\x45\x67\x89\xab\xcd\xef\0\0\0\0\0\0\0\x0f",
            created_s: -1,
            modified_s: 2,
            free_descriptors: 3,
            descriptors: 48,
            table_start: 4096,
            table_bytes: 5,
            data_start: 6,
            data_bytes: 7,
        }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let header = header();
        assert_eq!(Header::parse(&header.to_bytes()), Ok(Some(header.clone())));
        assert_eq!(header.uuid(), "01234567-89ab-cdef-0000-00000000000f");
    }

    #[test]
    fn what_is_no_header_and_what_is_a_later_one() {
        let bytes = header().to_bytes();
        assert_eq!(Header::parse(&bytes[..127]), Ok(None));
        let mut other = bytes;
        other[32] = b's';
        assert_eq!(Header::parse(&other), Ok(None));
        let mut later = bytes;
        later[43] = b'2';
        let error = Header::parse(&later).unwrap_err().to_string();
        assert_eq!(
            error,
            "the SIF header at byte 42 states the version `02\\x00`, but only 01 is known"
        );
    }

    #[test]
    fn a_table_is_no_longer_than_its_file() {
        for (descriptors, table_start, file_bytes, expected) in [
            (48, 4096, 1 << 20, 48),
            (48, 4096, 4096 + 2 * 585 + 584, 2),
            (u64::MAX, 4096, 1 << 30, DESCRIPTORS_MAX),
            (48, u64::MAX, 1 << 20, 0),
        ] {
            let header = Header {
                descriptors,
                table_start,
                ..header()
            };
            let table = header.table(file_bytes);
            assert_eq!(table.end - table.start, expected * 585);
            assert!(table.end <= file_bytes);
        }
    }
}
