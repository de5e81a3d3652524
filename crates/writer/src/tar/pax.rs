//! Extended headers of pax: records `length key=value` that replace fields of the next header.
//!
//! Keys that say nothing about what an image holds (`atime`, `uname`, `comment`, checksums) are
//! passed over. Source: POSIX.1-2017, "pax", extended header; GNU tar's manual, "Sparse Formats";
//! star's and libarchive's manuals for the keys that begin with their names.

use std::collections::BTreeMap;
use std::mem;

use super::defect::TarDefect;
use super::number;
use crate::base64;

/// What extended headers say about an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extensions {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size_bytes: Option<u64>,
    pub(super) uid: Option<i64>,
    pub(super) gid: Option<i64>,
    pub(super) mtime_s: Option<i64>,
    pub(super) major: Option<u32>,
    pub(super) minor: Option<u32>,
    /// Full names as they are spelled, and values.
    xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Those of `LIBARCHIVE.xattr`, by their names as these keys escape them.
    escaped_xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Keys of access lists, which no image holds.
    pub(super) acls: Vec<&'static str>,
    pub(super) sparse: Sparse,
}

/// The keys of GNU tar's three formats for sparse files in pax archives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sparse {
    pub(super) major: Option<u64>,
    pub(super) minor: Option<u64>,
    pub(super) name: Option<Vec<u8>>,
    /// The length of the file with its holes.
    pub(super) real_size_bytes: Option<u64>,
    /// Formats 0.0 and 0.1: offset, length, offset, ...
    pub(super) map: Option<Vec<u64>>,
}

impl Extensions {
    /// Full names and values of xattrs, by name.
    ///
    /// Libarchive writes each under two keys with one spelling of the name, which it escapes; under
    /// `SCHILY.xattr` nobody else escapes names.
    pub(super) fn xattrs(&mut self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let mut plain = mem::take(&mut self.xattrs);
        let escaped = mem::take(&mut self.escaped_xattrs).into_iter();
        let mut xattrs: BTreeMap<_, _> = escaped
            .map(|(name, value)| (unescaped(&name), plain.remove(&name).unwrap_or(value)))
            .collect();
        xattrs.append(&mut plain);
        xattrs
    }

    /// Takes over the records of an extended header for one entry.
    pub(super) fn add(&mut self, records: &[u8]) -> Result<(), TarDefect> {
        for_each(records, |key, value| {
            if let Some(key) = key.strip_prefix(b"GNU.sparse.") {
                return self.sparse.add(key, value);
            }
            if let Some(name) = key.strip_prefix(b"SCHILY.xattr.") {
                self.xattrs.insert(name.to_vec(), value.to_vec());
            } else if let Some(escaped) = key.strip_prefix(b"LIBARCHIVE.xattr.") {
                let value = base64(value)
                    .ok_or_else(|| wrong("a LIBARCHIVE.xattr", value, "a text in base 64"))?;
                self.escaped_xattrs.insert(escaped.to_vec(), value);
            } else {
                match key {
                    b"path" => self.path = Some(value.to_vec()),
                    b"linkpath" => self.link = Some(value.to_vec()),
                    b"size" => self.size_bytes = optional(value, || decimal("size", value))?,
                    b"SCHILY.devmajor" => self.major = optional(value, || device(value))?,
                    b"SCHILY.devminor" => self.minor = optional(value, || device(value))?,
                    b"SCHILY.acl.access" => self.acls.push("system.posix_acl_access"),
                    b"SCHILY.acl.default" => self.acls.push("system.posix_acl_default"),
                    b"RHT.security.selinux" => {
                        let name = b"security.selinux".to_vec();
                        // With the zero byte at its end, as the kernel returns labels.
                        let value = [value, b"\0"].concat();
                        self.xattrs.entry(name).or_insert(value);
                    }
                    _ => self.add_common(key, value)?,
                }
            }
            Ok(())
        })
    }

    /// Takes over the records of a header for all entries that follow.
    ///
    /// Only what can be alike for several: a name for all files, or a size, is nonsense; xattrs
    /// would let a small archive fill any memory.
    pub(super) fn add_global(&mut self, records: &[u8]) -> Result<(), TarDefect> {
        for_each(records, |key, value| self.add_common(key, value))
    }

    fn add_common(&mut self, key: &[u8], value: &[u8]) -> Result<(), TarDefect> {
        let id = |field| {
            let number = i64::try_from(decimal(field, value)?);
            number.map_err(|_| wrong(field, value, "less than 2^63"))
        };
        match key {
            b"uid" => self.uid = optional(value, || id("uid"))?,
            b"gid" => self.gid = optional(value, || id("gid"))?,
            b"mtime" => {
                let time = || number::seconds(value).ok_or_else(|| wrong("mtime", value, "a time"));
                self.mtime_s = optional(value, time)?;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Sparse {
    fn add(&mut self, key: &[u8], value: &[u8]) -> Result<(), TarDefect> {
        let number = || decimal("GNU.sparse", value);
        match key {
            b"major" => self.major = Some(number()?),
            b"minor" => self.minor = Some(number()?),
            b"name" => self.name = Some(value.to_vec()),
            b"size" | b"realsize" => self.real_size_bytes = Some(number()?),
            b"offset" | b"numbytes" => self.map.get_or_insert_default().push(number()?),
            b"map" => {
                let numbers = value.split(|byte| *byte == b',');
                let numbers = numbers.filter(|number| !number.is_empty());
                let numbers = numbers.map(|number| decimal("GNU.sparse.map", number));
                self.map = Some(numbers.collect::<Result<_, _>>()?);
            }
            // The number of pieces, which the map tells too.
            _ => {}
        }
        Ok(())
    }
}

/// Calls `take` with key and value of each record.
fn for_each(
    records: &[u8],
    mut take: impl FnMut(&[u8], &[u8]) -> Result<(), TarDefect>,
) -> Result<(), TarDefect> {
    let mut rest = records;
    while !rest.is_empty() {
        let (key, value, next) = record(rest).ok_or(TarDefect::Record {
            offset_bytes: (records.len() - rest.len()) as u64,
        })?;
        take(key, value)?;
        rest = next;
    }
    Ok(())
}

/// The first record's key and value, and what follows it.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = bytes.iter().take(20).position(|byte| *byte == b' ')?;
    let len = usize::try_from(number::decimal(&bytes[..space])?).ok()?;
    let record = bytes.get(space + 1..len)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], &bytes[len..]))
}

/// An empty value takes back what an earlier header says.
fn optional<T>(
    value: &[u8],
    parse: impl FnOnce() -> Result<T, TarDefect>,
) -> Result<Option<T>, TarDefect> {
    if value.is_empty() {
        return Ok(None);
    }
    parse().map(Some)
}

fn decimal(field: &'static str, value: &[u8]) -> Result<u64, TarDefect> {
    number::decimal(value).ok_or_else(|| wrong(field, value, "a decimal number below 2^64"))
}

fn device(value: &[u8]) -> Result<u32, TarDefect> {
    let number = u32::try_from(decimal("a device number", value)?);
    number.map_err(|_| wrong("a device number", value, "at most 4294967295"))
}

fn wrong(field: &'static str, value: &[u8], rule: &'static str) -> TarDefect {
    /// Of a value that may be long, enough to recognize it.
    const SHOWN_BYTES: usize = 40;
    let found = value[..value.len().min(SHOWN_BYTES)].escape_ascii();
    TarDefect::Number {
        field,
        found: found.to_string(),
        rule,
    }
}

/// A name in which libarchive wrote some bytes as `%` and two hexadecimal digits.
fn unescaped(name: &[u8]) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(low_byte);
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [first, tail @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, ..] => digit(high).zip(digit(low)),
            _ => None,
        };
        if let Some((high, low)) = escaped {
            bytes.push(high << 4 | low);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    bytes
}

fn low_byte(word: u32) -> u8 {
    word.to_le_bytes()[0]
}

/// Bytes from a text in base 64, with or without `=` at its end.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| *byte != b'=');
    base64::decode(&text[..end.map_or(0, |end| end + 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pax(pairs: &[(&str, &str)]) -> Vec<u8> {
        let record = |(key, value): &(&str, &str)| {
            let content = key.len() + value.len() + 3;
            let len =
                (content + 1..content + 9).find(|len| content + len.to_string().len() == *len);
            format!("{} {key}={value}\n", len.unwrap())
        };
        pairs.iter().map(record).collect::<String>().into_bytes()
    }

    fn added(records: &[u8]) -> Result<Extensions, TarDefect> {
        let mut extensions = Extensions::default();
        extensions.add(records).map(|()| extensions)
    }

    #[test]
    fn records_replace_fields_and_empty_ones_take_them_back() {
        let mut extensions = added(&pax(&[
            ("path", "a=b\nc"),
            ("uid", "5000000000"),
            ("mtime", "-1.5"),
            ("atime", "nonsense"),
            ("LIBARCHIVE.xattr.user.%41%2", "AQID"),
            ("LIBARCHIVE.xattr.user.x", "AQI="),
            ("SCHILY.xattr.user.x", "raw\0"),
        ]))
        .unwrap();
        assert_eq!(extensions.path.as_deref(), Some(&b"a=b\nc"[..]));
        assert_eq!(extensions.uid, Some(5_000_000_000));
        assert_eq!(extensions.mtime_s, Some(-2));
        let xattrs: Vec<_> = extensions.xattrs().into_iter().collect();
        let expected = [(&b"user.A%2"[..], &[1, 2, 3][..]), (b"user.x", b"raw\0")];
        let expected = expected.map(|(name, value)| (name.to_vec(), value.to_vec()));
        assert_eq!(xattrs, expected);
        extensions.add(&pax(&[("uid", "")])).unwrap();
        assert_eq!(extensions.uid, None);
    }

    #[test]
    fn headers_for_all_entries_name_none_of_them() {
        let mut extensions = Extensions::default();
        let records = pax(&[("path", "x"), ("SCHILY.xattr.user.x", "1"), ("gid", "7")]);
        extensions.add_global(&records).unwrap();
        let expected = Extensions {
            gid: Some(7),
            ..Extensions::default()
        };
        assert_eq!(extensions, expected);
    }

    #[test]
    fn malformed_records_are_errors() {
        for (records, offset_bytes) in [
            (&b"x"[..], 0),
            (b"6 a=b\n\0", 6),
            (b"7 a=b\n", 0),
            (b"5 a=b\n", 0),
            (b"0 a=b\n", 0),
            (b"2 \n", 0),
            (b"99999999999999999999999 a=b\n", 0),
            (b"18446744073709551615 a=b\n", 0),
            (b"-6 a=b\n", 0),
            (b"5 ab\n", 0),
        ] {
            let found = added(records);
            assert_eq!(
                found,
                Err(TarDefect::Record { offset_bytes }),
                "{records:?}"
            );
        }
        for (key, value) in [
            ("size", "99999999999999999999"),
            ("uid", "-1"),
            ("mtime", "today"),
            ("SCHILY.devmajor", "4294967296"),
            ("GNU.sparse.map", "1,x"),
            ("LIBARCHIVE.xattr.user.x", "A"),
        ] {
            let found = added(&pax(&[(key, value)]));
            assert!(
                matches!(found, Err(TarDefect::Number { .. })),
                "{key}: {found:?}"
            );
        }
    }

    #[test]
    fn base_64_is_decoded() {
        for (text, bytes) in [
            (&b""[..], Some(&b""[..])),
            (b"TWFu", Some(b"Man")),
            (b"TWE=", Some(b"Ma")),
            (b"TWE", Some(b"Ma")),
            (b"TQ==", Some(b"M")),
            (b"+/+/", Some(b"\xfb\xff\xbf")),
            (b"T", None),
            (b"T*Q=", None),
        ] {
            assert_eq!(base64(text).as_deref(), bytes, "{}", text.escape_ascii());
        }
    }
}
