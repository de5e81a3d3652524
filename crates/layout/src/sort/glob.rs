//! Patterns as `fnmatch(3)` takes them in the C locale: `*`, `?`, `[a-z]`, `[!a]`, `\*`.

/// Bytes from the first to the last.
type Range = (u8, u8);

/// One position of a pattern.
#[derive(Debug)]
enum Piece {
    /// `*`
    Any,
    /// What one byte must be.
    One(Class),
}

/// A set of bytes.
#[derive(Debug)]
enum Class {
    Byte(u8),
    /// `?`
    All,
    Set {
        negated: bool,
        ranges: Vec<Range>,
    },
}

/// A pattern, ready to be matched.
#[derive(Debug)]
pub(super) struct Glob {
    pieces: Vec<Piece>,
    /// Whether only a slash matches a slash.
    by_component: bool,
}

impl Glob {
    /// Reads a pattern. A bracket that is not closed stands for itself.
    pub(super) fn new(pattern: &[u8], by_component: bool) -> Self {
        let mut pieces = Vec::new();
        let mut rest = pattern;
        while let Some((&byte, behind)) = rest.split_first() {
            rest = behind;
            let class = match byte {
                b'*' => {
                    pieces.push(Piece::Any);
                    continue;
                }
                b'?' => Class::All,
                b'\\' => match behind.split_first() {
                    Some((&escaped, behind)) => {
                        rest = behind;
                        Class::Byte(escaped)
                    }
                    None => Class::Byte(b'\\'),
                },
                b'[' => match parse_set(behind, by_component) {
                    Some((set, behind)) => {
                        rest = behind;
                        set
                    }
                    None => Class::Byte(b'['),
                },
                byte => Class::Byte(byte),
            };
            pieces.push(Piece::One(class));
        }
        Self {
            pieces,
            by_component,
        }
    }

    /// Whether the whole of `text` fits.
    ///
    /// # Cost
    ///
    /// The product of both lengths at worst: only the last `*` is ever extended, because what an
    /// earlier one could take instead, the last can take as well.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let (mut piece, mut at) = (0, 0);
        // The piece behind the last `*`, and the end of what that takes.
        let mut star: Option<(usize, usize)> = None;
        loop {
            match (self.pieces.get(piece), text.get(at)) {
                (None, None) => return true,
                (Some(Piece::Any), _) => {
                    piece += 1;
                    star = Some((piece, at));
                    continue;
                }
                (Some(Piece::One(class)), Some(&byte)) if self.has(class, byte) => {
                    (piece, at) = (piece + 1, at + 1);
                    continue;
                }
                _ => {}
            }
            let Some((behind, end)) = star else {
                return false;
            };
            match text.get(end) {
                None => return false,
                Some(b'/') if self.by_component => return false,
                Some(_) => {}
            }
            star = Some((behind, end + 1));
            (piece, at) = (behind, end + 1);
        }
    }

    fn has(&self, class: &Class, byte: u8) -> bool {
        match class {
            Class::Byte(literal) => *literal == byte,
            _ if byte == b'/' && self.by_component => false,
            Class::All => true,
            Class::Set { negated, ranges } => {
                ranges
                    .iter()
                    .any(|&(first, last)| (first..=last).contains(&byte))
                    != *negated
            }
        }
    }
}

/// A set behind its opening bracket, and what follows the closing one.
fn parse_set(text: &[u8], by_component: bool) -> Option<(Class, &[u8])> {
    let negated = matches!(text.first(), Some(b'!' | b'^'));
    let mut rest = &text[usize::from(negated)..];
    let mut ranges = Vec::new();
    loop {
        // A bracket that comes first is an element.
        if let (Some(b']'), false) = (rest.first(), ranges.is_empty()) {
            return Some((Class::Set { negated, ranges }, &rest[1..]));
        }
        if let Some((named, behind)) = parse_named(rest) {
            ranges.extend(named);
            rest = behind;
            continue;
        }
        let (first, behind) = element(rest, by_component)?;
        rest = behind;
        let mut last = first;
        if let [b'-', beyond @ ..] = rest
            && beyond.first().is_some_and(|&byte| byte != b']')
        {
            (last, rest) = element(beyond, by_component)?;
        }
        ranges.push((first, last));
    }
}

/// One byte of a set. A slash ends the hope for a set where slashes separate.
fn element(text: &[u8], by_component: bool) -> Option<(u8, &[u8])> {
    match text {
        [b'\\', byte, rest @ ..] | [byte, rest @ ..] if !(by_component && *byte == b'/') => {
            Some((*byte, rest))
        }
        _ => None,
    }
}

/// `[:alpha:]` and its like.
fn parse_named(text: &[u8]) -> Option<(Vec<Range>, &[u8])> {
    let text = text.strip_prefix(b"[:")?;
    let end = text.windows(2).position(|pair| pair == b":]")?;
    let ranges: &[Range] = match &text[..end] {
        b"alpha" => &[(b'a', b'z'), (b'A', b'Z')],
        b"digit" => &[(b'0', b'9')],
        b"alnum" => &[(b'a', b'z'), (b'A', b'Z'), (b'0', b'9')],
        b"upper" => &[(b'A', b'Z')],
        b"lower" => &[(b'a', b'z')],
        b"xdigit" => &[(b'0', b'9'), (b'a', b'f'), (b'A', b'F')],
        b"blank" => &[(b' ', b' '), (b'\t', b'\t')],
        b"space" => &[(b' ', b' '), (b'\t', b'\r')],
        b"punct" => &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
        b"print" => &[(b' ', b'~')],
        b"graph" => &[(b'!', b'~')],
        b"cntrl" => &[(0, 0x1f), (0x7f, 0x7f)],
        _ => return None,
    };
    Some((ranges.to_vec(), &text[end + 2..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_fnmatch_does() {
        // Pattern, text, with components, without.
        let cases = [
            ("a", "a", true, true),
            ("a", "b", false, false),
            ("", "", true, true),
            ("*", "", true, true),
            ("*", "abc", true, true),
            ("*", "a/c", false, true),
            ("*/*", "a/c", true, true),
            ("a*c*e", "abcde", true, true),
            ("a*c*e", "abcdf", false, false),
            ("a*bc", "abbbc", true, true),
            ("**a", "bba", true, true),
            ("?", "/", false, true),
            ("a?c", "abc", true, true),
            ("[a-c]x", "bx", true, true),
            ("[a-c]x", "dx", false, false),
            ("[!a-c]x", "dx", true, true),
            ("[^a]", "a", false, false),
            ("[!a]", "/", false, true),
            ("[]]", "]", true, true),
            ("[!]]", "a", true, true),
            ("[a-]", "-", true, true),
            ("[\\]]", "]", true, true),
            ("[[:digit:]x]", "7", true, true),
            ("[[:digit:]x]", "x", true, true),
            ("[a", "[a", true, true),
            ("[a/b]", "[a/b]", true, false),
            ("[a/b]", "/", false, true),
            ("\\*", "*", true, true),
            ("\\*", "a", false, false),
            ("lib/*.so*", "lib/x.so.6", true, true),
            ("lib/*.so*", "lib/x/y.so", false, true),
        ];
        for (pattern, text, with, without) in cases {
            for (by_component, expected) in [(true, with), (false, without)] {
                let glob = Glob::new(pattern.as_bytes(), by_component);
                let found = glob.matches(text.as_bytes());
                assert_eq!(found, expected, "{pattern} {text} {by_component}");
            }
        }
    }

    #[test]
    fn a_pattern_of_many_stars_does_not_explode() {
        let glob = Glob::new(&b"*a".repeat(200), true);
        assert!(!glob.matches(&[b'a'; 199]));
        assert!(glob.matches(&[b'a'; 4000]));
    }
}
