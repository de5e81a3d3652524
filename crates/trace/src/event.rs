//! One access, and the trace that lists them.

use crate::header::Header;

/// Bytes of a page, the unit of accesses.
///
/// It is fixed so that a trace means the same on every machine; a recorder with other pages
/// converts.
pub const PAGE_SIZE_BYTES: u64 = 4096;

/// Page numbers are below this: the last byte of the last page then still has a 64-bit position.
pub const PAGE_COUNT_MAX: u64 = 1 << 52;

/// Searches for names that a directory does not have, of which a recording keeps each as a
/// [`List`](Access::List), the first so many: programs can make up names without end.
pub const SEARCHES_IN_VAIN_MAX: u64 = 100_000;

/// One recorded run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Where the trace comes from.
    pub header: Header,
    /// The accesses; times never decrease.
    pub events: Vec<Event>,
}

/// One access to one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time since the recording began, in us.
    pub time_us: u64,
    /// The process, as numbered in the recorder's namespace; 0 if unknown.
    pub pid: u32,
    /// What was accessed.
    pub access: Access,
    /// Absolute path inside the image, raw bytes.
    pub path: Vec<u8>,
}

/// What was accessed. Pages are numbered from 0 within the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// read(2) and its kin asked for these pages.
    Read {
        /// First page.
        first_page: u64,
        /// Last page, inclusive.
        last_page: u64,
    },
    /// A page fault needed this page.
    Fault {
        /// The page.
        page: u64,
    },
    /// Fault-around mapped these pages because they were in the page cache. The program needed at
    /// least one of them; which one, the kernel does not say.
    Map {
        /// First page.
        first_page: u64,
        /// Last page, inclusive.
        last_page: u64,
    },
    /// The inode was needed: stat, open, exec, readlink and so on.
    Lookup,
    /// The directory listing was read: a name was searched in it, or readdir.
    List,
}

impl Event {
    /// Whether a process listed this directory: what it searches there right behind that is the
    /// same reading.
    pub fn is_list_of(&self, pid: u32, path: &[u8]) -> bool {
        self.access == Access::List && self.pid == pid && self.path == path
    }
}

impl Access {
    /// The access to pages that were surely needed, or of which at least one was.
    pub fn of_pages(first_page: u64, last_page: u64, is_certain: bool) -> Self {
        if is_certain {
            Self::Read {
                first_page,
                last_page,
            }
        } else {
            Self::Map {
                first_page,
                last_page,
            }
        }
    }

    /// First and last page of a data access, `None` for metadata.
    pub fn pages(&self) -> Option<(u64, u64)> {
        match *self {
            Self::Read {
                first_page,
                last_page,
            }
            | Self::Map {
                first_page,
                last_page,
            } => Some((first_page, last_page)),
            Self::Fault { page } => Some((page, page)),
            Self::Lookup | Self::List => None,
        }
    }

    /// Whether the program surely needed every page of the access: it read or faulted on it.
    pub fn is_certain(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::Fault { .. })
    }
}
