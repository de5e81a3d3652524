//! Files and all their names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::directory;
use crate::Error;
use crate::leased_file::{LeasedFile, Refusal};

/// A file, by names that were given or found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Each once, in the order in which they were given, then those that were found; not empty.
    pub names: Vec<PathBuf>,
    /// Device and inode.
    id: (u64, u64),
}

impl NamedFile {
    /// The first of its names.
    pub fn path(&self) -> &Path {
        self.names.first().map_or(Path::new(""), PathBuf::as_path)
    }
}

/// Puts names of the same file together, in the order of their first ones.
///
/// A name that is given in two ways counts once. What stands there, if anything, is not judged
/// here: an error comes back for each name that cannot be looked at.
pub fn named_files(names: &[PathBuf]) -> (Vec<NamedFile>, Vec<Error>) {
    let mut files: Vec<NamedFile> = Vec::new();
    let mut errors = Vec::new();
    for name in names {
        match look(name) {
            Ok((metadata, name)) => {
                let id = id(&metadata);
                match files.iter_mut().find(|file| file.id == id) {
                    Some(file) if file.names.contains(&name) => {}
                    Some(file) => file.names.push(name),
                    None => files.push(NamedFile {
                        names: vec![name],
                        id,
                    }),
                }
            }
            Err(error) => errors.push(Error::io("look at", name)(error)),
        }
    }
    (files, errors)
}

/// Searches a directory and all below it, on the same file system, for more names of files. Links
/// are not followed; directories that may not be read are passed by.
///
/// # Errors
///
/// [`Error::Io`] if the directory itself cannot be read.
///
/// # Cost
///
/// Looks at everything below.
pub fn complete_names(files: &mut [NamedFile], below: &Path) -> Result<(), Error> {
    let below = below
        .canonicalize()
        .map_err(Error::io("find the directory", below))?;
    let root = below.metadata().map_err(Error::io("look at", &below))?;
    fs::read_dir(&below).map_err(Error::io("list", &below))?;
    let mut found: BTreeMap<(u64, u64), BTreeSet<PathBuf>> = files
        .iter()
        .map(|file| (file.id, BTreeSet::new()))
        .collect();
    let mut pending = vec![below];
    while let Some(directory) = pending.pop() {
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path();
            let Ok(metadata) = path.symlink_metadata() else {
                continue;
            };
            if metadata.is_dir() && metadata.dev() == root.dev() {
                pending.push(path);
            } else if let Some(names) = found.get_mut(&id(&metadata)) {
                names.insert(path);
            }
        }
    }
    for file in files {
        let mut more = found.remove(&file.id).unwrap_or_default();
        more.retain(|name| !file.names.contains(name));
        file.names.extend(more);
    }
    Ok(())
}

impl LeasedFile {
    /// Fails if the file has other names than these.
    pub(super) fn check_names(&self, names: &[PathBuf]) -> Result<(), Error> {
        let metadata = self
            .file()
            .metadata()
            .map_err(Error::io("look at", self.path()))?;
        let (given, all) = (names.len() as u64, metadata.nlink());
        if given != all {
            return Err(self.refused(Refusal::OtherNames { given, all }));
        }
        if !names.iter().all(|name| self.is_at(name)) {
            return Err(self.refused(Refusal::Renamed));
        }
        Ok(())
    }
}

fn id(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// What stands at a name, and the one way to write it.
fn look(name: &Path) -> io::Result<(Metadata, PathBuf)> {
    let metadata = name.symlink_metadata()?;
    let only = match name.file_name() {
        Some(last) => directory(name).canonicalize()?.join(last),
        None => name.canonicalize()?,
    };
    Ok((metadata, only))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_file_are_put_together_and_counted_once() {
        let stage = tempfile::tempdir().unwrap();
        let at = |name: &str| stage.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(at("deep/er")).unwrap();
        fs::write(at("b"), "x").unwrap();
        fs::write(at("c"), "y").unwrap();
        fs::hard_link(at("b"), at("a")).unwrap();
        fs::hard_link(at("b"), at("deep/er/d")).unwrap();
        std::os::unix::fs::symlink("b", at("deep/link")).unwrap();
        let given = ["b", "c", "deep/../b", "a", "missing"].map(at);
        let (mut files, errors) = named_files(&given);
        assert_eq!(errors.len(), 1, "{errors:?}");
        let names: Vec<_> = files.iter().map(|file| file.names.clone()).collect();
        assert_eq!(names, [vec![at("b"), at("a")], vec![at("c")]]);
        complete_names(&mut files, stage.path()).unwrap();
        assert_eq!(files[0].names, ["b", "a", "deep/er/d"].map(at));
        assert_eq!(files[1].names, [at("c")]);
        assert!(complete_names(&mut files, &at("missing")).is_err());
    }
}
