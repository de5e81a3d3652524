//! The beginning of a container, when its file system is written.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};

use coldpress_sif::{Identity, head, partition_start};
use coldpress_writer::{Digest, Hasher};

use super::ApptainerFiles;

/// Bytes read at once.
const PIECE_BYTES: usize = 1 << 20;

impl ApptainerFiles {
    /// Byte at which the file system has to begin.
    pub fn partition_start(&self) -> u64 {
        partition_start(&self.objects)
    }

    /// Writes what comes before the file system, and makes the file one that can be started.
    ///
    /// The id of the container is a digest of all that it holds: the same content, the same bytes.
    ///
    /// * `partition_bytes`: the size of the file system, padding included.
    /// * `time_s`: when the container was made, seconds since 1970.
    ///
    /// # Errors
    ///
    /// Those of the file.
    ///
    /// # Cost
    ///
    /// Reads the file once.
    pub fn write_head(&self, file: &File, partition_bytes: u64, time_s: u32) -> io::Result<()> {
        let mut identity = Identity {
            id: [0; 16],
            time_s: time_s.into(),
            architecture: self.architecture,
        };
        file.write_all_at(&head(&self.objects, partition_bytes, &identity), 0)?;
        identity.id = Identity::id_of(&digest(file, self.partition_start() + partition_bytes)?);
        file.write_all_at(&head(&self.objects, partition_bytes, &identity), 0)?;
        let mode = file.metadata()?.permissions().mode();
        // Who may read it may start it.
        file.set_permissions(Permissions::from_mode(mode | (mode & 0o444) >> 2))
    }
}

/// The SHA-256 of the beginning of a file.
fn digest(file: &File, size_bytes: u64) -> io::Result<[u8; 32]> {
    let mut hasher = Hasher::like(&Digest::Sha256([0; 32]));
    let mut piece = vec![0; PIECE_BYTES];
    let mut start = 0;
    while start < size_bytes {
        let len = usize::try_from(size_bytes - start).unwrap_or(PIECE_BYTES);
        let part = piece.get_mut(..len.min(PIECE_BYTES)).unwrap_or_default();
        file.read_exact_at(part, start)?;
        hasher.update(part);
        start += part.len() as u64;
    }
    let Digest::Sha256(digest) = hasher.finish() else {
        return Err(io::Error::other("the digest is not a SHA-256"));
    };
    Ok(digest)
}
