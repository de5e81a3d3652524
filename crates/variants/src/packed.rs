//! Numbers one after the other in few bytes: LEB128, compressed by gzip, written in base64.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::error::Error;

/// Bytes that are unpacked at most: a start of Chromium has 0.3 MB, a geometry of a gigabyte of
/// blocks of 4 KiB 0.8 MB.
const UNPACKED_MAX_BYTES: usize = 8 << 20;
/// Bits of a byte that belong to a number.
const BITS: u32 = 7;

/// Numbers while they are packed.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    bytes: Vec<u8>,
}

impl Packer {
    pub(crate) fn number(&mut self, mut value: u64) {
        while value >> BITS != 0 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= BITS;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    /// A number that is near another: what lies between them.
    pub(crate) fn near(&mut self, value: u64, other: u64) {
        let between = value.wrapping_sub(other).cast_signed();
        self.number(((between << 1) ^ (between >> 63)).cast_unsigned());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// All of it as text.
    pub(crate) fn text(self) -> String {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let written = encoder
            .write_all(&self.bytes)
            .and_then(|()| encoder.finish());
        STANDARD.encode(written.expect("memory takes what is written"))
    }
}

/// Numbers while they are unpacked.
#[derive(Debug)]
pub(crate) struct Unpacker {
    place: String,
    bytes: Vec<u8>,
    at: usize,
}

impl Unpacker {
    /// * `place`: of the text in the index.
    pub(crate) fn new(place: &str, text: &str) -> Result<Self, Error> {
        let compressed = STANDARD.decode(text);
        let compressed =
            compressed.map_err(|error| Error::rule(place, format!("is no base64: {error}")))?;
        let mut bytes = Vec::new();
        let limit = UNPACKED_MAX_BYTES as u64 + 1;
        let read = GzDecoder::new(&*compressed)
            .take(limit)
            .read_to_end(&mut bytes);
        read.map_err(|error| Error::rule(place, format!("is no gzip: {error}")))?;
        if bytes.len() > UNPACKED_MAX_BYTES {
            let rule = format!("holds more than {} MiB", UNPACKED_MAX_BYTES >> 20);
            return Err(Error::rule(place, rule));
        }
        Ok(Self {
            place: place.to_owned(),
            bytes,
            at: 0,
        })
    }

    /// An error at the number that was read last.
    pub(crate) fn wrong(&self, rule: impl Into<String>) -> Error {
        Error::Packed {
            place: self.place.clone(),
            at: self.at.saturating_sub(1),
            rule: rule.into(),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(BITS as usize) {
            let byte = self.bytes.get(self.at).copied();
            self.at += 1;
            let byte = byte.ok_or_else(|| self.wrong("a number is missing"))?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.wrong("a number has more than 64 bits"))
    }

    /// A number that is at most `max`.
    pub(crate) fn at_most(&mut self, max: u64, what: &str) -> Result<u64, Error> {
        let value = self.number()?;
        if value > max {
            return Err(self.wrong(format!("{what} {value} is above {max}")));
        }
        Ok(value)
    }

    /// How many things follow, each of which takes a byte at least.
    pub(crate) fn count(&mut self, what: &str) -> Result<usize, Error> {
        let count = self.number()?;
        let left = self.bytes.len().saturating_sub(self.at);
        match usize::try_from(count) {
            Ok(count) if count <= left => Ok(count),
            _ => Err(self.wrong(format!(
                "{what} {count} is above {left}, the bytes that are left"
            ))),
        }
    }

    /// A place in a list of `count` things.
    pub(crate) fn place(&mut self, count: usize, what: &str) -> Result<usize, Error> {
        let value = self.number()?;
        match usize::try_from(value) {
            Ok(place) if place < count => Ok(place),
            _ => Err(self.wrong(format!("there is no {what} {value} of {count}"))),
        }
    }

    pub(crate) fn near(&mut self, other: u64) -> Result<u64, Error> {
        let coded = self.number()?;
        let between = (coded >> 1) ^ (coded & 1).wrapping_neg();
        Ok(other.wrapping_add(between))
    }

    pub(crate) fn word(&mut self, what: &str) -> Result<u32, Error> {
        let value = self.at_most(u32::MAX.into(), what)?;
        Ok(u32::try_from(value).unwrap_or(u32::MAX))
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&[u8], Error> {
        let start = self.at;
        self.at = start.saturating_add(count);
        if self.at > self.bytes.len() {
            self.at = start + 1;
            return Err(self.wrong(format!("{count} bytes are missing")));
        }
        Ok(&self.bytes[start..self.at])
    }

    /// Nothing may follow.
    pub(crate) fn end(self) -> Result<(), Error> {
        match self.bytes.len().saturating_sub(self.at) {
            0 => Ok(()),
            left => Err(self.wrong(format!("{left} more bytes follow than are known of"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, 1 << 40, u64::MAX];
        let mut packer = Packer::default();
        for number in numbers {
            packer.number(number);
            packer.near(number, 1000);
        }
        packer.bytes(b"abc");
        let mut unpacker = Unpacker::new("start", &packer.text()).unwrap();
        for number in numbers {
            assert_eq!(unpacker.number().unwrap(), number);
            assert_eq!(unpacker.near(1000).unwrap(), number);
        }
        assert_eq!(unpacker.bytes(3).unwrap(), b"abc");
        unpacker.end().unwrap();
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let unpacker = |bytes: &[u8]| {
            let mut packer = Packer::default();
            packer.bytes(bytes);
            Unpacker::new("start", &packer.text()).unwrap()
        };
        for (bytes, expected) in [
            (&[][..], "byte 0 of what it holds: a number is missing"),
            (
                &[0x80, 0x80],
                "byte 2 of what it holds: a number is missing",
            ),
            (
                &[0xff; 11],
                "byte 9 of what it holds: a number has more than 64 bits",
            ),
        ] {
            let error = unpacker(bytes).number().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("`start` of the index, {expected}")
            );
        }
        let error = unpacker(&[9, 1]).count("paths").unwrap_err().to_string();
        assert!(
            error.ends_with("paths 9 is above 1, the bytes that are left"),
            "{error}"
        );
        let error = unpacker(&[9, 1]).end().unwrap_err().to_string();
        assert!(
            error.ends_with("2 more bytes follow than are known of"),
            "{error}"
        );
        for text in ["?", "AAAA"] {
            assert!(Unpacker::new("start", text).is_err());
        }
        let zeros = vec![0; UNPACKED_MAX_BYTES + 1];
        let mut packer = Packer::default();
        packer.bytes(&zeros);
        let error = Unpacker::new("start", &packer.text()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`start` of the index holds more than 8 MiB"
        );
    }
}
