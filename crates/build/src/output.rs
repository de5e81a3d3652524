//! The image's file: written beside, put in place only when it is whole.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::error::Error;

/// A file that takes the place of another when it is committed.
///
/// It has no name until then (`O_TMPFILE`), so that nothing is left of it whatever ends the
/// process. Where the file system cannot do that it is named beside its destination, and removed
/// on drop.
#[derive(Debug)]
pub struct Output {
    file: File,
    path: PathBuf,
    /// The name that the file has until it is committed, if it has one.
    beside: Option<PathBuf>,
}

impl Output {
    /// A new file that will stand at `path`, readable by all as far as the umask allows.
    ///
    /// A symlink at `path` is followed: the file that it names is replaced.
    ///
    /// # Errors
    ///
    /// [`Error::NotAFile`] if something other than a file stands there, [`Error::Output`] if its
    /// directory cannot be written.
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
        if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Error::NotAFile {
                path: path.to_path_buf(),
            });
        }
        if target.file_name().is_none() {
            return Err(Error::NotAFile {
                path: path.to_path_buf(),
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
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::ISDIR) => {
                let beside = beside(&target);
                let mut options = OpenOptions::new();
                let file = options
                    .read(true)
                    .write(true)
                    .create_new(true)
                    .open(&beside);
                Ok(Self {
                    file: file.map_err(fail)?,
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
        let beside = match self.beside.clone() {
            Some(beside) => beside,
            None => self.link()?,
        };
        fs::rename(&beside, &self.path)?;
        self.beside = None;
        File::open(directory(&self.path))?.sync_all()
    }

    /// Gives the nameless file a name beside its destination.
    fn link(&mut self) -> io::Result<PathBuf> {
        let beside = beside(&self.path);
        let nameless = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        rustix::fs::linkat(
            CWD,
            nameless.as_str(),
            CWD,
            &beside,
            AtFlags::SYMLINK_FOLLOW,
        )?;
        self.beside = Some(beside.clone());
        Ok(beside)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            // Nothing more can be done: the name says whose it was.
            let _ = fs::remove_file(beside);
        }
    }
}

fn directory(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".coldpress-{}", process::id()));
    path.with_file_name(name)
}
