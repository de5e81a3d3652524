//! The root directory that no input has.

use coldpress_layout::Node;

use crate::draft;

/// What the root directory is like if no input says so: with several sources, with archives that
/// have no entry for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntheticRoot {
    /// The 12 permission bits.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Its time in seconds since 1970 if it is empty; otherwise it has the newest time in it.
    pub empty_time_s: u32,
    /// Whether it stands in place of the root directory of an archive too, as with mksquashfs.
    pub replaces_archive_root: bool,
}

impl Default for SyntheticRoot {
    fn default() -> Self {
        Self {
            mode: 0o755,
            uid: 0,
            gid: 0,
            empty_time_s: 0,
            replaces_archive_root: false,
        }
    }
}

impl SyntheticRoot {
    pub(crate) fn node(self) -> Node {
        draft::directory(self.mode, self.uid, self.gid, self.empty_time_s)
    }
}
