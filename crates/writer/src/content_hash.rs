//! The content of a file: as a short number, to know it again, and its beginning.

use coldpress_codec::Work;
use coldpress_layout::NodeId;

use crate::duplicates::{READ_BYTES, read};
use crate::error::Error;
use crate::source::Source;

impl Source {
    /// The first half of the BLAKE3 hash of a file's content, as profiles know it
    /// (docs/profile-format.md, "Meaning"); that of nothing for what is no regular file.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if it cannot be read to its end.
    ///
    /// # Cost
    ///
    /// The file is read once.
    pub fn content_hash(&self, node: NodeId) -> Result<[u8; 16], Error> {
        let content = self.open(node)?;
        let len = self.size_bytes(node);
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; READ_BYTES];
        let mut done = 0;
        while done < len {
            let read = read(self, node, &content, &mut buffer, (done, len - done))?;
            let _busy = self.busy(Work::Hash);
            hasher.update(&buffer[..read]);
            done += read as u64;
        }
        let mut hash = [0; 16];
        hasher.finalize_xof().fill(&mut hash);
        Ok(hash)
    }

    /// The first bytes of a file's content, as many as fit into `len` and there are.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if they cannot be read.
    pub fn beginning(&self, node: NodeId, len: usize) -> Result<Vec<u8>, Error> {
        let size_bytes = usize::try_from(self.size_bytes(node)).unwrap_or(usize::MAX);
        let mut buffer = vec![0; len.min(size_bytes)];
        if !buffer.is_empty() {
            let content = self.open(node)?;
            let wanted = buffer.len() as u64;
            let read = read(self, node, &content, &mut buffer, (0, wanted))?;
            buffer.truncate(read);
        }
        Ok(buffer)
    }
}
