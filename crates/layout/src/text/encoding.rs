//! Lines of the section `[packing]`: `level 9 0-3,7 /usr/bin/python3`.

use std::fmt;
use std::ops::RangeInclusive;

use coldpress_trace::Excerpt;

use super::read_path;
use crate::block_encoding::{BlockEncoding, EncodingRule};
use crate::error::PlanRule;

const EXPECTED: &str = "`stored PATH`, `level N PATH` or `default PATH`, with blocks such as \
                        `0-3,7,12-` before the path to limit it to them";

/// Reads a line.
pub(super) fn parse(text: &[u8]) -> Result<EncodingRule, PlanRule> {
    let unexpected = || PlanRule::Unexpected {
        found: Excerpt::new(text),
        expected: EXPECTED,
    };
    // No word before the path has a slash.
    let slash = text.iter().position(|&byte| byte == b'/');
    let (words, path) = text.split_at(slash.ok_or_else(unexpected)?);
    let words = str::from_utf8(words).ok();
    let words = words
        .and_then(|words| words.strip_suffix(' '))
        .ok_or_else(unexpected)?;
    let mut words = words.split(' ');
    let encoding = match words.next() {
        Some("stored") => BlockEncoding::Stored,
        Some("default") => BlockEncoding::Default,
        Some("level") => {
            let level = words.next().and_then(|level| level.parse().ok());
            BlockEncoding::Level(level.ok_or_else(unexpected)?)
        }
        _ => return Err(unexpected()),
    };
    let blocks = match words.next() {
        Some(ranges) => ranges
            .split(',')
            .map(parse_range)
            .collect::<Option<_>>()
            .ok_or_else(unexpected)?,
        None => Vec::new(),
    };
    if words.next().is_some() {
        return Err(unexpected());
    }
    Ok(EncodingRule {
        path: read_path(path)?,
        encoding,
        blocks,
    })
}

/// `7`, `0-3` or `12-`.
fn parse_range(text: &str) -> Option<RangeInclusive<u64>> {
    // Rust reads a sign, too.
    if !text.starts_with(|first: char| first.is_ascii_digit()) || text.contains('+') {
        return None;
    }
    let (first, last) = match text.split_once('-') {
        None => (text.parse().ok()?, text.parse().ok()?),
        Some((first, "")) => (first.parse().ok()?, u64::MAX),
        Some((first, last)) => (first.parse().ok()?, last.parse().ok()?),
    };
    (first <= last).then_some(first..=last)
}

/// What stands before the path of a rule, with the space between.
pub(super) struct Words<'a>(pub(super) &'a EncodingRule);

impl fmt::Display for Words<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.encoding {
            BlockEncoding::Default => formatter.write_str("default ")?,
            BlockEncoding::Stored => formatter.write_str("stored ")?,
            BlockEncoding::Level(level) => write!(formatter, "level {level} ")?,
        }
        for (range, place) in self.0.blocks.iter().zip(0..) {
            let comma = if place == 0 { "" } else { "," };
            match (*range.start(), *range.end()) {
                (first, last) if first == last => write!(formatter, "{comma}{first}")?,
                (first, u64::MAX) => write!(formatter, "{comma}{first}-")?,
                (first, last) => write!(formatter, "{comma}{first}-{last}")?,
            }
        }
        formatter.write_str(if self.0.blocks.is_empty() { "" } else { " " })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(rule: &EncodingRule) -> String {
        format!("{}{}", Words(rule), coldpress_trace::PathText(&rule.path))
    }

    #[test]
    fn rules_are_read_and_written_alike() {
        let lines = [
            "stored /a",
            "default 3 /a b/stored 1 /c",
            "level 9 0-3,7,12- /usr/bin/python3.11",
            "level -7 18446744073709551615 /",
        ];
        for line in lines {
            let rule = parse(line.as_bytes()).expect(line);
            assert_eq!(spelled(&rule), line);
        }
        let rule = parse(b"level 9 0-3,7,12- /f").expect("legal");
        assert_eq!(rule.blocks, [0..=3, 7..=7, 12..=u64::MAX]);
    }

    #[test]
    fn other_lines_are_refused() {
        let lines = [
            "/a",
            "stored",
            "stored/a",
            "stored  /a",
            "Stored /a",
            "level /a",
            "level 9/a",
            "level x /a",
            "level 2147483648 /a",
            "stored 3-1 /a",
            "stored -3 /a",
            "stored +3 /a",
            "stored 1-+3 /a",
            "stored 1,,2 /a",
            "stored 1 2 /a",
            "stored 18446744073709551616 /a",
            " stored /a",
        ];
        for line in lines {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
