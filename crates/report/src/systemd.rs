//! Words in units of systemd.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

/// A word as systemd.syntax(7) quotes it, whatever its bytes.
///
/// * `dollar`: what stands for `$`: a command line expands variables.
pub fn escaped(word: &OsStr, dollar: &str) -> String {
    let mut text = String::from("\"");
    for &byte in word.as_bytes() {
        match byte {
            b'%' => text.push_str("%%"),
            b'$' => text.push_str(dollar),
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {
                let _infallible = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_bytes_are_one_word_of_a_unit() {
        for (word, expected) in [
            (&b"/a b"[..], r#""/a b""#),
            (b"100%", r#""100%%""#),
            (b"$HOME", r#""$$HOME""#),
            (br#"a"b\c"#, r#""a\"b\\c""#),
            (b"\n\xff", r#""\x0a\xff""#),
        ] {
            assert_eq!(escaped(OsStr::from_bytes(word), "$$"), expected);
        }
    }
}
