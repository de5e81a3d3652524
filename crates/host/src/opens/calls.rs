//! The system calls that name files.

/// `AT_EMPTY_PATH`: without a path, the open file itself is meant.
pub(super) const EMPTY_PATH: u32 = 0x1000;
/// `AT_SYMLINK_NOFOLLOW`.
pub(super) const NO_FOLLOW: u32 = 0x100;

/// A call, and which of its arguments say what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) number: libc::c_long,
    /// The descriptor of the directory from which a relative path goes; else it goes from the
    /// working directory.
    pub(super) directory: Option<usize>,
    pub(super) path: usize,
    pub(super) operation: Operation,
}

/// What is done to the file, with the argument that says how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Opened, with the flags of `open(2)`.
    Open(usize),
    /// Opened, with the flags at the beginning of a structure.
    OpenHow(usize),
    /// Executed.
    Run,
    /// Executed, with flags.
    RunAt(usize),
    /// Its inode is asked; a link at the end of the path is followed.
    Look,
    /// Its inode is asked; a link at the end of the path is meant itself.
    LookAtLink,
    /// Its inode is asked, with flags.
    LookBy(usize),
}

/// A call whose first argument is the path.
const fn plain(number: libc::c_long, operation: Operation) -> Call {
    Call {
        number,
        directory: None,
        path: 0,
        operation,
    }
}

/// A call whose first argument is the directory and whose second is the path.
const fn at(number: libc::c_long, operation: Operation) -> Call {
    Call {
        number,
        directory: Some(0),
        path: 1,
        operation,
    }
}

/// Of every architecture of 64 bits.
#[cfg(target_pointer_width = "64")]
const COMMON: [Call; 18] = [
    at(libc::SYS_openat, Operation::Open(2)),
    at(libc::SYS_openat2, Operation::OpenHow(2)),
    plain(libc::SYS_execve, Operation::Run),
    at(libc::SYS_execveat, Operation::RunAt(4)),
    at(libc::SYS_newfstatat, Operation::LookBy(3)),
    at(libc::SYS_statx, Operation::LookBy(2)),
    at(libc::SYS_faccessat, Operation::Look),
    at(libc::SYS_faccessat2, Operation::LookBy(3)),
    at(libc::SYS_readlinkat, Operation::LookAtLink),
    plain(libc::SYS_chdir, Operation::Look),
    plain(libc::SYS_chroot, Operation::Look),
    plain(libc::SYS_statfs, Operation::Look),
    plain(libc::SYS_getxattr, Operation::Look),
    plain(libc::SYS_listxattr, Operation::Look),
    plain(libc::SYS_lgetxattr, Operation::LookAtLink),
    plain(libc::SYS_llistxattr, Operation::LookAtLink),
    at(libc::SYS_name_to_handle_at, Operation::LookAtLink),
    Call {
        number: libc::SYS_inotify_add_watch,
        directory: None,
        path: 1,
        operation: Operation::Look,
    },
];

#[cfg(not(target_pointer_width = "64"))]
const COMMON: [Call; 0] = [];

/// Of x86-64, which had them before there were directories to start from.
#[cfg(target_arch = "x86_64")]
const OLD: [Call; 5] = [
    plain(libc::SYS_open, Operation::Open(1)),
    plain(libc::SYS_stat, Operation::Look),
    plain(libc::SYS_lstat, Operation::LookAtLink),
    plain(libc::SYS_access, Operation::Look),
    plain(libc::SYS_readlink, Operation::LookAtLink),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: [Call; 0] = [];

/// All calls that are told.
pub(super) fn all() -> impl Iterator<Item = Call> {
    OLD.into_iter().chain(COMMON)
}

/// The call of this number.
pub(super) fn find(number: libc::c_int) -> Option<Call> {
    all().find(|call| call.number == libc::c_long::from(number))
}
