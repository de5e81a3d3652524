//! The text file of a plan, read and written (docs/plan-format.md).
//!
//! People edit plans, so blank lines and comments are allowed, sections may stand in any order or
//! be absent, and the last line needs no newline. Paths are spelled as in traces.

mod encoding;
mod lint;

use std::io;

use coldpress_trace::{Excerpt, LINE_BYTES_MAX, PathText, parse_path};

use crate::block_encoding::EncodingRule;
use crate::error::{Error, PlanRule};
use crate::plan::{Plan, PlanItem};

const FIRST_LINE: &str = "coldpress-plan 1";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Data,
    Inodes,
    Directories,
    BlockEncoding,
}

impl Section {
    const ALL: [Self; 4] = [
        Self::Data,
        Self::Inodes,
        Self::Directories,
        Self::BlockEncoding,
    ];

    fn heading(self) -> &'static str {
        match self {
            Self::Data => "[data]",
            Self::Inodes => "[inodes]",
            Self::Directories => "[directories]",
            Self::BlockEncoding => "[packing]",
        }
    }
}

impl Plan {
    /// Reads a plan from its text.
    ///
    /// # Errors
    ///
    /// [`Error::Plan`] for the first line that breaks a rule of the format.
    ///
    /// # Cost
    ///
    /// Linear in the text; memory is proportional to it.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::default();
        for (text, line) in text.split(|&byte| byte == b'\n').zip(1..) {
            let read = if line == 1 {
                check_first_line(text)
            } else {
                reader.read_line(text)
            };
            read.map_err(|rule| Error::Plan { line, rule })?;
        }
        Ok(reader.plan)
    }

    /// Writes the plan as text.
    ///
    /// # Errors
    ///
    /// Those of `out`; `InvalidInput` with an [`Error`] inside for a path that is not absolute or
    /// too long for a line. Lines before it are written by then.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        let mut writer = Writer { out, line: 0 };
        writer.write_line(FIRST_LINE)?;
        writer.write_heading(Section::Data)?;
        for item in &self.data {
            match item {
                PlanItem::Blocks(path) => writer.write_path("blocks ", path)?,
                PlanItem::Fragment(paths) => {
                    writer.write_line("fragment")?;
                    paths
                        .iter()
                        .try_for_each(|path| writer.write_path(" ", path))?;
                }
            }
        }
        writer.write_heading(Section::Inodes)?;
        self.inodes
            .iter()
            .try_for_each(|path| writer.write_path("", path))?;
        writer.write_heading(Section::Directories)?;
        self.directories
            .iter()
            .try_for_each(|path| writer.write_path("", path))?;
        if self.encoding.is_empty() {
            return Ok(());
        }
        writer.write_heading(Section::BlockEncoding)?;
        let mut rules = self.encoding.iter();
        rules.try_for_each(|rule| writer.write_rule(rule))
    }
}

/// A plan of which some lines are read.
#[derive(Default)]
struct Reader {
    plan: Plan,
    section: Option<Section>,
    begun: Vec<Section>,
}

impl Reader {
    fn read_line(&mut self, text: &[u8]) -> Result<(), PlanRule> {
        check_len(text)?;
        let bare = text.trim_ascii_start();
        if bare.is_empty() || bare.starts_with(b"#") {
            return Ok(());
        }
        if text.starts_with(b"[") {
            return self.begin_section(text);
        }
        match self.section {
            None => {
                let expected = "a section, `[data]`, `[inodes]`, `[directories]` or `[packing]`";
                Err(PlanRule::Unexpected {
                    found: Excerpt::new(text),
                    expected,
                })
            }
            Some(Section::Data) => self.read_data(text),
            Some(Section::Inodes) => read_listed(text, &mut self.plan.inodes),
            Some(Section::Directories) => read_listed(text, &mut self.plan.directories),
            Some(Section::BlockEncoding) => {
                self.plan.encoding.push(encoding::parse(text)?);
                Ok(())
            }
        }
    }

    fn begin_section(&mut self, text: &[u8]) -> Result<(), PlanRule> {
        let section = Section::ALL
            .into_iter()
            .find(|section| section.heading().as_bytes() == text)
            .ok_or_else(|| PlanRule::UnknownSection(Excerpt::new(text)))?;
        if self.begun.contains(&section) {
            return Err(PlanRule::RepeatedSection(section.heading()));
        }
        self.begun.push(section);
        self.section = Some(section);
        Ok(())
    }

    fn read_data(&mut self, text: &[u8]) -> Result<(), PlanRule> {
        let data = &mut self.plan.data;
        if let Some(path) = text.strip_prefix(b"blocks ") {
            data.push(PlanItem::Blocks(read_path(path)?));
        } else if text == b"fragment" {
            data.push(PlanItem::Fragment(Vec::new()));
        } else if let (true, Some(PlanItem::Fragment(paths))) =
            (text.starts_with(b" "), data.last_mut())
        {
            paths.push(read_path(text.trim_ascii_start())?);
        } else {
            let found = Excerpt::new(text);
            let expected = "`blocks PATH`, `fragment`, or below that ` PATH`";
            return Err(PlanRule::Unexpected { found, expected });
        }
        Ok(())
    }
}

/// A line of a section that lists paths.
fn read_listed(text: &[u8], paths: &mut Vec<Vec<u8>>) -> Result<(), PlanRule> {
    if !text.starts_with(b"/") {
        let expected = "a path, which begins with `/`";
        return Err(PlanRule::Unexpected {
            found: Excerpt::new(text),
            expected,
        });
    }
    paths.push(read_path(text)?);
    Ok(())
}

fn check_first_line(text: &[u8]) -> Result<(), PlanRule> {
    if text == FIRST_LINE.as_bytes() {
        return Ok(());
    }
    Err(PlanRule::FirstLine(Excerpt::new(text)))
}

fn check_len(text: &[u8]) -> Result<(), PlanRule> {
    if text.len() > LINE_BYTES_MAX {
        return Err(PlanRule::TooLong {
            len_bytes: text.len(),
        });
    }
    Ok(())
}

fn read_path(text: &[u8]) -> Result<Vec<u8>, PlanRule> {
    parse_path(text).map_err(|error| PlanRule::Path {
        found: Excerpt::new(text),
        error,
    })
}

/// Writes lines and counts them.
struct Writer<'a, W> {
    out: &'a mut W,
    line: u64,
}

impl<W: io::Write> Writer<'_, W> {
    fn write_line(&mut self, text: &str) -> io::Result<()> {
        self.line += 1;
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")
    }

    fn write_heading(&mut self, section: Section) -> io::Result<()> {
        self.write_line("")?;
        self.write_line(section.heading())
    }

    fn write_path(&mut self, before: &str, path: &[u8]) -> io::Result<()> {
        let text = format!("{before}{}", PathText(path));
        self.write_readable(&text, |text| read_path(&text[before.len()..]))
    }

    fn write_rule(&mut self, rule: &EncodingRule) -> io::Result<()> {
        let text = format!("{}{}", encoding::Words(rule), PathText(&rule.path));
        self.write_readable(&text, encoding::parse)
    }

    /// Writes a line only if it can be read again.
    fn write_readable<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&[u8]) -> Result<T, PlanRule>,
    ) -> io::Result<()> {
        check_len(text.as_bytes())
            .and_then(|()| read(text.as_bytes()))
            .map_err(|rule| Error::Plan {
                line: self.line + 1,
                rule,
            })
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.write_line(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_any_order_of_sections_are_read() {
        let text =
            b"coldpress-plan 1\n# c\n\n[inodes]\n/\n/#a\n  # c\n[data]\nfragment\n\n   /a b\n \
            # c\n /c\nblocks /d\nfragment";
        let plan = Plan {
            data: vec![
                PlanItem::Fragment(vec![b"/a b".to_vec(), b"/c".to_vec()]),
                PlanItem::Blocks(b"/d".to_vec()),
                PlanItem::Fragment(Vec::new()),
            ],
            inodes: vec![b"/".to_vec(), b"/#a".to_vec()],
            ..Plan::default()
        };
        assert_eq!(Plan::parse(text), Ok(plan));
        assert_eq!(Plan::parse(b"coldpress-plan 1"), Ok(Plan::default()));
    }

    #[test]
    fn every_broken_line_is_reported_with_its_number_and_what_belongs_there() {
        let cases: &[(&str, &str)] = &[
            ("", "line 1: found ``, expected `coldpress-plan 1`"),
            ("coldpress-plan 2\n", "line 1: found `coldpress-plan 2`"),
            (
                "coldpress-plan 1\n/a\n",
                "line 2: found `/a`, expected a section",
            ),
            (
                "coldpress-plan 1\n[dta]\n",
                "line 2: found `[dta]`, the sections are `[data]`",
            ),
            (
                "coldpress-plan 1\n[data]\n[data]\n",
                "line 3: a second section `[data]`",
            ),
            (
                "coldpress-plan 1\n[data]\n /a\n",
                "line 3: found ` /a`, expected `blocks PATH`",
            ),
            (
                "coldpress-plan 1\n[data]\nblocks\n",
                "line 3: found `blocks`, expected `blocks P",
            ),
            (
                "coldpress-plan 1\n[data]\nblocks a\n",
                "path `a`, byte 0 of the text: a path beg",
            ),
            (
                "coldpress-plan 1\n[data]\nfragment\n/a\n",
                "line 4: found `/a`, expected `blocks",
            ),
            (
                "coldpress-plan 1\n[inodes]\n/a\\z\n",
                "path `/a\\\\z`, byte 2 of the text: unkn",
            ),
            (
                "coldpress-plan 1\n[inodes]\n/a\r\n",
                "U+000D is not printable",
            ),
            (
                "coldpress-plan 1\n[inodes]\nblocks /a\n",
                "line 3: found `blocks /a`, expected a p",
            ),
        ];
        for (text, message) in cases {
            let error = Plan::parse(text.as_bytes()).expect_err(message).to_string();
            assert!(error.contains(message), "{error}\nlacks {message}");
        }
        let long = format!(
            "coldpress-plan 1\n[inodes]\n/{}",
            "a".repeat(LINE_BYTES_MAX)
        );
        let rule = PlanRule::TooLong {
            len_bytes: LINE_BYTES_MAX + 1,
        };
        assert_eq!(
            Plan::parse(long.as_bytes()),
            Err(Error::Plan { line: 3, rule })
        );
    }

    #[test]
    fn a_plan_that_could_not_be_read_back_is_not_written() {
        for path in [b"usr".to_vec(), Vec::new(), vec![b'/'; LINE_BYTES_MAX + 1]] {
            let plan = Plan {
                inodes: vec![b"/".to_vec(), path],
                ..Plan::default()
            };
            let error = plan
                .write(&mut Vec::new())
                .expect_err("not a path that fits");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().starts_with("plan line 7: "), "{error}");
        }
    }
}
