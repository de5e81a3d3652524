//! File contents of an archive that cannot be read again, in a temporary file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Zeros are not written in pieces of this: what a compressor makes of nothing takes no disk.
const HOLE_BYTES: usize = 4096;

/// A file without a name that grows at its end.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    directory: PathBuf,
    pub(super) len_bytes: u64,
}

impl Spool {
    /// A new file on the file system of a directory.
    ///
    /// # Errors
    ///
    /// [`Error::Spool`] if no file can be created there.
    pub(super) fn new(directory: &Path) -> Result<Self, Error> {
        Ok(Self {
            file: scratch_file(directory)?,
            directory: directory.to_path_buf(),
            len_bytes: 0,
        })
    }

    /// The same file once more, for reading.
    pub(super) fn reader(&self) -> Result<File, Error> {
        let clone = self.file.try_clone();
        clone.map_err(|error| fail(&self.directory, error))
    }

    /// Appends bytes.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut at = self.len_bytes;
        let pieces: Vec<&[u8]> = bytes.chunks(HOLE_BYTES).collect();
        let is_zero = |piece: &[u8]| piece.iter().all(|byte| *byte == 0);
        for alike in pieces.chunk_by(|left, right| is_zero(left) == is_zero(right)) {
            let len: usize = alike.iter().map(|piece| piece.len()).sum();
            if !is_zero(alike[0]) {
                let start = usize::try_from(at - self.len_bytes).expect("inside the bytes");
                let written = self.file.write_all_at(&bytes[start..start + len], at);
                written.map_err(|error| fail(&self.directory, error))?;
            }
            at += len as u64;
        }
        self.len_bytes = at;
        Ok(())
    }

    /// Gives the file its length: it may end with zeros that were not written.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let set = self.file.set_len(self.len_bytes);
        set.map_err(|error| fail(&self.directory, error))
    }
}

fn fail(directory: &Path, error: io::Error) -> Error {
    Error::Spool {
        directory: directory.to_path_buf(),
        error,
    }
}

/// A new file without a name.
///
/// # Errors
///
/// [`Error::Spool`] if none can be created in the directory.
pub fn scratch_file(directory: &Path) -> Result<File, Error> {
    tempfile::tempfile_in(directory).map_err(|error| fail(directory, error))
}
