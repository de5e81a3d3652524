//! The text file of a trace, read and written (docs/trace-format.md).
//!
//! The grammar is strict (no optional blanks, no leading zeros, a newline after every line), so
//! that a file that was read and written again is the same file, and a file cut short by a full
//! disk is noticed. The writer reads each line back before it passes it on: what this module
//! writes, it can read.

use std::io;

use crate::error::{Error, Rule};
use crate::event::Trace;
use crate::excerpt::Excerpt;
use crate::line::{check_key, parse_event, parse_field, spell_event, spell_field};
use crate::path_text::LINE_BYTES_MAX;

const FIRST_LINE: &str = "coldpress-trace 1";

impl Trace {
    /// Reads a trace from its text.
    ///
    /// # Errors
    ///
    /// [`Error::Line`] for the first line that breaks a rule of the format.
    ///
    /// # Cost
    ///
    /// Linear in the text; memory is proportional to it.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut lines = text.split_inclusive(|&byte| byte == b'\n').zip(1..);
        let first = lines.next().map_or(&b""[..], |(line, _)| line);
        check_first_line(first, FIRST_LINE).map_err(|rule| Error::Line { line: 1, rule })?;
        let mut trace = Self::default();
        for (text, line) in lines {
            trace
                .parse_line(text)
                .map_err(|rule| Error::Line { line, rule })?;
        }
        Ok(trace)
    }

    /// Writes the trace as text.
    ///
    /// # Errors
    ///
    /// Those of `out`; `InvalidInput` with an [`Error`] inside for a trace that breaks a rule of
    /// the format (times that decrease, pages that are no range, a relative path, a header key of
    /// other characters, a line that would be too long). Lines before it are written by then.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        out.write_all(FIRST_LINE.as_bytes())?;
        out.write_all(b"\n")?;
        let mut line = 1;
        let mut text = String::new();
        for (key, value) in &self.header.fields {
            line += 1;
            text.clear();
            spell_field(&mut text, key, value);
            check_key(key.as_bytes())
                .and_then(|()| check_len(text.as_bytes()))
                .map_err(|rule| invalid_input(line, rule))?;
            out.write_all(text.as_bytes())?;
            out.write_all(b"\n")?;
        }
        let mut previous_us = 0;
        for event in &self.events {
            line += 1;
            text.clear();
            spell_event(&mut text, event);
            check_len(text.as_bytes())
                .and_then(|()| parse_event(text.as_bytes(), previous_us))
                .map_err(|rule| invalid_input(line, rule))?;
            previous_us = event.time_us;
            out.write_all(text.as_bytes())?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Reads one line, with its newline.
    fn parse_line(&mut self, text: &[u8]) -> Result<(), Rule> {
        let text = text.strip_suffix(b"\n").ok_or(Rule::Unfinished)?;
        check_len(text)?;
        if text.starts_with(b"#") {
            if !self.events.is_empty() {
                return Err(Rule::LateHeader);
            }
            self.header.fields.push(parse_field(text)?);
        } else {
            let previous_us = self.events.last().map_or(0, |event| event.time_us);
            self.events.push(parse_event(text, previous_us)?);
        }
        Ok(())
    }
}

fn invalid_input(line: u64, rule: Rule) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, Error::Line { line, rule })
}

/// Checks the first line, with its newline.
pub(crate) fn check_first_line(line: &[u8], expected: &'static str) -> Result<(), Rule> {
    if line.strip_suffix(b"\n") == Some(expected.as_bytes()) {
        return Ok(());
    }
    let found = Excerpt::new(line.strip_suffix(b"\n").unwrap_or(line));
    Err(Rule::FirstLine { found, expected })
}

pub(crate) fn check_len(text: &[u8]) -> Result<(), Rule> {
    if text.len() > LINE_BYTES_MAX {
        return Err(Rule::TooLong {
            len_bytes: text.len(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Access, Event};

    #[test]
    fn every_broken_line_is_reported_with_its_number_and_what_belongs_there() {
        let cases: &[(&[u8], &str)] = &[
            (b"", "line 1: found ``, expected `coldpress-trace 1`"),
            (b"coldpress-trace 2\n", "line 1: found `coldpress-trace 2`"),
            (b"coldpress-trace 1\n1 2 L /", "line 2: has no newline"),
            (b"coldpress-trace 1\n\n", "line 2: time is ``"),
            (b"coldpress-trace 1\n01 2 L /\n", "line 2: time is `01`"),
            (
                b"coldpress-trace 1\n18446744073709551616 2 L /\n",
                "time is `18446744073709551616`",
            ),
            (
                b"coldpress-trace 1\n1 +2 L /\n",
                "process is `+2`, expected a decimal",
            ),
            (
                b"coldpress-trace 1\n1 4294967296 L /\n",
                "process is `4294967296`",
            ),
            (
                b"coldpress-trace 1\n1 2 X /\n",
                "kind is `X`, expected R, F, M, L or D",
            ),
            (
                b"coldpress-trace 1\n1 2 R 3 /\n",
                "pages is `3`, expected FIRST-LAST",
            ),
            (
                b"coldpress-trace 1\n1 2 R 3-2 /\n",
                "pages are 3-2, expected first not above last",
            ),
            (
                b"coldpress-trace 1\n1 2 F 4503599627370496 /\n",
                "both below 4503599627370496",
            ),
            (
                b"coldpress-trace 1\n1 2 L usr\n",
                "path, byte 0 of the text: a path begins with",
            ),
            (
                b"coldpress-trace 1\n1 2 L /\\q\n",
                "path, byte 1 of the text: unknown escape",
            ),
            (
                b"coldpress-trace 1\n5 2 L /\n4 2 L /\n",
                "line 3: time is 4, before 5",
            ),
            (
                b"coldpress-trace 1\n5 2 L /\n# a: b\n",
                "line 3: a header line after the first",
            ),
            (
                b"coldpress-trace 1\n#a: b\n",
                "line 2: header line is `#a: b`, expected `# key: v",
            ),
            (b"coldpress-trace 1\n# A: b\n", "line 2: key is `A`"),
            (
                b"coldpress-trace 1\n# a: \\xff\n",
                "value, byte 0 of the text: not UTF-8",
            ),
        ];
        for (text, message) in cases {
            let error = Trace::parse(text).expect_err(message).to_string();
            assert!(error.contains(message), "{error}\nlacks {message}");
        }
    }

    #[test]
    fn a_line_of_64_kib_is_read_and_a_longer_one_is_not() {
        let mut text = b"coldpress-trace 1\n0 0 L /".to_vec();
        text.resize(FIRST_LINE.len() + 1 + LINE_BYTES_MAX, b'a');
        text.push(b'\n');
        assert_eq!(
            Trace::parse(&text).expect("fits").events[0].path.len(),
            LINE_BYTES_MAX - 6
        );
        text.insert(text.len() - 1, b'a');
        let rule = Rule::TooLong {
            len_bytes: LINE_BYTES_MAX + 1,
        };
        assert_eq!(Trace::parse(&text), Err(Error::Line { line: 2, rule }));
    }

    /// Header fields, events, the error.
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [Event], &'a str);

    #[test]
    fn a_trace_that_could_not_be_read_back_is_not_written() {
        let event = |time_us, access, path: &[u8]| Event {
            time_us,
            pid: 1,
            access,
            path: path.into(),
        };
        let cases: &[Case<'_>] = &[
            (&[("a: b", "")], &[], "line 2: key is `a: b`"),
            (&[("", "")], &[], "line 2: key is ``"),
            (
                &[],
                &[event(0, Access::Lookup, b"usr")],
                "line 2: path, byte 0",
            ),
            (
                &[],
                &[event(
                    0,
                    Access::Read {
                        first_page: 2,
                        last_page: 1,
                    },
                    b"/",
                )],
                "pages are 2-1",
            ),
            (
                &[],
                &[event(0, Access::Lookup, &vec![b'/'; LINE_BYTES_MAX])],
                "has 65542 bytes",
            ),
            (
                &[("a", "")],
                &[event(1, Access::List, b"/"), event(0, Access::List, b"/")],
                "line 4: time is 0, before 1",
            ),
        ];
        for (fields, events, message) in cases {
            let fields = fields
                .iter()
                .map(|&(key, value)| (key.into(), value.into()))
                .collect();
            let trace = Trace {
                header: crate::Header { fields },
                events: events.to_vec(),
            };
            let error = trace.write(&mut Vec::new()).expect_err(message);
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(
                error.to_string().contains(message),
                "{error}\nlacks {message}"
            );
        }
    }
}
