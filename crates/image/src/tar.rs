//! Writing an image, or paths of it, as a tar archive.
//!
//! The archive is one of pax, with extended headers only where the plain ones of ustar do not
//! suffice. Entries are in the order of [`walk`](crate::walk()), so the same tree gives the same
//! bytes, in whatever order and with whatever compressor its image holds it.

mod choice;
mod entries;
mod header;
mod plain;
mod sparse;

use std::io::{self, Write};
use std::ops::ControlFlow;

use crate::error::Error;
use crate::file::FileBlock;
use crate::image::Image;
use crate::in_order::{ReadLimits, visit_in_order};
use entries::Entries;
pub use plain::{PlainEntry, write_tar_end, write_tar_entry};

/// Zeros written at once.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// What an archive holds, and how.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one choice of the caller"
)]
pub struct TarOptions {
    /// Absolute paths that are written with all below them and the directories that lead to them;
    /// everything if there are none. Links are not followed.
    pub paths: Vec<Vec<u8>>,
    /// Whether a directory that is the only one of `paths` keeps its place; else it becomes the
    /// root of the archive.
    pub keep_as_directory: bool,
    /// The name of the root directory, below which everything then is. Without, names have nothing
    /// in front of them, and the root's own metadata stands at `./`.
    pub root_becomes: Option<Vec<u8>>,
    /// Whether extended attributes are written.
    pub xattrs: bool,
    /// Whether further names of an inode are links; else each has the content again.
    pub hard_links: bool,
    /// Whether files with large holes are written without them, in GNU tar's format 1.0.
    pub sparse: bool,
    /// What decompressing may take.
    pub limits: ReadLimits,
}

/// What an archive lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut<'a> {
    /// The socket at this path: the format has none.
    Socket(&'a [u8]),
    /// An attribute of the path, by its name: an equals sign ends names in the format.
    Xattr(&'a [u8], &'a [u8]),
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// Entries of the archive.
    pub entries: u64,
    /// Bytes of the archive.
    pub bytes: u64,
}

/// Writes a tar archive of an image.
///
/// * `left_out`: called for each thing that the format cannot hold.
/// * `progress`: called with the bytes written so far; `Break` ends the writing.
///
/// # Errors
///
/// [`Error::NotFound`] before anything is written; then the first of [`Error::Archive`],
/// [`Error::InFile`] or [`Error::Corrupt`] (damage) and [`Error::Interrupted`]. An archive that
/// was begun then lacks its end, which readers notice.
///
/// # Cost
///
/// One pass: memory is that of `limits`, of the names of files that have several, and of the inode
/// at hand. Blocks are decompressed on several threads; a fragment block once, unless the tail ends
/// of files that follow each other are spread over more blocks than half of the memory holds.
pub fn write_tar(
    image: &Image,
    options: &TarOptions,
    output: &mut dyn Write,
    left_out: &mut dyn FnMut(LeftOut),
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Archived, Error> {
    let mut entries = Entries::new(image, options, left_out)?;
    let mut bytes = 0_u64;
    visit_in_order(image, &options.limits, &mut entries, &mut |block| {
        let (written, len) = match block {
            FileBlock::Data(data) => (output.write_all(data), data.len() as u64),
            FileBlock::Hole(len) => (write_zeros(output, len), len),
        };
        written.map_err(|source| Error::Archive { source })?;
        bytes = bytes.saturating_add(len);
        match progress(bytes) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    })?;
    output.flush().map_err(|source| Error::Archive { source })?;
    Ok(Archived {
        entries: entries.written(),
        bytes,
    })
}

fn write_zeros(output: &mut dyn Write, mut len: u64) -> io::Result<()> {
    while len > 0 {
        let part = usize::try_from(len).map_or(ZEROS.len(), |len| len.min(ZEROS.len()));
        output.write_all(&ZEROS[..part])?;
        len -= part as u64;
    }
    Ok(())
}
