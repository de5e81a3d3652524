//! What a request asks to be done with an image.

use std::io::{self, IsTerminal as _, Write as _};

use coldpress_dialects::unsquashfs::{
    Request, Selection, write_contents, write_listing, write_superblock,
};
use coldpress_image::Image;
use coldpress_session::exit::Exit;
use coldpress_session::failure::stdout_failure;
use coldpress_session::ui::Ui;

use super::{extract, image, pseudo};
use crate::verbs::change_store::with_change;
use crate::verbs::operation;

/// Obeys a request.
///
/// # Errors
///
/// If the image cannot be read, or what ended the work.
pub(crate) fn run(request: &Request, ui: &Ui) -> anyhow::Result<Exit> {
    let exit = act(request, ui)?;
    if request.errors.no_exit_code {
        return Ok(Exit::Done);
    }
    Ok(exit)
}

fn act(request: &Request, ui: &Ui) -> anyhow::Result<Exit> {
    if request.mkfs_time || request.superblock {
        let mut out = ui.out();
        let explain = |error, kind| image::explained(request, error, kind);
        write_superblock(request, &explain, &mut out)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let image = image::open(request)?;
    if request.cat {
        let is_unwritable = |error: &anyhow::Error| stdout_failure(error).is_some();
        let tell = |text: &str| ui.error(text);
        let is_right = write_contents(&image, request, &mut ui.out(), &is_unwritable, &tell)?;
        return Ok(Exit::partial_if(!is_right));
    }
    let selection = Selection::new(&image, request, &|text| ui.warn(text))?;
    if let Some(path) = &request.pseudo {
        return pseudo::write(&image, request, &selection, path, ui);
    }
    if request.listing.only {
        list(&image, request, &selection, ui)?;
        return Ok(Exit::Done);
    }
    let operation = operation::of_unpacking(request.tool, &request.image, &request.destination);
    with_change(operation, ui, || {
        extract::extract(&image, request, &selection, ui)
    })
}

/// Prints the names of the paths that are selected.
///
/// # Errors
///
/// If the image is damaged, or standard output cannot be written.
pub(super) fn list(
    image: &Image,
    request: &Request,
    selection: &Selection,
    ui: &Ui,
) -> anyhow::Result<()> {
    let is_terminal = io::stdout().is_terminal();
    write_listing(image, request, selection, is_terminal, &mut ui.out())
}
