//! `coldpress identify`.

pub(crate) mod args;

use std::io::Write as _;

use anyhow::{Context as _, anyhow};
use coldpress_describe::Identification;
use coldpress_dialects::remake;
use coldpress_image::{Image, ReadAt as _};
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::{Error as BuildError, Identity, identify};

use crate::image_file::{self, Opened};
use crate::verbs::identify::args::IdentifyArgs;

pub(super) fn run(args: &IdentifyArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let Opened { image, bytes, .. } = image_file::open_alone(&args.image, &args.place)?;
    let file_bytes = bytes
        .size_bytes()
        .with_context(|| format!("cannot read {}", quoted(&args.image)))?;
    let identity = identity(&image, ui)?;
    let command = remake::command_line(&image, &identity, file_bytes);
    let name = args.image.display().to_string();
    let identification = Identification::new(name, image.superblock(), &identity, command);
    if args.json {
        ui.json(&identification)?;
    } else {
        let mut out = ui.out();
        out.write_all(identification.text().as_bytes())?;
        out.flush()?;
    }
    Ok(Exit::Done)
}

/// Identifies an image, with a progress display.
///
/// # Errors
///
/// If it is damaged where it is read, or the user interrupts.
pub(super) fn identity(image: &Image, ui: &Ui) -> anyhow::Result<Identity> {
    let step = ui.step("identifying", 0);
    let identity = identify(image, &mut || ui.interrupt.poll()).map_err(|error| match error {
        BuildError::Image(error) => anyhow!(error),
        error => anyhow!(error),
    })?;
    step.finish("");
    Ok(identity)
}
