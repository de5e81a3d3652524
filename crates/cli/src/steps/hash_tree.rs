//! The hash tree of an image.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use coldpress_report::text::{escaped_path, quoted};
use coldpress_report::units;
use coldpress_session::ui::Ui;
use coldpress_verity::{Advance, Error, Places, Report, TreeFiles, workers};
use coldpress_writer::Output;

use crate::flags::verity::{HashTreeArgs, TreeForm};
use crate::resolve;

/// Makes the files of a hash tree, and checks that neither they nor the image lie in a source.
///
/// # Errors
///
/// If they do, or cannot be made.
pub(crate) fn tree_files(
    form: TreeForm,
    args: &HashTreeArgs,
    image: &Path,
    sources: &[PathBuf],
) -> anyhow::Result<TreeFiles> {
    let mut places = match form {
        TreeForm::Sidecar => Places::beside(image),
        TreeForm::Append => Places {
            tree: None,
            root_hash: None,
        },
    };
    places.root_hash = args.roothash.clone().or(places.root_hash);
    let paths = [
        Some(image),
        places.tree.as_deref(),
        places.root_hash.as_deref(),
    ];
    let paths: Vec<&Path> = paths.into_iter().flatten().collect();
    resolve::check_outputs(&paths, sources)?;
    Ok(TreeFiles::create(&places)?)
}

/// Writes the hash tree of an image that is not in place yet, and puts the files of it in place.
///
/// # Errors
///
/// If the disk refuses it, or the user interrupts.
pub(crate) fn protect(
    files: TreeFiles,
    args: &HashTreeArgs,
    image: &Output,
    ui: &Ui,
) -> anyhow::Result<Report> {
    let report = hashing("hashing", ui, |advance| {
        files.fill_and_write(image, &args.settings(), &workers(), advance)
    });
    let cannot = || format!("cannot make the hash tree of {}", quoted(image.path()));
    let report = report.with_context(cannot)?;
    files.commit()?;
    Ok(report)
}

/// Reads an image for its hash tree, with a progress bar.
///
/// # Errors
///
/// Those of what reads it.
pub(crate) fn hashing<T>(
    label: &'static str,
    ui: &Ui,
    read: impl FnOnce(&mut Advance<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let step = ui
        .step(label, 0)
        .about("every data block, for the hash tree");
    let mut done_bytes = 0;
    let done = read(&mut |bytes| {
        done_bytes += bytes;
        step.set(done_bytes);
        ui.interrupt.poll()
    })?;
    step.finish("");
    Ok(done)
}

/// Prints the root hash, and on standard error where the tree is.
///
/// # Errors
///
/// If standard output is gone.
pub(crate) fn print_tree(report: &Report, ui: &Ui) -> anyhow::Result<()> {
    ui.say(&format!(
        "{}: hash tree of {} at byte {}; {}",
        escaped_path(Path::new(&report.file)),
        units::bytes(report.hash_bytes),
        report.start,
        report.algorithm
    ));
    let mut out = ui.out();
    writeln!(out, "{}", report.root_hash)?;
    Ok(out.flush()?)
}
