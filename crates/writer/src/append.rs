//! Appending to an image: the file that holds it grows in place, and stays whole at every moment.
//!
//! New data and new tables are written behind the old image, in whole pages of their own, and made
//! durable; then one write of 96 bytes, the superblock, turns the old image into the new one. No
//! byte of the old image but these changes: whoever has it mounted goes on reading it. The old
//! tables stay where they are, unused.
//!
//! mksquashfs writes over the old tables instead, and needs a recovery file for the case that it
//! is killed.

mod kept;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use coldpress_format::{Body, CompressorOptions, MAGIC, PADDING_SIZE, SUPERBLOCK_SIZE, Superblock};
use coldpress_image::{Image, Offset};
use rustix::fs::FlockOperation;

use crate::error::Error;

/// An image that is appended to. The file is as it was before unless it is committed.
#[derive(Debug)]
pub struct Appending {
    file: File,
    path: PathBuf,
    /// Byte of the file at which the image begins.
    offset_bytes: u64,
    /// Bytes of the file before.
    len_bytes: u64,
    /// The superblock before, as it lies in the file.
    superblock: [u8; SUPERBLOCK_SIZE],
    image: Image,
    is_committed: bool,
}

impl Appending {
    /// Opens the image that lies `offset_bytes` behind the beginning of a file, and locks the file
    /// against others that append to it.
    ///
    /// # Errors
    ///
    /// [`Error::NotAppendable`] if the file is no image of SquashFS 4.0 or is damaged,
    /// [`Error::Locked`], [`Error::Output`] if it cannot be opened for writing.
    pub fn open(path: &Path, offset_bytes: u64) -> Result<Self, Error> {
        let fail = |error| Error::Output {
            action: "append to",
            path: path.to_path_buf(),
            error,
        };
        let refuse = |reason: String| Error::NotAppendable {
            path: path.to_path_buf(),
            reason,
        };
        let metadata = path.metadata().map_err(fail)?;
        if !metadata.is_file() {
            return Err(refuse("it is not a regular file".to_owned()));
        }
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(fail)?;
        let lock = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        match lock {
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let path = path.to_path_buf();
                return Err(Error::Locked { path });
            }
            // A file system without locks has none against others either.
            Ok(()) | Err(rustix::io::Errno::NOTSUP | rustix::io::Errno::NOSYS) => {}
            Err(error) => return Err(fail(error.into())),
        }
        let superblock = superblock(&file, offset_bytes).map_err(refuse)?;
        let image = open_image(&file, offset_bytes).map_err(fail)?;
        let image = image.map_err(|error| refuse(error.to_string()))?;
        Ok(Self {
            len_bytes: file.metadata().map_err(fail)?.len(),
            file,
            path: path.to_path_buf(),
            offset_bytes,
            superblock,
            image,
            is_committed: false,
        })
    }

    /// The superblock of the old image.
    pub fn superblock(&self) -> &Superblock {
        self.image.superblock()
    }

    /// The compressor options that the old image records.
    pub fn options(&self) -> Option<CompressorOptions> {
        self.image.options()
    }

    /// The file, to be written by [`write()`](crate::write()).
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in the root directory of the old image.
    ///
    /// # Errors
    ///
    /// [`Error::SourceImage`] if it cannot be read.
    pub fn names(&self) -> Result<BTreeSet<Vec<u8>>, Error> {
        let entries = self.image.root().and_then(|root| match &root.body {
            Body::Directory(directory) => self.image.entries(directory),
            _ => Ok(Vec::new()),
        });
        let entries = entries.map_err(|error| self.unreadable(error))?;
        Ok(entries.into_iter().map(|entry| entry.name).collect())
    }

    /// Makes what was written durable.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] if it cannot be made so, or another file has taken the place of this one;
    /// the old image then stays.
    pub fn commit(mut self) -> Result<(), Error> {
        let fail = |error| Error::Output {
            action: "append to",
            path: self.path.clone(),
            error,
        };
        self.file.sync_all().map_err(fail)?;
        let (own, there) = (self.file.metadata(), self.path.metadata());
        let (own, there) = (own.map_err(fail)?, there.map_err(fail)?);
        if (own.dev(), own.ino()) != (there.dev(), there.ino()) {
            let replaced = "another file was put in its place meanwhile";
            return Err(fail(io::Error::other(replaced)));
        }
        self.is_committed = true;
        Ok(())
    }

    /// Gives the file the superblock and the length that it had.
    fn restore(&self) -> io::Result<()> {
        let mut found = [0; SUPERBLOCK_SIZE];
        self.file.read_exact_at(&mut found, self.offset_bytes)?;
        if found != self.superblock {
            self.file
                .write_all_at(&self.superblock, self.offset_bytes)?;
            self.file.sync_all()?;
        }
        self.file.set_len(self.len_bytes)
    }

    fn unreadable(&self, error: coldpress_image::Error) -> Error {
        Error::SourceImage {
            path: self.path.clone(),
            error,
        }
    }
}

impl Drop for Appending {
    fn drop(&mut self) {
        if !self.is_committed {
            // Nothing more can be done; what is behind the old image is not a part of it.
            let _ = self.restore();
        }
    }
}

/// Opens the image in a file for reading.
fn open_image(file: &File, offset_bytes: u64) -> io::Result<Result<Image, coldpress_image::Error>> {
    let inner = file.try_clone()?;
    let start = offset_bytes;
    Ok(Image::new(Box::new(Offset { inner, start })))
}

/// Reads the superblock of an image of the one version that is appended to, or says what it is.
fn superblock(file: &File, offset_bytes: u64) -> Result<[u8; SUPERBLOCK_SIZE], String> {
    let mut bytes = [0; SUPERBLOCK_SIZE];
    let no_image = || format!("no SquashFS image begins at byte {offset_bytes} of it");
    file.read_exact_at(&mut bytes, offset_bytes)
        .map_err(|_| no_image())?;
    let magic = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    if magic == MAGIC.swap_bytes() {
        return Err(
            "it is a big-endian image of an old version of SquashFS, not of 4.0".to_owned(),
        );
    }
    if magic != MAGIC {
        return Err(no_image());
    }
    let version = [bytes[28], bytes[29], bytes[30], bytes[31]];
    let (major, minor) = (
        u16::from_le_bytes([version[0], version[1]]),
        u16::from_le_bytes([version[2], version[3]]),
    );
    if (major, minor) != (4, 0) {
        return Err(format!("it is SquashFS {major}.{minor}, not 4.0"));
    }
    Ok(bytes)
}

/// The image byte at which an image is added to: on a page of the file that holds nothing of it.
///
/// What lies there is no part of the image. It may be left from a process that was killed.
pub(crate) fn start(superblock: &Superblock, offset_bytes: u64) -> u64 {
    (offset_bytes + superblock.bytes_used).next_multiple_of(PADDING_SIZE) - offset_bytes
}
