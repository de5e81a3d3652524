//! `coldpress doctor`.

mod abilities;
pub(crate) mod args;

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::Context as _;
use coldpress_doctor::kernel::{self, Means};
use coldpress_doctor::reader::Reader;
use coldpress_doctor::rules::{self, Finding, Subject, Verdict};
use coldpress_doctor::{remedy, targets};
use coldpress_image::{Error, Image, ReaderRequirements};
use coldpress_report::text::{escaped, quoted, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_verity::Tree;
use serde::Serialize;

use crate::flags::place::PlaceArgs;
use crate::image_file;
use crate::verbs::doctor::args::DoctorArgs;

use abilities::Abilities;

/// The target that stands for all of them.
const LIST: &str = "list";

pub(super) fn run(args: &DoctorArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if args.target.iter().any(|target| target == LIST) {
        return list(args, ui);
    }
    if args.images.is_empty() {
        return describe(args, ui);
    }
    let readers = readers(args)?;
    let mut judged = Vec::new();
    for image in &args.images {
        let examined = examine(image, &args.place)?;
        judged.extend(
            readers
                .iter()
                .map(|reader| examined.judged_for(reader, args)),
        );
    }
    if args.json {
        ui.json(&judged)?;
    } else {
        let mut out = ui.out();
        for judged in &judged {
            out.write_all(judged.text().as_bytes())?;
        }
        out.flush()?;
    }
    let is_refused = judged.iter().any(|judged| judged.verdict == Verdict::No);
    Ok(Exit::partial_if(is_refused))
}

/// Prints the targets that have names.
fn list(args: &DoctorArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let all: Vec<Abilities> = targets::TARGETS.iter().map(Abilities::of_target).collect();
    print_abilities(&all, args, ui)
}

/// Prints what this kernel can do, or the targets that were named.
fn describe(args: &DoctorArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if args.target.is_empty() {
        let here = Abilities::of_this_machine(&kernel::this(means(args))?);
        return print_abilities(&[here], args, ui);
    }
    let readers = args.target.iter().map(|target| targets::reader(target));
    let all: Vec<Abilities> = readers
        .map(|reader| Ok(Abilities::of(&reader?)))
        .collect::<anyhow::Result<_>>()?;
    print_abilities(&all, args, ui)
}

fn print_abilities(all: &[Abilities], args: &DoctorArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if args.json {
        ui.json(&all)?;
        return Ok(Exit::Done);
    }
    let texts: Vec<String> = all.iter().map(Abilities::text).collect();
    let mut out = ui.out();
    out.write_all(texts.join("\n").as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}

fn means(args: &DoctorArgs) -> Means {
    if args.by_trial {
        Means::Trial
    } else {
        Means::Configuration
    }
}

/// Those who are to read the images.
fn readers(args: &DoctorArgs) -> anyhow::Result<Vec<Reader>> {
    if args.target.is_empty() {
        return Ok(vec![kernel::this(means(args))?]);
    }
    args.target
        .iter()
        .map(|target| targets::reader(target))
        .collect()
}

/// An image as far as it can be read.
struct Examined<'a> {
    path: &'a Path,
    size_bytes: u64,
    has_hash_tree: bool,
    /// What it asks for, or why it cannot be read at all.
    requirements: Result<ReaderRequirements, String>,
}

/// Opens an image and looks at what it asks for.
///
/// # Errors
///
/// If the file cannot be read or is no image. A damaged one is examined.
fn examine<'a>(path: &'a Path, place: &PlaceArgs) -> anyhow::Result<Examined<'a>> {
    let bytes = image_file::open_bytes(path, place)?;
    let size_bytes = bytes
        .size_bytes()
        .with_context(|| format!("cannot read {}", quoted(path)))?;
    let has_hash_tree = Tree::of_image(&bytes).is_ok_and(|tree| tree.is_some());
    let requirements =
        match Image::new(Box::new(bytes)).and_then(|image| ReaderRequirements::of(&image)) {
            Ok(requirements) => Ok(requirements),
            Err(Error::Corrupt(corrupt)) if image_file::why_no_image(&corrupt, place).is_none() => {
                Err(format!("it is damaged: {corrupt}"))
            }
            Err(Error::InFile { path, source }) if matches!(*source, Error::Corrupt(_)) => {
                Err(format!("it is damaged: {}: {source}", quoted_bytes(&path)))
            }
            Err(error @ Error::Codec(_)) => Err(error.to_string()),
            Err(error) => return Err(image_file::not_opened(path, place, error)),
        };
    Ok(Examined {
        path,
        size_bytes,
        has_hash_tree,
        requirements,
    })
}

impl Examined<'_> {
    fn judged_for(&self, reader: &Reader, args: &DoctorArgs) -> Judged {
        let (findings, command) = match &self.requirements {
            Ok(requirements) => {
                let subject = Subject {
                    requirements,
                    size_bytes: self.size_bytes,
                    has_hash_tree: self.has_hash_tree,
                };
                let findings = rules::judge(subject, reader);
                let command = remedy::command(
                    self.path,
                    args.place.offset,
                    requirements,
                    reader,
                    &findings,
                );
                (findings, command)
            }
            Err(why) => {
                let finding = Finding::new(Verdict::No, "image", why.clone(), None);
                (vec![finding], None)
            }
        };
        Judged {
            image: self.path.display().to_string(),
            shown: escaped(self.path.as_os_str().as_bytes()),
            target: reader.name.clone(),
            verdict: rules::verdict(&findings),
            findings,
            source: reader.source.clone(),
            command,
        }
    }
}

/// An image, who is to read it, and whether that works.
#[derive(Debug, Serialize)]
struct Judged {
    image: String,
    /// As it is printed for people.
    #[serde(skip)]
    shown: String,
    target: String,
    verdict: Verdict,
    findings: Vec<Finding>,
    /// Where it was learnt what the target can do.
    source: String,
    /// What makes an image that will be read.
    command: Option<String>,
}

impl Judged {
    fn text(&self) -> String {
        let target = &self.target;
        let verdict = match self.verdict {
            Verdict::Yes => format!("{target} reads it"),
            Verdict::Partly => format!("{target} reads it, with a loss"),
            Verdict::Unknown => format!("whether {target} reads it is not known"),
            Verdict::No => format!("{target} does not read it"),
        };
        let mut lines = vec![format!("{}: {verdict}", self.shown)];
        let findings = self.findings.iter();
        lines.extend(findings.map(|finding| format!("  {}: {}", finding.about, finding.why)));
        lines.push(format!("  known from: {}", self.source));
        if let Some(command) = &self.command {
            lines.push(format!("  make one that is read: {command}"));
        }
        lines.join("\n") + "\n"
    }
}
