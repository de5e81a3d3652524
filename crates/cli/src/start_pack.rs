//! The start pack of an image that is mounted here.

use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use coldpress_image::{Image, StartPack};
use coldpress_mount::{FileSystem, PackPrefetch, PageDelivery};
use coldpress_report::failure::sentence;
use coldpress_session::page_reader::PageReader;
use coldpress_session::ui::Ui;

/// The start pack of an image; about one that cannot be used is warned.
pub(crate) fn of(image: &Image, ui: &Ui) -> Option<StartPack> {
    let found = image
        .start_pack()
        .context("the start pack of the image is not used");
    found.unwrap_or_else(|error| {
        ui.warn(&sentence(&error));
        None
    })
}

/// Begins to read the start pack, and to hand its pages to the kernel where that is possible.
///
/// * `root`: where it is mounted.
///
/// # Errors
///
/// If there are no threads to be had.
pub(crate) fn prefetch(
    file_system: &Arc<FileSystem>,
    threads: NonZeroUsize,
    root: &Path,
) -> io::Result<PackPrefetch> {
    let delivery = PageReader::start(root).ok().map(|mut reader| {
        let deliver: PageDelivery = Box::new(move |ranges| reader.read(ranges));
        deliver
    });
    PackPrefetch::start(file_system, threads, delivery)
}
