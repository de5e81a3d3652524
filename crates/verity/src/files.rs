//! The files of a tree that is made for an image, written beside and put in place.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use coldpress_codec::Workers;
use coldpress_image::ReadAt as _;
use coldpress_writer::Output;
use serde::Serialize;

use crate::error::{Error, Part};
use crate::parameters::Settings;
use crate::protect::{Advance, Area, Protected, protect};

/// The path of a file of the tree beside an image, by systemd's rule: in place of `.raw`,
/// otherwise after the name.
///
/// * `kind`: `verity` or `roothash`.
pub fn sidecar(image: &Path, kind: &str) -> PathBuf {
    if image
        .extension()
        .is_some_and(|extension| extension == "raw")
    {
        return image.with_extension(kind);
    }
    let mut path = OsString::from(image);
    path.push(".");
    path.push(kind);
    path.into()
}

/// Where the files of a tree will stand.
#[derive(Clone, Debug)]
pub struct Places {
    /// The tree; `None` if it is appended to the image.
    pub tree: Option<PathBuf>,
    /// The digits of the root hash, if they are to be in a file.
    pub root_hash: Option<PathBuf>,
}

impl Places {
    /// Beside an image, where systemd looks for them.
    pub fn beside(image: &Path) -> Self {
        Self {
            tree: Some(sidecar(image, "verity")),
            root_hash: Some(sidecar(image, "roothash")),
        }
    }
}

/// The files of a tree that are not in place yet.
#[derive(Debug)]
pub struct TreeFiles {
    tree: Option<Output>,
    root_hash: Option<Output>,
}

impl TreeFiles {
    /// Makes the files, without a name.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] if a directory cannot be written.
    pub fn create(places: &Places) -> Result<Self, Error> {
        let output = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        Ok(Self {
            tree: output(&places.tree)?,
            root_hash: output(&places.root_hash)?,
        })
    }

    /// Fills an image that is being made up to a whole data block, and writes its tree.
    ///
    /// # Errors
    ///
    /// Those of [`protect`].
    pub fn fill_and_write(
        &self,
        image: &Output,
        settings: &Settings,
        workers: &Workers,
        advance: &mut Advance<'_>,
    ) -> Result<Report, Error> {
        let file = image.file();
        let start = size_bytes(file)?;
        let end = start.next_multiple_of(settings.parameters.data_block.bytes());
        file.set_len(end)
            .map_err(|source| Error::Write { start, source })?;
        self.write((file, image.path()), settings, workers, advance)
    }

    /// Writes the tree of an image that is a file of whole data blocks.
    ///
    /// # Errors
    ///
    /// Those of [`protect`].
    pub fn write(
        &self,
        (image, path): (&File, &Path),
        settings: &Settings,
        workers: &Workers,
        advance: &mut Advance<'_>,
    ) -> Result<Report, Error> {
        let data_bytes = size_bytes(image)?;
        let (file, start) = match &self.tree {
            Some(tree) => (tree.file(), 0),
            None => (image, data_bytes),
        };
        let area = Area {
            file,
            start,
            has_superblock: true,
        };
        let protected = protect((image, data_bytes), area, settings, workers, advance)?;
        if let Some(output) = &self.root_hash {
            // No newline, as veritysetup writes and systemd reads it.
            let digits = protected.root_hash.to_string();
            let written = output.file().write_all(digits.as_bytes());
            written.map_err(|source| Error::Write { start: 0, source })?;
        }
        let path = self.tree.as_ref().map_or(path, Output::path);
        Ok(Report::new(path, start, &protected))
    }

    /// Puts the files in their places.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] if a disk or a directory refuses it.
    pub fn commit(self) -> Result<(), Error> {
        for output in [self.tree, self.root_hash].into_iter().flatten() {
            output.commit()?;
        }
        Ok(())
    }
}

/// A tree that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The digits that verify it.
    pub root_hash: String,
    /// The file that has it.
    pub file: String,
    /// Byte of that file at which its superblock begins.
    pub start: u64,
    /// Bytes of its hash blocks.
    pub hash_bytes: u64,
    /// Blocks of the image that have hashes.
    pub data_blocks: u64,
    /// Bytes of each.
    pub data_block_bytes: u64,
    /// Bytes of a hash block.
    pub hash_block_bytes: u64,
    /// What the hashes are computed with.
    pub algorithm: &'static str,
    /// What is hashed with every block; `-` if nothing is.
    pub salt: String,
    /// The name of the tree.
    pub uuid: String,
}

impl Report {
    fn new(file: &Path, start: u64, protected: &Protected) -> Self {
        let superblock = &protected.superblock;
        let parameters = &superblock.parameters;
        Self {
            root_hash: protected.root_hash.to_string(),
            file: file.display().to_string(),
            start,
            hash_bytes: protected.geometry.hash_bytes(),
            data_blocks: superblock.data_blocks,
            data_block_bytes: parameters.data_block.bytes(),
            hash_block_bytes: parameters.hash_block.bytes(),
            algorithm: parameters.algorithm.name(),
            salt: parameters.salt.to_string(),
            uuid: superblock.uuid.to_string(),
        }
    }
}

fn size_bytes(image: &File) -> Result<u64, Error> {
    let (part, start) = (Part::Image, 0);
    image.size_bytes().map_err(|source| Error::Read {
        part,
        start,
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sidecars_have_the_names_that_systemd_looks_for() {
        for (image, expected) in [
            ("a/app.raw", "a/app.verity"),
            ("app.sqfs", "app.sqfs.verity"),
            ("app", "app.verity"),
        ] {
            assert_eq!(sidecar(Path::new(image), "verity"), Path::new(expected));
        }
    }
}
