//! `coldpress doctor`.

pub(crate) mod args;

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use coldpress_describe::opening::why_no_image;
use coldpress_doctor::Abilities;
use coldpress_doctor::judged::Judged;
use coldpress_doctor::kernel::{self, Means};
use coldpress_doctor::reader::Reader;
use coldpress_doctor::rules::{Subject, Verdict};
use coldpress_doctor::snap::Survey;
use coldpress_doctor::targets;
use coldpress_image::{Error, Image, ReaderRequirements};
use coldpress_report::text::{quoted, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_verity::Tree;

use crate::flags::place::PlaceArgs;
use crate::image_file;
use crate::verbs::doctor::args::DoctorArgs;

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
    let is_snap = readers.iter().any(|reader| reader.is_snap_store);
    let mut judged = Vec::new();
    for image in &args.images {
        let examined = examine(image, &args.place, is_snap)?;
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
    /// What it asks for and, for the snap store, holds; or why it cannot be read at all.
    requirements: Result<(ReaderRequirements, Option<Survey>), String>,
}

/// Opens an image and looks at what it asks for.
///
/// # Errors
///
/// If the file cannot be read or is no image. A damaged one is examined.
fn examine<'a>(path: &'a Path, place: &PlaceArgs, is_snap: bool) -> anyhow::Result<Examined<'a>> {
    let bytes = image_file::open_bytes(path, place)?;
    let size_bytes = bytes
        .size_bytes()
        .with_context(|| format!("cannot read {}", quoted(path)))?;
    let has_hash_tree = Tree::of_image(&bytes).is_ok_and(|tree| tree.is_some());
    let asked = |image: Image| {
        let snap = is_snap.then(|| Survey::of(&image)).transpose()?;
        Ok((ReaderRequirements::of(&image)?, snap))
    };
    let requirements = match Image::new(Box::new(bytes)).and_then(asked) {
        Ok(requirements) => Ok(requirements),
        Err(Error::Corrupt(corrupt)) if why_no_image(&corrupt, place.offset).is_none() => {
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
        match &self.requirements {
            Ok((requirements, snap)) => {
                let subject = Subject {
                    requirements,
                    size_bytes: self.size_bytes,
                    has_hash_tree: self.has_hash_tree,
                    snap: snap.as_ref(),
                    resquashed: None,
                };
                Judged::new(self.path, args.place.offset, subject, reader)
            }
            Err(why) => Judged::damaged(self.path, why.clone(), reader),
        }
    }
}
