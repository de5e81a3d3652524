//! How to extract.

use std::fmt;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use coldpress_codec::WorkObserver;
use coldpress_format::Inode;

use super::choose::Choice;
use crate::walk::Visited;

/// Whether the extended attribute with a full name is restored.
pub type KeepXattr<'a> = dyn Fn(&[u8]) -> bool + Sync + 'a;
/// Replaces what is restored of an inode.
pub type Change<'a> = dyn Fn(&Inode, &mut Metadata) + Sync + 'a;

/// How to extract.
#[derive(Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "choices that have nothing to do with each other"
)]
pub struct ExtractOptions<'a> {
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
    /// Which extended attributes are restored, by their full names; `None` for all.
    pub keep_xattr: Option<&'a KeepXattr<'a>>,
    /// Whether the destination may hold something. Files in the way are replaced; directories are
    /// added to and keep their metadata; nothing that is there is written into or followed.
    pub overwrite: bool,
    /// Whether directories that are there and belong to the caller get the image's metadata.
    pub restore_existing: bool,
    /// Absolute paths of the image to extract, with all that is below them; empty for everything.
    pub paths: Vec<Vec<u8>>,
    /// What becomes of a path, asked in the order of the walk for every path below the root, but
    /// not below a directory of which it said [`Choice::TakeAll`] or [`Choice::Leave`], nor for
    /// what [`paths`](Self::paths) leaves out. Of both answers the lesser counts.
    pub choose: Option<&'a dyn Fn(&Visited) -> Choice>,
    /// How many names the longest path has; directories with so many stay empty. 0 extracts the
    /// root directory alone.
    pub max_depth: Option<usize>,
    /// Replaces what an inode says of itself before it is restored.
    pub change: Option<&'a Change<'a>>,
    /// Whether symbolic links that lead out of the destination are left out: absolute ones, those
    /// with more `..` at their beginning than there are directories above them, and those with
    /// `..` behind a name, which may be a link itself.
    pub confine_symlinks: bool,
    /// Whether what is damaged, or cannot be created, is left out and the rest extracted. A full
    /// disk ends the extraction all the same.
    pub keep_going: bool,
    /// Who is told what the threads do.
    pub watch: Option<&'a dyn WorkObserver>,
}

impl Default for ExtractOptions<'_> {
    /// Everything, on all processors, within 256 MiB; owners if the process is root's.
    fn default() -> Self {
        Self {
            threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
            memory_bytes: 256 << 20,
            owners: rustix::process::geteuid().is_root(),
            xattrs: true,
            keep_xattr: None,
            overwrite: false,
            restore_existing: false,
            paths: Vec::new(),
            choose: None,
            max_depth: None,
            change: None,
            confine_symlinks: false,
            keep_going: false,
            watch: None,
        }
    }
}

impl fmt::Debug for ExtractOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExtractOptions")
            .field("threads", &self.threads)
            .field("memory_bytes", &self.memory_bytes)
            .field("owners", &self.owners)
            .field("xattrs", &self.xattrs)
            .field("overwrite", &self.overwrite)
            .field("restore_existing", &self.restore_existing)
            .field("paths", &self.paths)
            .field("max_depth", &self.max_depth)
            .field("confine_symlinks", &self.confine_symlinks)
            .field("keep_going", &self.keep_going)
            .finish_non_exhaustive()
    }
}

/// What is restored of an inode beside content and extended attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The owner; `None` for the caller.
    pub uid: Option<u32>,
    /// The group; `None` for the caller's.
    pub gid: Option<u32>,
    /// The 12 permission bits. Symbolic links have none.
    pub mode: u16,
    /// The modification time, seconds since 1970.
    pub mtime_s: u32,
}
