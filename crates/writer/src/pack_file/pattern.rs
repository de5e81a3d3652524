//! Shell patterns, as `fnmatch` of POSIX defines them for bytes.

use super::entry::PackPattern;

/// Whether a file of this path in the image, without its first slash, is meant.
pub(super) fn matches(pattern: &PackPattern, path: &[u8]) -> bool {
    match pattern {
        PackPattern::Name(pattern) => {
            let name = path.rsplit(|&byte| byte == b'/').next();
            is_match(pattern, name.unwrap_or_default())
        }
        // As only slashes match slashes, the names match one by one.
        PackPattern::Path(pattern) => {
            let mut patterns = pattern.split(|&byte| byte == b'/');
            let mut names = path.split(|&byte| byte == b'/');
            loop {
                match (patterns.next(), names.next()) {
                    (None, None) => return true,
                    (Some(pattern), Some(name)) if is_match(pattern, name) => {}
                    _ => return false,
                }
            }
        }
    }
}

/// # Cost
///
/// Bytes of the pattern times bytes of the text: after a mismatch only the last `*` takes another
/// byte.
fn is_match(pattern: &[u8], text: &[u8]) -> bool {
    let (mut rest, mut at) = (pattern, 0);
    // The pattern behind the last `*` and where the text goes on behind what that took.
    let mut star: Option<(&[u8], usize)> = None;
    loop {
        if let [b'*', after @ ..] = rest {
            star = Some((after, at));
            rest = after;
        } else if at == text.len() && rest.is_empty() {
            return true;
        } else if let Some(after) = text.get(at).and_then(|&byte| one(rest, byte)) {
            rest = after;
            at += 1;
        } else if let Some((after, taken)) = star
            && taken < text.len()
        {
            star = Some((after, taken + 1));
            (rest, at) = (after, taken + 1);
        } else {
            return false;
        }
    }
}

/// The pattern behind its first element, if that matches the byte.
fn one(pattern: &[u8], byte: u8) -> Option<&[u8]> {
    match pattern {
        [b'?', rest @ ..] => Some(rest),
        [b'[', after @ ..] => match bracket(after, byte) {
            Some((is_in, rest)) => is_in.then_some(rest),
            // Nothing closes it, so it means itself.
            None => (byte == b'[').then_some(after),
        },
        [b'\\', escaped, rest @ ..] => (*escaped == byte).then_some(rest),
        [first, rest @ ..] => (*first == byte).then_some(rest),
        [] => None,
    }
}

/// Whether a byte is in the set behind a `[`, and the pattern behind the set's `]`.
fn bracket(set: &[u8], byte: u8) -> Option<(bool, &[u8])> {
    let (is_negated, mut rest) = match set {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, set),
    };
    let mut is_in = false;
    let mut is_first = true;
    loop {
        rest = match rest {
            [b']', after @ ..] if !is_first => return Some((is_in != is_negated, after)),
            [b'[', b':', after @ ..] if after.windows(2).any(|two| two == b":]") => {
                let end = after.windows(2).position(|two| two == b":]")?;
                is_in |= is_of_class(&after[..end], byte);
                &after[end + 2..]
            }
            _ => {
                let (low, after) = member(rest)?;
                match after {
                    [b'-', end @ ..] if !matches!(end, [] | [b']', ..]) => {
                        let (high, after) = member(end)?;
                        is_in |= (low..=high).contains(&byte);
                        after
                    }
                    _ => {
                        is_in |= low == byte;
                        after
                    }
                }
            }
        };
        is_first = false;
    }
}

/// One byte of a set, which a `\` may precede.
fn member(set: &[u8]) -> Option<(u8, &[u8])> {
    match set {
        [b'\\', byte, rest @ ..] | [byte, rest @ ..] => Some((*byte, rest)),
        [] => None,
    }
}

fn is_of_class(class: &[u8], byte: u8) -> bool {
    match class {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => crate::description::is_space(byte),
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_the_shell() {
        let cases = [
            ("*.so.*", "libc.so.6", true),
            ("*.so", "libc.so.6", false),
            ("*", "", true),
            ("a*b*c", "aXbYbZc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]]", "]", true),
            ("[a-]", "-", true),
            ("[[:digit:]x]", "7", true),
            ("[\\]]", "]", true),
            ("[ab", "[ab", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("", "", true),
            ("", "a", false),
        ];
        for (pattern, text, expected) in cases {
            let found = is_match(pattern.as_bytes(), text.as_bytes());
            assert_eq!(found, expected, "{pattern} {text}");
        }
    }

    #[test]
    fn only_slashes_match_slashes_of_paths() {
        let cases = [
            ("lib/*.so", "lib/a.so", true),
            ("lib/*", "lib/a/b", false),
            ("*", "lib/a", false),
            ("*/?/b", "lib/a/b", true),
            ("lib[/]a", "lib/a", false),
        ];
        for (pattern, path, expected) in cases {
            let pattern = PackPattern::Path(pattern.into());
            assert_eq!(
                matches(&pattern, path.as_bytes()),
                expected,
                "{pattern:?} {path}"
            );
        }
        assert!(matches(&PackPattern::Name(b"b*".into()), b"lib/bc"));
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = b"*a".repeat(2000);
        assert!(!is_match(&pattern, &b"a".repeat(1999)));
    }
}
