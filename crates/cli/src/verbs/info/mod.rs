//! `coldpress info`.

pub(crate) mod args;

use std::io::Write as _;

use anyhow::Context as _;
use coldpress_describe::{Container, Contents, Survey};
use coldpress_image::ImageOffset;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::image_file::{self, Opened};
use crate::verbs::info::args::InfoArgs;

pub(super) fn run(args: &InfoArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let Opened { image, bytes, .. } = image_file::open(&args.image, &args.place)?;
    let cannot = || format!("cannot count the files of {}", quoted(&args.image));
    let survey = match Survey::of(&image).with_context(cannot) {
        Ok(survey) => Some(survey),
        Err(error) => {
            ui.error(&coldpress_report::failure::sentence(&error));
            None
        }
    };
    let container = match args.place.offset {
        Some(ImageOffset::Auto) => image_file::container(&args.image)?,
        _ => None,
    };
    let container = container.as_ref().map(Container::new);
    let damage = container.as_ref().and_then(Container::damage);
    if let Some(damage) = damage {
        ui.error(damage);
    }
    let is_damaged = survey.is_none() || damage.is_some();
    let contents = Contents::new(&args.image, &image, &*bytes, survey).within(container);
    if args.json {
        ui.json(&contents)?;
    } else {
        let mut out = ui.out();
        out.write_all(contents.text(&image).as_bytes())?;
        out.flush()?;
    }
    Ok(Exit::partial_if(is_damaged))
}
