//! Opening what lies beneath a directory, whatever others do to the names there meanwhile.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

/// Nothing may lead outside, and nothing in the way may be a link. Mounts are entered: those who
/// make them may read everything anyway.
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// Opens a path beneath a directory. No symbolic link is followed, neither on the way nor at its
/// end, so whoever may rename files there cannot lead to a file elsewhere.
///
/// * `path`: relative, and without `..`.
///
/// # Errors
///
/// That of `openat2(2)`; `ELOOP` or `ENOTDIR` if something in the way is a link.
///
/// # Cost
///
/// One system call; where the kernel is older than 5.6, or a sandbox forbids that call, two for
/// each name.
pub fn open_beneath(
    directory: impl AsFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    loop {
        match openat2(&directory, path, flags, mode, BENEATH) {
            // EAGAIN: something was renamed meanwhile, so the kernel cannot vouch for BENEATH.
            Err(Errno::AGAIN | Errno::INTR) => {}
            // EPERM is also how seccomp filters of old container runtimes refuse a call.
            Err(Errno::NOSYS | Errno::PERM) => {
                return open_by_names(directory.as_fd(), path, flags, mode);
            }
            opened => return opened,
        }
    }
}

/// As [`open_beneath`], one name after the other.
fn open_by_names(
    directory: BorrowedFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let on_the_way = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut opened: Option<OwnedFd> = None;
    let mut names = path.components().peekable();
    while let Some(component) = names.next() {
        let name = match component {
            Component::Normal(name) => name,
            Component::CurDir => OsStr::new("."),
            // As the kernel answers what leads outside.
            _ => return Err(Errno::XDEV),
        };
        let at = opened.as_ref().map_or(directory, AsFd::as_fd);
        opened = Some(match names.peek() {
            Some(_) => openat(at, name, on_the_way, Mode::empty())?,
            None => openat(at, name, flags, mode)?,
        });
    }
    opened.ok_or(Errno::NOENT)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_lead_nowhere_with_and_without_openat2() {
        let stage = tempfile::tempdir().unwrap();
        let at = |name: &str| stage.path().join(name);
        fs::create_dir_all(at("root/a/b")).unwrap();
        fs::create_dir(at("outside")).unwrap();
        fs::write(at("root/a/b/file"), "inside").unwrap();
        fs::write(at("outside/file"), "secret").unwrap();
        symlink("../../outside", at("root/a/link")).unwrap();
        symlink("file", at("root/a/b/link")).unwrap();
        let root = File::open(at("root")).unwrap();
        for open in [
            |root: &File, path: &str| {
                open_beneath(root, Path::new(path), OFlags::RDONLY, Mode::empty())
            },
            |root: &File, path: &str| {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                open_by_names(root.as_fd(), Path::new(path), flags, Mode::empty())
            },
        ] {
            let mut text = String::new();
            let mut file = File::from(open(&root, "a/b/file").unwrap());
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, "inside");
            assert!(open(&root, ".").is_ok());
            for path in ["a/link/file", "a/b/link"] {
                let error = open(&root, path).unwrap_err();
                assert!(matches!(error, Errno::LOOP | Errno::NOTDIR), "{error}");
            }
            assert_eq!(open(&root, "../outside/file").unwrap_err(), Errno::XDEV);
            assert_eq!(open(&root, "/etc/passwd").unwrap_err(), Errno::XDEV);
        }
    }
}
