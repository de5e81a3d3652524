//! Numbers as typed: sizes like `4096`, `128K`, `1M`, and counts.

use std::str::FromStr;

/// Reads a number of which there must be one at least, as `NonZeroU32`.
///
/// # Errors
///
/// A clause that says so; the standard library's speaks of types.
pub fn parse_positive<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "must be a whole number, at least 1".to_owned())
}

/// Reads a number of bytes with an optional binary suffix K, M or G.
///
/// Lower case and a trailing `iB` are accepted: `128k`, `128KiB`.
///
/// # Errors
///
/// A clause that says what a size looks like.
pub fn parse_size_bytes(text: &str) -> Result<u64, String> {
    let wrong = || "a size is a whole number with an optional K, M or G: `128K`".to_owned();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    let shift = match suffix.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

/// Reads a share from 0 to 1.
///
/// # Errors
///
/// A clause that says so.
pub fn parse_share(text: &str) -> Result<f64, String> {
    parse_within(text, 1.0).ok_or_else(|| "a share is a number from 0 to 1: `0.5`".to_owned())
}

/// Reads a number from 0 to 100.
///
/// # Errors
///
/// A clause that says so.
pub fn parse_percent(text: &str) -> Result<f64, String> {
    parse_within(text, 100.0).ok_or_else(|| "percents are a number from 0 to 100: `30`".to_owned())
}

fn parse_within(text: &str, most: f64) -> Option<f64> {
    let number = text.parse().ok()?;
    (0.0..=most).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{parse_percent, parse_share, parse_size_bytes};

    #[test]
    fn shares_and_percents_have_ends() {
        for (text, share, percent) in [
            ("0", Some(0.0), Some(0.0)),
            ("0.5", Some(0.5), Some(0.5)),
            ("1", Some(1.0), Some(1.0)),
            ("30", None, Some(30.0)),
            ("100.1", None, None),
            ("-1", None, None),
            ("NaN", None, None),
            ("inf", None, None),
            ("", None, None),
            ("30%", None, None),
        ] {
            assert_eq!(parse_share(text).ok(), share, "{text}");
            assert_eq!(parse_percent(text).ok(), percent, "{text}");
        }
    }

    #[test]
    fn suffixes_are_powers_of_1024() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("4096", Some(4096)),
            ("128K", Some(128 << 10)),
            ("128kib", Some(128 << 10)),
            ("1M", Some(1 << 20)),
            ("3g", Some(3 << 30)),
            ("", None),
            ("K", None),
            ("-1", None),
            ("1.5M", None),
            ("1KB", None),
            ("1 K", None),
            ("17179869184G", None),
        ] {
            assert_eq!(parse_size_bytes(text).ok(), bytes, "{text}");
        }
    }
}
