//! Lines of gensquashfs: `PRIORITY [FLAGS] PATH`.

use std::ops::RangeInclusive;

use coldpress_trace::Excerpt;

use super::{SortEntry, SortFlag, is_space, split_number, trim_end, trim_start};
use crate::error::SortRule;

/// The priorities that the tool reads: of 64 bits, but for the ends.
pub(super) const PRIORITIES: RangeInclusive<i64> = -(i64::MAX - 1)..=i64::MAX - 1;

/// Reads a line; `None` if it is blank or a comment.
///
/// The path reaches to the end of the line, spaces included; or it stands in quotation marks,
/// where a backslash precedes a quotation mark or a backslash. Slashes at its ends, repeated
/// slashes and `.` are left out.
pub(super) fn parse(text: &[u8]) -> Result<Option<SortEntry>, SortRule> {
    let text = trim_end(trim_start(text));
    if text.is_empty() || text.starts_with(b"#") {
        return Ok(None);
    }
    let Some((priority, rest)) = split_number(text, b"-") else {
        return Err(SortRule::NoPriorityBefore(Excerpt::new(text)));
    };
    if !PRIORITIES.contains(&priority) {
        return Err(SortRule::Priority {
            min: *PRIORITIES.start(),
            max: *PRIORITIES.end(),
        });
    }
    let (flags, path) = split_flags(after_space(rest)?)?;
    let path = match path.strip_prefix(b"\"") {
        Some(quoted) => &unquote(quoted)?,
        None => path,
    };
    Ok(Some(SortEntry {
        line: 0,
        path: canonical(path)?,
        priority,
        flags,
    }))
}

/// What follows at least one space, which must be something.
fn after_space(text: &[u8]) -> Result<&[u8], SortRule> {
    let rest = trim_start(text);
    if rest.is_empty() || rest.len() == text.len() {
        return Err(SortRule::NoPath);
    }
    Ok(rest)
}

/// The flags in brackets, if there are any, and what follows.
fn split_flags(text: &[u8]) -> Result<(Vec<SortFlag>, &[u8]), SortRule> {
    let Some(text) = text.strip_prefix(b"[") else {
        return Ok((Vec::new(), text));
    };
    let end = text.iter().position(|&byte| byte == b']');
    let (words, rest) = text.split_at(end.ok_or(SortRule::OpenFlags)?);
    let words = words.split(|&byte| byte == b',');
    let words = words.map(|word| trim_end(trim_start(word)));
    let flag = |word: &[u8]| {
        let mut all = SortFlag::ALL.into_iter();
        let flag = all.find(|flag| flag.word().as_bytes() == word);
        flag.ok_or_else(|| SortRule::UnknownFlag(Excerpt::new(word)))
    };
    let flags = words.filter(|word| !word.is_empty()).map(flag);
    Ok((flags.collect::<Result<_, _>>()?, after_space(&rest[1..])?))
}

/// The text up to the closing quotation mark, which must be the end.
fn unquote(text: &[u8]) -> Result<Vec<u8>, SortRule> {
    let mut path = Vec::new();
    let mut bytes = text.iter();
    loop {
        match bytes.next() {
            None => return Err(SortRule::OpenQuote),
            Some(b'"') if bytes.as_slice().is_empty() => return Ok(path),
            Some(b'"') => return Err(SortRule::Trailing(Excerpt::new(bytes.as_slice()))),
            Some(b'\\') => match bytes.next() {
                Some(&byte @ (b'"' | b'\\')) => path.push(byte),
                _ => return Err(SortRule::UnknownEscape),
            },
            Some(&byte) => path.push(byte),
        }
    }
}

/// A path without what does not count in it.
fn canonical(path: &[u8]) -> Result<Vec<u8>, SortRule> {
    let names = path.split(|&byte| byte == b'/');
    let names: Vec<_> = names.filter(|name| !matches!(*name, b"" | b".")).collect();
    if names.contains(&&b".."[..]) {
        return Err(SortRule::DotDot);
    }
    Ok(names.join(&b'/'))
}

/// The line for an entry.
///
/// Quotation marks are never written: gensquashfs up to 1.3.1 leaves the closing one in the name,
/// which then matches nothing. A slash, which does not count, does the same.
pub(super) fn spell(entry: &SortEntry) -> Vec<u8> {
    let mut text = format!("{} ", entry.priority).into_bytes();
    if !entry.flags.is_empty() {
        let words: Vec<_> = entry.flags.iter().map(|flag| flag.word()).collect();
        text.extend_from_slice(format!("[{}] ", words.join(",")).as_bytes());
    }
    let (first, last) = (entry.path.first(), entry.path.last());
    let is_special = |byte: &u8| is_space(*byte) || matches!(byte, b'"' | b'[');
    if first.is_none_or(is_special) {
        text.push(b'/');
    }
    text.extend_from_slice(&entry.path);
    if last.is_some_and(|&byte| is_space(byte)) {
        text.push(b'/');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::SortFlag::{Align, DontCompress, Glob, GlobNoPath};
    use super::*;

    /// A line, and its priority, flags and path.
    type Case<'a> = (&'a [u8], Option<(i64, &'a [SortFlag], &'a [u8])>);

    #[test]
    fn lines_are_read_as_documented() {
        let cases: &[Case<'_>] = &[
            (b"5 a", Some((5, &[], b"a"))),
            (b"\t-5   a  b \r", Some((-5, &[], b"a  b"))),
            (b"05 /a//b/./c/", Some((5, &[], b"a/b/c"))),
            (b"5 a # c", Some((5, &[], b"a # c"))),
            (b"5 a \"b", Some((5, &[], b"a \"b"))),
            (b"5 a\\b", Some((5, &[], b"a\\b"))),
            (b"5 \" a \\\"b\\\\ \"", Some((5, &[], b" a \"b\\ "))),
            (b"1 [] a", Some((1, &[], b"a"))),
            (b"1 [ glob , ,align] a*", Some((1, &[Glob, Align], b"a*"))),
            (
                b"1 [glob,glob_no_path] [a]*",
                Some((1, &[Glob, GlobNoPath], b"[a]*")),
            ),
            (b"1 [dont_compress]\t[x", Some((1, &[DontCompress], b"[x"))),
            (b"9223372036854775806 a", Some((i64::MAX - 1, &[], b"a"))),
            (b"5 /", Some((5, &[], b""))),
            (b"", None),
            (b" \t\r", None),
            (b"  # 5 a", None),
        ];
        for (text, expected) in cases {
            let entry = parse(text).expect("legal");
            let found = entry.as_ref().map(|entry| {
                (
                    entry.priority,
                    entry.flags.as_slice(),
                    entry.path.as_slice(),
                )
            });
            assert_eq!(found, *expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn lines_are_refused_as_gensquashfs_does() {
        let cases = [
            ("a 5", "begins with the priority"),
            ("+5 a", "begins with the priority"),
            ("5", "no path follows"),
            ("0x5 a", "no path follows"),
            ("5 [glob]", "no path follows"),
            ("5 []a", "no path follows"),
            ("5 [glob a", "no `]`"),
            ("5 [foo] a", "unknown flag `foo`"),
            ("5 \"a", "no closing quotation mark"),
            ("5 \"a\" b", "` b` follows"),
            ("5 \"a\\x\"", "unknown escape"),
            ("5 a/../b", "`..`"),
            (
                "9223372036854775807 a",
                "priorities are from -9223372036854775806",
            ),
            (
                "-9223372036854775808 a",
                "priorities are from -9223372036854775806",
            ),
        ];
        for (text, message) in cases {
            let error = parse(text.as_bytes()).expect_err(message).to_string();
            assert!(error.contains(message), "{error}\nlacks {message}");
        }
    }
}
