//! Files rewritten so that their bytes follow each other on the disk.
//!
//! The content is copied into a file without a name whose space was reserved at once, so that the
//! file system could choose one place for all of it. When the copy is on the disk, has been read
//! back and lies better, it takes the place of each name of the old file
//! ([`LeasedFile::replace_with`]). Nothing of the old file is changed at any time.

mod copy;
mod journal;
mod metadata;
mod names;
mod replace;

use std::ffi::OsString;
use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::leased_file::{LeasedFile, Refusal};
use crate::{Error, Extents, Janitor};
pub use names::{NamedFile, complete_names, named_files};
pub use replace::relink;

/// Bytes of a name that a hidden one has too: with its ending it has 255 at most.
const NAME_BYTES_MAX: usize = 200;

/// What became of a file that could be rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defragmented {
    /// It has other extents.
    Rewritten {
        /// Those it had.
        before: Extents,
        /// Those it has.
        after: Extents,
    },
    /// It was in one extent, or had none, and was not touched.
    Whole(Extents),
    /// A copy lay no better: the free space of the disk is in pieces as well. It was not touched.
    NoBetter {
        /// Those it has.
        before: Extents,
        /// Those of the copy.
        copy: Extents,
    },
}

/// Rewrites a file in as few extents as the free space of its disk allows.
///
/// Owner, mode, times, xattrs with ACLs, attributes and project are those of the old file, and so
/// are holes and space that was reserved for the future; it is another inode.
///
/// * `unshares`: rewrite blocks too that other files have as well.
/// * `progress`: told how many bytes were copied or compared more; twice the file's content in all.
///
/// # Errors
///
/// [`Error::Refused`] says why not, [`Error::NoExtents`], [`Error::Io`] for example of a full disk,
/// [`Error::Stopped`] if `progress` said so. The old file then has all its names.
///
/// # Cost
///
/// Reads the content twice and writes it once; as much free space as the file takes, until it is
/// over.
pub fn defragment(
    file: &NamedFile,
    unshares: bool,
    janitor: &Janitor,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Defragmented, Error> {
    let held = LeasedFile::take(file.path())?;
    held.check_names(&file.names)?;
    let before = Extents::of(held.file(), held.path())?;
    if before.beyond_one() == 0 {
        return Ok(Defragmented::Whole(before));
    }
    if before.shared_bytes > 0 && !unshares {
        return Err(held.refused(Refusal::Shared));
    }
    if before.encoded_bytes > 0 {
        return Err(held.refused(Refusal::Encoded));
    }
    let new = nameless(held.path())?;
    held.give_attributes(&new)?;
    copy::reserve(&held, &new)?;
    copy::copy(&held, &new, progress)?;
    new.sync_all()
        .map_err(Error::io("write a copy of", held.path()))?;
    let copy = Extents::of(&new, held.path())?;
    if copy.count >= before.count {
        return Ok(Defragmented::NoBetter { before, copy });
    }
    copy::compare(&held, &new, progress)?;
    held.give_metadata(&new, true)?;
    held.replace_with(&new, &file.names, None, janitor)?;
    let after = copy;
    Ok(Defragmented::Rewritten { before, after })
}

/// A new file beside another one, without a name: nothing is left of it whatever ends the process.
fn nameless(beside: &Path) -> Result<File, Error> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory(beside), flags, Mode::RUSR | Mode::WUSR)
        .map_err(Error::errno("make a file without a name beside", beside))?;
    Ok(file.into())
}

/// The directory of a name.
fn directory(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A hidden name beside another one, of which it takes as much as fits.
fn hidden(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let begin = name.get(..NAME_BYTES_MAX).unwrap_or(name);
    let name = [b".", begin, ending.as_bytes()].concat();
    path.with_file_name(OsString::from_vec(name))
}
