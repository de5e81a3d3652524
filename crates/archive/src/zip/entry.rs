//! An entry: its record in the directory, its local header, its data.
//!
//! Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.12 and 4.5.3.

use std::ops::Range;

use coldpress_image::ReadAt;

use super::end::RECORD;
use crate::bytes::whole;
use crate::error::{Corrupt, Error, Rule, entry_part};
use crate::field::{len16, number, number16, number32};

/// Bytes of a directory record before its name.
pub(crate) const RECORD_BYTES: usize = 46;
/// Bytes of a local header before its name.
pub(crate) const LOCAL_BYTES: usize = 30;
/// What a local header begins with.
pub(crate) const LOCAL: &[u8; 4] = b"PK\x03\x04";
/// What a descriptor may begin with.
const DESCRIPTOR: &[u8; 4] = b"PK\x07\x08";

/// Flag: content is encrypted.
const ENCRYPTED: u16 = 1;
/// Flag: CRC and sizes follow the data.
pub(crate) const DESCRIBED: u16 = 1 << 3;
/// Extra field: 64-bit sizes and position.
pub(crate) const ZIP64: u16 = 1;
/// Stands for a number in the extra field.
pub(crate) const IN_EXTRA: u64 = 0xffff_ffff;

/// Method: as it is.
pub(crate) const STORED: u16 = 0;
/// Method: deflate.
pub(crate) const DEFLATED: u16 = 8;

/// A file or directory in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, raw bytes.
    pub name: Vec<u8>,
    /// How it is compressed: 0 not, 8 deflate.
    pub method: u16,
    /// Flags of the directory.
    pub flags: u16,
    /// CRC-32 of the content.
    pub crc32: u32,
    /// Bytes in the archive.
    pub packed_bytes: u64,
    /// Bytes of the content.
    pub content_bytes: u64,
    /// From the local header to the end of the descriptor, bytes of the file.
    pub range: Range<u64>,
    /// Byte of the file at which the data begin.
    pub data_start: u64,
    /// The directory record as it is.
    pub(crate) record: Vec<u8>,
    /// The local header as it is.
    pub(crate) local: Vec<u8>,
}

impl Entry {
    /// Whether only a password opens it.
    pub fn is_encrypted(&self) -> bool {
        self.flags & ENCRYPTED != 0
    }

    /// The data, bytes of the file.
    pub fn data(&self) -> Range<u64> {
        self.data_start..self.data_start.saturating_add(self.packed_bytes)
    }

    /// Reads a record of the directory, without the local header that it names.
    ///
    /// * `start`: where the record begins in the file, for messages.
    /// * `base`: byte of the file from which positions count.
    ///
    /// Returns how many bytes it takes, too.
    pub(crate) fn of_record(rest: &[u8], start: u64, base: u64) -> Result<(Self, usize), Corrupt> {
        let fail = |rule| Corrupt::new("directory record", start, rule);
        let room = rest.len() as u64;
        if !rest.starts_with(RECORD) {
            let expected = "the signature of a directory record";
            return Err(fail(Rule::Signature { expected }));
        }
        let lens = [len16(rest, 28), len16(rest, 30), len16(rest, 32)];
        let len = RECORD_BYTES + lens.iter().sum::<usize>();
        let record = rest.get(..len).ok_or_else(|| {
            let needed = len as u64;
            fail(Rule::CutOff { needed, room })
        })?;
        let name_end = RECORD_BYTES + lens[0];
        let name = record.get(RECORD_BYTES..name_end).unwrap_or_default();
        let extra = record.get(name_end..name_end + lens[1]).unwrap_or_default();
        let mut long = fields(extra).find_map(|(id, field)| (id == ZIP64).then_some(field));
        let mut wide = |short: u64, unknown: u64, len: usize| match long {
            Some(field) if short == unknown && field.len() >= len => {
                let (first, more) = field.split_at(len);
                long = Some(more);
                number(first, 0, len)
            }
            _ => short,
        };
        let content_bytes = wide(number(record, 24, 4), IN_EXTRA, 8);
        let packed_bytes = wide(number(record, 20, 4), IN_EXTRA, 8);
        let position = wide(number(record, 42, 4), IN_EXTRA, 8);
        let found = wide(number(record, 34, 2), 0xffff, 4);
        if found != 0 {
            return Err(fail(Rule::Disk { found }));
        }
        let begin = base.saturating_add(position);
        let entry = Self {
            name: name.to_vec(),
            method: number16(record, 10),
            flags: number16(record, 8),
            crc32: number32(record, 16),
            packed_bytes,
            content_bytes,
            range: begin..begin,
            data_start: begin,
            record: record.to_vec(),
            local: Vec::new(),
        };
        Ok((entry, len))
    }

    /// Reads the local header, and compares it with the directory.
    pub(crate) fn read_local(&mut self, source: &dyn ReadAt, size_bytes: u64) -> Result<(), Error> {
        let part = entry_part(&self.name);
        let start = self.range.start;
        let head = whole(source, start, LOCAL_BYTES, &part)?;
        let fail = |rule| Err(Error::from(Corrupt::new(part.clone(), start, rule)));
        if !head.starts_with(LOCAL) {
            let expected = "the signature of a local header";
            return fail(Rule::Signature { expected });
        }
        let len = LOCAL_BYTES + len16(&head, 26) + len16(&head, 28);
        self.local = whole(source, start, len, &part)?;
        let found = self.local_name();
        if found != self.name {
            let found = found.to_vec();
            return fail(Rule::LocalName { found });
        }
        for (field, found, expected) in self.stated_twice() {
            if found != expected {
                let elsewhere = "in the directory";
                return fail(Rule::Disagrees {
                    field,
                    found,
                    expected,
                    elsewhere,
                });
            }
        }
        self.data_start = start + len as u64;
        let needed = self.packed_bytes.saturating_add(len as u64);
        let room = size_bytes.saturating_sub(start);
        if needed > room {
            return fail(Rule::CutOff { needed, room });
        }
        let end = start + needed;
        let descriptor_bytes = match self.flags & DESCRIBED {
            0 => 0,
            _ => self.descriptor_bytes(source, end)?,
        };
        self.range.end = end + descriptor_bytes;
        Ok(())
    }

    fn local_name(&self) -> &[u8] {
        let end = LOCAL_BYTES + len16(&self.local, 26);
        self.local.get(LOCAL_BYTES..end).unwrap_or_default()
    }

    /// The extra fields of the local header.
    pub(crate) fn local_extra(&self) -> &[u8] {
        let start = LOCAL_BYTES + len16(&self.local, 26);
        self.local.get(start..).unwrap_or_default()
    }

    /// What local header and directory both state: what, there, here. Where a descriptor follows,
    /// the local header may leave it open.
    fn stated_twice(&self) -> Vec<(&'static str, u64, u64)> {
        let local = &self.local;
        let long =
            fields(self.local_extra()).find_map(|(id, field)| (id == ZIP64).then_some(field));
        // Both sizes stand there, whichever of them is needed.
        let wide = |short: u64, at: usize| match long {
            Some(field) if short == IN_EXTRA && field.len() >= 16 => number(field, at, 8),
            _ => short,
        };
        let content_bytes = wide(number(local, 22, 4), 0);
        let packed_bytes = wide(number(local, 18, 4), 8);
        let crc32 = number(local, 14, 4);
        let common = ENCRYPTED | DESCRIBED;
        let flags = number16(local, 6) & common;
        let mut stated = vec![
            ("method", number(local, 8, 2), self.method.into()),
            ("flags", flags.into(), (self.flags & common).into()),
        ];
        let is_open = self.flags & DESCRIBED != 0;
        let all = [
            ("CRC", crc32, u64::from(self.crc32)),
            ("packed bytes", packed_bytes, self.packed_bytes),
            ("content bytes", content_bytes, self.content_bytes),
        ];
        let unknown = |found: u64| is_open && (found == 0 || found == IN_EXTRA);
        stated.extend(all.into_iter().filter(|(_, found, _)| !unknown(*found)));
        stated
    }

    /// Finds which of the four forms of a descriptor follows the data.
    fn descriptor_bytes(&self, source: &dyn ReadAt, place: u64) -> Result<u64, Error> {
        let found = crate::bytes::up_to(source, place, 24)?;
        let forms = [(true, 4), (false, 4), (true, 8), (false, 8)];
        let fits = forms.into_iter().find_map(|(is_signed, width)| {
            let mut form = if is_signed {
                DESCRIPTOR.to_vec()
            } else {
                Vec::new()
            };
            form.extend(self.crc32.to_le_bytes());
            for size in [self.packed_bytes, self.content_bytes] {
                form.extend(size.to_le_bytes().into_iter().take(width));
            }
            found.starts_with(&form).then_some(form.len() as u64)
        });
        fits.ok_or_else(|| {
            let rule = Rule::Descriptor { place };
            Corrupt::new(entry_part(&self.name), self.range.start, rule).into()
        })
    }
}

/// The extra fields: number and content. What is left at the end and is no field is not one.
pub(crate) fn fields(mut extra: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let field = extra.get(4..4 + len16(extra, 2))?;
        let id = number16(extra, 0);
        extra = extra.get(4 + field.len()..).unwrap_or_default();
        Some((id, field))
    })
}
