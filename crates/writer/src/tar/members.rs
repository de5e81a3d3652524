//! What is in an archive that is not unpacked: its files, to be read at any position.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use coldpress_image::{Offset, Prefix, ReadAt};

use super::TarOrigin;
use super::compression::{Compression, MAGIC_BYTES};
use super::entries::Entries;
use super::entry::EntryKind;
use super::pump::Pump;
use super::stream::Stream;
use crate::error::{self, Error};
use crate::layers::{Packing, Paged};

/// Members of an archive at most: of what has more, nobody asks for single files by name.
const MEMBERS_MAX: usize = 1 << 16;

/// An archive whose files are read one by one.
pub struct TarMembers {
    bytes: Arc<dyn ReadAt>,
    /// The file that holds the bytes, if somebody else may change it.
    pub file: Option<Arc<File>>,
    members: Vec<TarMember>,
}

/// A file or a link of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TarMember {
    /// Its path, without `./` and such.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: TarMemberKind,
}

/// What a member is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TarMemberKind {
    /// A regular file that is not sparse.
    File {
        /// Where its bytes begin in the plain archive.
        start: u64,
        /// How many there are.
        size_bytes: u64,
    },
    /// A hard link, to a path in the archive.
    HardLink(Vec<u8>),
    /// A symbolic link.
    Symlink(Vec<u8>),
}

impl std::fmt::Debug for TarMembers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TarMembers")
            .field("members", &self.members)
            .finish_non_exhaustive()
    }
}

impl TarMembers {
    /// Lists an archive. One that is compressed or comes through a pipe is kept, compressed, in a
    /// file without a name.
    ///
    /// * `spool_directory`: where that file is.
    /// * `progress`: called now and then; stops the work when it breaks.
    ///
    /// # Errors
    ///
    /// [`Error::Tar`] where the archive is damaged, [`Error::Source`] if it cannot be read,
    /// decompressed or kept.
    ///
    /// # Cost
    ///
    /// Reads the headers of a plain file, and all of anything else once.
    pub fn read(
        origin: &TarOrigin,
        spool_directory: &Path,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let (path, file) = origin.open()?;
        Self::of_file(path, file, spool_directory, progress)
    }

    /// As [`TarMembers::read`], of a file that is open, or the end of a pipe.
    ///
    /// * `path`: its name, for messages.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn of_file(
        path: PathBuf,
        file: File,
        spool_directory: &Path,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let metadata = file.metadata().map_err(error::source("read", &path))?;
        if metadata.is_file() {
            let mut head = [0; MAGIC_BYTES];
            let len = file
                .fill_at(&mut head, 0)
                .map_err(error::source("read", &path))?;
            if Compression::of(&head[..len]).is_none() {
                let file = Arc::new(file);
                let stream = Stream::seekable(file.clone(), 0, metadata.len(), path, progress);
                let members = members(stream)?;
                return Ok(Self {
                    bytes: file.clone(),
                    file: Some(file),
                    members,
                });
            }
        }
        let packing = Packing::new(spool_directory).map_err(|error| Error::Spool {
            directory: spool_directory.to_path_buf(),
            error,
        })?;
        let packing = Arc::new(Mutex::new(packing));
        let kept = Arc::clone(&packing);
        let pump = Pump::of_file_noted(file, move |chunk| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.append(chunk)
        });
        let members = members(Stream::of_pump(pump, path, progress))?;
        let packing = Arc::into_inner(packing).expect("the thread has ended");
        let packing = packing.into_inner().unwrap_or_else(PoisonError::into_inner);
        let packed = packing.finish();
        let (packed, len_bytes) = packed.map_err(|error| Error::Spool {
            directory: spool_directory.to_path_buf(),
            error,
        })?;
        Ok(Self {
            bytes: Arc::new(Paged::new(packed, len_bytes, 0, Arc::default())),
            file: None,
            members,
        })
    }

    /// The members, in the order of the archive.
    pub fn members(&self) -> &[TarMember] {
        &self.members
    }

    /// The bytes of a file of the archive.
    pub fn bytes(&self, start: u64, size_bytes: u64) -> Arc<dyn ReadAt> {
        Arc::new(Prefix {
            inner: Offset {
                inner: Arc::clone(&self.bytes),
                start,
            },
            len: size_bytes,
        })
    }
}

/// The files and links of an archive.
fn members(stream: Stream) -> Result<Vec<TarMember>, Error> {
    let mut entries = Entries::new(stream, false);
    let mut members = Vec::new();
    while let Some(entry) = entries.next()? {
        let kind = match entry.kind {
            EntryKind::File {
                size_bytes,
                segments: None,
            } => TarMemberKind::File {
                start: entries.data_position(),
                size_bytes,
            },
            EntryKind::HardLink { target } => TarMemberKind::HardLink(normal(&target)),
            EntryKind::Symlink { target } => TarMemberKind::Symlink(target),
            _ => continue,
        };
        if members.len() == MEMBERS_MAX {
            return Err(Error::TooMany {
                what: "files in an archive that is to hold a container image",
                found: MEMBERS_MAX as u64 + 1,
                limit: MEMBERS_MAX as u64,
            });
        }
        let path = normal(&entry.path);
        members.push(TarMember { path, kind });
        entries.stream.poll()?;
    }
    entries.stream.drain()?;
    Ok(members)
}

/// A path without what means nothing.
fn normal(path: &[u8]) -> Vec<u8> {
    let names = path.split(|byte| *byte == b'/');
    let names = names.filter(|name| !name.is_empty() && *name != b".");
    names.collect::<Vec<_>>().join(&b'/')
}
