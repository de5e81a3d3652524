//! The text file of a profile, read and written (docs/profile-format.md).
//!
//! As strict as that of a trace, for the same reasons.

use std::io;

use super::line::{RUNS_MAX, parse_file, parse_steps, spell_file, spell_metadata, spell_runs};
use super::{Profile, Step};
use crate::error::{Error, Rule};
use crate::excerpt::Excerpt;
use crate::line::{check_key, parse_field, parse_number, spell_field};
use crate::text::{check_first_line, check_len};

const FIRST_LINE: &str = "coldpress-profile 1";
/// Linux has no longer paths.
const PATH_BYTES_MAX: usize = 4096;
/// The key of the header line that every profile begins with.
pub(super) const RECORDINGS: &str = "recordings";

const LATE_HEADER: Rule =
    Rule::Misplaced("a header line after other lines; header lines come first");
const LATE_STEP: Rule = Rule::Misplaced("a step after a file line; file lines come last");
const FILE_ORDER: Rule =
    Rule::Misplaced("a path not above that of the line before; file lines ascend by path");

impl Profile {
    /// Reads a profile from its text.
    ///
    /// # Errors
    ///
    /// [`Error::ProfileLine`] for the first line that breaks a rule of the format.
    ///
    /// # Cost
    ///
    /// Linear in the text; memory is proportional to it.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut lines = text.split_inclusive(|&byte| byte == b'\n').zip(1..);
        let fail = |line| move |rule| Error::ProfileLine { line, rule };
        let first = lines.next().map_or(&b""[..], |(line, _)| line);
        check_first_line(first, FIRST_LINE).map_err(fail(1))?;
        let second = lines.next().map_or(&b""[..], |(line, _)| line);
        let mut profile = Self {
            recordings: parse_recordings(second).map_err(fail(2))?,
            ..Self::default()
        };
        for (text, line) in lines {
            profile.parse_line(text).map_err(fail(line))?;
        }
        Ok(profile)
    }

    /// Writes the profile as text; a fault as a read of its page.
    ///
    /// # Errors
    ///
    /// Those of `out`; `InvalidInput` with an [`Error`] inside for a profile that breaks a rule of
    /// the format (no recordings, a step that more or none of them saw, pages that are no range, a
    /// relative path, a header key of other characters, a line that would be too long). Lines
    /// before it are written by then.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "{FIRST_LINE}")?;
        let mut writer = Writer {
            out,
            line: 1,
            text: String::new(),
        };
        let recordings = self.recordings.to_string();
        writer.line(
            |text| spell_field(text, RECORDINGS, &recordings),
            |text| parse_recordings(&[text, b"\n"].concat()).map(drop),
        )?;
        for (key, value) in &self.header.fields {
            writer.line(
                |text| spell_field(text, key, value),
                |_| check_key(key.as_bytes()),
            )?;
        }
        for steps in self.steps.chunk_by(is_one_line) {
            for steps in steps.chunks(runs_in_line(steps)) {
                self.write_steps(steps, &mut writer)?;
            }
        }
        for (path, file) in &self.files {
            writer.line(
                |text| spell_file(text, file, path),
                |text| parse_file(text).map(drop),
            )?;
        }
        Ok(())
    }

    /// Writes the steps of one line.
    fn write_steps<W: io::Write>(
        &self,
        steps: &[Step],
        writer: &mut Writer<'_, W>,
    ) -> io::Result<()> {
        writer.line(
            |text| match steps {
                [step] if step.access.pages().is_none() => {
                    spell_metadata(text, step, self.recordings);
                }
                _ => spell_runs(text, steps, self.recordings),
            },
            |text| {
                let mut again = Vec::new();
                parse_steps(text, self.recordings, &mut again)
            },
        )
    }

    /// Reads one line, with its newline.
    fn parse_line(&mut self, text: &[u8]) -> Result<(), Rule> {
        let text = text.strip_suffix(b"\n").ok_or(Rule::Unfinished)?;
        check_len(text)?;
        if text.starts_with(b"#") {
            if !(self.steps.is_empty() && self.files.is_empty()) {
                return Err(LATE_HEADER);
            }
            self.header.fields.push(parse_field(text)?);
        } else if text.starts_with(b"file ") {
            let (path, file) = parse_file(text)?;
            let last = self.files.last_key_value();
            if last.is_some_and(|(last, _)| *last >= path) {
                return Err(FILE_ORDER);
            }
            self.files.insert(path, file);
        } else {
            if !self.files.is_empty() {
                return Err(LATE_STEP);
            }
            parse_steps(text, self.recordings, &mut self.steps)?;
        }
        Ok(())
    }
}

/// Whether two steps that follow each other stand in one line.
fn is_one_line(step: &Step, next: &Step) -> bool {
    step.access.pages().is_some() && next.access.pages().is_some() && step.path == next.path
}

/// How many runs of a file share a line: a long path leaves no room for more than one.
fn runs_in_line(steps: &[Step]) -> usize {
    let is_short = |step: &Step| step.path.len() <= PATH_BYTES_MAX;
    if steps.iter().all(is_short) {
        RUNS_MAX
    } else {
        1
    }
}

/// Reads the second line, with its newline.
fn parse_recordings(text: &[u8]) -> Result<u32, Rule> {
    let expected = "`# recordings: ` and a number from 1 to 4294967295";
    let unexpected = |found| Rule::Field {
        field: "second line",
        found: Excerpt::new(found),
        expected,
    };
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let number = line
        .strip_prefix(b"# recordings: ")
        .ok_or_else(|| unexpected(line))?;
    if line.len() == text.len() {
        return Err(Rule::Unfinished);
    }
    let count = parse_number(number, RECORDINGS, expected)?;
    let count = u32::try_from(count).ok().filter(|&count| count > 0);
    count.ok_or_else(|| unexpected(line))
}

/// Writes lines that can be read.
struct Writer<'out, W> {
    out: &'out mut W,
    /// The number of the line that was written last.
    line: u64,
    text: String,
}

impl<W: io::Write> Writer<'_, W> {
    fn line(
        &mut self,
        spell: impl FnOnce(&mut String),
        check: impl FnOnce(&[u8]) -> Result<(), Rule>,
    ) -> io::Result<()> {
        self.line += 1;
        self.text.clear();
        spell(&mut self.text);
        let text = self.text.as_bytes();
        check_len(text).and_then(|()| check(text)).map_err(|rule| {
            let line = self.line;
            io::Error::new(
                io::ErrorKind::InvalidInput,
                Error::ProfileLine { line, rule },
            )
        })?;
        self.out.write_all(text)?;
        self.out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests;
