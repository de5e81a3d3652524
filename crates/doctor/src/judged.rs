//! An image, who is to read it, and whether that works.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use coldpress_image::{ImageOffset, ReaderRequirements};
use coldpress_report::text::escaped;
use serde::Serialize;

use super::reader::Reader;
use super::remedy;
use super::rules::{self, Finding, Subject, Verdict};

/// An image, who is to read it, and whether that works.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    image: String,
    /// As it is printed for people.
    #[serde(skip)]
    shown: String,
    target: String,
    /// What follows from all findings.
    pub verdict: Verdict,
    findings: Vec<Finding>,
    /// Where it was learnt what the target can do.
    source: String,
    /// What makes an image that will be read.
    command: Option<String>,
}

impl Judged {
    /// An image that can be read.
    ///
    /// * `path`, `offset`: of its file, and where in that it begins.
    pub fn new(
        path: &Path,
        offset: Option<ImageOffset>,
        subject: Subject,
        reader: &Reader,
    ) -> Self {
        let findings = rules::judge(subject, reader);
        let requirements: &ReaderRequirements = subject.requirements;
        let command = remedy::command(path, offset, requirements, reader, &findings);
        Self {
            command,
            ..Self::by(path, findings, reader)
        }
    }

    /// An image that cannot be read at all.
    pub fn damaged(path: &Path, why: String, reader: &Reader) -> Self {
        let finding = Finding::new(Verdict::No, "image", why, None);
        Self::by(path, vec![finding], reader)
    }

    fn by(path: &Path, findings: Vec<Finding>, reader: &Reader) -> Self {
        Self {
            image: path.display().to_string(),
            shown: escaped(path.as_os_str().as_bytes()),
            target: reader.name.clone(),
            verdict: rules::verdict(&findings),
            findings,
            source: reader.source.clone(),
            command: None,
        }
    }

    /// What stands against reading the image, in lines.
    pub fn text(&self) -> String {
        let broken = self.findings.iter();
        let broken = broken.filter(|finding| finding.verdict != Verdict::Yes);
        self.lines(broken, |finding| format!("{}: ", finding.about))
    }

    /// Every rule that was looked at, in lines.
    pub fn table(&self) -> String {
        let width = self.findings.iter().map(|finding| finding.about.len());
        let width = width.max().unwrap_or_default();
        self.lines(self.findings.iter(), |finding| {
            let word = finding.verdict.of_rule();
            format!("{:<width$}  {word:<8}  ", finding.about)
        })
    }

    fn lines<'a>(
        &self,
        findings: impl Iterator<Item = &'a Finding>,
        head: impl Fn(&Finding) -> String,
    ) -> String {
        let target = &self.target;
        let verdict = match self.verdict {
            Verdict::Yes => format!("{target} reads it"),
            Verdict::Partly => format!("{target} reads it, with a loss"),
            Verdict::Unknown => format!("whether {target} reads it is not known"),
            Verdict::No => format!("{target} does not read it"),
        };
        let mut lines = vec![format!("{}: {verdict}", self.shown)];
        for finding in findings {
            let mut line = format!("  {}{}", head(finding), finding.why);
            let is_one = finding.places.len() == 1;
            if is_one {
                line = format!("{line}: {}", finding.places.join(""));
            }
            if let Some(advice) = &finding.advice {
                line = format!("{line}; {advice}");
            }
            lines.push(line);
            // Several would make a long line.
            let places = finding.places.iter().filter(|_| !is_one);
            lines.extend(places.map(|place| format!("    {place}")));
        }
        lines.push(format!("  known from: {}", self.source));
        if let Some(command) = &self.command {
            lines.push(format!("  make one that is read: {command}"));
        }
        lines.join("\n") + "\n"
    }
}
