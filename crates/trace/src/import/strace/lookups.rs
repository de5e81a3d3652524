//! Calls that need the inode of a path, and no more of it.

/// Where a call has its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup {
    name: &'static [u8],
    /// The argument with the directory from which relative paths begin, if there is one.
    pub(super) directory: Option<usize>,
    /// The argument with the path.
    pub(super) path: usize,
    /// Whether a symbolic link at the end is followed, if no flag says otherwise.
    pub(super) follows: bool,
}

const fn plain(name: &'static [u8], follows: bool) -> Lookup {
    Lookup {
        name,
        directory: None,
        path: 0,
        follows,
    }
}

const fn at(name: &'static [u8], follows: bool) -> Lookup {
    Lookup {
        name,
        directory: Some(0),
        path: 1,
        follows,
    }
}

const LOOKUPS: [Lookup; 18] = [
    plain(b"stat", true),
    plain(b"stat64", true),
    plain(b"lstat", false),
    plain(b"lstat64", false),
    plain(b"access", true),
    plain(b"readlink", false),
    plain(b"statfs", true),
    plain(b"statfs64", true),
    plain(b"getxattr", true),
    plain(b"lgetxattr", false),
    plain(b"listxattr", true),
    plain(b"llistxattr", false),
    at(b"newfstatat", true),
    at(b"fstatat64", true),
    at(b"statx", true),
    at(b"faccessat", true),
    at(b"faccessat2", true),
    at(b"readlinkat", false),
];

/// The call of a name, if it is one of these.
pub(super) fn lookup_of(name: &[u8]) -> Option<&'static Lookup> {
    LOOKUPS.iter().find(|lookup| lookup.name == name)
}
