//! `coldpress profile plan`.

use std::slice;

use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::containers;
use crate::flags::container::ContainerArgs;
use crate::profiles::OrderingProfile;
use crate::resolve::{self, ImageSettings};
use crate::steps;
use crate::verbs::profile::args::ProfilePlanArgs;

pub(super) fn run(args: &ProfilePlanArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let block_size = resolve::block_size(args.block_size)?;
    resolve::check_outputs(&[&args.output], slice::from_ref(&args.source))?;
    let profile = OrderingProfile::with_limits(args.profile.clone(), &args.limits)?;
    let _hold = ui.interrupt.hold();
    let output = Output::create(&args.output)?;
    // As `build` gathers it: files with the same bytes have one place in the plan.
    let inputs = containers::inputs(&args.source, &ContainerArgs::default(), ui)?;
    let source = steps::gather(&inputs, &ImageSettings::for_recording()?, ui)?;
    let plan = profile.plan(&source, block_size, ui)?;
    let mut text = Vec::new();
    plan.write(&mut text)?;
    steps::write_small(output, &text)?;
    Ok(Exit::Done)
}
