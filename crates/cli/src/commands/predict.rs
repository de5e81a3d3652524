//! `coldpress predict`: what a cold start from an image would take.

mod table;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use coldpress_cost::{Demand, Geometry, Prediction, Reader, predict};
use coldpress_explain::{geometry, note_executables};
use coldpress_format::Compressor;

use crate::args::{PredictArgs, ReaderName};
use crate::device::Target;
use crate::exit::Exit;
use crate::failure::unless_stdout_closed;
use crate::start::Start;
use crate::text::{plural, quoted, some_of};
use crate::ui::Ui;
use crate::{image_file, steps};

/// A prediction and what it is of.
struct Predicted<'a> {
    args: &'a PredictArgs,
    target: &'a Target,
    reader: Reader,
    demand: &'a Demand,
    /// Where the time of the program itself is known from.
    warm: Warm,
    prediction: Prediction,
}

/// Where the time of the program itself is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Warm {
    Said,
    Recording,
    Unknown,
}

pub(super) fn run(args: &PredictArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let target = Target::resolve(&args.device, ui)?;
    let opened = image_file::open(&args.image, &args.place)?;
    let (mut demand, wall_s) = read_demand(args)?;
    let mut geometry = ui
        .timed("mapping", "Find what lies where in the image", || {
            let bytes = Box::new(Arc::clone(&opened.bytes));
            geometry(&opened.image, bytes, &mut || ui.interrupt.poll())
        })
        .with_context(|| format!("cannot read {}", quoted(&args.image)))?;
    note_executables(&mut geometry, &opened.image, &demand);
    let warm = set_warm(&mut demand, args.warm, wall_s, &geometry, ui)?;
    let reader = reader(args.reader, &target);
    let prediction = predict(&geometry, &demand, &target.medium, &target.machine, &reader);
    warn_of_missing(&prediction.missing, ui);
    let predicted = Predicted {
        args,
        target: &target,
        reader,
        demand: &demand,
        warm,
        prediction,
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

/// What the start asks for, and how long it took when it was recorded.
fn read_demand(args: &PredictArgs) -> anyhow::Result<(Demand, Option<f64>)> {
    if let Some(path) = &args.profile {
        let profile = steps::read_profile(path)?;
        return Ok((Demand::of_profile(&profile, args.min_share, 0.0), None));
    }
    let start = Start::read_trace(args.trace.as_deref().unwrap_or(Path::new("")))?;
    Ok((start.demand(0.0), start.wall_s()))
}

/// Says what the program takes itself: what the user says, or what the recording took without what reading took then by the model.
fn set_warm(
    demand: &mut Demand,
    said_s: Option<f64>,
    wall_s: Option<f64>,
    geometry: &Geometry,
    ui: &Ui,
) -> anyhow::Result<Warm> {
    if let Some(said_s) = said_s {
        demand.compute_s = said_s;
        return Ok(Warm::Said);
    }
    let Some(wall_s) = wall_s else {
        return Ok(Warm::Unknown);
    };
    // Recordings are made from an image of zstd on the disk of this machine.
    let recorded = Geometry {
        compressor: Compressor::Zstd,
        ..geometry.clone()
    };
    let host = Target::resolve("host", ui)?;
    let reading = predict(&recorded, demand, &host.medium, &host.machine, &host.kernel);
    demand.compute_s = (wall_s - reading.time_s).max(0.0);
    Ok(Warm::Recording)
}

fn reader(name: ReaderName, target: &Target) -> Reader {
    match name {
        ReaderName::Kernel => target.kernel,
        ReaderName::Fuse => Reader::FUSE,
        ReaderName::Erofs => Reader::Erofs,
        ReaderName::Unpacked => Reader::Unpacked,
    }
}

fn warn_of_missing(missing: &[Vec<u8>], ui: &Ui) {
    if missing.is_empty() {
        return;
    }
    ui.warn(&format!(
        "the start asks for {} that the image does not have: {}",
        plural(missing.len() as u64, "path", "paths"),
        some_of(missing.iter().map(Vec::as_slice))
    ));
}
