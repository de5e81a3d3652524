//! A line of the program's output.

use std::mem;

use regex::bytes::{Regex, RegexBuilder};

/// A longer line is looked at in pieces of this size, so that memory is bounded.
const LINE_BYTES: usize = 64 << 10;

/// What a line must match, somewhere in it.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// A regular expression in the syntax of the crate `regex`, on bytes.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let built = RegexBuilder::new(text).unicode(false).build();
        built.map(Self).map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            format!(
                "it is no regular expression: {}",
                last.trim_start_matches("error: ")
            )
        })
    }

    /// The regular expression.
    pub fn text(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Pattern {}

/// The lines of one stream, until one matches.
#[derive(Debug)]
pub(in crate::launch) struct Lines {
    pattern: Regex,
    /// The line that has no end yet.
    line: Vec<u8>,
    found: bool,
}

impl Lines {
    pub(in crate::launch) fn new(pattern: &Pattern) -> Self {
        Self {
            pattern: pattern.0.clone(),
            line: Vec::new(),
            found: false,
        }
    }

    /// Whether a line matched.
    pub(in crate::launch) fn found(&self) -> bool {
        self.found
    }

    /// Takes what was written next. A line counts once it has its end: the first half of one can
    /// match what the whole does not.
    pub(in crate::launch) fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.found {
                return;
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.line.len() >= LINE_BYTES {
                let line = mem::take(&mut self.line);
                let line = line.strip_suffix(b"\n").unwrap_or(&line);
                self.found = self
                    .pattern
                    .is_match(line.strip_suffix(b"\r").unwrap_or(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, pieces: &[&[u8]]) -> bool {
        let mut lines = Lines::new(&Pattern::new(pattern).unwrap());
        for piece in pieces {
            lines.take(piece);
        }
        lines.found()
    }

    #[test]
    fn a_line_matches_when_it_has_its_end() {
        let cases: [(&str, &[&[u8]], bool); 11] = [
            ("ready", &[b"server ready\n"], true),
            ("ready", &[b"server ", b"rea", b"dy\n"], true),
            ("ready", &[b"server ready"], false),
            ("^server$", &[b"server", b" failed\n"], false),
            ("^server$", &[b"a\nserver\nb\n"], true),
            ("^server$", &[b"server\r\n"], true),
            ("^$", &[b"a\n\n"], true),
            ("a.b", &[b"a\nb\n"], false),
            ("a.b", &[b"a\xffb\n"], true),
            ("na\u{ef}ve", &["na\u{ef}ve\n".as_bytes()], true),
            ("(?i)LISTENING on [0-9]+", &[b"Listening on 80\n"], true),
        ];
        for (pattern, pieces, expected) in cases {
            assert_eq!(found(pattern, pieces), expected, "{pattern} in {pieces:?}");
        }
    }

    #[test]
    fn an_endless_line_takes_bounded_memory() {
        let mut lines = Lines::new(&Pattern::new("end").unwrap());
        for _ in 0..100 {
            lines.take(&vec![b'x'; 60_000]);
            assert!(lines.line.len() < LINE_BYTES + 60_000);
        }
        lines.take(b" end\n");
        assert!(lines.found());
    }

    #[test]
    fn a_wrong_pattern_is_explained() {
        let rule = Pattern::new("a(b").unwrap_err();
        assert_eq!(rule, "it is no regular expression: unclosed group");
    }
}
