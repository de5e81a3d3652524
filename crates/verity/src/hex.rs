//! What is written in hexadecimal digits: root hashes, salts, UUIDs.

use std::fmt;

use coldpress_report::text::hex;

/// The hash of the tree's uppermost block, which stands for everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootHash(Vec<u8>);

impl RootHash {
    /// Bytes of the longest digest that the kernel has.
    pub const BYTES_MAX: usize = 64;

    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Its bytes, as many as a digest of the tree's algorithm has.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads hexadecimal digits; white space around them is passed over.
    ///
    /// # Errors
    ///
    /// If these are no digits, or more than those of any root hash.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bytes = bytes_of(text.trim()).filter(|bytes| !bytes.is_empty());
        let bytes = bytes.filter(|bytes| bytes.len() <= Self::BYTES_MAX);
        let rule = "a root hash has pairs of hexadecimal digits, 64 of them for sha256";
        bytes.map(Self).ok_or_else(|| rule.to_owned())
    }
}

impl fmt::Display for RootHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// Bytes that are hashed with every block, so that nobody can prepare blocks for all trees at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salt(Vec<u8>);

impl Salt {
    /// The kernel and the superblock have room for no more.
    pub const BYTES_MAX: usize = 256;

    /// `None` if these are more than there is room for.
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (bytes.len() <= Self::BYTES_MAX).then_some(Self(bytes))
    }

    /// Its bytes; none, if blocks are hashed alone.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads hexadecimal digits; `-` is no salt.
    ///
    /// # Errors
    ///
    /// If these are no digits, or more than there is room for.
    pub fn parse(text: &str) -> Result<Self, String> {
        let digits = if text == "-" { "" } else { text };
        let rule = "must be pairs of hexadecimal digits, at most 512 digits";
        let salt = bytes_of(digits).and_then(Self::new);
        salt.filter(|salt| text == "-" || !salt.0.is_empty())
            .ok_or_else(|| rule.to_owned())
    }
}

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("-"),
            bytes => f.write_str(&hex(bytes)),
        }
    }
}

/// The name of a tree, by which `/dev/disk/by-uuid` and veritysetup call it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// Reads `11111111-2222-3333-4444-555555555555`.
    ///
    /// # Errors
    ///
    /// If it does not look like that.
    pub fn parse(text: &str) -> Result<Self, String> {
        let groups: Vec<&str> = text.split('-').collect();
        let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        let bytes = bytes_of(&groups.concat()).filter(|_| lengths == [8, 4, 4, 4, 12]);
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        let rule = "must look like 01234567-89ab-cdef-0123-456789abcdef";
        bytes.map(Self).ok_or_else(|| rule.to_owned())
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = hex(&self.0);
        let groups = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &text[range]);
        f.write_str(&groups.join("-"))
    }
}

/// `None` unless these are pairs of hexadecimal digits.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| {
        let byte = digit(*high)? << 4 | digit(*low)?;
        u8::try_from(byte).ok()
    });
    bytes.collect::<Option<_>>().filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_hashes_are_digits_with_space_around_them() {
        for (text, expected) in [
            ("00ff", Some("00ff")),
            (" 0AfF\n", Some("0aff")),
            ("", None),
            ("0", None),
            ("0g", None),
            ("+1", None),
        ] {
            let found = RootHash::parse(text).ok().map(|hash| hash.to_string());
            assert_eq!(found.as_deref(), expected, "{text:?}");
        }
        assert!(RootHash::parse(&"00".repeat(65)).is_err());
    }

    #[test]
    fn a_salt_has_room_and_can_be_missing() {
        for (text, expected) in [("-", Some(0)), ("0011", Some(2)), ("", None), ("001", None)] {
            let found = Salt::parse(text).ok().map(|salt| salt.bytes().len());
            assert_eq!(found, expected, "{text:?}");
        }
        assert!(Salt::parse(&"0".repeat(512)).is_ok());
        assert!(Salt::parse(&"0".repeat(514)).is_err());
    }

    #[test]
    fn uuids_are_read_as_they_are_written() {
        let text = "01234567-89ab-cdef-0123-456789abcdef";
        assert_eq!(Uuid::parse(text).unwrap().to_string(), text);
        for text in [
            "",
            "0123456789abcdef0123456789abcdef",
            "01234567-89ab-cdef-0123-456789abcde",
            "01234567-89ab-cdef-012-3456789abcdef",
            "01234567-89ab-cdef-0123-456789abcdeg",
        ] {
            assert!(Uuid::parse(text).is_err(), "{text}");
        }
    }
}
