//! Lines of mksquashfs: `PATH PRIORITY`.

use std::ops::RangeInclusive;

use coldpress_trace::Excerpt;

use super::{SortEntry, is_space, split_number, trim_end, trim_start};
use crate::error::SortRule;

/// The priorities that there are.
pub(super) const PRIORITIES: RangeInclusive<i64> = -32_768..=32_767;
/// Bytes of a line without its line feed.
pub(super) const LINE_BYTES_MAX: usize = 16_383;

/// Reads a line; `None` if it is blank or a comment.
///
/// A backslash takes the meaning from the character behind it, so a path can have spaces. `DIR/*`
/// is `DIR`.
pub(super) fn parse(text: &[u8]) -> Result<Option<SortEntry>, SortRule> {
    if text.len() > LINE_BYTES_MAX {
        return Err(SortRule::TooLong {
            len_bytes: text.len(),
            max_bytes: LINE_BYTES_MAX,
        });
    }
    let text = trim_start(text);
    if text.starts_with(b"#") {
        return Ok(None);
    }
    let (mut path, rest) = split_path(text);
    if path.is_empty() {
        return Ok(None); // So does the tool, also for a backslash alone.
    }
    let Some((priority, rest)) = split_number(trim_start(rest), b"+-") else {
        return Err(SortRule::NoPriorityBehind(Excerpt::new(text)));
    };
    if !trim_end(rest).is_empty() {
        return Err(SortRule::Trailing(Excerpt::new(trim_start(rest))));
    }
    if !PRIORITIES.contains(&priority) {
        return Err(SortRule::Priority {
            min: *PRIORITIES.start(),
            max: *PRIORITIES.end(),
        });
    }
    if path.ends_with(b"/*") {
        path.truncate(path.len() - 2);
    }
    Ok(Some(SortEntry {
        line: 0,
        path,
        priority,
        flags: Vec::new(),
    }))
}

/// The path without its escapes, and what follows it.
fn split_path(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut path = Vec::new();
    let mut bytes = text.iter();
    loop {
        let rest = bytes.as_slice();
        match bytes.next() {
            Some(b'\\') => path.extend(bytes.next()),
            Some(&byte) if !is_space(byte) => path.push(byte),
            _ => return (path, rest),
        }
    }
}

/// The line for an entry.
pub(super) fn spell(entry: &SortEntry) -> Vec<u8> {
    let mut text = Vec::with_capacity(entry.path.len() + 8);
    for &byte in &entry.path {
        if is_space(byte) || byte == b'\\' || byte == b'#' && text.is_empty() {
            text.push(b'\\');
        }
        text.push(byte);
    }
    // The source itself; and a file of the name `*`, which only the second `/*` protects.
    if entry.path.is_empty() || entry.path.ends_with(b"/*") {
        text.extend_from_slice(b"/*");
    }
    text.extend_from_slice(format!(" {}", entry.priority).as_bytes());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line, and its path and priority.
    type Case<'a> = (&'a [u8], Option<(&'a [u8], i64)>);

    #[test]
    fn lines_are_read_as_mksquashfs_does() {
        let cases: &[Case<'_>] = &[
            (b"c 100", Some((b"c", 100))),
            (b"  a\t+7 \r", Some((b"a", 7))),
            (b"a/b\x0b-32768", Some((b"a/b", -32_768))),
            (b"sp\\ ace 1", Some((b"sp ace", 1))),
            (b"\\c\\\\ 9", Some((b"c\\", 9))),
            (b"\\#x 9", Some((b"#x", 9))),
            (b"dir/* 5", Some((b"dir", 5))),
            (b"dir/*/* 5", Some((b"dir/*", 5))),
            (b"/* 5", Some((b"", 5))),
            (b"* 5", Some((b"*", 5))),
            (b"a 007", Some((b"a", 7))),
            (b"\xff 1", Some((b"\xff", 1))),
            (b"", None),
            (b" \t", None),
            (b"\\", None),
            (b"  # c 1", None),
        ];
        for (text, expected) in cases {
            let entry = parse(text).expect("legal");
            let found = entry
                .as_ref()
                .map(|entry| (entry.path.as_slice(), entry.priority));
            assert_eq!(found, *expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn lines_are_refused_as_mksquashfs_does() {
        let cases = [
            ("a", "no priority follows the path"),
            ("sp ace 1", "no priority follows the path"),
            ("a -", "no priority follows the path"),
            ("a x1", "no priority follows the path"),
            ("a 0x10", "`x10` follows the priority"),
            ("a 7 8", "`8` follows the priority"),
            ("a 32768", "priorities are from -32768 to 32767"),
            (
                "a -99999999999999999999",
                "priorities are from -32768 to 32767",
            ),
            ("a 4294967297", "priorities are from -32768 to 32767"),
        ];
        for (text, message) in cases {
            let error = parse(text.as_bytes()).expect_err(message).to_string();
            assert!(error.contains(message), "{error}\nlacks {message}");
        }
        let longest = [&[b'a'; LINE_BYTES_MAX - 2][..], b" 1"].concat();
        assert!(parse(&longest).is_ok());
        let rule = parse(&[b"a", longest.as_slice()].concat()).expect_err("too long");
        assert!(rule.to_string().contains("limit is 16383"), "{rule}");
    }
}
