//! An image as pseudo definitions with their data, into a file or to standard output.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;
use coldpress_dialects::unsquashfs::{PseudoDump, Request, Selection};
use coldpress_image::Image;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::verbs::pace::{Pace, Shown};

/// Writes the paths that are selected, to standard output or into a file that takes its place when
/// it is complete.
///
/// # Errors
///
/// If the image is damaged, the file cannot be written, or a path has no place in a definition and
/// all errors are to be strict; otherwise such a path is left out.
pub(super) fn write(
    image: &Image,
    request: &Request,
    selection: &Selection,
    path: &Path,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let dump = |out: &mut dyn Write| dump(image, request, selection, out, ui);
    if request.pseudo_to_stdout() {
        return dump(&mut ui.out());
    }
    let is_special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
    if is_special {
        let file = OpenOptions::new().write(true).open(path);
        let file = file.with_context(|| format!("cannot open {}", quoted(path)))?;
        return dump(&mut BufWriter::new(file));
    }
    let _hold = ui.interrupt.hold();
    let output = Output::create(path)?;
    let exit = dump(&mut BufWriter::new(output.file()))
        .with_context(|| format!("cannot write {}", quoted(path)))?;
    output.commit()?;
    Ok(exit)
}

fn dump(
    image: &Image,
    request: &Request,
    selection: &Selection,
    out: &mut dyn Write,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let warn = |text: &str| ui.warn(text);
    let mut dump = PseudoDump::new(image, request, &warn)?;
    dump.write_definitions(selection, out)?;
    let percentage = request.talk.percentage && !request.pseudo_to_stdout();
    let mut pace = Pace::new("writing", Shown::percents(percentage), 0, ui);
    let is_right = dump.write_contents(out, &mut |progress| pace.advance(progress))?;
    pace.finish();
    Ok(Exit::partial_if(!is_right))
}
