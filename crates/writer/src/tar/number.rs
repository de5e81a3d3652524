//! Numbers in headers: octal text, binary for large or negative ones, decimal in pax records.

/// A number field of a header.
///
/// Octal digits, with spaces or zero bytes in front and a space or zero byte behind; blank is 0.
/// With the highest bit set, a big-endian number in two's complement in the other bits (GNU tar,
/// star: "base-256"), of which the values outside of 64 bits are refused.
pub(super) fn field(bytes: &[u8]) -> Option<i64> {
    match bytes.first() {
        Some(first) if first & 0x80 != 0 => binary(*first, &bytes[1..]),
        _ => octal(bytes),
    }
}

fn octal(bytes: &[u8]) -> Option<i64> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | 0);
    let start = bytes.iter().position(|byte| !is_blank(byte));
    let digits = &bytes[start.unwrap_or(bytes.len())..];
    let end = digits.iter().position(is_blank).unwrap_or(digits.len());
    digits[..end].iter().try_fold(0_i64, |value, byte| {
        let digit = (b'0'..=b'7').contains(byte).then(|| byte - b'0')?;
        value.checked_mul(8)?.checked_add(digit.into())
    })
}

fn binary(first: u8, rest: &[u8]) -> Option<i64> {
    // Bit 6 is the sign; the mark above it is no part of the number.
    let is_negative = first & 0x40 != 0;
    let first = if is_negative { first } else { first & 0x3f };
    let start = i64::from(first.cast_signed());
    rest.iter().try_fold(start, |value, byte| {
        value.checked_mul(256)?.checked_add(i64::from(*byte))
    })
}

/// A decimal number of a pax record, digits only.
pub(super) fn decimal(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() {
        return None;
    }
    bytes.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| byte - b'0')?;
        value.checked_mul(10)?.checked_add(digit.into())
    })
}

/// Whole seconds of a pax time, `-12.5`: rounded down, as the kernel counts them. Seconds outside
/// of 64 bits become the nearest.
pub(super) fn seconds(bytes: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match bytes.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, bytes),
    };
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let whole = parts.next()?;
    let fraction = parts.next().unwrap_or(b"");
    if whole.is_empty() || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        return None;
    }
    let whole = decimal(whole).unwrap_or(u64::MAX);
    let whole = i64::try_from(whole).unwrap_or(i64::MAX);
    let has_fraction = fraction.iter().any(|byte| *byte != b'0');
    Some(if is_negative {
        (-whole).saturating_sub(i64::from(has_fraction))
    } else {
        whole
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_octal_or_binary() {
        for (bytes, value) in [
            (&b"0000644\0"[..], Some(0o644)),
            (b"   644 \0", Some(0o644)),
            (b"\0\0\0\0\0\0\0\0", Some(0)),
            (b"        ", Some(0)),
            (b"77777777", Some(0o7777_7777)),
            (b"644\0junk", Some(0o644)),
            (b"0000648\0", None),
            (b"-1\0", None),
            (b"777777777777777777777777", None),
            (b"\x80\0\0\0\0\0\x01\x02", Some(258)),
            (b"\xff\xff\xff\xff\xff\xff\xff\xfe", Some(-2)),
            (
                b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff",
                Some(i64::MAX),
            ),
            (b"\xff\xff\xff\xff\x80\0\0\0\0\0\0\0", Some(i64::MIN)),
            (b"\x80\0\0\0\x80\0\0\0\0\0\0\0", None),
            (b"\xbf\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", None),
            (b"\xc0\0\0\0\0\0\0\0\0\0\0\0", None),
        ] {
            assert_eq!(field(bytes), value, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn times_are_rounded_down() {
        for (bytes, value) in [
            (&b"0"[..], Some(0)),
            (b"12.999999999", Some(12)),
            (b"-12", Some(-12)),
            (b"-12.0", Some(-12)),
            (b"-12.5", Some(-13)),
            (b"-0.1", Some(-1)),
            (b"5.", Some(5)),
            (b"99999999999999999999999", Some(i64::MAX)),
            (b"-99999999999999999999999.9", Some(i64::MIN)),
            (b"", None),
            (b"-", None),
            (b".5", None),
            (b"1e9", None),
            (b"+1", None),
            (b"1.2.3", None),
        ] {
            assert_eq!(seconds(bytes), value, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn decimal_numbers_have_digits_only_and_fit() {
        for (bytes, value) in [
            (&b"18446744073709551615"[..], Some(u64::MAX)),
            (b"18446744073709551616", None),
            (b"007", Some(7)),
            (b"", None),
            (b" 7", None),
            (b"-7", None),
        ] {
            assert_eq!(decimal(bytes), value, "{}", bytes.escape_ascii());
        }
    }
}
