//! Writing what an image holds into a directory.

mod destination;
mod file;
mod jobs;
mod metadata;
mod tree;

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread::available_parallelism;

use crate::error::{Error, PathText};
use crate::image::Image;

use destination::Destination;
use tree::Tree;

/// How to extract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractOptions {
    /// Threads that decompress and write.
    pub threads: NonZeroUsize,
    /// Bytes of file content, compressed and not, that may be in memory at once. Under two blocks
    /// for each thread fewer threads are used, but at least one. What is known of each file, some
    /// 100 bytes, comes on top.
    pub memory_bytes: u64,
    /// Whether owners are restored, which only a privileged process may do. Without it the
    /// set-user-id and set-group-id bits are left out: they would give the caller's identity away.
    pub owners: bool,
    /// Whether extended attributes are restored.
    pub xattrs: bool,
    /// Whether the destination may hold something. Files in the way are replaced, directories are
    /// kept and added to; nothing that is there is written into or followed.
    pub overwrite: bool,
    /// Absolute paths of the image to extract, with all that is below them; empty for everything.
    pub paths: Vec<Vec<u8>>,
}

impl Default for ExtractOptions {
    /// Everything, on all processors, within 256 MiB; owners if the process is root's.
    fn default() -> Self {
        Self {
            threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
            memory_bytes: 256 << 20,
            owners: rustix::process::geteuid().is_root(),
            xattrs: true,
            overwrite: false,
            paths: Vec::new(),
        }
    }
}

/// What was extracted.
#[derive(Debug, Default)]
pub struct Extracted {
    /// Regular files, each inode once.
    pub files: u64,
    /// Directories, the root among them.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Block and character devices.
    pub devices: u64,
    /// Named pipes.
    pub fifos: u64,
    /// Sockets.
    pub sockets: u64,
    /// Further names of inodes counted above.
    pub hard_links: u64,
    /// Bytes of the files, holes included.
    pub bytes: u64,
    /// What could not be restored although the content is there.
    pub not_restored: Vec<NotRestored>,
}

/// Something beside content that could not be restored.
#[derive(Debug)]
pub struct NotRestored {
    /// The path that lacks it.
    pub path: Vec<u8>,
    /// What it lacks.
    pub what: Attribute,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for NotRestored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, error) = (PathText(&self.path), &self.error);
        write!(formatter, "`{path}`: {} not restored: {error}", self.what)
    }
}

/// What can be lacking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The device itself: making one needs a privilege.
    Device,
    /// User and group.
    Owner,
    /// The permission bits.
    Mode,
    /// The set-user-id or set-group-id bit, left out because the owner is not restored.
    SetIdBits,
    /// The modification time.
    Time,
    /// The extended attribute with this name.
    Xattr(Vec<u8>),
}

impl fmt::Display for Attribute {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device => formatter.write_str("device"),
            Self::Owner => formatter.write_str("owner"),
            Self::Mode => formatter.write_str("permissions"),
            Self::SetIdBits => formatter.write_str("set-id bits"),
            Self::Time => formatter.write_str("modification time"),
            Self::Xattr(name) => write!(formatter, "extended attribute `{}`", PathText(name)),
        }
    }
}

/// Extracts an image, or the chosen paths of it, below `destination`.
///
/// The directory is created if it is missing. Everything happens through directory handles and
/// `openat2(2)` beneath it, so that no link, neither of the image nor one that was there, leads
/// outside; files are created anew and never opened for writing if they were there. Holes stay
/// holes, hard links stay hard links. Modes and times of directories come last, deepest first.
///
/// * `progress`: called with the bytes of content written so far; `Break` ends the extraction.
///
/// # Errors
///
/// [`Error::NotEmpty`], [`Error::NotFound`] before anything is written; then the first of
/// [`Error::Write`] (also a full disk), [`Error::InFile`] (damaged content) and
/// [`Error::Interrupted`]. An owner, mode, time, xattr or device that cannot be restored is no
/// error. After an error the files that were finished stay; one that lacks content is removed.
///
/// # Cost
///
/// Reads each data and fragment block once, in the order in which they lie in the image.
pub fn extract(
    image: &Image,
    destination: &Path,
    options: &ExtractOptions,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Extracted, Error> {
    for path in &options.paths {
        if image.find(path)?.is_none() {
            let path = path.clone();
            return Err(Error::NotFound { path });
        }
    }
    let destination = Destination::open(destination, options.overwrite)?;
    let mut extracted = Extracted::default();
    let tree = Tree::create(image, destination, options, &mut extracted, progress)?;
    file::write_files(&tree, &mut extracted, progress)?;
    tree.link(&mut extracted)?;
    tree.finish_directories(&mut extracted)?;
    Ok(extracted)
}
