//! Where sources lie.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_layout::{Kind, Tree};
use coldpress_report::failure::hint;
use coldpress_report::text;

use crate::containers;

/// Directories that a program inside an image needs.
const NEEDED: [&str; 3] = ["proc", "dev", "tmp"];

/// Checks that the source of a recording is there and a directory, and that a program can live in
/// it.
///
/// * `chroot`: whether it is to be the root directory of the program.
///
/// # Errors
///
/// If it is not.
pub(crate) fn check_source(source: &Path, chroot: bool) -> anyhow::Result<()> {
    // What it holds is known when its layers are read: `check_tree`.
    if containers::is_container(source) {
        return Ok(());
    }
    let metadata = source
        .metadata()
        .with_context(|| format!("cannot read {}", text::quoted(source)))?;
    if !metadata.is_dir() {
        let error = anyhow!("{} is not a directory", text::quoted(source));
        return Err(hint(
            error,
            "give the directory that holds the application, as `coldpress extract` makes it",
        ));
    }
    // Told here too, because the image that is mounted takes long to build.
    let is_missing = |name: &&&str| {
        let found = source.join(name).symlink_metadata();
        !found.is_ok_and(|found| found.is_dir())
    };
    let missing = NEEDED.iter().find(is_missing).filter(|_| chroot);
    lacks(source, missing)
}

/// Checks of a container image what [`check_source`] checks of a directory.
///
/// * `tree`: what is in it.
///
/// # Errors
///
/// If a program cannot live in it.
pub(crate) fn check_tree(source: &Path, tree: &Tree, chroot: bool) -> anyhow::Result<()> {
    if !containers::is_container(source) {
        return Ok(());
    }
    let is_missing = |name: &&&str| {
        let found = tree.find(format!("/{name}").as_bytes());
        !found.is_some_and(|node| matches!(tree[node].kind, Kind::Directory { .. }))
    };
    let missing = NEEDED.iter().find(is_missing).filter(|_| chroot);
    lacks(source, missing)
}

fn lacks(source: &Path, missing: Option<&&str>) -> anyhow::Result<()> {
    match missing {
        None => Ok(()),
        Some(missing) => {
            let source = text::quoted(source);
            let error = anyhow!("{source} has no directory `{missing}`, which --chroot needs");
            Err(hint(
                error,
                "add an empty one to the source, or run the command without --chroot",
            ))
        }
    }
}
