//! What a press is asked for, checked before anything is begun.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use coldpress_calibration::Population;
use coldpress_host::{Command, Device};
use coldpress_layout::Plan;
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::privileges;
use coldpress_session::ui::Ui;

use crate::image_file::open_image;
use crate::profiles::OrderingProfile;
use crate::recording::{self, Recorder};
use crate::resolve::{self, ImageSettings};
use crate::verbs::press::args::PressArgs;
use crate::{program, steps};

/// A press that can be begun.
pub(super) struct Request<'a> {
    pub(super) args: &'a PressArgs,
    pub(super) settings: ImageSettings,
    pub(super) command: Command,
    /// Whether the command runs inside the image.
    pub(super) is_inside: bool,
    pub(super) ordering: Ordering,
    /// Where starts are measured, one after another.
    pub(super) devices: Vec<Device>,
    /// What starts are predicted for: the same devices, with what is known of this machine.
    pub(super) population: Population,
    /// Whether this process may measure starts.
    pub(super) can_prove: bool,
}

/// What the order of the image is taken from.
pub(super) enum Ordering {
    Plan(Plan),
    Profile(OrderingProfile),
    Recording(&'static Recorder),
}

impl<'a> Request<'a> {
    /// Checks flags, places and privileges, and reads what they name.
    ///
    /// # Errors
    ///
    /// If a value means nothing, a file cannot be read or written where it is to be, or nothing can
    /// record the start.
    pub(super) fn resolve(args: &'a PressArgs, ui: &Ui) -> anyhow::Result<Self> {
        let sources = std::slice::from_ref(&args.source);
        let settings = ImageSettings::resolve(&args.image_options, &args.source_options, sources)?;
        let population = Population::resolve(&args.device.names, ui)?;
        let devices = population.members.iter();
        let devices = devices.map(|(target, _)| Device::parse(&target.name));
        let devices = devices.collect::<Result<_, _>>()?;
        let is_inside = program::is_inside(&args.command, &args.source);
        resolve::check_source(&args.source, is_inside)?;
        let command = program::resolve(&args.command, &args.source)?;
        check_paths(args)?;
        let given = given(args)?;
        if args.archives {
            privileges::require("proving that ordered archives are faster")?;
        }
        let can_prove = privileges::ask(ui)?;
        let choose = if args.archives {
            recording::choose_for_archives
        } else {
            recording::choose
        };
        let recorder = || choose(args.recorder.recorder, is_inside, &args.source, ui);
        let ordering = match given {
            Some(given) => given,
            None => Ordering::Recording(recorder()?),
        };
        Ok(Self {
            args,
            settings,
            command,
            is_inside,
            ordering,
            devices,
            population,
            can_prove,
        })
    }

    /// Whether a start is recorded; else a plan or a profile was given.
    pub(super) fn records(&self) -> bool {
        matches!(self.ordering, Ordering::Recording(_))
    }
}

/// The plan or the profile that the flags name.
fn given(args: &PressArgs) -> anyhow::Result<Option<Ordering>> {
    let plan = args.plan.as_deref().map(steps::read_plan).transpose()?;
    let profile = OrderingProfile::read(&args.profile)?;
    Ok(plan.map(Ordering::Plan).or(profile.map(Ordering::Profile)))
}

/// Checks the images to compare with and the places of all that will be written.
fn check_paths(args: &PressArgs) -> anyhow::Result<()> {
    let optional = [
        &args.report,
        &args.samples,
        &args.plan_out,
        &args.trace_out,
        &args.profile_out,
    ];
    let outputs: Vec<&Path> = std::iter::once(&args.output)
        .chain(optional.into_iter().flatten())
        .map(PathBuf::as_path)
        .collect();
    resolve::check_outputs(&outputs, std::slice::from_ref(&args.source))?;
    for image in &args.against {
        open_image(image)?;
        if resolve::is_same(image, &args.output) {
            let error = anyhow!("{} would be replaced before the comparison", quoted(image));
            return Err(hint(error, "write IMAGE elsewhere"));
        }
    }
    Ok(())
}
