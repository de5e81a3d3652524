//! Finding files with the same content before anything is compressed.
//!
//! Only files of equal length are read for it. Equal hashes are not trusted: the files are then
//! compared byte by byte.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_codec::{Workers, ordered};
use coldpress_layout::NodeId;

use crate::error::{self, Error};
use crate::progress::{Meter, Progress};
use crate::source::Source;

/// Bytes that are read at once: enough to amortize the call, small for many threads.
const READ_BYTES: usize = 1 << 16;
/// Files in flight for each thread: enough that a large one does not keep the others waiting.
const WINDOW: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not 0");

impl Source {
    /// Finds files with the same bytes, so that an image holds them once.
    ///
    /// * `progress`: called for each file; counts the bytes of files of equal length, stops the
    ///   work when it breaks.
    ///
    /// # Errors
    ///
    /// [`Error`] if a file cannot be read or has changed, or the caller stops it.
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
                Ok((first, node, equal(self, first, left, node, right)?))
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
        let mut firsts = HashMap::new();
        let mut pairs = Vec::new();
        ordered::<_, _, _, Error>(
            candidates.iter().map(|node| Ok(*node)),
            workers,
            || Ok(vec![0; READ_BYTES]),
            |buffer, node| Ok((node, hash(self, node, buffer)?)),
            |(node, hash)| {
                let first = *firsts.entry((self.size_bytes(node), hash)).or_insert(node);
                if first != node {
                    pairs.push((first, node));
                }
                meter.add(self.size_bytes(node))
            },
        )?;
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

fn hash(source: &Source, node: NodeId, buffer: &mut [u8]) -> Result<[u8; 32], Error> {
    let mut file = source.open(node)?;
    let mut hasher = blake3::Hasher::new();
    loop {
        let len = file
            .read(buffer)
            .map_err(error::source("read", source.path(node)))?;
        if len == 0 {
            return Ok(*hasher.finalize().as_bytes());
        }
        hasher.update(&buffer[..len]);
    }
}

fn equal(
    source: &Source,
    first: NodeId,
    left: &mut [u8],
    second: NodeId,
    right: &mut [u8],
) -> Result<bool, Error> {
    let (mut a, mut b) = (source.open(first)?, source.open(second)?);
    loop {
        let a_len = fill(&mut a, left).map_err(error::source("read", source.path(first)))?;
        let b_len = fill(&mut b, right).map_err(error::source("read", source.path(second)))?;
        if left[..a_len] != right[..b_len] {
            return Ok(false);
        }
        if a_len == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match file.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}
