//! POSIX extended regular expressions, as `regcomp(3)` of glibc reads them in the C locale.
//!
//! They are translated to the syntax of the `regex` crate. Where the two differ: POSIX has no
//! escapes and no set operations in brackets, no lazy quantifiers (`a+?` is `(a+)?`), `{,3}` begins
//! at 0, a backslash before a letter without a meaning is nothing, a closing parenthesis without an
//! opening one is itself. Back references, an extension of glibc, are refused: they cannot be
//! matched in linear time.

use coldpress_glob::{BracketSyntax, ByteSet, parse_bracket};
use std::fmt::Write as _;

use regex::bytes::{Regex, RegexBuilder};

use super::check_length;
use crate::error::{Error, shown};

/// Compiles an extended regular expression, which matches anywhere in bytes.
///
/// # Errors
///
/// [`Error::Value`] for a bracket that is not closed, a back reference, a backslash at the end or
/// more than 16 KiB;
/// [`Error::Regex`] for what else is wrong.
pub(crate) fn compile(pattern: &[u8]) -> Result<Regex, Error> {
    const WHAT: &str = "regular expression";
    check_length(WHAT, pattern)?;
    let translated = translate(pattern).map_err(|rule| Error::value(WHAT, pattern, rule))?;
    RegexBuilder::new(&translated)
        .unicode(false)
        .dot_matches_new_line(true)
        .build()
        .map_err(|error| Error::Regex {
            pattern: shown(pattern),
            error: Box::new(error),
        })
}

/// The same expression in the syntax of the `regex` crate.
fn translate(pattern: &[u8]) -> Result<String, &'static str> {
    let mut translation = Translation::default();
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        let rest = &pattern[at..];
        match byte {
            b'[' => {
                let syntax = BracketSyntax {
                    exclamation_negates: false,
                    escapes: false,
                };
                let (set, len) = parse_bracket(rest, syntax)
                    .ok_or("a bracket expression is wrong or not closed")?;
                translation.atom(&class(&set));
                at += len;
            }
            b'\\' => {
                translation.escaped(*rest.first().ok_or("it ends with a backslash")?)?;
                at += 1;
            }
            b'(' => translation.open(),
            b')' if translation.groups.is_empty() => translation.atom("\\)"),
            b')' => translation.close(),
            b'*' | b'+' | b'?' => translation.repeat(char::from(byte).encode_utf8(&mut [0; 4])),
            b'{' => {
                let len = rest.iter().position(|&byte| byte == b'}');
                let len = len.ok_or("a brace is not closed")?;
                translation.repeat(&interval(&rest[..len])?);
                at += len + 1;
            }
            b'|' | b'^' | b'$' => translation.operator(char::from(byte)),
            b'.' => translation.atom("."),
            byte => translation.literal(byte),
        }
    }
    Ok(translation.text)
}

/// What is translated so far.
#[derive(Default)]
struct Translation {
    text: String,
    /// Where the groups that are open begin.
    groups: Vec<usize>,
    /// Where the thing begins to which a quantifier would apply.
    atom: usize,
    /// Whether that has a quantifier already.
    is_repeated: bool,
}

impl Translation {
    fn atom(&mut self, text: &str) {
        self.atom = self.text.len();
        self.is_repeated = false;
        self.text.push_str(text);
    }

    fn literal(&mut self, byte: u8) {
        if byte.is_ascii_alphanumeric() {
            self.atom(char::from(byte).encode_utf8(&mut [0; 4]));
        } else {
            self.atom(&format!("\\x{byte:02x}"));
        }
    }

    fn operator(&mut self, operator: char) {
        self.atom = self.text.len();
        self.is_repeated = false;
        self.text.push(operator);
    }

    fn open(&mut self) {
        self.groups.push(self.text.len());
        self.operator('(');
    }

    fn close(&mut self) {
        self.text.push(')');
        self.atom = self.groups.pop().unwrap_or_default();
        self.is_repeated = false;
    }

    /// A second quantifier repeats the repetition: `(?:a+)?`.
    fn repeat(&mut self, quantifier: &str) {
        if self.is_repeated {
            self.text.insert_str(self.atom, "(?:");
            self.text.push(')');
        }
        self.text.push_str(quantifier);
        self.is_repeated = true;
    }

    fn escaped(&mut self, byte: u8) -> Result<(), &'static str> {
        match byte {
            b'w' | b'W' | b's' | b'S' | b'b' | b'B' | b'<' | b'>' => {
                self.atom(&format!("\\{}", char::from(byte)));
            }
            b'`' => self.atom("\\A"),
            b'\'' => self.atom("\\z"),
            b'1'..=b'9' => return Err("back references are not supported"),
            byte => self.literal(byte),
        }
        Ok(())
    }
}

/// `{2}`, `{2,}`, `{2,3}`, `{,3}` without the braces.
fn interval(text: &[u8]) -> Result<String, &'static str> {
    let rule = "braces must hold numbers: `{2}`, `{2,}`, `{2,3}` or `{,3}`";
    let text = str::from_utf8(text).map_err(|_| rule)?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (low, high) = text.split_once(',').unwrap_or((text, "0"));
    if !is_number(low) || !is_number(high) || text.is_empty() || text == "," {
        return Err(rule);
    }
    Ok(if low.is_empty() {
        format!("{{0{text}}}")
    } else {
        format!("{{{text}}}")
    })
}

fn class(set: &ByteSet) -> String {
    let mut text = String::from("[");
    for byte in (0..=u8::MAX).filter(|&byte| set.contains(byte)) {
        write!(text, "\\x{byte:02x}").expect("strings take everything");
    }
    text.push(']');
    // The crate takes an empty class for an error.
    if text == "[]" {
        text = String::from("[^\\x00-\\xff]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_mean_what_posix_says() {
        let cases: &[(&str, &str, bool)] = &[
            ("", "anything", true),
            ("b", "abc", true),
            ("^b", "abc", false),
            ("^a.c$", "abc", true),
            ("^a[.]c$", "abc", false),
            ("^[\\w]$", "\\", true),
            ("^[\\w]$", "x", false),
            ("^[a&&b]$", "&", true),
            ("^[]x]$", "]", true),
            ("^[[:upper:]]+$", "ABC", true),
            ("^a+?$", "", true),
            ("^(ab)+?c$", "c", true),
            ("^a{,2}$", "", true),
            ("^a{,2}$", "aaa", false),
            ("^a{2}$", "aa", true),
            ("^\\n$", "n", true),
            ("^a)$", "a)", true),
            ("^(a|)$", "", true),
            ("\\<c", "a c", true),
            ("\\.gz$", "a.gz", true),
            ("\\.gz$", "agz", false),
            ("^a b#c$", "a b#c", true),
        ];
        for &(pattern, text, expected) in cases {
            let regex = compile(pattern.as_bytes()).unwrap();
            assert_eq!(
                regex.is_match(text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn bytes_that_are_no_characters_are_matched_one_by_one() {
        assert!(compile(b"^.\xff$").unwrap().is_match(b"\xfe\xff"));
        assert!(
            compile("^..$".as_bytes())
                .unwrap()
                .is_match("\u{e9}".as_bytes())
        );
    }

    #[test]
    fn wrong_expressions_are_refused() {
        for pattern in ["[a", "(a", "*a", "a\\", "(a)\\1", "a{x}", "a{", "a{2,1}"] {
            assert!(compile(pattern.as_bytes()).is_err(), "{pattern}");
        }
    }
}
