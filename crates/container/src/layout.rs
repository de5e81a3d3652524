//! OCI layouts: a directory with `index.json` and `blobs/ALGORITHM/HEX`.

pub(crate) mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use coldpress_image::open_file;

use crate::blobs::{Blob, Blobs, whole};
use crate::document::{Descriptor, Index, parse};
use crate::error::Error;

/// A directory that is an OCI layout.
#[derive(Debug)]
pub(crate) struct Layout {
    directory: PathBuf,
    name: String,
}

impl Layout {
    /// * `name`: of the image, for messages.
    pub(crate) fn new(directory: &Path, name: String) -> Self {
        Self {
            directory: directory.to_path_buf(),
            name,
        }
    }

    /// The list of its images.
    pub(crate) fn index(&self) -> Result<Index, Error> {
        let file = open(&self.directory.join("index.json"))?;
        parse(
            &self.name,
            "`index.json`",
            &whole(&self.name, "`index.json`", &file)?,
        )
    }
}

impl Blobs for Layout {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self, descriptor: &Descriptor) -> Result<Blob, Error> {
        let digest = descriptor.digest;
        let path = self.directory.join("blobs").join(digest.algorithm());
        let file = Arc::new(open(&path.join(digest.hex()))?);
        Ok(Blob {
            bytes: file.clone(),
            file: Some(file),
            index: None,
        })
    }
}

fn open(path: &Path) -> Result<std::fs::File, Error> {
    open_file(path).map_err(|error| Error::File {
        action: "open",
        path: path.to_path_buf(),
        error,
    })
}

#[cfg(test)]
mod tests;
