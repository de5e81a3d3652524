//! Where sources lie and what is written may.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use coldpress_layout::{Kind, Tree};
use coldpress_report::failure::hint;
use coldpress_report::text;
use coldpress_session::work_dir;

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

/// Checks the places of files that are to be written: none lies in a source, where it would replace
/// a part of it or change what the image is compared with, and no two are the same.
///
/// # Errors
///
/// If they do.
pub(crate) fn check_outputs(outputs: &[&Path], sources: &[PathBuf]) -> anyhow::Result<()> {
    for (index, output) in outputs.iter().enumerate() {
        if *output == Path::new("-") {
            let error = anyhow!("the image cannot go to standard output");
            return Err(hint(
                error,
                "name a file, which takes its place when it is complete; `./-` is one of that name",
            ));
        }
        let parent = canonical_parent(output);
        let places = [output.canonicalize().ok(), parent];
        for source in sources {
            let Ok(inside) = source.canonicalize() else {
                continue;
            };
            if places
                .iter()
                .flatten()
                .any(|place| place.starts_with(&inside))
            {
                let is_itself = is_same(output, source);
                let (output, source) = (text::quoted(output), text::quoted(source));
                let error = if is_itself {
                    anyhow!("{output} is a source itself")
                } else {
                    anyhow!("{output} would lie inside the source {source}")
                };
                return Err(hint(
                    error,
                    "write it elsewhere, and move it there if necessary",
                ));
            }
        }
        if outputs[..index].iter().any(|other| is_same(other, output)) {
            let output = text::quoted(output);
            bail!("two things would be written to {output}; name another file for one of them");
        }
    }
    Ok(())
}

/// Whether two paths lead to the same file, which need not be there.
pub(crate) fn is_same(left: &Path, right: &Path) -> bool {
    let place = |path: &Path| {
        let missing = || Some(canonical_parent(path)?.join(path.file_name()?));
        path.canonicalize().ok().or_else(missing)
    };
    place(left).is_some_and(|left| place(right) == Some(left))
}

/// The directory of a path; `None` if it is not there, which is told when the file is created.
fn canonical_parent(path: &Path) -> Option<PathBuf> {
    work_dir::parent(path).canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn outputs_lie_outside_of_sources_and_apart() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        let place = |path: &str| match path {
            "-" | "./-" => PathBuf::from(path),
            path => at(path),
        };
        fs::create_dir_all(at("source/below")).unwrap();
        fs::create_dir(at("other")).unwrap();
        symlink(at("source"), at("link")).unwrap();
        symlink(at("source/file"), at("other/into")).unwrap();
        fs::write(at("source/file"), "").unwrap();
        symlink(at("other/a"), at("other/alias")).unwrap();
        fs::write(at("other/a"), "").unwrap();
        for (outputs, legal) in [
            (&["other/a", "other/b"][..], true),
            (&["other/missing/a"], true),
            (&["source/a"], false),
            (&["source/below/a"], false),
            (&["link/a"], false),
            (&["other/into"], false),
            (&["source"], false),
            (&["-"], false),
            (&["./-"], true),
            (&["other/b", "other/../other/b"], false),
            (&["other/a", "other/alias"], false),
        ] {
            let outputs: Vec<_> = outputs.iter().map(|path| place(path)).collect();
            let outputs: Vec<_> = outputs.iter().map(PathBuf::as_path).collect();
            let checked = check_outputs(&outputs, &[at("source")]);
            assert_eq!(checked.is_ok(), legal, "{outputs:?}: {checked:?}");
        }
    }
}
