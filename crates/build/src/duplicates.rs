//! Finding files with the same content before anything is compressed.
//!
//! Only files of equal length are read for it. Equal hashes are not trusted: the files are then
//! compared byte by byte. A file that cannot be read is no duplicate; that it cannot is told when
//! its blocks are read.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_codec::{Workers, ordered};
use coldpress_layout::NodeId;

use crate::content::Opened;
use crate::error::{self, Error};
use crate::progress::{Meter, Progress};
use crate::source::Source;

/// Bytes that are read at once: enough to amortize the call, small for many threads.
const READ_BYTES: usize = 1 << 16;
/// Files in flight for each thread: enough that a large one does not keep the others waiting.
const WINDOW: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not 0");

/// The first half of a BLAKE3 hash: equal ones are compared byte by byte, so that length serves.
type Hash = [u8; 16];

impl Source {
    /// Finds files with the same bytes, so that an image holds them once.
    ///
    /// * `progress`: called for each file; counts the bytes of files of equal length, stops the
    ///   work when it breaks.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] if the caller stops it.
    ///
    /// # Cost
    ///
    /// Files of equal length are read once, those that seem alike once more.
    pub fn find_duplicates(
        &mut self,
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let candidates = self.equal_lengths();
        let total_bytes = candidates.iter().map(|node| self.size_bytes(*node)).sum();
        let mut meter = Meter::new(total_bytes, progress);
        // A file is read piece by piece, so memory does not grow with the window.
        let workers = Workers {
            threads,
            window: threads.saturating_mul(WINDOW),
        };
        let pairs = self.alike(&candidates, &workers, &mut meter)?;
        let mut duplicates = BTreeMap::new();
        ordered::<_, _, _, Error>(
            pairs.into_iter().map(Ok),
            &workers,
            || Ok((vec![0; READ_BYTES], vec![0; READ_BYTES])),
            |(left, right), (first, node)| {
                // Its problem shows when its blocks are read.
                let equal = equal(self, first, left, node, right).unwrap_or(false);
                Ok((first, node, equal))
            },
            |(first, node, equal)| {
                if equal {
                    duplicates.insert(node, first);
                }
                meter.add(0)
            },
        )?;
        self.tree.duplicates = duplicates;
        Ok(())
    }

    /// Pairs of files of equal length and hash: the first of its kind, and another.
    fn alike(
        &self,
        candidates: &[NodeId],
        workers: &Workers,
        meter: &mut Meter,
    ) -> Result<Vec<(NodeId, NodeId)>, Error> {
        // Sorted instead of looked up: half the memory of a table for a million files.
        let mut hashes: Vec<(Hash, u32)> = Vec::with_capacity(candidates.len());
        let mut index = 0;
        ordered::<_, _, _, Error>(
            candidates.iter().map(|node| Ok(*node)),
            workers,
            || Ok(vec![0; READ_BYTES]),
            |buffer, node| Ok((node, hash(self, node, buffer).ok())),
            |(node, hash)| {
                hashes.extend(hash.map(|hash| (hash, index)));
                index += 1;
                meter.add(self.size_bytes(node))
            },
        )?;
        hashes.sort_unstable();
        let kinds = hashes.chunk_by(|left, right| left.0 == right.0);
        let mut pairs = Vec::new();
        for kind in kinds {
            let mut nodes = kind.iter().map(|(_, index)| candidates[*index as usize]);
            let first = nodes.next().expect("a chunk is not empty");
            pairs.extend(nodes.map(|node| (first, node)));
        }
        // In the order of the tree, as they lie on disk more likely.
        pairs.sort_unstable_by_key(|(_, node)| *node);
        Ok(pairs)
    }

    /// The files that share their length with another.
    fn equal_lengths(&self) -> Vec<NodeId> {
        let files = || {
            self.tree
                .walk()
                .map(|(node, _)| node)
                .filter(|node| self.size_bytes(*node) > 0)
        };
        let mut counts: HashMap<u64, u32> = HashMap::new();
        files().for_each(|node| *counts.entry(self.size_bytes(node)).or_default() += 1);
        files()
            .filter(|node| counts[&self.size_bytes(*node)] > 1)
            .collect()
    }
}

/// The hash of a file, its length included.
fn hash(source: &Source, node: NodeId, buffer: &mut [u8]) -> Result<Hash, Error> {
    let content = source.open(node)?;
    let size_bytes = source.size_bytes(node);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&size_bytes.to_le_bytes());
    let mut offset = 0;
    while offset < size_bytes {
        let len = read(source, node, &content, buffer, offset)?;
        hasher.update(&buffer[..len]);
        offset += len as u64;
    }
    let mut hash = Hash::default();
    hasher.finalize_xof().fill(&mut hash);
    Ok(hash)
}

fn equal(
    source: &Source,
    first: NodeId,
    left: &mut [u8],
    second: NodeId,
    right: &mut [u8],
) -> Result<bool, Error> {
    let (a, b) = (source.open(first)?, source.open(second)?);
    let size_bytes = source.size_bytes(first);
    if size_bytes != source.size_bytes(second) {
        return Ok(false);
    }
    let mut offset = 0;
    while offset < size_bytes {
        let a_len = read(source, first, &a, left, offset)?;
        let b_len = read(source, second, &b, right, offset)?;
        if left[..a_len] != right[..b_len] {
            return Ok(false);
        }
        offset += a_len as u64;
    }
    Ok(true)
}

/// Reads the next bytes; a file that ends before its length is an error.
fn read(
    source: &Source,
    node: NodeId,
    content: &Opened,
    buffer: &mut [u8],
    offset: u64,
) -> Result<usize, Error> {
    let path = || source.path(node);
    match content.read_at(buffer, offset) {
        Ok(0) => Err(error::source("read", &path())(
            io::ErrorKind::UnexpectedEof.into(),
        )),
        Ok(len) => Ok(len),
        Err(error) => Err(error::source("read", &path())(error)),
    }
}
