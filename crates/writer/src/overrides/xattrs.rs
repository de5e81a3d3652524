//! Extended attributes: which are taken over, which are added.

use std::sync::Arc;

use coldpress_format::XattrPrefix;
use coldpress_layout::{Kind, Node};
use regex::bytes::Regex;

use crate::base64;
use crate::error::Error;
use crate::select::posix;
use crate::shared_xattrs::{SharedXattrs, XattrSet};

/// Which xattrs an image takes over from its inputs, and which are added to every inode.
#[derive(Clone, Debug, Default)]
pub struct Xattrs {
    exclude: Vec<Regex>,
    include: Vec<Regex>,
    add: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Xattrs {
    /// Leaves out the xattrs of inputs whose full names match a POSIX extended regular expression.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] or [`Error::Regex`] if it is none.
    pub fn exclude(&mut self, pattern: &str) -> Result<(), Error> {
        self.exclude.push(posix::compile(pattern.as_bytes())?);
        Ok(())
    }

    /// Takes over only the xattrs of inputs whose full names match this expression or another
    /// that is included, and none that is excluded.
    ///
    /// # Errors
    ///
    /// As [`Xattrs::exclude`].
    pub fn include(&mut self, pattern: &str) -> Result<(), Error> {
        self.include.push(posix::compile(pattern.as_bytes())?);
        Ok(())
    }

    /// Adds an xattr to every inode; one of `user.` only to files and directories, as no others can
    /// have these.
    ///
    /// * `text`: `name=value`; the value is taken as it is, or decoded after `0s` (Base64), `0x`
    ///   (hexadecimal), `0t` (text in which `\` and three octal digits are a byte) or `0b` (as it
    ///   is).
    ///
    /// # Errors
    ///
    /// [`Error::Value`] if the name is in none of the format's name spaces or given already, or the
    /// value is empty or cannot be decoded.
    pub fn add(&mut self, text: &[u8]) -> Result<(), Error> {
        let wrong = |rule| Error::Value {
            what: "xattr",
            found: text.escape_ascii().to_string(),
            rule,
        };
        let equals = text.iter().position(|&byte| byte == b'=');
        let equals = equals.ok_or_else(|| wrong("it must be `name=value`"))?;
        let (name, value) = (&text[..equals], &text[equals + 1..]);
        if XattrPrefix::split(name).is_none_or(|(_, name)| name.is_empty()) {
            return Err(wrong(
                "a name begins with `user.`, `trusted.` or `security.`",
            ));
        }
        if value.is_empty() {
            return Err(wrong("the value is empty"));
        }
        if self.add.iter().any(|(added, _)| added == name) {
            return Err(wrong("the name is given twice"));
        }
        let value = decode(value).map_err(wrong)?;
        self.add.push((name.to_vec(), value));
        Ok(())
    }

    /// Whether the xattr of this full name is taken over.
    pub fn keeps(&self, name: &[u8]) -> bool {
        let matches = |regex: &Regex| regex.is_match(name);
        let is_included = self.include.is_empty() || self.include.iter().any(matches);
        is_included && !self.exclude.iter().any(matches)
    }

    /// Leaves out and adds, where what is added replaces what an input has.
    pub(super) fn set(&self, node: &mut Node, shared: &mut SharedXattrs) {
        if !node.xattrs.iter().all(|(name, _)| self.keeps(name)) {
            Arc::make_mut(&mut node.xattrs).retain(|(name, _)| self.keeps(name));
        }
        for (name, value) in self.added(node) {
            set(&mut node.xattrs, name, value);
        }
        shared.share(&mut node.xattrs);
    }

    /// Adds to nodes that came after the inputs, which keep their own.
    pub(super) fn complete(&self, node: &mut Node, shared: &mut SharedXattrs) {
        for (name, value) in self.added(node) {
            if let Err(place) = place(&node.xattrs, name) {
                let pair = (name.clone(), value.clone());
                Arc::make_mut(&mut node.xattrs).insert(place, pair);
            }
        }
        shared.share(&mut node.xattrs);
    }

    /// What is added to a node.
    fn added<'a>(&'a self, node: &Node) -> impl Iterator<Item = &'a (Vec<u8>, Vec<u8>)> + use<'a> {
        let has_user = has_user_xattrs(node);
        let added = self.add.iter();
        added.filter(move |(name, _)| has_user || !name.starts_with(b"user."))
    }
}

/// Whether the kernel lets anybody read xattrs `user.*` of it: only of files and directories,
/// xattr(7).
pub(crate) fn has_user_xattrs(node: &Node) -> bool {
    matches!(node.kind, Kind::File { .. } | Kind::Directory { .. })
}

/// Gives a set an xattr, or another value of it.
pub(crate) fn set(xattrs: &mut Arc<XattrSet>, name: &[u8], value: &[u8]) {
    let place = place(xattrs, name);
    let xattrs = Arc::make_mut(xattrs);
    match place {
        Ok(place) => xattrs[place].1 = value.to_vec(),
        Err(place) => xattrs.insert(place, (name.to_vec(), value.to_vec())),
    }
}

/// Where an xattr is, or would be.
fn place(xattrs: &XattrSet, name: &[u8]) -> Result<usize, usize> {
    xattrs.binary_search_by(|(known, _)| known.as_slice().cmp(name))
}

fn decode(value: &[u8]) -> Result<Vec<u8>, &'static str> {
    // A single byte is a value as it is.
    let (prefix, rest) = value.split_at(value.len().min(2));
    let decoded = match prefix {
        b"0s" | b"0S" => base64::decode(rest).ok_or("it is not Base64"),
        b"0x" | b"0X" => decode_hex(rest),
        b"0t" | b"0T" => decode_text(rest),
        b"0b" | b"0B" => Ok(rest.to_vec()),
        _ => return Ok(value.to_vec()),
    };
    if rest.is_empty() {
        return Err("the value is empty after its prefix");
    }
    decoded
}

fn decode_hex(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let rule = "it is not hexadecimal, two digits for each byte";
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|it| u8::try_from(it).ok())
    };
    let pairs = text.chunks(2).map(|pair| match pair {
        &[high, low] => Ok(digit(high).ok_or(rule)? << 4 | digit(low).ok_or(rule)?),
        _ => Err(rule),
    });
    pairs.collect()
}

fn decode_text(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let rule = "after a backslash, three octal digits up to 377 must follow";
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        let digits = after.get(..3).ok_or(rule)?;
        let is_octal = digits.iter().all(|digit| (b'0'..=b'7').contains(digit));
        let number = str::from_utf8(digits).ok().filter(|_| is_octal);
        let number = number.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(number.ok_or(rule)?);
        rest = &after[3..];
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_as_the_manual_of_mksquashfs_says() {
        let cases: &[(&str, &[u8])] = &[
            ("hello world", b"hello world"),
            ("0saGVsbG8gd29ybGQ=", b"hello world"),
            ("0SaGVsbG8gd29ybGQ", b"hello world"),
            ("0x68656c6c6f20776f726c64", b"hello world"),
            ("0X4A", b"J"),
            ("0thello world", b"hello world"),
            ("0thello\\000world", b"hello\0world"),
            ("0saGVsbG8Ad29ybGQ=", b"hello\0world"),
            ("0t\\377", b"\xff"),
            ("0b0x41", b"0x41"),
            ("0sAA==", b"\0"),
            ("0", b"0"),
            ("0y", b"0y"),
        ];
        for (text, expected) in cases {
            let mut xattrs = Xattrs::default();
            xattrs.add(format!("user.x={text}").as_bytes()).unwrap();
            assert_eq!(xattrs.add[0].1, *expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_added_is_refused() {
        for text in [
            "user.x",
            "=a",
            "x=a",
            "user.=a",
            "system.x=a",
            "user.x=",
            "user.x=0s",
            "user.x=0sA",
            "user.x=0sA===",
            "user.x=0sA_==",
            "user.x=0x123",
            "user.x=0xgg",
            "user.x=0t\\12",
            "user.x=0t\\400",
            "user.x=0t\\+12",
        ] {
            assert!(Xattrs::default().add(text.as_bytes()).is_err(), "{text}");
        }
        let mut xattrs = Xattrs::default();
        xattrs.add(b"user.x=1").unwrap();
        assert!(xattrs.add(b"user.x=2").is_err());
    }

    #[test]
    fn exclusion_beats_inclusion() {
        let mut xattrs = Xattrs::default();
        assert!(xattrs.keeps(b"trusted.x"));
        xattrs.include("^user\\.").unwrap();
        xattrs.exclude("secret").unwrap();
        for (name, kept) in [
            (&b"user.x"[..], true),
            (b"user.secret", false),
            (b"trusted.x", false),
        ] {
            assert_eq!(xattrs.keeps(name), kept, "{}", name.escape_ascii());
        }
    }
}
