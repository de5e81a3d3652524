//! Listings read entry by entry, as far as they can be.

use coldpress_format::{
    Corrupt, InodeKind, InodeRef, Part, RawDirectoryEntry, RawDirectoryHeader, Rule, is_legal_name,
};

use crate::findings::{Severity, within};

/// Bytes of a run's header, and of an entry before its name.
pub(crate) const HEADER_BYTES: usize = size_of::<RawDirectoryHeader>();
pub(crate) const ENTRY_BYTES: usize = size_of::<RawDirectoryEntry>();
/// The header's count is one less.
const COUNT_MAX: u64 = 255;
/// The most bytes of a name that Linux looks up.
const NAME_MAX_BYTES: u64 = 255;

/// A part of a listing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    /// The header of a run.
    Header {
        /// Byte of the listing.
        offset: usize,
        raw: Header,
    },
    /// An entry.
    Entry {
        /// Byte of the listing.
        offset: usize,
        header: Header,
        raw: RawEntry,
        name: &'a [u8],
    },
    /// Bytes at the end that are too few for what should stand there.
    Rest {
        /// Byte of the listing.
        offset: usize,
        needed: usize,
        found: usize,
    },
}

/// A run's header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// Number of entries, less 1.
    pub(crate) count: u32,
    /// Start of the metadata block of their inodes.
    pub(crate) inode_block_start: u32,
    pub(crate) base_number: u32,
}

/// An entry without its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawEntry {
    pub(crate) inode_offset: u16,
    pub(crate) number_delta: i16,
    pub(crate) kind: u16,
}

impl RawEntry {
    /// Where the inode lies.
    pub(crate) fn inode(self, header: Header, start: u64) -> Result<InodeRef, Corrupt> {
        let word = u64::from(header.inode_block_start) << 16 | u64::from(self.inode_offset);
        InodeRef::parse(word, Part::DirectoryEntry, start)
    }

    /// The number of the inode.
    pub(crate) fn number(self, header: Header) -> u32 {
        header
            .base_number
            .wrapping_add_signed(self.number_delta.into())
    }
}

/// The parts of a listing in order, up to its end or to where they end.
pub(crate) fn pieces(bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let (mut at, mut open) = (0, None::<(Header, u32)>);
    std::iter::from_fn(move || {
        let (offset, rest) = (at, bytes.get(at..).unwrap_or_default());
        if rest.is_empty() {
            let needed = ENTRY_BYTES;
            return open.take().map(|_| Piece::Rest {
                offset,
                needed,
                found: 0,
            });
        }
        let short = |needed| Piece::Rest {
            offset,
            needed,
            found: rest.len(),
        };
        let piece = match open {
            None => {
                read_header(rest).map_or(short(HEADER_BYTES), |raw| Piece::Header { offset, raw })
            }
            Some((header, _)) => match read_entry(rest) {
                None => short(ENTRY_BYTES),
                Some((raw, name_len)) => {
                    let name = rest.get(ENTRY_BYTES..ENTRY_BYTES + name_len);
                    name.map_or(short(ENTRY_BYTES + name_len), |name| Piece::Entry {
                        offset,
                        header,
                        raw,
                        name,
                    })
                }
            },
        };
        match &piece {
            Piece::Header { raw, .. } => {
                at += HEADER_BYTES;
                open = Some((*raw, raw.count));
            }
            Piece::Entry { name, .. } => {
                at += ENTRY_BYTES + name.len();
                open = open.and_then(|(header, left)| Some((header, left.checked_sub(1)?)));
            }
            Piece::Rest { .. } => (at, open) = (bytes.len(), None),
        }
        Some(piece)
    })
}

fn read_header(bytes: &[u8]) -> Option<Header> {
    let [c0, c1, c2, c3, b0, b1, b2, b3, n0, n1, n2, n3] = *bytes.first_chunk()?;
    Some(Header {
        count: u32::from_le_bytes([c0, c1, c2, c3]),
        inode_block_start: u32::from_le_bytes([b0, b1, b2, b3]),
        base_number: u32::from_le_bytes([n0, n1, n2, n3]),
    })
}

/// An entry and the length of its name.
fn read_entry(bytes: &[u8]) -> Option<(RawEntry, usize)> {
    let [o0, o1, d0, d1, k0, k1, s0, s1] = *bytes.first_chunk()?;
    let raw = RawEntry {
        inode_offset: u16::from_le_bytes([o0, o1]),
        number_delta: i16::from_le_bytes([d0, d1]),
        kind: u16::from_le_bytes([k0, k1]),
    };
    Some((raw, usize::from(u16::from_le_bytes([s0, s1])) + 1))
}

/// What an entry says, also if it breaks a rule.
pub(super) struct Named {
    pub(super) name: Vec<u8>,
    pub(super) inode: InodeRef,
    pub(super) number: u32,
    /// The type; none if it is no legal one.
    pub(super) kind: Option<InodeKind>,
}

/// The entries of a listing that lead somewhere, and the rules that it breaks.
///
/// * `start`: image byte of the metadata block in which it begins, for errors.
pub(super) fn entries(bytes: &[u8], start: u64) -> (Vec<Named>, Vec<(Severity, Corrupt)>) {
    let (mut entries, mut broken) = (Vec::<Named>::new(), Vec::new());
    for piece in pieces(bytes) {
        let mut expect = |severity, checked: Result<(), Corrupt>| {
            broken.extend(checked.err().map(|corrupt| (severity, corrupt)));
        };
        match piece {
            Piece::Header { raw, .. } => {
                let at = (Part::DirectoryHeader, start);
                let count = within(at, "entry count less 1", raw.count.into(), (0, COUNT_MAX));
                expect(Severity::Error, count);
            }
            Piece::Rest { needed, found, .. } => {
                let rule = Rule::Truncated {
                    needed: needed as u64,
                    found: found as u64,
                };
                let part = Part::DirectoryEntry;
                expect(Severity::Error, Err(Corrupt::new(part, start, rule)));
            }
            Piece::Entry {
                header, raw, name, ..
            } => {
                let at = (Part::DirectoryEntry, start);
                let fail = |rule| Err(Corrupt::new(at.0, start, rule));
                if !is_legal_name(name) {
                    expect(Severity::Error, fail(Rule::BadName));
                }
                let field = "bytes of a name (Linux looks up no longer ones)";
                let len = name.len() as u64;
                expect(
                    Severity::Notice,
                    within(at, field, len, (1, NAME_MAX_BYTES)),
                );
                if entries.last().is_some_and(|before| *before.name >= *name) {
                    expect(Severity::Error, fail(Rule::Unsorted));
                }
                let kind = InodeKind::from_number(raw.kind);
                if kind.is_none() {
                    expect(Severity::Error, within(at, "type", raw.kind.into(), (1, 7)));
                }
                match raw.inode(header, start) {
                    Ok(inode) => entries.push(Named {
                        name: name.to_vec(),
                        inode,
                        number: raw.number(header),
                        kind,
                    }),
                    Err(corrupt) => expect(Severity::Error, Err(corrupt)),
                }
            }
        }
    }
    (entries, broken)
}
