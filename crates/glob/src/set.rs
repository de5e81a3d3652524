//! Sets of bytes, and the bracket expressions (`[a-z[:digit:]]`) that name them.

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// Whether a byte is in it.
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn complement(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

/// What differs between brackets of wildcards and of regular expressions.
#[derive(Clone, Copy, Debug)]
pub struct BracketSyntax {
    /// Whether `!` after the bracket negates, as `^` does.
    pub exclamation_negates: bool,
    /// Whether a backslash takes the meaning from the byte that follows.
    pub escapes: bool,
}

/// Parses a bracket expression as in the C locale, where each byte is a character.
///
/// * `text`: begins behind the opening bracket.
///
/// Returns the set and the length up to and with the closing bracket; `None` if there is none, or
/// something between is no class.
pub fn parse_bracket(text: &[u8], syntax: BracketSyntax) -> Option<(ByteSet, usize)> {
    let is_negated = match text.first()? {
        b'^' => true,
        b'!' => syntax.exclamation_negates,
        _ => false,
    };
    let first = usize::from(is_negated);
    let mut set = ByteSet::default();
    let mut at = first;
    loop {
        if text.get(at) == Some(&b']') && at > first {
            return Some((if is_negated { set.complement() } else { set }, at + 1));
        }
        if let Some((class, len)) = parse_class(&text[at..])? {
            for byte in (0..=u8::MAX).filter(class) {
                set.insert(byte);
            }
            at += len;
            continue;
        }
        let (low, len) = parse_member(&text[at..], syntax)?;
        at += len;
        let is_range = text.get(at) == Some(&b'-') && text.get(at + 1).is_some_and(|&b| b != b']');
        let mut high = low;
        if is_range {
            let (end, len) = parse_member(&text[at + 1..], syntax)?;
            at += 1 + len;
            high = end;
        }
        for byte in low..=high {
            set.insert(byte);
        }
    }
}

/// Whether a byte belongs to a named class.
type Class = fn(&u8) -> bool;

/// `[:name:]` at the beginning of `text`; `Some(None)` if nothing of the kind begins there.
#[expect(
    clippy::option_option,
    reason = "the character class is missing or does not exist"
)]
fn parse_class(text: &[u8]) -> Option<Option<(Class, usize)>> {
    let Some(name) = text.strip_prefix(b"[:") else {
        return Some(None);
    };
    let end = name.iter().position(|byte| !byte.is_ascii_alphabetic())?;
    if !name[end..].starts_with(b":]") {
        return None;
    }
    let class: Class = match &name[..end] {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    };
    Some(Some((class, 2 + end + 2)))
}

/// One byte: itself, `\x` with escapes, or the forms `[.x.]` and `[=x=]`, which have one byte in
/// the C locale.
fn parse_member(text: &[u8], syntax: BracketSyntax) -> Option<(u8, usize)> {
    match text {
        [b'[', b'.', byte, b'.', b']', ..] | [b'[', b'=', byte, b'=', b']', ..] => Some((*byte, 5)),
        [b'\\', byte, ..] if syntax.escapes => Some((*byte, 2)),
        [b'\\'] if syntax.escapes => None,
        [byte, ..] => Some((*byte, 1)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_name_the_bytes_that_c_has_in_them() {
        /// The text, whether it has escapes, the members and the length.
        type Case = (&'static str, bool, Option<(&'static str, usize)>);
        let cases: &[Case] = &[
            ("abc]x", true, Some(("abc", 4))),
            ("]a]", true, Some(("]a", 3))),
            ("a-c-]", true, Some(("abc-", 5))),
            ("-a]", true, Some(("-a", 3))),
            ("z-a]", true, Some(("", 4))),
            ("\\]a]", true, Some(("]a", 4))),
            ("\\]a]", false, Some(("\\", 2))),
            ("[:digit:]_]", true, Some(("0123456789_", 11))),
            ("[.-.][=x=]]", true, Some(("-x", 11))),
            ("[:digits:]]", true, None),
            ("abc", true, None),
            ("", true, None),
            ("]", true, None),
        ];
        for &(text, escapes, expected) in cases {
            let syntax = BracketSyntax {
                exclamation_negates: true,
                escapes,
            };
            let found = parse_bracket(text.as_bytes(), syntax);
            let expected = expected.map(|(members, len)| {
                let mut set = ByteSet::default();
                members.bytes().for_each(|byte| set.insert(byte));
                (set, len)
            });
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn negation_begins_with_a_caret_or_in_wildcards_with_an_exclamation_mark() {
        for (text, exclamation_negates, contains_b) in [
            ("^a]", false, true),
            ("!a]", true, true),
            ("!a]", false, false),
        ] {
            let syntax = BracketSyntax {
                exclamation_negates,
                escapes: false,
            };
            let (set, _) = parse_bracket(text.as_bytes(), syntax).unwrap();
            assert_eq!(set.contains(b'b'), contains_b, "{text}");
        }
    }
}
