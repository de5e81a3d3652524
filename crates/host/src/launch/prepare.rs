//! What is prepared before a program runs, and the steps that its process takes before it becomes
//! the program.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process;

use rustix::fs::{Mode, OFlags, StatVfsMountFlags, open, statvfs};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change, mount_remount,
};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{
    Pid, Signal, chdir, chroot, getegid, geteuid, getpid, getppid, set_parent_process_death_signal,
    setsid,
};

use super::Command;
use crate::privileges::can_mount;
use crate::syscall::Instruction;
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
    /// To be root in a user namespace, for who may not mount and change the root directory
    /// otherwise.
    BecomeRoot(Identity),
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
    /// A directory that the program cannot change.
    Protect {
        directory: CString,
        /// What its mount refuses already: in a user namespace that must stay.
        flags: MountFlags,
    },
    /// The image as root and working directory.
    Enter(CString),
    /// Another working directory.
    WorkIn(CString),
    /// To keep this descriptor, by its number.
    Inherit(OwnedFd),
    /// To have the system calls of a filter told to whoever reads from the other end of the socket.
    Tell {
        filter: Vec<Instruction>,
        socket: OwnedFd,
    },
}

/// Who this user is in a user namespace: the lines of its files in `/proc/self`.
#[derive(Debug)]
pub(crate) struct Identity {
    uid_map: String,
    gid_map: String,
}

impl Identity {
    fn root() -> Self {
        Self {
            uid_map: format!("0 {} 1", geteuid().as_raw()),
            gid_map: format!("0 {} 1", getegid().as_raw()),
        }
    }

    /// Who it was.
    pub(crate) fn unchanged() -> Self {
        let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
        Self {
            uid_map: format!("{uid} {uid} 1"),
            gid_map: format!("{gid} {gid} 1"),
        }
    }

    /// Enters a user namespace, in which the process has all rights until it becomes another
    /// program as somebody who is not root. Only makes system calls.
    pub(crate) fn enter_namespace(&self) -> Result<(), Errno> {
        syscall::unshare_user().map_err(|error| errno_of(&error))?;
        let files = [
            // Else the group could not be mapped: who drops groups may gain rights by it.
            (c"/proc/self/setgroups", "deny"),
            (c"/proc/self/uid_map", self.uid_map.as_str()),
            (c"/proc/self/gid_map", self.gid_map.as_str()),
        ];
        for (path, text) in files {
            let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            rustix::io::write(&file, text.as_bytes())?;
        }
        Ok(())
    }
}

/// Whether this user may be root and mount in a user namespace, found out by trying: there are many
/// ways to forbid it.
pub(crate) fn may_become_root() -> bool {
    let mut attempt = process::Command::new("/bin/sh");
    attempt.args(["-c", ":"]).stdin(process::Stdio::null());
    let steps = vec![Step::BecomeRoot(Identity::root()), Step::Namespace];
    syscall::before_exec(&mut attempt, steps, None);
    attempt.status().is_ok_and(|status| status.success())
}

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::PERM)
}

impl Step {
    /// Does it. Only makes system calls: it neither allocates nor locks.
    pub(crate) fn take(&self) -> Result<(), Errno> {
        match self {
            Self::Session => setsid().map(|_| ()),
            Self::BecomeRoot(identity) => identity.enter_namespace(),
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
                syscall::unshare_mounts().map_err(|error| errno_of(&error))?;
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
            Self::WorkIn(directory) => chdir(directory.as_c_str()),
            Self::Protect { directory, flags } => {
                let directory = directory.as_c_str();
                mount_bind_recursive(directory, directory)?;
                mount_remount(
                    directory,
                    MountFlags::BIND | MountFlags::RDONLY | *flags,
                    c"",
                )
            }
            Self::Inherit(descriptor) => fcntl_setfd(descriptor, FdFlags::empty()),
            Self::Tell { filter, socket } => {
                let listener = syscall::listen(filter).map_err(|error| errno_of(&error))?;
                send_descriptor(socket, &listener)
            }
        }
    }

    /// For the error text: "cannot ...".
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Session => "give the program a session of its own",
            Self::BecomeRoot(_) => {
                "give the program a user namespace (needs root, or a kernel that lets everyone)"
            }
            Self::DieWithParent(_) => "tie the program to this process",
            Self::Join(_) => "put the program into its cgroup",
            Self::Namespace => "give the program a mount namespace (needs root)",
            Self::Bind { .. } => "bind /proc and /dev into the image",
            Self::Empty { .. } => "mount an empty /tmp, /run or /var/tmp in the image",
            Self::Enter(_) => "enter the image (chroot needs root)",
            Self::WorkIn(_) => "go to the working directory of the program inside the image",
            Self::Protect { .. } => "protect the source from the program",
            Self::Inherit(_) => "keep a descriptor open",
            Self::Tell { .. } => "observe the program's system calls (seccomp, Linux 5.5 or later)",
        }
    }
}

/// The filter of the system calls that are told, and the socket to whom they are.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) filter: Vec<Instruction>,
    pub(crate) socket: OwnedFd,
}

/// A program ready to be started.
pub(super) struct Prepared {
    pub(super) process: process::Command,
    /// For error texts.
    pub(super) program: String,
    pub(super) steps: Vec<Step>,
}

/// * `told`: where the program starts from the source itself, the filter of the system calls that
///   are told, and whom.
pub(super) fn prepare(
    command: &Command,
    root: &Path,
    cgroup: Option<&Cgroup>,
    told: Option<Told>,
) -> Result<Prepared, Error> {
    let seen_root = if command.chroot { Path::new("/") } else { root };
    let mut args = command.args.iter().map(|arg| replace_root(arg, seen_root));
    let program = args.next().ok_or(Error::EmptyCommand)?;
    let mut process = process::Command::new(&program);
    process.args(args);
    let mut steps = vec![Step::Session];
    // Trying takes time, which is measured where nothing is told.
    let is_source = told.is_some();
    let may_mount = if is_source {
        can_mount()
    } else {
        geteuid().is_root()
    };
    if command.chroot && !may_mount {
        steps.push(Step::BecomeRoot(Identity::root()));
    }
    steps.push(Step::DieWithParent(getpid()));
    if let Some(cgroup) = cgroup {
        steps.push(Step::Join(cgroup.open_members()?));
    }
    if command.chroot || (is_source && may_mount) {
        steps.push(Step::Namespace);
    }
    if is_source && (command.chroot || may_mount) {
        steps.push(protect(root)?);
    }
    if command.chroot {
        process.env("HOME", "/tmp");
        steps.extend(furnish(root)?);
        steps.push(Step::Enter(c_path(root)?));
        if let Some(directory) = &command.working_directory {
            steps.push(Step::WorkIn(c_path(directory)?));
        }
    }
    for (name, value) in &command.environment {
        process.env(name, value);
    }
    if let Some(Told { filter, socket }) = told {
        steps.push(Step::Tell { filter, socket });
    }
    Ok(Prepared {
        process,
        program: program.to_string_lossy().into_owned(),
        steps,
    })
}

/// Sends a descriptor and one byte. Only makes system calls.
fn send_descriptor(socket: &OwnedFd, descriptor: &OwnedFd) -> Result<(), Errno> {
    let descriptors = [descriptor.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    let message = [IoSlice::new(b"!")];
    sendmsg(socket, &message, &mut control, SendFlags::NOSIGNAL).map(|_| ())
}

fn protect(directory: &Path) -> Result<Step, Error> {
    let found = statvfs(directory).map_err(Error::errno("look at the mount of", directory))?;
    let kept = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    let kept = kept
        .into_iter()
        .filter(|(flag, _)| found.f_flag.contains(*flag));
    Ok(Step::Protect {
        directory: c_path(directory)?,
        flags: kept.fold(MountFlags::empty(), |flags, (_, flag)| flags | flag),
    })
}

/// The directories of an image that a program inside it finds replaced, as far as the image has
/// them.
pub(crate) fn furnished() -> Vec<&'static str> {
    let empty = EMPTY.map(|(directory, _)| directory);
    BOUND.into_iter().chain(empty).collect()
}

/// The mounts that make an image habitable.
pub(super) fn furnish(root: &Path) -> Result<Vec<Step>, Error> {
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

pub(super) fn c_path(path: &Path) -> Result<CString, Error> {
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
