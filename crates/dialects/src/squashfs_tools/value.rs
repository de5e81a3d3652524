//! What follows an option, as the number, time, owner or path that it stands for.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use coldpress_format::{BlockSize, is_legal_name};
use coldpress_host::names;
use coldpress_report::text;
use coldpress_writer::{Mode, Time};

use crate::date::date;

/// What follows an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    /// The option as typed.
    pub(crate) option: &'a str,
    pub(crate) text: &'a OsStr,
}

impl Value<'_> {
    /// Why it cannot be used: ``` `-b 100`: must be ...```.
    pub(crate) fn wrong(&self, rule: &str) -> anyhow::Error {
        let text = text::escaped(self.text.as_encoded_bytes());
        anyhow!("`{} {text}`: {rule}", self.option)
    }

    /// Text.
    ///
    /// # Errors
    ///
    /// If it is not UTF-8.
    pub(crate) fn string(&self) -> anyhow::Result<String> {
        let text = self.text.to_str();
        let text = text.ok_or_else(|| self.wrong("must be UTF-8"))?;
        Ok(text.to_owned())
    }

    /// The name of a file.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(self.text)
    }

    /// A name in a directory of an image.
    ///
    /// # Errors
    ///
    /// If the format cannot hold it.
    pub(crate) fn name(&self) -> anyhow::Result<OsString> {
        if !is_legal_name(self.text.as_encoded_bytes()) {
            return Err(self.wrong("must be one name without `/`, of 256 bytes at most"));
        }
        Ok(self.text.to_owned())
    }

    /// A number of bytes: K, M or G may follow, and B, b or bytes behind them.
    ///
    /// # Errors
    ///
    /// If it is not such a number.
    pub(crate) fn size_bytes(&self) -> anyhow::Result<u64> {
        let text = self.text.to_str().and_then(size_bytes);
        text.ok_or_else(|| self.wrong("must be a number of bytes, or one with K, M or G: `128K`"))
    }

    /// The size of a data block.
    ///
    /// # Errors
    ///
    /// If it is not a power of two from 4K to 1M.
    pub(crate) fn block_size(&self) -> anyhow::Result<BlockSize> {
        let bytes = u32::try_from(self.size_bytes()?).ok();
        let size = bytes.and_then(|bytes| BlockSize::new(bytes).ok());
        size.ok_or_else(|| self.wrong("must be a power of two from 4K to 1M"))
    }

    /// A whole number.
    ///
    /// # Errors
    ///
    /// If it is none, or 4294967296 or more.
    pub(crate) fn u32(&self) -> anyhow::Result<u32> {
        let number = self.text.to_str().and_then(|text| text.parse().ok());
        number.ok_or_else(|| self.wrong("must be a whole number from 0 to 4294967295"))
    }

    /// A number of threads.
    ///
    /// # Errors
    ///
    /// If it is no number, or 0.
    pub(crate) fn threads(&self) -> anyhow::Result<NonZeroUsize> {
        let threads = self.text.to_str().and_then(|text| text.parse().ok());
        threads.ok_or_else(|| self.wrong("must be a whole number, 1 or more"))
    }

    /// A percentage, with or without its sign.
    ///
    /// # Errors
    ///
    /// If it is outside the range.
    pub(crate) fn percent(&self, range: RangeInclusive<u32>) -> anyhow::Result<u32> {
        let text = self.text.to_str().unwrap_or_default();
        let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
        let number = number.filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            self.wrong(&format!("must be a percentage from {low} to {high}"))
        })
    }

    /// A time: `inode`, or what [`Value::seconds`] reads.
    ///
    /// # Errors
    ///
    /// As there.
    pub(crate) fn time(&self) -> anyhow::Result<Time> {
        if self.text == "inode" {
            return Ok(Time::Newest);
        }
        self.seconds().map(Time::At)
    }

    /// Seconds since 1970, or a date as `date -d` of the coreutils reads it.
    ///
    /// # Errors
    ///
    /// If it is neither, or lies outside of 1970 to 2106.
    pub(crate) fn seconds(&self) -> anyhow::Result<u32> {
        let number = self.text.to_str().and_then(|text| text.parse().ok());
        let seconds = number.or_else(|| date(self.text.as_encoded_bytes()));
        seconds.ok_or_else(|| {
            self.wrong(
                "must be seconds since 1970, `inode`, or a date from 1970 to 2106 that \
                 `date -d` understands",
            )
        })
    }

    /// Permissions, octal or symbolic.
    ///
    /// # Errors
    ///
    /// If they are neither.
    pub(crate) fn mode(&self) -> anyhow::Result<Mode> {
        Mode::parse(&self.string()?).with_context(|| format!("cannot use `{}`", self.option))
    }

    /// A user, by number or name.
    ///
    /// # Errors
    ///
    /// If it is no number below 2^32 and no name in `/etc/passwd`.
    pub(crate) fn user(&self) -> anyhow::Result<u32> {
        let user = self.number_or(names::user);
        user.ok_or_else(|| self.wrong("must be a user number or a name in `/etc/passwd`"))
    }

    /// A group, by number or name.
    ///
    /// # Errors
    ///
    /// If it is no number below 2^32 and no name in `/etc/group`.
    pub(crate) fn group(&self) -> anyhow::Result<u32> {
        let group = self.number_or(names::group);
        group.ok_or_else(|| self.wrong("must be a group number or a name in `/etc/group`"))
    }

    fn number_or(&self, name: fn(&[u8]) -> Option<u32>) -> Option<u32> {
        let number = self.text.to_str().and_then(|text| text.parse().ok());
        number.or_else(|| name(self.text.as_encoded_bytes()))
    }
}

fn size_bytes(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let mut suffix = suffix.chars();
    let shift = match suffix.next() {
        None => 0,
        Some('k' | 'K') => 10,
        Some('m' | 'M') => 20,
        Some('g' | 'G') => 30,
        Some(_) => return None,
    };
    let is_unit = matches!(suffix.as_str(), "" | "B" | "b" | "bytes");
    number.checked_mul(1 << shift).filter(|_| is_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value<'_> {
        Value {
            option: "-x",
            text: OsStr::new(text),
        }
    }

    #[test]
    fn sizes_have_the_suffixes_of_mksquashfs() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("131072", Some(131_072)),
            ("128k", Some(128 << 10)),
            ("128KB", Some(128 << 10)),
            ("1Mbytes", Some(1 << 20)),
            ("2Gb", Some(2 << 30)),
            ("", None),
            ("K", None),
            ("-1", None),
            ("128KiB", None),
            ("1.5M", None),
            ("17179869184G", None),
        ] {
            assert_eq!(value(text).size_bytes().ok(), bytes, "{text}");
        }
    }

    #[test]
    fn percentages_may_have_their_sign() {
        assert_eq!(value("50%").percent(0..=99).unwrap(), 50);
        assert_eq!(value("7").percent(0..=99).unwrap(), 7);
        for text in ["100", "-1", "5%%", "", "%"] {
            assert!(value(text).percent(0..=99).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_numbers_or_dates() {
        assert_eq!(value("inode").time().unwrap(), Time::Newest);
        assert_eq!(value("0").time().unwrap(), Time::At(0));
        let date = value("2000-01-01 00:00:00 UTC").time().unwrap();
        assert_eq!(date, Time::At(946_684_800));
        for text in ["4294967296", "1900-01-01", "no such day", "-5"] {
            assert!(value(text).time().is_err(), "{text}");
        }
    }

    #[test]
    fn owners_are_numbers_or_names() {
        assert_eq!(value("root").user().ok(), names::user(b"root"));
        assert_eq!(value("4294967295").user().unwrap(), u32::MAX);
        let error = value("4294967296").user().unwrap_err().to_string();
        let rule = "must be a user number or a name in `/etc/passwd`";
        assert_eq!(error, format!("`-x 4294967296`: {rule}"));
    }
}
