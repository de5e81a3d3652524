//! What a compressed block asks of who decompresses it, as its first bytes say.
//!
//! Formats: <https://tukaani.org/xz/xz-file-format.txt>, sections 2.1 and 3.1; RFC 8878, section
//! 3.1.1.

/// Filters that an xz block may go through before LZMA2, at most.
const FILTERS_MAX: usize = 4;
/// LZMA2 itself.
const LZMA2: u64 = 0x21;

/// What an xz stream needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct XzNeeds {
    /// Kind of the checksum: 0 none, 1 CRC32, 4 CRC64, 10 SHA-256.
    pub(crate) check: u8,
    /// Numbers of the filters beside LZMA2.
    pub(crate) filters: Vec<u64>,
    pub(crate) dictionary_bytes: u64,
}

/// Reads the header of an xz stream and of its first block; `None` if there is none.
pub(crate) fn xz(bytes: &[u8]) -> Option<XzNeeds> {
    let rest = bytes.strip_prefix(b"\xfd7zXZ\0\0")?;
    let check = rest.first()? & 0x0f;
    // Behind the flags and their checksum stands the block header: its size and its flags.
    let mut rest = rest.get(5..)?;
    let [_, flags, fields @ ..] = rest else {
        return None;
    };
    rest = fields;
    for bit in [0x40, 0x80] {
        if flags & bit != 0 {
            number(&mut rest)?;
        }
    }
    let mut needs = XzNeeds {
        check,
        ..XzNeeds::default()
    };
    for _ in 0..FILTERS_MAX.min(usize::from(flags & 3) + 1) {
        let id = number(&mut rest)?;
        let len = usize::try_from(number(&mut rest)?).ok()?;
        let properties = rest.get(..len)?;
        rest = rest.get(len..)?;
        if id == LZMA2 {
            needs.dictionary_bytes = dictionary_bytes(*properties.first()?)?;
        } else {
            needs.filters.push(id);
        }
    }
    Some(needs)
}

/// A number of seven bits in each byte, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// `2^n` or `2^n + 2^(n-1)`, from 4 KiB on.
fn dictionary_bytes(code: u8) -> Option<u64> {
    match code {
        0..40 => Some((2 | u64::from(code & 1)) << (code / 2 + 11)),
        40 => Some(u32::MAX.into()),
        _ => None,
    }
}

/// Bytes of the window that a zstd frame needs; `None` if no frame begins here.
pub(crate) fn zstd_window_bytes(bytes: &[u8]) -> Option<u64> {
    let rest = bytes.strip_prefix(b"\x28\xb5\x2f\xfd")?;
    let (descriptor, rest) = rest.split_first()?;
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let window = rest.first()?;
        let base = 1_u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // The window is the content.
    let dictionary_id_bytes = [0, 1, 2, 4].get(usize::from(descriptor & 3))?;
    let rest = rest.get(*dictionary_id_bytes..)?;
    let (len, bias) = match descriptor >> 6 {
        0 => (1, 0),
        1 => (2, 256),
        2 => (4, 0),
        _ => (8, 0),
    };
    let little = rest.get(..len)?.iter().rev();
    let content = little.fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    content.checked_add(bias)
}

#[cfg(test)]
mod tests {
    use coldpress_codec::{Choices, Encoder, Filter, Settings, Tuning, XzTuning};
    use coldpress_format::{BlockSize, Compressor};

    use super::*;

    fn compressed(settings: &Settings, len: usize) -> Vec<u8> {
        let block_size = BlockSize::new(128 << 10).unwrap();
        let mut encoder = Encoder::new(settings, block_size).unwrap();
        // Calls whose targets a filter makes alike.
        let input: Vec<u8> = (0..len / 8)
            .flat_map(|call| {
                let target = u32::try_from(len - call * 8).unwrap().to_le_bytes();
                [&[0xe8][..], &target, b"abc"].concat()
            })
            .collect();
        let mut output = Vec::new();
        assert!(encoder.compress(&input, &mut output).unwrap());
        output
    }

    #[test]
    fn xz_streams_name_their_filters_and_dictionary() {
        let settings = Settings::new(Compressor::Xz, None).unwrap();
        let needs = xz(&compressed(&settings, 32 << 10)).unwrap();
        let plain = XzNeeds {
            check: 1,
            filters: Vec::new(),
            dictionary_bytes: 32 << 10,
        };
        assert_eq!(needs, plain);
        let filters: Choices<Filter> = [Filter::X86].into_iter().collect();
        let tuning = Tuning::Xz(XzTuning {
            filters,
            ..XzTuning::default()
        });
        let needs = xz(&compressed(&Settings { tuning, ..settings }, 32 << 10)).unwrap();
        assert_eq!(
            needs,
            XzNeeds {
                filters: vec![4],
                ..plain
            }
        );
    }

    #[test]
    fn zstd_frames_name_their_window() {
        let settings = Settings::new(Compressor::Zstd, None).unwrap();
        for len in [200, 300, 70_000] {
            let len = len / 8 * 8;
            assert_eq!(
                zstd_window_bytes(&compressed(&settings, len)),
                Some(len as u64)
            );
        }
        // Window of 2^21 bytes and an eighth of that.
        let frame = b"\x28\xb5\x2f\xfd\x00\x59";
        assert_eq!(zstd_window_bytes(frame), Some((2 << 20) + (2 << 20) / 8));
    }

    #[test]
    fn any_bytes_give_an_answer() {
        let settings = Settings::new(Compressor::Xz, None).unwrap();
        let stream = compressed(&settings, 4096);
        for len in 0..17 {
            assert_eq!(xz(&stream[..len]), None, "{len}");
        }
        for byte in 0..=255 {
            let mut stream = stream.clone();
            stream[13..40].fill(byte);
            let _ = xz(&stream);
            let _ = zstd_window_bytes(&[&b"\x28\xb5\x2f\xfd"[..], &[byte; 12]].concat());
        }
        assert_eq!(zstd_window_bytes(b"\x28\xb5\x2f\xfd"), None);
        assert_eq!(dictionary_bytes(0), Some(4096));
        assert_eq!(dictionary_bytes(39), Some(3 << 30));
        assert_eq!(dictionary_bytes(41), None);
    }
}
