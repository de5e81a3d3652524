//! The kernel's descriptions of its own binary records.
//!
//! Offsets and sizes of fields differ between kernels and architectures, so they are read from the
//! `format` file of each event and from `header_page` and never assumed.

use std::path::Path;

use super::page::Damage;
use crate::Error;

/// Where a field lies in its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl Field {
    /// The bytes of the field in a record.
    pub(super) fn bytes(self, record: &[u8]) -> Result<&[u8], Damage> {
        let end = self.offset.saturating_add(self.size);
        record.get(self.offset..end).ok_or(Damage {
            start_byte: self.offset,
            rule: "a record is as long as its format says",
        })
    }

    /// The field as an unsigned number.
    pub(super) fn number(self, record: &[u8]) -> Result<u64, Damage> {
        let bytes = self.bytes(record)?;
        let wrong_size = |_| Damage {
            start_byte: self.offset,
            rule: "a number has 1, 2, 4 or 8 bytes",
        };
        let number = match bytes.len() {
            1 => u64::from(bytes[0]),
            2 => native_u16(bytes.try_into().map_err(wrong_size)?).into(),
            4 => native_u32(bytes.try_into().map_err(wrong_size)?).into(),
            _ => native_u64(bytes.try_into().map_err(wrong_size)?),
        };
        Ok(number)
    }
}

#[expect(
    clippy::host_endian_bytes,
    reason = "the kernel writes its ring buffers in the order of the machine"
)]
mod native {
    pub(in super::super) const fn native_u16(bytes: [u8; 2]) -> u16 {
        u16::from_ne_bytes(bytes)
    }

    pub(in super::super) const fn native_u32(bytes: [u8; 4]) -> u32 {
        u32::from_ne_bytes(bytes)
    }

    pub(in super::super) const fn native_u64(bytes: [u8; 8]) -> u64 {
        u64::from_ne_bytes(bytes)
    }
}
pub(super) use native::{native_u16, native_u32, native_u64};

/// The number by which an event is known in the ring buffer: the line `ID: 599`.
pub(super) fn parse_id(text: &str, path: &Path) -> Result<u64, Error> {
    let id = text.lines().find_map(|line| line.strip_prefix("ID: "));
    id.and_then(|id| id.trim().parse().ok())
        .ok_or(Error::Malformed {
            path: path.to_owned(),
            start_byte: 0,
            rule: "the format of an event has a line `ID: number`",
        })
}

/// Finds a field: `field:unsigned long i_ino; offset:8; size:8; signed:0;`, with tabs between.
/// Arrays are declared as `char rwbs[10]`.
pub(super) fn parse_field(text: &str, name: &'static str, path: &Path) -> Result<Field, Error> {
    let field = text.lines().find_map(|line| {
        let mut parts = line.trim_start().strip_prefix("field:")?.split(';');
        let declared = parts.next()?.rsplit([' ', '*']).next()?;
        if declared.split('[').next()? != name {
            return None;
        }
        let mut offset = None;
        let mut size = None;
        for part in parts {
            match part.trim().split_once(':') {
                Some(("offset", value)) => offset = value.parse().ok(),
                Some(("size", value)) => size = value.parse().ok(),
                _ => {}
            }
        }
        Some(Field {
            offset: offset?,
            size: size?,
        })
    });
    field.ok_or_else(|| Error::Malformed {
        path: path.to_owned(),
        start_byte: 0,
        rule: missing_field(name),
    })
}

/// Names the field, so that the error of an unknown kernel tells what changed.
fn missing_field(name: &str) -> &'static str {
    match name {
        "common_type" => "the format has the field `common_type`",
        "common_pid" => "the format has the field `common_pid`",
        "i_ino" => "the format has the field `i_ino`",
        "index" => "the format has the field `index`",
        "last_index" => "the format has the field `last_index`",
        "sector" => "the format has the field `sector`",
        "nr_sector" => "the format has the field `nr_sector`",
        "rwbs" => "the format has the field `rwbs`",
        "address" => "the format has the field `address`",
        "ip" => "the format has the field `ip`",
        "commit" => "the format has the field `commit`",
        "timestamp" => "the format has the field `timestamp`",
        _ => "the format has the field `data`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_where_the_kernel_says() {
        let text = "name: x\nID: 599\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:unsigned long index;\toffset:24;\tsize:8;\tsigned:0;\n\
            \tfield:char rwbs[10];\toffset:28;\tsize:10;\tsigned:0;\n\
            \tfield:unsigned long last_index;\toffset:x;\tsize:8;\n";
        let path = Path::new("format");
        let field = |offset, size| Field { offset, size };
        assert_eq!(parse_id(text, path).unwrap(), 599);
        assert_eq!(parse_field(text, "common_type", path).unwrap(), field(0, 2));
        assert_eq!(parse_field(text, "index", path).unwrap(), field(24, 8));
        assert_eq!(parse_field(text, "rwbs", path).unwrap(), field(28, 10));
        for name in ["last_index", "i_ino"] {
            let error = parse_field(text, name, path).unwrap_err().to_string();
            assert!(error.contains(&format!("field `{name}`")), "{error}");
        }
        assert!(parse_id("ID: y\n", path).is_err());
    }

    #[test]
    fn numbers_never_reach_past_the_record() {
        let field = |offset, size| Field { offset, size };
        let record = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(field(7, 1).number(&record).unwrap(), 8);
        assert_eq!(field(0, 8).number(&record).unwrap(), native_u64(record));
        assert_eq!(field(5, 4).number(&record).unwrap_err().start_byte, 5);
        assert!(field(usize::MAX, 8).number(&record).is_err());
        assert!(field(0, 3).number(&record).is_err());
    }
}
