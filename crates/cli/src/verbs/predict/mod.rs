//! `coldpress predict`: what a cold start from an image would take.

pub(crate) mod args;
mod table;

use std::path::Path;

use anyhow::Context as _;
use coldpress_calibration::Target;
use coldpress_cost::{AccessSequence, Prediction, Reader, predict};
use coldpress_host::Readahead;
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;
use coldpress_verity::read_through;

use crate::image_file::Opened;
use crate::start::{Start, geometry, warn_of_missing};
use crate::verbs::predict::args::{PredictArgs, ReaderName, TreeName};
use crate::{image_file, steps};

/// A prediction and what it is of.
struct Predicted<'a> {
    args: &'a PredictArgs,
    target: &'a Target,
    reader: Reader,
    sequence: &'a AccessSequence,
    /// Where the time of the program itself is known from.
    warm: Warm,
    /// The first of those by readahead.
    prediction: &'a Prediction,
    by_readahead: &'a [(Readahead, Prediction)],
}

/// Where the time of the program itself is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Warm {
    Said,
    Recording,
    Unknown,
}

pub(super) fn run(args: &PredictArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let target = Target::resolve(&args.device.name, ui)?;
    let opened = image_file::open(&args.image, &args.place)?;
    let start = read_start(args)?;
    let (warm, compute_s) = warm(args, &start, &opened, &target, ui)?;
    let sequence = start.sequence(compute_s);
    let mut geometry = ui
        .timed("mapping", "Find what lies where in the image", || {
            geometry(&opened, &sequence, ui)
        })
        .with_context(|| format!("cannot read {}", quoted(&args.image)))?;
    let through = TreeName::through(args.verity);
    let tree = read_through(&args.image, &opened.bytes, through);
    geometry.hash_tree = tree.map_err(|error| {
        let what = "`--verity none` predicts a start that reads no hash tree";
        hint(anyhow::Error::new(error), what)
    })?;
    let reader = reader(args.reader, &target);
    let predictions: Vec<(Readahead, Prediction)> = args
        .readahead
        .or(&[Readahead::Disk])
        .iter()
        .map(|readahead| {
            let medium = target.clone().with_readahead(*readahead).medium;
            let machine = &target.machine;
            let prediction = predict(&geometry, &sequence, &medium, machine, &reader);
            (*readahead, prediction)
        })
        .collect();
    let prediction = &predictions[0].1;
    warn_of_missing(&prediction.missing, ui);
    let predicted = Predicted {
        args,
        target: &target,
        reader,
        sequence: &sequence,
        warm,
        prediction,
        by_readahead: &predictions,
    };
    unless_stdout_closed(tell(&predicted, ui))?;
    Ok(Exit::Done)
}

fn tell(predicted: &Predicted, ui: &Ui) -> anyhow::Result<()> {
    if predicted.args.json {
        return ui.json(&table::Document::new(predicted));
    }
    table::print(predicted, ui)
}

/// The start that is predicted.
fn read_start(args: &PredictArgs) -> anyhow::Result<Start> {
    match &args.profile {
        Some(path) => {
            let profile = steps::read_profile(path)?;
            Ok(Start::Profile(profile.at_least(args.min_share)))
        }
        None => Start::read_trace(args.trace.as_deref().unwrap_or(Path::new(""))),
    }
}

/// What the program takes itself, in s, and how that is known: the user says it, or the recording
/// tells.
fn warm(
    args: &PredictArgs,
    start: &Start,
    opened: &Opened,
    target: &Target,
    ui: &Ui,
) -> anyhow::Result<(Warm, f64)> {
    if let Some(said_s) = args.warm {
        return Ok((Warm::Said, said_s));
    }
    if let Start::Profile(_) = start {
        return Ok((Warm::Unknown, 0.0));
    }
    let source = steps::scan_image(&args.image, opened.start, ui)?;
    let told_s = start.program_s(&source, target);
    Ok(told_s.map_or((Warm::Unknown, 0.0), |told_s| (Warm::Recording, told_s)))
}

fn reader(name: ReaderName, target: &Target) -> Reader {
    match name {
        ReaderName::Kernel => target.kernel,
        ReaderName::Fuse => Reader::FUSE,
        ReaderName::Erofs => Reader::Erofs,
        ReaderName::Unpacked => Reader::Unpacked,
    }
}
