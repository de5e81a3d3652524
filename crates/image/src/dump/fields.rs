//! Records cut into fields.

use coldpress_format::Compressor;

use super::{DumpField, DumpValue};

/// Names of fields and their bytes, in order.
pub(super) type FieldLayout = &'static [(&'static str, usize)];

/// Cuts the beginning of `bytes` into little-endian numbers.
pub(super) fn numbers(bytes: &[u8], layout: FieldLayout) -> Vec<DumpField> {
    let mut fields = Vec::with_capacity(layout.len());
    let mut offset = 0;
    for (name, len) in layout {
        let Some(bytes) = bytes.get(offset..offset + len) else {
            break;
        };
        fields.push(DumpField {
            offset: offset as u64,
            len_bytes: *len as u64,
            name,
            value: DumpValue::Number(number(bytes)),
        });
        offset += len;
    }
    fields
}

fn number(bytes: &[u8]) -> u64 {
    let digits = bytes.iter().rev();
    digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Gives the fields of a name another value, made of their number.
pub(super) fn explain(
    fields: &mut [DumpField],
    name: &str,
    value: impl Fn(u64) -> Option<DumpValue>,
) {
    for field in fields.iter_mut().filter(|field| field.name == name) {
        if let DumpValue::Number(number) = field.value
            && let Some(value) = value(number)
        {
            field.value = value;
        }
    }
}

/// A number with a meaning.
pub(super) fn meaning(number: u64, text: impl Into<String>) -> DumpValue {
    DumpValue::Meaning(number, text.into())
}

/// An absent value, if all bits of the field are set.
pub(super) fn none_if(number: u64, absent: u64) -> Option<DumpValue> {
    (number == absent).then(|| DumpValue::Meaning(number, "none".to_owned()))
}

/// Where a metadata reference leads.
pub(super) fn reference(number: u64) -> DumpValue {
    let (block, offset) = (number >> 16, number & 0xffff);
    meaning(number, format!("block {block}, offset {offset}"))
}

/// A block's size, and whether it is compressed.
pub(super) fn block_word(number: u64) -> DumpValue {
    let word = u32::try_from(number).unwrap_or(u32::MAX);
    meaning(number, word_text(word))
}

fn word_text(word: u32) -> String {
    let size = word & 0x00ff_ffff;
    match word >> 24 {
        0 if size == 0 => "sparse".to_owned(),
        0 => format!("{size} bytes, compressed"),
        1 => format!("{size} bytes, stored"),
        _ => "not a size".to_owned(),
    }
}

impl DumpValue {
    /// What a word of a block list means: `4096 bytes, stored`.
    pub fn block_word_text(word: u32) -> String {
        word_text(word)
    }
}

/// The options of a compressor.
pub(super) const fn options(compressor: Compressor) -> FieldLayout {
    match compressor {
        Compressor::Gzip => &[("level", 4), ("window_size", 2), ("strategies", 2)],
        Compressor::Lzo => &[("algorithm", 4), ("level", 4)],
        Compressor::Xz => &[("dictionary_size", 4), ("filters", 4)],
        Compressor::Lz4 => &[("version", 4), ("flags", 4)],
        Compressor::Zstd => &[("level", 4)],
        Compressor::Lzma => &[],
    }
}
