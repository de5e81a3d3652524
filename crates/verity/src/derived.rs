//! A salt and a UUID that follow from the data, so that the same data give the same tree; and a
//! salt that does not.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use coldpress_codec::{Workers, ordered};
use coldpress_image::ReadAt;
use sha2::Sha256;
use sha2::digest::Digest;

use crate::CHUNK_BYTES;
use crate::error::{Error, Part};
use crate::hex::{RootHash, Salt, Uuid};
use crate::protect::{Advance, advanced, read};

/// SHA-256 of these words, of the number of bytes, and of the SHA-256 of each MiB.
const SALT_OF: &[u8] = b"coldpress dm-verity salt";
/// SHA-256 of these words and the root hash; 16 bytes of it.
const UUID_OF: &[u8] = b"coldpress dm-verity uuid";

/// The salt of data: 32 bytes.
pub(crate) fn salt(
    data: &dyn ReadAt,
    data_bytes: u64,
    workers: &Workers,
    advance: &mut Advance<'_>,
) -> Result<Salt, Error> {
    let mut whole = Sha256::new();
    whole.update(SALT_OF);
    whole.update(data_bytes.to_le_bytes());
    let chunks = data_bytes.div_ceil(CHUNK_BYTES);
    ordered(
        (0..chunks).map(Ok),
        workers,
        || Ok(Vec::new()),
        |bytes: &mut Vec<u8>, chunk| {
            let start = chunk * CHUNK_BYTES;
            let len = CHUNK_BYTES.min(data_bytes - start);
            read(data, Part::Image, start, len, bytes)?;
            Ok((Sha256::digest(bytes), len))
        },
        |(digest, len)| {
            whole.update(digest);
            advanced(advance(len))
        },
    )?;
    Ok(Salt::new(whole.finalize().to_vec()).unwrap_or_default())
}

/// A salt of as many bytes as veritysetup makes.
pub(crate) fn random_salt() -> Result<Salt, Error> {
    let mut bytes = vec![0; 32];
    let path = Path::new("/dev/urandom");
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|source| Error::open(path, source))?;
    Ok(Salt::new(bytes).unwrap_or_default())
}

/// The UUID of a tree: version 8 of RFC 9562, whose content is up to whoever makes it.
pub(crate) fn uuid(root_hash: &RootHash) -> Uuid {
    let mut digest = Sha256::new_with_prefix(UUID_OF);
    digest.update(root_hash.bytes());
    let digest = digest.finalize();
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&digest[..16]);
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    Uuid(uuid)
}
