//! Tar archives as inputs: plain or compressed, in files or from a pipe.
//!
//! ```text
//! file or pipe -> pump (decompress, in a thread) -> stream -> entries -> unpack -> draft
//!                                                                |
//!                                                                +--> spool (contents)
//! ```
//!
//! An uncompressed regular file is its own store: only headers are read, and the contents lie
//! where they are. Everything else can be read once, so contents go into a temporary file.
//!
//! Archives are not trusted. Every number is checked before it is used, an extended header has at
//! most 1 MiB, and what an archive costs in memory is in proportion to its length.

pub(crate) mod compression;
mod defect;
pub(crate) mod entries;
pub(crate) mod entry;
mod header;
mod members;
mod number;
mod pax;
pub(crate) mod pump;
mod sparse;
mod spool;
pub(crate) mod stream;
pub(crate) mod unpack;

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::ops::ControlFlow;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coldpress_layout::Node;

use crate::content::{Content, Segment, StoreId};
use crate::draft::{self, Draft};
use crate::duplicates::{Hash, SpanHasher};
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use compression::{Compression, MAGIC_BYTES};
pub use defect::TarDefect;
use entries::Entries;
use entry::EntryKind;
use header::{BLOCK_BYTES, Header};
pub use members::{TarMember, TarMemberKind, TarMembers};
use spool::Spool;
pub use spool::scratch_file;
use stream::Stream;
use unpack::Unpacker;

/// Lengths of all sparse files of an archive: the largest file of ext4. Without a limit, an archive
/// of one block could keep a build busy for years, since each block of a hole is listed.
const SPARSE_MAX_BYTES: u64 = 16 << 40;

/// A tar archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TarInput {
    /// Where it is.
    pub origin: TarOrigin,
    /// Where the contents of files are kept until the image is written, in a file without a name,
    /// if the archive is compressed or cannot be read twice.
    pub spool_directory: PathBuf,
    /// Whether zero blocks do not end the archive, as between joined ones.
    pub ignore_zeros: bool,
    /// What directories have that the archive does not describe.
    pub defaults: TarDefaults,
}

/// Where an archive is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TarOrigin {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl TarOrigin {
    /// The name for messages, and the file.
    fn open(&self) -> Result<(PathBuf, File), Error> {
        let (path, file) = match self {
            Self::File(path) => (path.clone(), File::open(path)),
            Self::Stdin => {
                let stdin = io::stdin().as_fd().try_clone_to_owned();
                (PathBuf::from("standard input"), stdin.map(File::from))
            }
        };
        let file = file.map_err(error::source("open", &path))?;
        Ok((path, file))
    }
}

/// The metadata of directories that an archive does not describe: parents of what it holds, and
/// the root. Their time is that of the first entry that needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TarDefaults {
    /// The 12 permission bits.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

impl Default for TarDefaults {
    fn default() -> Self {
        Self {
            mode: 0o755,
            uid: 0,
            gid: 0,
        }
    }
}

impl TarDefaults {
    /// A directory with these.
    pub(crate) fn node(self, mtime_s: u32) -> Node {
        draft::directory(self.mode, self.uid, self.gid, mtime_s)
    }
}

/// Whether a file is a tar archive, plain or compressed: whether it begins with a header whose
/// checksum is right. An archive without entries has none, so it is not known as one.
///
/// # Errors
///
/// If the file cannot be read, or is compressed and damaged at its beginning: then nobody can know.
pub fn is_tar(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut head = [0; MAGIC_BYTES];
    let len = file.read_at(&mut head, 0)?;
    let mut plain = match Compression::of(&head[..len]) {
        None => Box::new(file),
        Some(compression) => compression
            .decoder(io::BufReader::new(file))
            .map_err(stream::named)?,
    };
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    plain
        .by_ref()
        .take(BLOCK_BYTES as u64)
        .read_to_end(&mut block)
        .map_err(stream::named)?;
    Ok(block
        .first_chunk()
        .is_some_and(|block| Header::new(block).is_ok()))
}

/// Where the contents of an archive's files are found later.
pub(crate) enum Keeper {
    /// In the archive, whose first byte is this one of the file.
    InPlace {
        store: StoreId,
        start: u64,
    },
    Spool {
        store: StoreId,
        spool: Spool,
    },
}

/// Adds the entries of an archive to a draft; returns what it says about the root, if it does.
///
/// # Errors
///
/// [`Error::Tar`] where the archive is damaged, [`Error::Source`] if it cannot be read or
/// decompressed, [`Error::Spool`] if contents cannot be kept, [`Error::Unstorable`].
pub(crate) fn read(
    draft: &mut Draft,
    input: &TarInput,
    options: &SourceOptions,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Node>, Error> {
    let (stream, mut keeper) = open(draft, input, progress)?;
    let archive = stream.path().clone();
    let mut entries = Entries::new(stream, input.ignore_zeros);
    let mut unpacker = Unpacker::new(draft, options, input.defaults, archive);
    unpack_all(&mut entries, &mut unpacker, &mut keeper)?;
    let root = unpacker.root;
    if let Keeper::Spool { spool, .. } = &keeper {
        spool.finish()?;
    }
    Ok(root)
}

/// Unpacks all entries of an archive, and reads it to its end.
pub(crate) fn unpack_all(
    entries: &mut Entries,
    unpacker: &mut Unpacker,
    keeper: &mut Keeper,
) -> Result<(), Error> {
    let mut sparse_bytes = 0_u64;
    while let Some(mut entry) = entries.next()? {
        let mut content = Content::Nothing;
        if let EntryKind::File {
            size_bytes,
            segments,
        } = &mut entry.kind
        {
            let segments = segments.take();
            if segments.is_some() {
                sparse_bytes = sparse_bytes.saturating_add(*size_bytes);
            }
            if sparse_bytes > SPARSE_MAX_BYTES {
                let defect = TarDefect::SparseMap {
                    path: entry.path.escape_ascii().to_string(),
                    rule: "the sparse files of the archive have more than 16 TiB together",
                };
                return Err(entries.stream.error(entry.at_bytes, defect));
            }
            let hash;
            (content, hash) = keep(keeper, entries, *size_bytes, segments)?;
            if let (
                Content::Stored {
                    store,
                    offset_bytes,
                },
                Some(hash),
            ) = (&content, hash)
            {
                unpacker.draft.note_hash(*store, *offset_bytes, hash);
            }
        }
        unpacker.add(entry, content)?;
        entries.stream.inodes = unpacker.draft.nodes.len() as u64;
        entries.stream.poll()?;
    }
    entries.stream.drain()?;
    for (at_bytes, text) in std::mem::take(&mut entries.oddities) {
        unpacker.warn(at_bytes, b"/", &text);
    }
    unpacker.finish();
    Ok(())
}

/// Reads all entries of an archive, and leaves them.
pub(crate) fn pass_all(entries: &mut Entries) -> Result<(), Error> {
    let (store, start) = (StoreId(0), 0);
    let keeper = &mut Keeper::InPlace { store, start };
    while let Some(entry) = entries.next()? {
        if let EntryKind::File {
            size_bytes,
            segments,
        } = entry.kind
        {
            keep(keeper, entries, size_bytes, segments)?;
        }
        entries.stream.poll()?;
    }
    entries.stream.drain()
}

/// Opens an archive, and the place of its contents.
fn open<'a>(
    draft: &mut Draft,
    input: &TarInput,
    progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(Stream<'a>, Keeper), Error> {
    let (path, mut file) = input.origin.open()?;
    let metadata = file.metadata().map_err(error::source("read", &path))?;
    if metadata.is_file() {
        let start = file.stream_position();
        let start = start.map_err(error::source("read", &path))?;
        let mut head = [0; MAGIC_BYTES];
        let len = file.read_at(&mut head, start);
        let len = len.map_err(error::source("read", &path))?;
        if Compression::of(&head[..len]).is_none() {
            let file = Arc::new(file);
            let store = draft.keep_watched(Arc::clone(&file), path.clone(), &metadata);
            let end = metadata.len().max(start);
            let stream = Stream::seekable(file, start, end, path, progress);
            return Ok((stream, Keeper::InPlace { store, start }));
        }
    }
    let spool = Spool::new(&input.spool_directory)?;
    let store = draft.keep(Arc::new(spool.reader()?), path.clone());
    let stream = Stream::once(file, path, progress);
    Ok((stream, Keeper::Spool { store, spool }))
}

/// Where the content of a file is: its length in the archive is that of its segments, if it has
/// some. Its hash too, if its bytes pass by anyway.
fn keep(
    keeper: &mut Keeper,
    entries: &mut Entries,
    size_bytes: u64,
    segments: Option<Vec<Segment>>,
) -> Result<(Content, Option<Hash>), Error> {
    if size_bytes == 0 {
        return Ok((Content::Nothing, None));
    }
    let mut hasher = SpanHasher::new(size_bytes);
    let hash;
    let (store, offset_bytes) = match keeper {
        Keeper::InPlace { store, start } => {
            let offset_bytes = *start + entries.data_position();
            if entries.stream.reads_all() {
                let len_bytes = entries.data_left_bytes();
                entries.data(&mut |bytes| {
                    hasher.update(bytes);
                    Ok(())
                })?;
                let found = hasher.finish();
                entries.stream.note_content(len_bytes, found);
                hash = Some(found);
            } else {
                hash = entries.stream.coming_hash();
            }
            (*store, offset_bytes)
        }
        Keeper::Spool { store, spool } => {
            let offset_bytes = spool.len_bytes;
            entries.data(&mut |bytes| {
                hasher.update(bytes);
                spool.append(bytes)
            })?;
            hash = Some(hasher.finish());
            (*store, offset_bytes)
        }
    };
    let Some(mut segments) = segments else {
        let content = Content::Stored {
            store,
            offset_bytes,
        };
        return Ok((content, hash));
    };
    for segment in &mut segments {
        segment.offset_bytes += offset_bytes;
    }
    let segments = segments.into_boxed_slice();
    Ok((Content::Segments { store, segments }, None))
}
