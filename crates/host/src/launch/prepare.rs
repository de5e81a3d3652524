//! What is prepared before a program runs, and the steps that its process takes before it becomes
//! the program.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process;

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};
use rustix::process::{
    Pid, Signal, chdir, chroot, getpid, getppid, set_parent_process_death_signal, setsid,
};

use super::Command;
use crate::{Cgroup, Error, syscall};

/// Stands for the mount point in arguments.
const ROOT: &[u8] = b"{root}";

/// Of the machine, bound with all that is mounted below (`/dev/pts`, `/dev/shm`).
const BOUND: [&str; 2] = ["/proc", "/dev"];

/// Empty and writable; only the first must be there.
const EMPTY: [(&str, &str); 3] = [("/tmp", "1777"), ("/run", "755"), ("/var/tmp", "1777")];

/// One thing to do between fork and exec. Everything it needs is allocated before the fork.
#[derive(Debug)]
pub(crate) enum Step {
    /// A session and process group of its own.
    Session,
    /// To be killed when the parent, which is named, ends.
    DieWithParent(Pid),
    /// To join the cgroup whose member file this is.
    Join(File),
    /// A mount namespace of its own.
    Namespace,
    /// A directory of the machine, seen inside the image too.
    Bind { from: CString, to: CString },
    /// An empty file system in memory.
    Empty { at: CString, options: CString },
    /// The image as root and working directory.
    Enter(CString),
    /// To keep this descriptor, by its number.
    Inherit(OwnedFd),
}

impl Step {
    /// Does it. Only makes system calls: it neither allocates nor locks.
    pub(crate) fn take(&self) -> Result<(), Errno> {
        match self {
            Self::Session => setsid().map(|_| ()),
            Self::DieWithParent(parent) => {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                // It may have ended before the kernel was told.
                if getppid() == Some(*parent) {
                    Ok(())
                } else {
                    Err(Errno::SRCH)
                }
            }
            Self::Join(members) => rustix::io::write(members, b"0").map(|_| ()),
            Self::Namespace => {
                syscall::unshare_mounts()
                    .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::PERM))?;
                let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
                mount_change(c"/", flags)
            }
            Self::Bind { from, to } => mount_bind_recursive(from.as_c_str(), to.as_c_str()),
            Self::Empty { at, options } => {
                let flags = MountFlags::NOSUID | MountFlags::NODEV;
                mount(c"tmpfs", at.as_c_str(), c"tmpfs", flags, options.as_c_str())
            }
            Self::Enter(root) => {
                chroot(root.as_c_str())?;
                chdir(c"/")
            }
            Self::Inherit(descriptor) => fcntl_setfd(descriptor, FdFlags::empty()),
        }
    }

    /// For the error text: "cannot ...".
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Session => "give the program a session of its own",
            Self::DieWithParent(_) => "tie the program to this process",
            Self::Join(_) => "put the program into its cgroup",
            Self::Namespace => "give the program a mount namespace (needs root)",
            Self::Bind { .. } => "bind /proc and /dev into the image",
            Self::Empty { .. } => "mount an empty /tmp, /run or /var/tmp in the image",
            Self::Enter(_) => "enter the image (chroot needs root)",
            Self::Inherit(_) => "keep a descriptor open",
        }
    }
}

/// A program ready to be started.
pub(super) struct Prepared {
    pub(super) process: process::Command,
    /// For error texts.
    pub(super) program: String,
    pub(super) steps: Vec<Step>,
}

pub(super) fn prepare(
    command: &Command,
    root: &Path,
    cgroup: Option<&Cgroup>,
) -> Result<Prepared, Error> {
    let seen_root = if command.chroot { Path::new("/") } else { root };
    let mut args = command.args.iter().map(|arg| replace_root(arg, seen_root));
    let program = args.next().ok_or(Error::EmptyCommand)?;
    let mut process = process::Command::new(&program);
    process.args(args);
    let mut steps = vec![Step::Session, Step::DieWithParent(getpid())];
    if let Some(cgroup) = cgroup {
        steps.push(Step::Join(cgroup.open_members()?));
    }
    if command.chroot {
        process.env("HOME", "/tmp");
        steps.push(Step::Namespace);
        steps.extend(furnish(root)?);
        steps.push(Step::Enter(c_path(root)?));
    }
    Ok(Prepared {
        process,
        program: program.to_string_lossy().into_owned(),
        steps,
    })
}

/// The mounts that make an image habitable.
fn furnish(root: &Path) -> Result<Vec<Step>, Error> {
    let missing = |directory| Error::MissingDirectory {
        root: root.to_owned(),
        directory,
    };
    let mut steps = Vec::new();
    for directory in BOUND {
        if !is_real_directory(root, directory) {
            return Err(missing(directory));
        }
        steps.push(Step::Bind {
            from: c_path(Path::new(directory))?,
            to: c_path(&below(root, directory))?,
        });
    }
    for (directory, mode) in EMPTY {
        if is_real_directory(root, directory) {
            steps.push(Step::Empty {
                at: c_path(&below(root, directory))?,
                options: CString::new(format!("mode={mode}")).unwrap_or_default(),
            });
        } else if directory == "/tmp" {
            return Err(missing(directory));
        }
    }
    Ok(steps)
}

fn below(root: &Path, directory: &str) -> std::path::PathBuf {
    root.join(directory.trim_start_matches('/'))
}

/// A mount follows symbolic links, and one of the image could lead out of it: none is taken.
fn is_real_directory(root: &Path, directory: &str) -> bool {
    let mut path = root.to_owned();
    directory.split('/').skip(1).all(|name| {
        path.push(name);
        fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir())
    })
}

fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|error| Error::io("use the path", path)(error.into()))
}

/// Replaces `{root}`. Where the image is the root, `{root}/bin` is `/bin` and not `//bin`.
pub(super) fn replace_root(arg: &OsStr, root: &Path) -> OsString {
    let root = root.as_os_str().as_bytes();
    let mut out = Vec::new();
    let mut rest = arg.as_bytes();
    while let Some(at) = rest.windows(ROOT.len()).position(|window| window == ROOT) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(root);
        rest = &rest[at + ROOT.len()..];
        if root.ends_with(b"/") {
            rest = rest.strip_prefix(b"/").unwrap_or(rest);
        }
    }
    out.extend_from_slice(rest);
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_replaced_in_every_argument() {
        for (arg, root, expected) in [
            ("{root}/bin/sh", "/mnt/a", "/mnt/a/bin/sh"),
            ("{root}/bin/sh", "/", "/bin/sh"),
            ("{root}", "/", "/"),
            ("--path={root}:{root}/lib", "/m", "--path=/m:/m/lib"),
            ("--path={root}:{root}/lib", "/", "--path=/:/lib"),
            ("{roo}t", "/m", "{roo}t"),
            ("", "/m", ""),
        ] {
            let replaced = replace_root(OsStr::new(arg), Path::new(root));
            assert_eq!(replaced, expected, "{arg} at {root}");
        }
    }

    #[test]
    fn symbolic_links_are_no_directories_of_the_image() {
        let image = tempfile::tempdir().unwrap();
        fs::create_dir_all(image.path().join("var/tmp")).unwrap();
        std::os::unix::fs::symlink("/tmp", image.path().join("tmp")).unwrap();
        std::os::unix::fs::symlink("var", image.path().join("lib")).unwrap();
        assert!(is_real_directory(image.path(), "/var/tmp"));
        assert!(!is_real_directory(image.path(), "/tmp"));
        assert!(!is_real_directory(image.path(), "/lib/tmp"));
        assert!(!is_real_directory(image.path(), "/proc"));
    }
}
