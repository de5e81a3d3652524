//! Bytes of one image, as a text:
//!
//! ```text
//! coldpress-extents 1
//! image BYTES HEX      its length, and its superblock, which no other image has
//! limits BYTES SECONDS [BYTES_PER_S]
//! START LENGTH         in the order in which they are to be read
//! ```

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use crate::Limits;

/// A superblock of SquashFS: time, counts and the places of all tables.
pub const SUPERBLOCK_BYTES: usize = 96;

const FIRST_LINE: &str = "coldpress-extents 1";

/// More extents than any order of a boot has.
const EXTENTS_MAX: usize = 100_000;

/// Which bytes of which image are read, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtentList {
    /// The length of the image.
    pub image_bytes: u64,
    /// Its first bytes.
    pub superblock: [u8; SUPERBLOCK_BYTES],
    /// What reading it may take.
    pub limits: Limits,
    /// What is read, in order.
    pub extents: Vec<Range<u64>>,
}

/// Why a text is no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The line, from 1.
    pub line: usize,
    /// What it must be.
    pub rule: &'static str,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {} {}", self.line, self.rule)
    }
}

impl ExtentList {
    /// Reads a list.
    ///
    /// # Errors
    ///
    /// The first line that is not what it must be.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let mut lines = text.lines().zip(1..);
        let mut next = |rule| {
            let end = Refused { line: 1, rule };
            lines
                .next()
                .ok_or(end)
                .map(|(text, line)| (text, Refused { line, rule }))
        };
        let (first, refused) = next("must be `coldpress-extents 1`")?;
        if first != FIRST_LINE {
            return Err(refused);
        }
        let (image, refused) = next("must be `image BYTES`, then 192 hexadecimal digits")?;
        let image = image
            .strip_prefix("image ")
            .and_then(|rest| rest.split_once(' '));
        let (image_bytes, superblock) = image
            .and_then(|(bytes, hex)| Some((number(bytes)?, superblock(hex)?)))
            .ok_or(refused)?;
        let (limits, refused) = next("must be `limits BYTES SECONDS` and a bandwidth, or none")?;
        let limits = limits.strip_prefix("limits ").and_then(parse_limits);
        let limits = limits.ok_or(refused)?;
        let mut extents = Vec::new();
        for (text, line) in lines {
            let refused = |rule| Refused { line, rule };
            if extents.len() == EXTENTS_MAX {
                return Err(refused(
                    "is one too many: a list has at most 100000 extents",
                ));
            }
            let extent = text.split_once(' ').and_then(|(start, len)| {
                let (start, len) = (number(start)?, number(len)?);
                Some(start..start.checked_add(len)?)
            });
            let extent = extent.ok_or_else(|| refused("must be `START LENGTH`"))?;
            if extent.end > image_bytes {
                return Err(refused("must lie inside the image"));
            }
            extents.push(extent);
        }
        Ok(Self {
            image_bytes,
            superblock,
            limits,
            extents,
        })
    }

    /// The list as a text.
    pub fn text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\nimage {} ", self.image_bytes);
        for byte in self.superblock {
            let _ = write!(text, "{byte:02x}");
        }
        let Limits {
            bytes,
            bytes_per_s,
            time,
        } = self.limits;
        let _ = write!(text, "\nlimits {bytes} {}", time.as_secs());
        if let Some(bytes_per_s) = bytes_per_s {
            let _ = write!(text, " {bytes_per_s}");
        }
        text.push('\n');
        for extent in &self.extents {
            let _ = writeln!(text, "{} {}", extent.start, extent.end - extent.start);
        }
        text
    }

    /// Whether a file is the image that the list is of. It may be padded.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn is_of(&self, file: &File) -> io::Result<bool> {
        let mut found = [0; SUPERBLOCK_BYTES];
        file.read_exact_at(&mut found, 0)?;
        Ok(found == self.superblock && file.metadata()?.len() >= self.image_bytes)
    }
}

fn number(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok())?
}

fn superblock(hex: &str) -> Option<[u8; SUPERBLOCK_BYTES]> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|pair| {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()
    });
    let bytes = bytes.collect::<Option<Vec<u8>>>()?;
    bytes.try_into().ok().filter(|_| rest.is_empty())
}

fn parse_limits(text: &str) -> Option<Limits> {
    let mut words = text.split(' ');
    let bytes = number(words.next()?)?;
    let time = Duration::from_secs(number(words.next()?)?);
    let bytes_per_s = match words.next() {
        Some(word) => Some(NonZeroU64::new(number(word)?)?),
        None => None,
    };
    words.next().is_none().then_some(Limits {
        bytes,
        bytes_per_s,
        time,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> ExtentList {
        ExtentList {
            image_bytes: 1 << 20,
            superblock: [0xa5; SUPERBLOCK_BYTES],
            limits: Limits {
                bytes: 5000,
                bytes_per_s: NonZeroU64::new(7),
                time: Duration::from_mins(1),
            },
            extents: vec![4096..8192, 0..96],
        }
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let mut it = list();
        assert_eq!(ExtentList::parse(&it.text()), Ok(it.clone()));
        it.limits.bytes_per_s = None;
        assert_eq!(ExtentList::parse(&it.text()), Ok(it));
    }

    #[test]
    fn what_is_no_list_is_told_by_its_line() {
        let text = list().text();
        for (from, to, line) in [
            ("extents 1", "extents 2", 1),
            ("image 1048576", "image 1048576x", 2),
            ("a5a5", "a5", 2),
            ("a5a5", "a5ga", 2),
            ("limits 5000 60 7", "limits 5000", 3),
            ("60 7", "60 0", 3),
            ("60 7", "60 7 7", 3),
            ("4096 4096", "4096", 4),
            ("4096 4096", "-1 5", 4),
            ("4096 4096", "4096 18446744073709551615", 4),
            ("0 96", "0 1048577", 5),
        ] {
            let broken = text.replacen(from, to, 1);
            let refused = ExtentList::parse(&broken).map_err(|refused| refused.line);
            assert_eq!(refused, Err(line), "{from} -> {to}");
        }
        assert!(ExtentList::parse("").is_err());
        let many = text.clone() + &"0 1\n".repeat(EXTENTS_MAX);
        assert!(ExtentList::parse(&many).is_err());
    }
}
