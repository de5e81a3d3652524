//! The image's file: written beside, put in place only when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use tempfile::TempPath;

use crate::error::Error;

/// Letters of a name that nobody guesses.
const RANDOM_LETTERS: usize = 12;

/// A file that takes the place of another when it is committed.
///
/// It has no name until then (`O_TMPFILE`), so that nothing is left of it whatever ends the
/// process. Where the file system cannot do that it is named beside its destination, and removed
/// on drop.
#[derive(Debug)]
pub struct Output {
    file: File,
    path: PathBuf,
    /// The name that the file has until it is committed, if it has one; removed on drop.
    beside: Option<TempPath>,
}

impl Output {
    /// A new file that will stand at `path`, readable by all as far as the umask allows.
    ///
    /// A symlink at `path` is followed: the file that it names is replaced.
    ///
    /// # Errors
    ///
    /// [`Error::NotAFile`] if something other than a file stands there, [`Error::OfAnother`] if the
    /// file there may not be replaced, [`Error::Output`] if its directory cannot be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let fail = |error| Error::Output {
            action: "create",
            path: path.to_path_buf(),
            error,
        };
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_path_buf(),
            Err(error) => return Err(fail(error)),
        };
        let found = fs::metadata(&target);
        if found.as_ref().is_ok_and(|found| !found.is_file()) || target.file_name().is_none() {
            return Err(Error::NotAFile {
                path: path.to_path_buf(),
            });
        }
        if let (Ok(file), Ok(directory)) = (found, fs::metadata(directory(&target)))
            && !is_replaceable(&file, &directory)
        {
            return Err(Error::OfAnother {
                path: path.to_path_buf(),
                owner: file.uid(),
            });
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        match rustix::fs::open(directory(&target), flags, mode) {
            Ok(file) => Ok(Self {
                file: file.into(),
                path: target,
                beside: None,
            }),
            // EISDIR: a kernel or file system that does not know O_TMPFILE.
            Err(Errno::OPNOTSUPP | Errno::ISDIR) => {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create_new(true);
                let (file, beside) =
                    beside(&target, &mut |path| options.open(path)).map_err(fail)?;
                Ok(Self {
                    file,
                    path: target,
                    beside: Some(beside),
                })
            }
            Err(error) => Err(fail(error.into())),
        }
    }

    /// The file, to be written at any position.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where it will stand.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the content durable and puts the file in its place, in one step for all who look.
    ///
    /// # Errors
    ///
    /// [`Error::Output`]; then what stood there before still stands there.
    pub fn commit(mut self) -> Result<(), Error> {
        self.place().map_err(|error| {
            let path = self.path.clone();
            Error::Output {
                action: "put in place",
                path,
                error,
            }
        })
    }

    fn place(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let beside = match self.beside.take() {
            Some(beside) => beside,
            None => beside(&self.path, &mut |path| link(&self.file, path))?.1,
        };
        beside.persist(&self.path)?;
        File::open(directory(&self.path))?.sync_all()
    }
}

/// Gives a nameless file a name.
fn link(file: &File, path: &Path) -> io::Result<()> {
    let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
    match rustix::fs::linkat(CWD, nameless, CWD, path, AtFlags::SYMLINK_FOLLOW) {
        // No `/proc` here; this way is open to root only.
        Err(Errno::NOENT) => Ok(rustix::fs::linkat(
            file,
            "",
            CWD,
            path,
            AtFlags::EMPTY_PATH,
        )?),
        linked => Ok(linked?),
    }
}

/// Whether the directory lets this process put another file in the place of one: in a sticky one,
/// as `/tmp` is, it must own either, or be root.
fn is_replaceable(file: &fs::Metadata, directory: &fs::Metadata) -> bool {
    let own = rustix::process::geteuid();
    let is_sticky = Mode::from_raw_mode(directory.mode()).contains(Mode::SVTX);
    !is_sticky || own.is_root() || [file.uid(), directory.uid()].contains(&own.as_raw())
}

fn directory(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Makes something beside a path, under a name that nobody can take before: in a directory that
/// all may write to, somebody could.
fn beside<T>(
    path: &Path,
    make: &mut dyn FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, TempPath)> {
    let named = tempfile::Builder::new()
        .prefix(&format!(".coldpress-{}-", process::id()))
        .rand_bytes(RANDOM_LETTERS)
        .make_in(directory(path), make)?;
    Ok(named.into_parts())
}
