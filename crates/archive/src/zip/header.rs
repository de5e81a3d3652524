//! Local headers and directory records of entries that moved or were decompressed.

use super::entry::{DESCRIBED, Entry, IN_EXTRA, LOCAL_BYTES, RECORD_BYTES, STORED, ZIP64, fields};
use crate::field::{len16, put};

/// Extra field: what the data are aligned to, and zeros that do it. Source: Android's zipalign.
pub(crate) const ALIGNMENT: u16 = 0xd935;
/// Bytes of that field without zeros.
const ALIGNMENT_BYTES: usize = 6;
/// Flags: how hard the compressor tried.
const EFFORT: u16 = 0b110;

/// A local header that is not the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The header with its name and extra fields.
    pub(crate) bytes: Vec<u8>,
    /// Whether the data that follow are decompressed.
    pub(crate) is_stored: bool,
}

impl Header {
    /// The header of an entry at byte `start`; `None` if the old one will do.
    pub(crate) fn new(
        entry: &Entry,
        start: u64,
        is_stored: bool,
        align_bytes: u64,
    ) -> Option<Self> {
        let is_plain = is_stored || entry.method == STORED;
        let is_aligned = |len: usize| (start + len as u64).is_multiple_of(align_bytes.max(1));
        if !is_stored && (!is_plain || is_aligned(entry.local.len())) {
            return None;
        }
        let name_end = LOCAL_BYTES + len16(&entry.local, 26);
        let mut bytes = entry.local.get(..name_end)?.to_vec();
        for (id, field) in fields(entry.local_extra()) {
            if id != ALIGNMENT && !(id == ZIP64 && is_stored) {
                put_field(&mut bytes, id, field);
            }
        }
        if !is_aligned(bytes.len()) {
            let unpadded = start + (bytes.len() + ALIGNMENT_BYTES) as u64;
            let zeros = unpadded.next_multiple_of(align_bytes) - unpadded;
            let align = u16::try_from(align_bytes).unwrap_or_default();
            let mut field = align.to_le_bytes().to_vec();
            field.resize(2 + usize::try_from(zeros).unwrap_or_default(), 0);
            put_field(&mut bytes, ALIGNMENT, &field);
        }
        let extra_len = u16::try_from(bytes.len() - name_end).ok();
        // An extra field that is full already stays as it is.
        let extra_len = match extra_len {
            Some(len) => len,
            None if is_stored => return Self::new(entry, start, true, 1),
            None => return None,
        };
        put(&mut bytes, 28, &extra_len.to_le_bytes());
        if is_stored {
            put(&mut bytes, 6, &plain_flags(entry).to_le_bytes());
            put(&mut bytes, 8, &STORED.to_le_bytes());
            put(&mut bytes, 14, &entry.crc32.to_le_bytes());
            let size = low(entry.content_bytes);
            put(&mut bytes, 18, &size);
            put(&mut bytes, 22, &size);
        }
        Some(Self { bytes, is_stored })
    }
}

/// The directory record of an entry whose local header is at byte `start`.
pub(crate) fn record(entry: &Entry, start: u64, is_stored: bool) -> Vec<u8> {
    let old = &entry.record;
    let name_end = RECORD_BYTES + len16(old, 28);
    let extra_end = name_end + len16(old, 30);
    let part = |range: std::ops::Range<usize>| old.get(range).unwrap_or_default();
    let mut extra = Vec::new();
    let packed_bytes = if is_stored {
        entry.content_bytes
    } else {
        entry.packed_bytes
    };
    let sizes = [entry.content_bytes, packed_bytes, start];
    let wide: Vec<u8> = sizes
        .into_iter()
        .filter(|size| *size >= IN_EXTRA)
        .flat_map(u64::to_le_bytes)
        .collect();
    if !wide.is_empty() {
        put_field(&mut extra, ZIP64, &wide);
    }
    for (id, field) in fields(part(name_end..extra_end)) {
        if id != ZIP64 {
            put_field(&mut extra, id, field);
        }
    }
    let mut new = part(0..name_end).to_vec();
    new.extend(&extra);
    new.extend(part(extra_end..old.len()));
    if is_stored {
        put(&mut new, 8, &plain_flags(entry).to_le_bytes());
        put(&mut new, 10, &STORED.to_le_bytes());
    }
    put(&mut new, 20, &low(packed_bytes));
    put(&mut new, 24, &low(entry.content_bytes));
    put(
        &mut new,
        30,
        &u16::try_from(extra.len()).unwrap_or(u16::MAX).to_le_bytes(),
    );
    // Disk 0: an extra field may have stated it.
    put(&mut new, 34, &[0, 0]);
    put(&mut new, 42, &low(start));
    new
}

/// Flags of an entry whose data are neither compressed nor followed by a descriptor.
fn plain_flags(entry: &Entry) -> u16 {
    entry.flags & !(DESCRIBED | EFFORT)
}

/// A number of 32 bits, or what says that the extra field has it.
fn low(number: u64) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

fn put_field(extra: &mut Vec<u8>, id: u16, field: &[u8]) {
    extra.extend(id.to_le_bytes());
    extra.extend(u16::try_from(field.len()).unwrap_or_default().to_le_bytes());
    extra.extend(field);
}
