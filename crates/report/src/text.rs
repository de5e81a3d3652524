//! Names, times, modes and tables as text. Names are bytes and may hold anything.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// How many of many alike things are named.
pub const NAMED_MAX: usize = 3;

/// A name in printable characters: control characters, bytes that are not UTF-8, and the
/// backslash stand as `\xNN`.
pub fn escaped(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for piece in name.utf8_chunks() {
        for character in piece.valid().chars() {
            if character.is_control() || character == '\\' {
                let mut bytes = [0; 4];
                escape_bytes(&mut text, character.encode_utf8(&mut bytes).as_bytes());
            } else {
                text.push(character);
            }
        }
        escape_bytes(&mut text, piece.invalid());
    }
    text
}

fn escape_bytes(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
}

/// Several lines in printable characters: bytes that are not UTF-8 and control characters, but for
/// line ends and tabs, stand as `\xNN`.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() && c != '\n' && c != '\t' {
                let _ = write!(text, "\\x{:02x}", u32::from(c));
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// A path in printable characters.
pub fn escaped_path(path: &Path) -> String {
    escaped(path.as_os_str().as_bytes())
}

/// A path in backticks, for messages.
pub fn quoted(path: &Path) -> String {
    quoted_bytes(path.as_os_str().as_bytes())
}

/// A name in backticks, for messages.
pub fn quoted_bytes(name: &[u8]) -> String {
    format!("`{}`", escaped(name))
}

/// Some of many names: `` `a`, `b`, `c` and 4 more ``.
pub fn some_of<'a>(names: impl ExactSizeIterator<Item = &'a [u8]>) -> String {
    let more = match names.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let quoted: Vec<String> = names.take(NAMED_MAX).map(quoted_bytes).collect();
    format!("{}{more}", quoted.join(", "))
}

/// A path as typed, made absolute inside the image: `usr//bin/.` is `/usr/bin`.
pub fn image_path(typed: &OsStr) -> Vec<u8> {
    let mut path = Vec::new();
    for component in typed.as_bytes().split(|byte| *byte == b'/') {
        if !component.is_empty() && component != b"." {
            path.push(b'/');
            path.extend_from_slice(component);
        }
    }
    if path.is_empty() { b"/".to_vec() } else { path }
}

/// The last component of an absolute path; `/` for the root.
pub fn base_name(path: &[u8]) -> &[u8] {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if name.is_empty() { path } else { name }
}

/// Names and values, a line each, the values below each other.
pub fn fields(rows: &[(&str, String)]) -> String {
    rows.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name:<12} {value}");
        text
    })
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// A name as a shell takes it for one word.
pub fn shell_word(name: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./+=:,@-%".contains(byte);
    // A leading `-` would be taken for a flag.
    let dashed = if name.starts_with(b"-") { "./" } else { "" };
    if !name.is_empty() && name.iter().all(plain) {
        return format!("{dashed}{}", String::from_utf8_lossy(name));
    }
    match std::str::from_utf8(name) {
        Ok(text) if !text.chars().any(char::is_control) => {
            format!("'{dashed}{}'", text.replace('\'', r"'\''"))
        }
        _ => {
            let hex = hex(name);
            let (bytes, _) = hex.as_bytes().as_chunks::<2>();
            let bytes = bytes.iter().map(|pair| String::from_utf8_lossy(pair));
            let bytes: Vec<_> = bytes.collect();
            format!("$'{dashed}\\x{}'", bytes.join("\\x"))
        }
    }
}

/// A time as ISO 8601 in UTC: `2026-01-31T23:59:59Z`.
pub fn iso_utc(time_s: u32) -> String {
    let (days, second) = (time_s / 86_400, time_s % 86_400);
    // Days to a date by eras of 400 years that begin on the first of March, so that the leap day
    // is the last of a year (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = year_of_era + era * 400 + u32::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Permissions as `ls -l` shows them: `rwxr-sr-t`.
pub fn permissions(mode: u16) -> String {
    let mut text = String::with_capacity(9);
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift;
        text.push(if bits & 4 == 0 { '-' } else { 'r' });
        text.push(if bits & 2 == 0 { '-' } else { 'w' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => letter,
            (true, false) => letter.to_ascii_uppercase(),
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

/// A sentence in lines of at most `width` characters, broken between words; longer words stay
/// whole.
pub fn wrapped(sentence: &str, width: Option<usize>) -> String {
    let width = width.unwrap_or(usize::MAX);
    let (mut text, mut used) = (String::with_capacity(sentence.len()), 0);
    for word in sentence.split(' ') {
        let len = word.chars().count();
        if used > 0 {
            let fits = used + 1 + len <= width;
            text.push(if fits { ' ' } else { '\n' });
            used = if fits { used + 1 } else { 0 };
        }
        text.push_str(word);
        used += len;
    }
    text
}

/// `1 file`, `2 files`.
pub fn plural(count: u64, one: &str, many: &str) -> String {
    let number = crate::units::count(count);
    format!("{number} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_printed_on_one_line_and_without_ambiguity() {
        for (name, text) in [
            (&b"plain name"[..], "plain name"),
            ("na\u{ef}ve".as_bytes(), "na\u{ef}ve"),
            (b"a\nb", "a\\x0ab"),
            (b"a\\x0a", "a\\x5cx0a"),
            (b"\xff\xfe", "\\xff\\xfe"),
            (b"\xc2\x9b31m", "\\xc2\\x9b31m"),
        ] {
            assert_eq!(escaped(name), text);
        }
    }

    #[test]
    fn names_are_one_word_for_a_shell() {
        for (name, word) in [
            (&b"a/rootfs-1.0.sqfs"[..], "a/rootfs-1.0.sqfs"),
            (b"-q", "./-q"),
            (b"two words", "'two words'"),
            (b"it's", r"'it'\''s'"),
            (b"a\nb", r"$'\x61\x0a\x62'"),
            (b"\xff", r"$'\xff'"),
            (b"$(x)", "'$(x)'"),
            ("na\u{ef}ve".as_bytes(), "'na\u{ef}ve'"),
        ] {
            assert_eq!(shell_word(name), word);
        }
    }

    #[test]
    fn sentences_are_broken_between_words() {
        for (width, text) in [
            (None, "one two three"),
            (Some(13), "one two three"),
            (Some(12), "one two\nthree"),
            (Some(1), "one\ntwo\nthree"),
        ] {
            assert_eq!(wrapped("one two three", width), text);
        }
    }

    #[test]
    fn typed_paths_become_absolute() {
        for (typed, path) in [
            ("", "/"),
            ("/", "/"),
            (".", "/"),
            ("usr//bin/.", "/usr/bin"),
            ("/a/", "/a"),
        ] {
            assert_eq!(image_path(OsStr::new(typed)), path.as_bytes(), "{typed}");
        }
        assert_eq!(base_name(b"/usr/bin"), b"bin");
        assert_eq!(base_name(b"/"), b"/");
    }

    #[test]
    fn times_are_dates_in_utc() {
        for (time_s, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (u32::MAX, "2106-02-07T06:28:15Z"),
        ] {
            assert_eq!(iso_utc(time_s), text);
        }
    }

    #[test]
    fn permissions_read_as_ls_shows_them() {
        for (mode, text) in [
            (0o000, "---------"),
            (0o755, "rwxr-xr-x"),
            (0o4755, "rwsr-xr-x"),
            (0o4644, "rwSr--r--"),
            (0o2755, "rwxr-sr-x"),
            (0o1777, "rwxrwxrwt"),
            (0o7000, "--S--S--T"),
        ] {
            assert_eq!(permissions(mode), text);
        }
    }

    #[test]
    fn hostile_bytes_become_printable() {
        let cases: [(&[u8], &str); 4] = [
            (b"plain text", "plain text"),
            (b"a\xff\xfeb", r"a\xff\xfeb"),
            (b"\x1b[2Jgone\r\n", "\\x1b[2Jgone\\x0d\n"),
            ("\u{e9}\u{9b}".as_bytes(), "\u{e9}\\x9b"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(printable(bytes), expected);
        }
    }
}
