//! Where the bytes of regular files come from, and reading them.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use coldpress_format as format;
use coldpress_image::{Image, ReadAt};
use rustix::fs::SeekFrom;

use crate::disk::{DiskFile, Found};
use crate::duplicates::Hash;
use crate::layers::Deferred;

/// Where the bytes of a node are. 32 bytes: there is one for each node.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Nowhere: it is no regular file, or an empty one.
    Nothing,
    /// In a file of the file system.
    Disk(DiskFile),
    /// Together in a store.
    Stored {
        /// The store.
        store: StoreId,
        /// Where they begin in it.
        offset_bytes: u64,
    },
    /// In pieces of a store, with zeros between them.
    Segments {
        /// The store.
        store: StoreId,
        /// The pieces, ascending by [`Segment::at_bytes`], apart from each other.
        segments: Box<[Segment]>,
    },
    /// In a file of another image.
    Image {
        /// Its place in [`Source::images`](crate::source::Source::images).
        image: u32,
        /// The file.
        file: Box<format::File>,
    },
}

/// A piece of a sparse file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "a unit is no part of a name")]
pub(crate) struct Segment {
    /// Where it begins in the file.
    pub(crate) at_bytes: u64,
    /// Where it begins in the store.
    pub(crate) offset_bytes: u64,
    /// Its length.
    pub(crate) len_bytes: u64,
}

/// The place of a [`Store`] in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreId(pub(crate) u32);

/// What holds the content of many nodes: a tar file, a temporary file, a layer.
pub(crate) struct Store {
    pub(crate) bytes: Arc<dyn ReadAt>,
    /// Its name, for messages.
    pub(crate) path: PathBuf,
    /// The file that it lies in, if that may change.
    pub(crate) watched: Option<Watched>,
    /// The layer in it, if that is read when the first content is needed.
    pub(crate) deferred: Option<Arc<Deferred>>,
    /// Hashes of contents, by where they begin: of those whose bytes passed by.
    pub(crate) hashes: HashMap<u64, Hash>,
}

/// A file that somebody else may change while an image is built from it.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) file: Arc<File>,
    /// Its length when it was opened.
    pub(crate) len_bytes: u64,
    /// What else it was known by then.
    pub(crate) found: Found,
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Store")
            .field("path", &self.path)
            .field("watched", &self.watched)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Whether it is still as it was opened.
    pub(crate) fn is_unchanged(&self) -> bool {
        let Some(watched) = &self.watched else {
            return true;
        };
        let metadata = watched.file.metadata();
        metadata.is_ok_and(|now| {
            now.len() == watched.len_bytes && Found::new(&now).has_time_of(&watched.found)
        })
    }
}

/// A content that is open for reading, by several threads at once.
pub(crate) enum Opened<'a> {
    Nothing,
    Disk {
        file: File,
        found: DiskFile,
        size_bytes: u64,
    },
    Stored {
        store: &'a Store,
        offset_bytes: u64,
        size_bytes: u64,
    },
    Segments {
        store: &'a Store,
        segments: &'a [Segment],
        size_bytes: u64,
    },
    Image {
        image: &'a Image,
        file: &'a format::File,
    },
}

impl Opened<'_> {
    /// Reads the bytes at `offset` until the buffer is full or the content ends; returns how many.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::Nothing => Ok(0),
            Self::Disk { file, .. } => file.fill_at(buffer, offset),
            Self::Stored {
                store,
                offset_bytes,
                size_bytes,
            } => {
                let buffer = within(buffer, offset, *size_bytes);
                store
                    .bytes
                    .fill_at(buffer, offset_bytes.saturating_add(offset))
            }
            Self::Image { image, file } => {
                let read = image.read_at(file, offset, buffer);
                read.map_err(io::Error::other)
            }
            Self::Segments {
                store,
                segments,
                size_bytes,
            } => {
                let buffer = within(buffer, offset, *size_bytes);
                read_segments(&*store.bytes, segments, buffer, offset)
            }
        }
    }

    /// Whether no data lies in this range, so that it need not be read: a file of a terabyte may
    /// hold a kilobyte.
    pub(crate) fn is_hole(&self, offset: u64, len: u64) -> bool {
        match self {
            Self::Disk { file, found, .. } if found.is_sparse => {
                match rustix::fs::seek(file, SeekFrom::Data(offset)) {
                    Ok(data) => data >= offset + len,
                    // No data behind the offset; that it is not behind the end is known.
                    Err(error) => error == rustix::io::Errno::NXIO,
                }
            }
            Self::Segments { segments, .. } => {
                let is_before = |segment: &Segment| segment.at_bytes + segment.len_bytes <= offset;
                let next = segments.get(segments.partition_point(is_before));
                next.is_none_or(|segment| segment.at_bytes >= offset + len)
            }
            Self::Image { image, file } => is_hole_of_image(image, file, offset, len),
            _ => false,
        }
    }

    /// Whether the bytes are still those of the file that was found.
    pub(crate) fn is_unchanged(&self) -> bool {
        match self {
            Self::Disk {
                file,
                found,
                size_bytes,
            } => found.is_unchanged(file, *size_bytes),
            _ => true,
        }
    }
}

/// Whether a range meets only sparse blocks.
fn is_hole_of_image(image: &Image, file: &format::File, offset: u64, len: u64) -> bool {
    let block_size = image.superblock().block_size;
    let place = |at: u64| usize::try_from(block_size.full_blocks(at)).unwrap_or(usize::MAX);
    let blocks = file
        .blocks
        .get(place(offset)..=place(offset + len.saturating_sub(1)));
    blocks.is_some_and(|words| words.iter().all(|word| word.is_sparse()))
}

/// The part of the buffer in front of the end of the content.
fn within(buffer: &mut [u8], offset: u64, size_bytes: u64) -> &mut [u8] {
    let rest = usize::try_from(size_bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
    let len = buffer.len().min(rest);
    &mut buffer[..len]
}

fn read_segments(
    bytes: &dyn ReadAt,
    segments: &[Segment],
    buffer: &mut [u8],
    offset: u64,
) -> io::Result<usize> {
    buffer.fill(0);
    let end = offset + buffer.len() as u64;
    let first = segments.partition_point(|segment| segment.at_bytes + segment.len_bytes <= offset);
    for segment in &segments[first..] {
        let from = segment.at_bytes.max(offset);
        let to = (segment.at_bytes + segment.len_bytes).min(end);
        if from >= to {
            break;
        }
        let place = |at: u64| usize::try_from(at - offset).expect("inside the buffer");
        let piece = &mut buffer[place(from)..place(to)];
        let len = bytes.fill_at(piece, segment.offset_bytes + (from - segment.at_bytes))?;
        if len < piece.len() {
            return Ok(place(from) + len);
        }
    }
    Ok(buffer.len())
}
