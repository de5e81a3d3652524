//! Values of extended attributes as pseudo definitions write them.
//!
//! `0s` base64, `0x` hexadecimal, `0t` text with `\ooo` for any byte, `0b` or no prefix: as it is.

use crate::base64;

/// Decodes a value; `None` if it breaks the rules of its prefix. Empty values cannot be written
/// as they are, as in mksquashfs.
pub(super) fn decode(written: &[u8]) -> Option<Vec<u8>> {
    let value = match written {
        // A single byte cannot have a prefix.
        [b'0', prefix, rest @ ..] => match prefix.to_ascii_lowercase() {
            b's' => base64::decode(rest)?,
            b'x' => hexadecimal(rest)?,
            b't' => octal_text(rest)?,
            b'b' => rest.to_vec(),
            _ => written.to_vec(),
        },
        _ => written.to_vec(),
    };
    // A value longer than Linux takes, 64 KiB, could not be restored.
    (!value.is_empty() && value.len() <= 1 << 16).then_some(value)
}

fn hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| {
        let value = char::from(byte).to_digit(16)?;
        u8::try_from(value).ok()
    };
    let pairs = digits.chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect()
}

fn octal_text(text: &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            value.push(*first);
            continue;
        }
        let digits = after.get(..3)?;
        let number = crate::description::number(digits, 8)?;
        value.push(u8::try_from(number).ok()?);
        rest = &after[3..];
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn each_prefix_has_its_encoding() {
        let cases: [(&[u8], Option<&[u8]>); 22] = [
            (b"plain", Some(b"plain")),
            (b"0", Some(b"0")),
            (b"0q", Some(b"0q")),
            (b"0b0x41", Some(b"0x41")),
            (b"0b", None),
            (b"", None),
            (b"0x4100Ff", Some(b"A\0\xff")),
            (b"0X41", Some(b"A")),
            (b"0x4", None),
            (b"0x4g", None),
            (b"0x", None),
            (b"0tA\\101\\377", Some(b"AA\xff")),
            (b"0t\\400", None),
            (b"0t\\8", None),
            (b"0t\\+12", None),
            (b"0sQUI=", Some(b"AB")),
            (b"0SQQ==", Some(b"A")),
            (b"0sQQ", Some(b"A")),
            (b"0sQUJD/+8=", Some(b"ABC\xff\xef")),
            (b"0sQ", None),
            (b"0sQ===", None),
            (b"0sQ!==", None),
        ];
        for (written, value) in cases {
            assert_eq!(
                decode(written).as_deref(),
                value,
                "{}",
                written.escape_ascii()
            );
        }
    }
}
