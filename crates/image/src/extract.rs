//! Writing what an image holds into a directory.

mod choose;
mod confine;
mod destination;
mod file;
mod jobs;
mod metadata;
mod options;
mod parts;
mod report;
mod tree;

use std::ops::ControlFlow;
use std::path::Path;

use crate::error::Error;
use crate::image::Image;

pub use choose::Choice;
pub use options::{Change, ExtractOptions, KeepXattr, Metadata};
pub use report::{Attribute, Extracted, NAMED_MAX, NotRestored};

use destination::Destination;
use tree::Tree;

/// Extracts an image, or the chosen paths of it, below `destination`.
///
/// The directory is created if it is missing. Everything happens through directory handles and
/// `openat2(2)` beneath it, so that no link, neither of the image nor one that was there, leads
/// outside; files are created anew and never opened for writing if they were there. Holes stay
/// holes, hard links stay hard links. Modes and times of directories come last, deepest first.
///
/// * `progress`: called with the bytes of content written so far; `Break` ends the extraction.
///
/// # Errors
///
/// [`Error::NotEmpty`], [`Error::NotFound`] before anything is written; then the first of
/// [`Error::Write`] (also a full disk), [`Error::InFile`] (damaged content) and
/// [`Error::Interrupted`]. An owner, mode, time, xattr or device that cannot be restored is no
/// error; with [`keep_going`](ExtractOptions::keep_going) damage and most of [`Error::Write`] are
/// none either. After an error the files that were finished stay; one that lacks content is
/// removed.
///
/// # Cost
///
/// Reads each data and fragment block once, in the order in which they lie in the image.
pub fn extract(
    image: &Image,
    destination: &Path,
    options: &ExtractOptions,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Extracted, Error> {
    for path in &options.paths {
        if image.find(path)?.is_none() {
            let path = path.clone();
            return Err(Error::NotFound { path });
        }
    }
    let destination = Destination::open(destination, options.overwrite)?;
    let mut extracted = Extracted::default();
    let tree = Tree::create(image, destination, options, &mut extracted, progress)?;
    let missing = file::write_files(&tree, options, &mut extracted, progress)?;
    tree.link(&missing, &mut extracted)?;
    tree.finish_directories(&mut extracted)?;
    Ok(extracted)
}
