//! Pieces of text that is bytes.

/// The lines of a text with their numbers, counted from 1; without line ends, also those of DOS.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = text.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.zip(1..)
}

/// Where a piece first stands.
pub(super) fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    text.windows(piece.len()).position(|window| window == piece)
}

/// What stands before and behind the first such piece.
pub(super) fn split_once<'text>(
    text: &'text [u8],
    piece: &[u8],
) -> Option<(&'text [u8], &'text [u8])> {
    let at = find(text, piece)?;
    Some((&text[..at], &text[at + piece.len()..]))
}

/// What stands before and behind the last such piece.
pub(super) fn rsplit_once<'text>(
    text: &'text [u8],
    piece: &[u8],
) -> Option<(&'text [u8], &'text [u8])> {
    let mut windows = text.windows(piece.len());
    let at = windows.rposition(|window| window == piece)?;
    Some((&text[..at], &text[at + piece.len()..]))
}

/// The text up to the next space, and what stands behind the spaces; the first is empty if there
/// is no word.
pub(super) fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace);
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (word, rest.trim_ascii_start())
}

/// The digits at the beginning, and what stands behind them.
pub(super) fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

/// A decimal number.
pub(super) fn decimal<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    let is_plain = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    str::from_utf8(text).ok().filter(|_| is_plain)?.parse().ok()
}

/// A hexadecimal number, without a prefix.
pub(super) fn hexadecimal(text: &[u8]) -> Option<u64> {
    let is_plain = text.iter().all(u8::is_ascii_hexdigit);
    let text = str::from_utf8(text).ok().filter(|_| is_plain)?;
    u64::from_str_radix(text, 16).ok()
}

/// Seconds with a decimal point, in us; further digits are cut off.
pub(super) fn seconds_us(text: &[u8]) -> Option<u64> {
    let (whole, fraction) = split_once(text, b".")?;
    let whole: u64 = decimal(whole)?;
    if fraction.is_empty() || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = fraction.iter().copied().chain(std::iter::repeat(b'0'));
    let micros = digits
        .take(6)
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    whole.checked_mul(1_000_000)?.checked_add(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_whole_or_not_at_all() {
        for (text, number) in [
            ("0", Some(0_u64)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("", None),
            ("+1", None),
            ("1x", None),
        ] {
            assert_eq!(decimal(text.as_bytes()), number, "{text}");
        }
        assert_eq!(hexadecimal(b"4fa7d"), Some(0x4fa7d));
        assert_eq!(hexadecimal(b""), None);
        assert_eq!(hexadecimal(b"-1"), None);
        for (text, micros) in [
            ("1.5", Some(1_500_000)),
            ("0.0000019", Some(1)),
            ("7", None),
            ("7.", None),
            ("99999999999999999999.0", None),
            ("18446744073709.9", None),
        ] {
            assert_eq!(seconds_us(text.as_bytes()), micros, "{text}");
        }
    }

    #[test]
    fn texts_are_split_where_the_piece_stands() {
        assert_eq!(
            split_once(b"a: b: c", b": "),
            Some((&b"a"[..], &b"b: c"[..]))
        );
        assert_eq!(
            rsplit_once(b"a: b: c", b": "),
            Some((&b"a: b"[..], &b"c"[..]))
        );
        assert_eq!(split_once(b"ab", b"abc"), None);
        assert_eq!(split_word(b"  a  b c"), (&b"a"[..], &b"b c"[..]));
        assert_eq!(split_word(b""), (&b""[..], &b""[..]));
        let numbered: Vec<_> = lines(b"a\r\n\nb\n").collect();
        assert_eq!(numbered, [(&b"a"[..], 1), (b"", 2), (b"b", 3)]);
    }
}
