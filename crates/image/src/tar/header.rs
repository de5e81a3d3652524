//! The header of an entry: a block of ustar, and before it an extended header of pax where numbers
//! or names do not fit.
//!
//! Source: POSIX.1-2017, "pax".

use coldpress_format::DeviceNumber;

/// Bytes of a block; everything is padded to it.
pub(super) const BLOCK_BYTES: usize = 512;
/// The most bytes of a name, and of a link's target, in a header.
pub(super) const NAME_MAX_BYTES: usize = 100;
/// The most bytes of the directories before a name.
const PREFIX_MAX_BYTES: usize = 155;

/// The type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    HardLink,
    Symlink,
    CharDevice,
    BlockDevice,
    Directory,
    Fifo,
    Extended,
}

impl EntryKind {
    const fn letter(self) -> u8 {
        match self {
            Self::File => b'0',
            Self::HardLink => b'1',
            Self::Symlink => b'2',
            Self::CharDevice => b'3',
            Self::BlockDevice => b'4',
            Self::Directory => b'5',
            Self::Fifo => b'6',
            Self::Extended => b'x',
        }
    }
}

/// What a header says.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) name: Vec<u8>,
    pub(super) kind: EntryKind,
    pub(super) mode: u16,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) size_bytes: u64,
    pub(super) mtime_s: u32,
    /// The target of a link.
    pub(super) target: Vec<u8>,
    pub(super) device: DeviceNumber,
    /// What is to stand in the extended header beside what the header does not hold.
    pub(super) records: Records,
}

impl Header {
    /// Appends the header, with an extended one before it if there must be one.
    pub(super) fn write(&self, output: &mut Vec<u8>) {
        let mut records = self.records.clone();
        let (prefix, name) = split(&self.name).unwrap_or_else(|| {
            records.add(b"path", &self.name);
            (&[], self.name.get(..NAME_MAX_BYTES).unwrap_or_default())
        });
        if self.target.len() > NAME_MAX_BYTES {
            records.add(b"linkpath", &self.target);
        }
        for (key, number, max) in [
            (&b"uid"[..], u64::from(self.uid), 0o777_7777),
            (b"gid", self.gid.into(), 0o777_7777),
            (b"size", self.size_bytes, 0o777_7777_7777),
        ] {
            if number > max {
                records.add(key, number.to_string().as_bytes());
            }
        }
        if !records.0.is_empty() {
            self.extended(&records).write_block(&[], output);
            output.extend_from_slice(&records.0);
            pad(output);
        }
        let mut header = self.clone();
        header.name = name.to_vec();
        header.write_block(prefix, output);
    }

    /// The header of the records.
    fn extended(&self, records: &Records) -> Self {
        let mut name = b"PaxHeaders/".to_vec();
        name.extend_from_slice(base_name(&self.name));
        name.truncate(NAME_MAX_BYTES);
        Self {
            name,
            kind: EntryKind::Extended,
            mode: 0o644,
            uid: 0,
            gid: 0,
            size_bytes: records.0.len() as u64,
            mtime_s: self.mtime_s,
            target: Vec::new(),
            device: DeviceNumber { major: 0, minor: 0 },
            records: Records::default(),
        }
    }

    /// The block itself. What does not fit is cut: an extended header has it.
    fn write_block(&self, prefix: &[u8], output: &mut Vec<u8>) {
        let start = output.len();
        text(output, &self.name, NAME_MAX_BYTES);
        octal(output, self.mode.into(), 8);
        octal(output, self.uid.into(), 8);
        octal(output, self.gid.into(), 8);
        octal(output, self.size_bytes, 12);
        octal(output, self.mtime_s.into(), 12);
        output.extend_from_slice(b"        ");
        output.push(self.kind.letter());
        text(output, &self.target, NAME_MAX_BYTES);
        output.extend_from_slice(b"ustar\x0000");
        // The names of user and group, which an image does not have.
        text(output, b"", 64);
        octal(output, self.device.major.into(), 8);
        octal(output, self.device.minor.into(), 8);
        text(output, prefix, PREFIX_MAX_BYTES);
        pad(output);
        let block = output.get_mut(start..).unwrap_or_default();
        let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
        if let Some(field) = block.get_mut(148..156) {
            field.copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
}

/// The records of an extended header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Records(Vec<u8>);

impl Records {
    /// Appends `length key=value` and a line end; the length counts its own digits.
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        let rest = key.len() + value.len() + 3;
        let mut len = rest;
        while len != rest + len.to_string().len() {
            len = rest + len.to_string().len();
        }
        self.0.extend_from_slice(format!("{len} ").as_bytes());
        for part in [key, b"=", value, b"\n"] {
            self.0.extend_from_slice(part);
        }
    }

    /// Appends all of another.
    pub(super) fn append(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }
}

/// Appends zeros up to a whole number of blocks.
pub(super) fn pad(output: &mut Vec<u8>) {
    output.resize(output.len().next_multiple_of(BLOCK_BYTES), 0);
}

/// Zeros behind content of this length.
pub(super) fn padding_bytes(len_bytes: u64) -> u64 {
    len_bytes.wrapping_neg() % BLOCK_BYTES as u64
}

/// The two blocks of zeros that end an archive.
pub(super) fn end() -> Vec<u8> {
    vec![0; 2 * BLOCK_BYTES]
}

/// A name as the two fields of a header hold it; `None` if it is too long.
fn split(name: &[u8]) -> Option<(&[u8], &[u8])> {
    if name.len() <= NAME_MAX_BYTES {
        return Some((&[], name));
    }
    // The slash between the fields is not stored; a name that ends with one needs something behind.
    let earliest = name.len().checked_sub(NAME_MAX_BYTES + 1)?;
    let latest = PREFIX_MAX_BYTES.min(name.len() - 2);
    let slashes = name.get(earliest..=latest)?;
    let at = earliest + slashes.iter().position(|byte| *byte == b'/')?;
    Some((name.get(..at)?, name.get(at + 1..)?)).filter(|(prefix, _)| !prefix.is_empty())
}

/// The last name of a path that may end with a slash.
pub(super) fn base_name(path: &[u8]) -> &[u8] {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

fn text(output: &mut Vec<u8>, text: &[u8], width: usize) {
    let end = output.len() + width;
    output.extend_from_slice(text.get(..width).unwrap_or(text));
    output.resize(end, 0);
}

/// A number in a field of `width` bytes with a zero byte at its end, cut to its lowest digits.
fn octal(output: &mut Vec<u8>, number: u64, width: usize) {
    let digits = width - 1;
    let number = number & ((1 << (3 * digits)) - 1);
    output.extend_from_slice(format!("{number:0digits$o}\0").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_a_slash_where_both_fields_hold_their_part() {
        let (dir, file) = ("d".repeat(60), "f".repeat(99));
        for (name, fields) in [
            ("a/b".to_owned(), Some(("", "a/b"))),
            ("f".repeat(100), Some(("", &*"f".repeat(100)))),
            ("f".repeat(101), None),
            (format!("{dir}/{file}"), Some((&*dir, &*file))),
            (
                format!("{dir}/{file}/"),
                Some((&*dir, &*format!("{file}/"))),
            ),
            (format!("{dir}/{file}ff/"), None),
            (format!("/{}", "f".repeat(100)), None),
            (
                format!("{}/x", "d".repeat(155)),
                Some((&*"d".repeat(155), "x")),
            ),
            (format!("{}/x", "d".repeat(156)), None),
            (format!("{}/", "d".repeat(100)), None),
        ] {
            let found = split(name.as_bytes());
            let expected = fields.map(|(prefix, name)| (prefix.as_bytes(), name.as_bytes()));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn the_length_of_a_record_counts_its_own_digits() {
        for (value, start) in [
            (1, "6 k="),
            (4, "9 k="),
            (5, "11 k="),
            (93, "99 k="),
            (94, "101 k="),
        ] {
            let mut records = Records::default();
            records.add(b"k", &vec![b'v'; value]);
            let text = String::from_utf8(records.0).unwrap();
            assert!(text.starts_with(start), "{text}");
            let len: usize = text.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(len, text.len());
        }
    }

    #[test]
    fn numbers_that_do_not_fit_stand_in_an_extended_header() {
        let header = |uid, size_bytes| Header {
            name: b"name".to_vec(),
            kind: EntryKind::File,
            mode: 0o644,
            uid,
            gid: 0,
            size_bytes,
            mtime_s: u32::MAX,
            target: Vec::new(),
            device: DeviceNumber { major: 0, minor: 0 },
            records: Records::default(),
        };
        for (uid, size_bytes, extended) in [
            (0o777_7777, (8 << 30) - 1, ""),
            (0o1000_0000, 0, "15 uid=2097152\n"),
            (0, 8 << 30, "19 size=8589934592\n"),
        ] {
            let mut output = Vec::new();
            header(uid, size_bytes).write(&mut output);
            let blocks: Vec<_> = output.chunks(BLOCK_BYTES).collect();
            assert_eq!(blocks.len(), if extended.is_empty() { 1 } else { 3 });
            if !extended.is_empty() {
                assert!(blocks[1].starts_with(extended.as_bytes()));
            }
            let last = blocks.last().unwrap();
            assert!(last.starts_with(b"name\0"));
            assert_eq!(&last[136..147], b"37777777777");
        }
    }
}
