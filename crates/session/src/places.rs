//! Where files may be written.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use coldpress_report::failure::hint;
use coldpress_report::text;

use crate::work_dir;

/// Checks the places of files that are to be written: none lies in a source, where it would replace
/// a part of it or change what the image is compared with, and no two are the same.
///
/// # Errors
///
/// If they do.
pub fn check_outputs(outputs: &[&Path], sources: &[PathBuf]) -> anyhow::Result<()> {
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
pub fn is_same(left: &Path, right: &Path) -> bool {
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
