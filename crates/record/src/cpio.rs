//! Archives that the kernel unpacks as its first root file system.

/// What follows an archive begins at a multiple of this, which compressed ones need as well.
const ALIGN: usize = 512;

const DIRECTORY_MODE: u32 = 0o040_755;

/// An archive in cpio's "new ASCII" format.
///
/// The kernel unpacks several one after the other, compressed or not, so one can be put before or
/// after another (`Documentation/driver-api/early-userspace/buffer-format.rst`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Archive(Vec<u8>);

impl Archive {
    /// Adds a file, and the directories above it.
    ///
    /// * `path`: from the root, without a slash in front.
    pub(crate) fn file(&mut self, path: &str, permissions: u32, content: &[u8]) {
        for (at, _) in path.match_indices('/') {
            self.entry(path.get(..at).unwrap_or_default(), DIRECTORY_MODE, b"");
        }
        self.entry(path, 0o100_000 | permissions, content);
    }

    /// The whole archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, b"");
        self.0.resize(self.0.len().next_multiple_of(ALIGN), 0);
        self.0
    }

    fn entry(&mut self, name: &str, mode: u32, content: &[u8]) {
        let Self(bytes) = self;
        let number = |len: usize| u32::try_from(len).unwrap_or_default();
        let inode = number(bytes.len()) + 1;
        let (size, name_size) = (number(content.len()), number(name.len()) + 1);
        bytes.extend_from_slice(b"070701");
        for field in [inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0] {
            bytes.extend(format!("{field:08X}").bytes());
        }
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
}
