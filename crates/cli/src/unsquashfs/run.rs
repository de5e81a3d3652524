//! What a request asks to be done with an image.

use super::request::Request;
use super::selection::Selection;
use super::{cat, extract, image, listing, pseudo, superblock};
use crate::exit::Exit;
use crate::timing::{Deed, kept};
use crate::ui::Ui;

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
        superblock::print(request, ui)?;
        return Ok(Exit::Done);
    }
    let image = image::open(request)?;
    if request.cat {
        return cat::print(&image, request, ui);
    }
    let selection = Selection::new(&image, request, ui)?;
    if let Some(path) = &request.pseudo {
        return pseudo::write(&image, request, &selection, path, ui);
    }
    if request.listing.only {
        listing::print(&image, request, &selection, ui)?;
        return Ok(Exit::Done);
    }
    let deed = Deed::of_unpacking(request.tool, &request.image, &request.destination);
    kept(deed, ui, || {
        extract::extract(&image, request, &selection, ui)
    })
}
