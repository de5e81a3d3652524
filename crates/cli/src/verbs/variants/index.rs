//! `coldpress variants index`: images that are there.

use std::path::Path;

use anyhow::anyhow;
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, plural, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_variants::{ImageEntry, Index};
use coldpress_writer::Output;

use crate::resolve;
use crate::steps;
use crate::verbs::variants::args::VariantsIndexArgs;
use crate::verbs::variants::{add_to_layout, entry, layout};

pub(super) fn run(args: &VariantsIndexArgs, ui: &Ui) -> anyhow::Result<Exit> {
    resolve::check_outputs(&[&args.output], &args.images)?;
    for image in &args.images {
        if image.parent() != args.output.parent() {
            let error = anyhow!("{} does not stand beside the index", quoted(image));
            return Err(hint(
                error,
                "write the index to the directory of the images",
            ));
        }
    }
    let layout = layout(args.oci.as_deref())?;
    let start = args.start.read()?;
    let _hold = ui.interrupt.hold();
    let output = Output::create(&args.output)?;
    let source = steps::scan_image(&args.images[0], 0, ui)?;
    let sequence = start.sequence(args.start.program_s(&start, &source, ui)?);
    let entries = args.images.iter().map(|image| {
        let name = image.file_stem().unwrap_or_default().to_string_lossy();
        entry(image, name.into_owned(), &sequence, ui)
    });
    let entries: Vec<ImageEntry> = entries.collect::<anyhow::Result<_>>()?;
    let index = Index::new(args.start.description(), &sequence, entries);
    let bytes = index.bytes()?;
    steps::write_small(output, &bytes)?;
    if let Some(place) = &layout {
        let directory = args.output.parent().unwrap_or(Path::new(""));
        add_to_layout(&index, directory, place, ui)?;
    }
    ui.say(&format!(
        "{}: {}",
        escaped_path(&args.output),
        plural(index.images.len() as u64, "image", "images")
    ));
    Ok(Exit::Done)
}
