//! Comparisons with what an inode has, as find(1) spells them.

use coldpress_report::typed::parse_size_bytes;

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Less than this.
    Less(u64),
    /// This.
    Equal(u64),
    /// More than this.
    More(u64),
}

impl Amount {
    /// Reads `N`, `+N` or `-N` bytes, with K, M or G.
    ///
    /// # Errors
    ///
    /// A clause that says what it looks like.
    pub fn parse_size(text: &str) -> Result<Self, String> {
        parse_amount(text, parse_size_bytes)
    }

    /// Reads `N`, `+N` or `-N`.
    ///
    /// # Errors
    ///
    /// A clause that says what it looks like.
    pub fn parse_count(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|_| is_number);
            number.ok_or_else(|| "must be a whole number, with + or - before it perhaps".to_owned())
        };
        parse_amount(text, number)
    }

    /// Whether it holds for a number.
    pub(super) fn holds(self, found: u64) -> bool {
        match self {
            Self::Less(number) => found < number,
            Self::Equal(number) => found == number,
            Self::More(number) => found > number,
        }
    }
}

/// A comparison with permission bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeTest {
    /// These bits and no other.
    Exactly(u16),
    /// All of these.
    All(u16),
    /// One of these at least.
    Any(u16),
}

impl ModeTest {
    /// Reads octal digits, as find(1) does: `MODE`, `-MODE` or `/MODE`.
    ///
    /// # Errors
    ///
    /// A clause that says what it looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, digits): (fn(u16) -> Self, _) = match text.split_at_checked(1) {
            Some(("-", digits)) => (Self::All, digits),
            Some(("/", digits)) => (Self::Any, digits),
            _ => (Self::Exactly, text),
        };
        let is_octal = digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
        u16::from_str_radix(digits, 8)
            .ok()
            .filter(|bits| is_octal && *bits <= 0o7777)
            .map(kind)
            .ok_or_else(|| {
                "must be octal digits, at most 7777, with - or / before them perhaps".into()
            })
    }

    /// Whether it holds for a mode.
    pub(super) fn holds(self, mode: u16) -> bool {
        match self {
            Self::Exactly(bits) => mode == bits,
            Self::All(bits) => mode & bits == bits,
            Self::Any(bits) => bits == 0 || mode & bits != 0,
        }
    }
}

fn parse_amount(
    text: &str,
    number: impl Fn(&str) -> Result<u64, String>,
) -> Result<Amount, String> {
    if let Some(text) = text.strip_prefix('+') {
        return Ok(Amount::More(number(text)?));
    }
    if let Some(text) = text.strip_prefix('-') {
        return Ok(Amount::Less(number(text)?));
    }
    Ok(Amount::Equal(number(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_signs() {
        for (text, amount) in [
            ("10", Some(Amount::Equal(10))),
            ("+2K", Some(Amount::More(2048))),
            ("-1m", Some(Amount::Less(1 << 20))),
            ("+", None),
            ("--1", None),
            ("", None),
        ] {
            assert_eq!(Amount::parse_size(text).ok(), amount, "{text}");
        }
        assert_eq!(Amount::parse_count("+1").ok(), Some(Amount::More(1)));
        assert!(Amount::parse_count("1K").is_err() && Amount::parse_count("++1").is_err());
        assert!(Amount::More(1).holds(2) && !Amount::More(1).holds(1));
        assert!(Amount::Less(1).holds(0) && !Amount::Less(1).holds(1));
        assert!(Amount::Equal(1).holds(1) && !Amount::Equal(1).holds(0));
    }

    #[test]
    fn modes_are_compared_exactly_or_by_bits() {
        for (text, mode, holds) in [
            ("644", 0o644, true),
            ("644", 0o4644, false),
            ("-022", 0o777, true),
            ("-022", 0o775, false),
            ("-022", 0o755, false),
            ("/022", 0o775, true),
            ("/022", 0o755, false),
            ("/0", 0, true),
        ] {
            let test = ModeTest::parse(text).unwrap();
            assert_eq!(test.holds(mode), holds, "{text} {mode:o}");
        }
        for text in ["", "-", "8", "10000", "+7", "u+x", "--7", "-+7"] {
            assert!(ModeTest::parse(text).is_err(), "{text}");
        }
    }
}
