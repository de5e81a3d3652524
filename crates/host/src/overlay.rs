//! Directories in the place of others: a writable one over one that is not, one of the machine
//! inside an image.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_bind_recursive};

use crate::Error;

/// Lets a directory be seen at another place, where it can be written; what is changed goes to
/// `changes/upper`.
///
/// * `lower`: is not changed.
/// * `changes`: an existing directory; `upper` and `work` in it are made if they are missing.
/// * `at`: an existing directory.
///
/// Needs an own mount namespace; in a user namespace Linux 5.11.
///
/// # Errors
///
/// [`Error::Io`] if the kernel refuses it, as it does where the file system of `changes` has no
/// extended attributes or is itself an overlay.
pub fn mount_overlay(lower: &Path, changes: &Path, at: &Path) -> Result<(), Error> {
    let mut opened = vec![open_directory(lower)?];
    for name in ["upper", "work"] {
        let path = changes.join(name);
        match fs::create_dir(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(Error::io("create", &path)(error));
            }
            _ => opened.push(open_directory(&path)?),
        }
    }
    // Commas and colons of names would separate options.
    let options: Vec<String> = ["lowerdir", "upperdir", "workdir"]
        .into_iter()
        .zip(&opened)
        .map(|(name, directory)| format!("{name}={}", by_number(directory).display()))
        .collect();
    // Who is not root of the machine may not write `trusted.` attributes; a directory serves both
    // so.
    let options = format!("{},userxattr", options.join(","));
    let options = CString::new(options).unwrap_or_default();
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount(c"overlay", at, c"overlay", flags, options.as_c_str())
        .map_err(Error::errno("make writable, with changes in", changes))
}

/// Lets a file or directory of the machine be seen at a path below `root`, with all that is mounted
/// below it.
///
/// * `target`: as a program sees it whose root directory is `root`: links do not lead out of it.
/// * `may_create`: whether `target` is made if it is missing; the directory above must be there.
///
/// # Errors
///
/// [`Error::Io`] if one of them is missing, or they are not both files or both directories.
pub fn bind(source: &Path, root: &Path, target: &Path, may_create: bool) -> Result<(), Error> {
    let is_directory = fs::metadata(source)
        .map_err(Error::io("bind", source))?
        .is_dir();
    let root = open_directory(root)?;
    let opened = match open_below(&root, target) {
        Err(Errno::NOENT) if may_create => {
            create_below(&root, target, is_directory)?;
            open_below(&root, target)
        }
        opened => opened,
    };
    let opened = opened.map_err(Error::errno("bind to", target))?;
    mount_bind_recursive(source, by_number(&opened)).map_err(Error::errno("bind to", target))
}

fn create_below(root: &OwnedFd, target: &Path, is_directory: bool) -> Result<(), Error> {
    let failed = || Error::io("create", target);
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(failed()(Errno::NOENT.into()));
    };
    let parent = open_below(root, parent).map_err(Error::errno("create", target))?;
    let path = by_number(&parent).join(name);
    if is_directory {
        fs::create_dir(&path).map_err(failed())
    } else {
        File::create_new(&path).map(drop).map_err(failed())
    }
}

/// Opens what a path means to whom `root` is the root directory.
fn open_below(root: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    // Relative to `root` either way; an empty path would not be.
    let relative = path.strip_prefix("/").unwrap_or(path);
    let relative = if relative.as_os_str().is_empty() {
        Path::new(".")
    } else {
        relative
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(root, relative, flags, Mode::empty(), ResolveFlags::IN_ROOT)
}

fn open_directory(path: &Path) -> Result<OwnedFd, Error> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty()).map_err(Error::errno("open", path))
}

/// A path to what is open, whatever its name.
fn by_number(opened: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()))
}
