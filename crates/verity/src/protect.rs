//! A new tree.

use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;

use coldpress_codec::{Workers, ordered};
use coldpress_image::ReadAt;

use crate::CHUNK_BYTES;
use crate::build::Builder;
use crate::derived;
use crate::error::{Error, Part};
use crate::geometry::Geometry;
use crate::hex::RootHash;
use crate::parameters::{Parameters, SaltChoice, Settings};
use crate::salted::Salted;
use crate::superblock::Superblock;

/// Takes the bytes that were read since the last call, and breaks to stop.
pub type Advance<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

/// Where a tree is written.
#[derive(Clone, Copy, Debug)]
pub struct Area<'a> {
    /// The file; that of the data, if the tree is appended.
    pub file: &'a File,
    /// Byte of it at which the superblock begins, or the tree if it has none.
    pub start: u64,
    /// Whether there is a superblock, which everyone but the kernel itself expects.
    pub has_superblock: bool,
}

/// A tree that was written.
#[derive(Clone, Debug)]
pub struct Protected {
    /// What it is like.
    pub superblock: Superblock,
    /// What verifies it: to be kept where nobody changes it.
    pub root_hash: RootHash,
    /// Where its levels lie.
    pub geometry: Geometry,
}

/// Writes the tree of an image, and cuts or extends the file to end with it.
///
/// * `data`: what is protected, `data_bytes` of it.
///
/// The same data and settings give the same bytes, whatever the number of threads.
///
/// # Errors
///
/// [`Error::Unaligned`] if the data are not whole blocks, those of [`Geometry::new`], and if
/// something cannot be read or written.
///
/// # Cost
///
/// Reads the data once, and once more for a salt that is derived from them. Memory: a chunk of one
/// MiB for each job, and one hash block for each level.
pub fn protect(
    (data, data_bytes): (&dyn ReadAt, u64),
    area: Area<'_>,
    settings: &Settings,
    workers: &Workers,
    advance: &mut Advance<'_>,
) -> Result<Protected, Error> {
    let parameters = &settings.parameters;
    let block_bytes = parameters.data_block.bytes();
    if !data_bytes.is_multiple_of(block_bytes) {
        return Err(Error::Unaligned {
            image_bytes: data_bytes,
            block_bytes,
        });
    }
    let data_blocks = data_bytes / block_bytes;
    let geometry = Geometry::new(parameters, data_blocks, area.start, area.has_superblock)?;
    let salt = match &settings.salt {
        SaltChoice::Derived => derived::salt(data, data_bytes, workers, advance)?,
        SaltChoice::Random => derived::random_salt()?,
        SaltChoice::Given(salt) => salt.clone(),
    };
    let parameters = Parameters {
        salt,
        ..parameters.clone()
    };
    let (file, start) = (area.file, area.start);
    let written = |start| move |source| Error::Write { start, source };
    // What stands there may not show through between the superblock and the tree.
    file.set_len(start).map_err(written(start))?;
    file.set_len(geometry.end).map_err(written(start))?;
    let root_hash = write(
        data,
        &parameters,
        &geometry,
        data_blocks,
        file,
        workers,
        advance,
    )?;
    let superblock = Superblock {
        uuid: settings.uuid.unwrap_or_else(|| derived::uuid(&root_hash)),
        parameters,
        data_blocks,
    };
    if area.has_superblock {
        let bytes = superblock.to_bytes();
        file.write_all_at(&bytes, start).map_err(written(start))?;
    }
    Ok(Protected {
        superblock,
        root_hash,
        geometry,
    })
}

/// Hashes the data on several threads, and writes the tree as their hashes come.
fn write(
    data: &dyn ReadAt,
    parameters: &Parameters,
    geometry: &Geometry,
    data_blocks: u64,
    to: &File,
    workers: &Workers,
    advance: &mut Advance<'_>,
) -> Result<RootHash, Error> {
    let salted = Salted::new(parameters);
    let mut builder = Builder::new(&salted, parameters, &geometry.levels, to);
    let (block_bytes, digest_bytes) = (
        parameters.data_block.bytes(),
        parameters.algorithm.digest_bytes(),
    );
    let chunk_blocks = (CHUNK_BYTES / block_bytes).max(1);
    let chunks = data_blocks.div_ceil(chunk_blocks);
    ordered(
        (0..chunks).map(Ok),
        workers,
        || Ok(Vec::new()),
        |bytes: &mut Vec<u8>, chunk| {
            let first = chunk * chunk_blocks;
            let len = chunk_blocks.min(data_blocks - first) * block_bytes;
            read(data, Part::Image, first * block_bytes, len, bytes)?;
            Ok((
                digests(&salted, parameters.data_block.len(), digest_bytes, bytes),
                len,
            ))
        },
        |(digests, len)| {
            for digest in digests.chunks_exact(digest_bytes) {
                builder.push(0, digest)?;
            }
            advanced(advance(len))
        },
    )?;
    builder.finish()
}

/// The hashes of blocks, one after the other.
pub(crate) fn digests(
    salted: &Salted<'_>,
    block_bytes: usize,
    digest_bytes: usize,
    bytes: &[u8],
) -> Vec<u8> {
    let mut digests = vec![0; bytes.len() / block_bytes * digest_bytes];
    let blocks = bytes.chunks_exact(block_bytes);
    for (block, digest) in blocks.zip(digests.chunks_exact_mut(digest_bytes)) {
        salted.hash(block, digest);
    }
    digests
}

/// What a caller wants after progress.
pub(crate) fn advanced(flow: ControlFlow<()>) -> Result<(), Error> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted),
    }
}

/// Replaces `bytes` by `len` bytes of a source, no more than some MiB.
pub(crate) fn read(
    source: &dyn ReadAt,
    part: Part,
    start: u64,
    len: u64,
    bytes: &mut Vec<u8>,
) -> Result<(), Error> {
    bytes.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
    let found = source.fill_at(bytes, start).map_err(|source| Error::Read {
        part,
        start,
        source,
    })?;
    if found < bytes.len() {
        return Err(Error::Short {
            part,
            found_bytes: start.saturating_add(found as u64),
            needed_bytes: start.saturating_add(len),
        });
    }
    Ok(())
}
