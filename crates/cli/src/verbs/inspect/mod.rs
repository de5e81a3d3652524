//! `coldpress inspect`.

pub(crate) mod args;

use std::io::Write as _;

use anyhow::anyhow;
use coldpress_container::{Inspection, MergedLayers};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::Input;

use crate::containers;
use crate::resolve::ImageSettings;
use crate::steps;
use crate::verbs::inspect::args::InspectArgs;

pub(super) fn run(args: &InspectArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let spool_directory = containers::spool_directory();
    let found = containers::find(&args.image, &args.container, &spool_directory, ui)?;
    let Some(container) = found else {
        let error = anyhow!(
            "{} is not a reference to a container image",
            quoted(&args.image)
        );
        return Err(hint(
            error,
            "write `oci:DIRECTORY:NAME` or `docker-archive:FILE`, for example",
        ));
    };
    let tree = if args.merged {
        let settings = ImageSettings::for_recording()?;
        let source = steps::put_together(&[Input::Layers(container.input)], &settings, ui)?;
        Some(MergedLayers::new(&source))
    } else {
        None
    };
    let lost = tree.as_ref().is_some_and(|tree| !tree.warnings.is_empty());
    let inspection = Inspection::new(&container.image, tree);
    if args.json {
        ui.json(&inspection)?;
    } else {
        let mut out = ui.out();
        inspection.write(&mut out)?;
        out.flush()?;
    }
    Ok(Exit::partial_if(lost))
}
