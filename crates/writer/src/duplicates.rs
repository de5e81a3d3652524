//! Finding files with the same content before anything is compressed.
//!
//! Only files of equal length are read for it; of an image that is appended to, those that are as
//! long as something that is appended. Files with equal BLAKE3 hashes of 256 bits are the same:
//! nobody can make two that are not. A file that cannot be read is no duplicate; that it cannot is
//! told when its blocks are read.
//!
//! Rejected: half of the hash, and comparing what seems alike byte by byte. That reads duplicates
//! twice, and inflates a compressed layer before its first block is written.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_codec::{Work, Workers, ordered};
use coldpress_format::BlockSize;
use coldpress_layout::NodeId;

use crate::content::Opened;
use crate::error::{self, Error};
use crate::progress::{Meter, Progress};
use crate::source::Source;

/// Bytes that are read at once: enough to amortize the call, small for many threads.
pub(crate) const READ_BYTES: usize = 1 << 16;
/// Files that a thread deals with before it hands over what it found: handing over costs as much as
/// reading a small file.
pub(crate) const BATCH_FILES: usize = 32;
/// Batches in flight for each thread: enough that a large file does not keep the others waiting.
pub(crate) const WINDOW: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not 0");

/// A BLAKE3 hash.
pub(crate) type Hash = [u8; 32];

/// The hash of a span whose bytes come piece by piece.
pub(crate) struct SpanHasher(blake3::Hasher);

impl SpanHasher {
    /// * `len`: of the span; it is hashed too.
    pub(crate) fn new(len: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&len.to_le_bytes());
        Self(hasher)
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(&self) -> Hash {
        self.0.finalize().into()
    }
}

/// What of a file is hashed: its first byte and its length.
type Span<'a> = &'a (dyn Fn(NodeId) -> (u64, u64) + Sync);

impl Source {
    /// Finds files with the same bytes, so that an image holds them once.
    ///
    /// * `tails`: the block size of the image if all its tail ends are packed: then tail ends with
    ///   the same bytes are found too.
    /// * `progress`: called for each file; counts the bytes that are compared, stops the work when
    ///   it breaks.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] if the caller stops it.
    ///
    /// # Cost
    ///
    /// Files of equal length are read once; so are tail ends. What passed by when the source was
    /// gathered, as from a compressed layer, is not.
    pub fn find_duplicates(
        &mut self,
        tails: Option<BlockSize>,
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let whole = |node| (0, self.size_bytes(node));
        self.tree.duplicates = self.equal_spans(&whole, threads, progress)?;
        if let Some(block_size) = tails {
            self.tree.duplicate_tails = self.duplicate_tails(block_size, threads, progress)?;
        }
        Ok(())
    }

    /// Files, no duplicates, whose tail ends in blocks of this size have the same bytes as that of
    /// another, and that other.
    pub(crate) fn duplicate_tails(
        &self,
        block_size: BlockSize,
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<BTreeMap<NodeId, NodeId>, Error> {
        let tail = |node| {
            let size_bytes = self.size_bytes(self.tree.data_of(node));
            let is_original = self.tree.data_of(node) == node;
            let len = u64::from(block_size.tail_bytes(size_bytes));
            // To compare those that are kept, all their fragment blocks would be read.
            let is_compared = is_original && !self.tree.is_kept(node);
            (size_bytes - len, if is_compared { len } else { 0 })
        };
        self.equal_spans(&tail, threads, progress)
    }

    /// Files whose spans have the same bytes as that of another, and that other.
    fn equal_spans(
        &self,
        span: Span,
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<BTreeMap<NodeId, NodeId>, Error> {
        let candidates = self.equal_lengths(span);
        let total_bytes = candidates.iter().map(|node| span(*node).1).sum();
        let mut meter = Meter::new(total_bytes, progress);
        // A file is read piece by piece, so memory does not grow with the window.
        let workers = Workers {
            threads,
            window: threads.saturating_mul(WINDOW),
        };
        // Sorted instead of looked up: half the memory of a table for a million files.
        let mut hashes: Vec<(Hash, u32)> = Vec::with_capacity(candidates.len());
        let mut index = 0;
        ordered::<_, _, _, Error>(
            candidates.chunks(BATCH_FILES).map(Ok),
            &workers,
            || Ok(vec![0; READ_BYTES]),
            |buffer, batch| {
                // A problem of a file shows when its blocks are read.
                let hash = |node: &NodeId| hash(self, *node, span(*node), buffer).ok();
                Ok((batch, batch.iter().map(hash).collect::<Vec<_>>()))
            },
            |(batch, found)| {
                for hash in found {
                    hashes.extend(hash.map(|hash| (hash, index)));
                    index += 1;
                }
                meter.add(batch.iter().map(|node| span(*node).1).sum())
            },
        )?;
        hashes.sort_unstable();
        let mut duplicates = BTreeMap::new();
        for kind in hashes.chunk_by(|left, right| left.0 == right.0) {
            let mut nodes = kind.iter().map(|(_, index)| candidates[*index as usize]);
            let first = nodes.next().expect("a chunk is not empty");
            let others = nodes.filter(|node| !self.tree.is_kept(*node));
            duplicates.extend(others.map(|node| (node, first)));
        }
        Ok(duplicates)
    }

    /// The files whose span has the length of another's, of which one at least is not kept. Kept
    /// ones come first: their data serves for others and never the other way round.
    fn equal_lengths(&self, span: Span) -> Vec<NodeId> {
        let files = || {
            let nodes = self.tree.walk().map(|(node, _)| node);
            nodes.filter(|node| span(*node).1 > 0)
        };
        // All, and those that are not kept.
        let mut counts: HashMap<u64, (u32, u32)> = HashMap::new();
        for node in files() {
            let (all, new) = counts.entry(span(node).1).or_default();
            *all += 1;
            *new += u32::from(!self.tree.is_kept(node));
        }
        let mut found: Vec<_> = files()
            .filter(|node| matches!(counts[&span(*node).1], (2.., 1..)))
            .collect();
        found.sort_by_key(|node| !self.tree.is_kept(*node));
        found
    }
}

/// The hash of a span, its length included. One that was taken when its bytes passed by needs no
/// reading.
fn hash(
    source: &Source,
    node: NodeId,
    (start, len): (u64, u64),
    buffer: &mut [u8],
) -> Result<Hash, Error> {
    if let Some(hash) = source.known_hash(node).filter(|_| start == 0) {
        return Ok(hash);
    }
    let content = source.open(node)?;
    let mut hasher = SpanHasher::new(len);
    let mut done = 0;
    while done < len {
        let read = read(source, node, &content, buffer, (start + done, len - done))?;
        let _busy = source.busy(Work::Hash);
        hasher.update(&buffer[..read]);
        done += read as u64;
    }
    Ok(hasher.finish())
}

/// Reads the next bytes of a span that goes on for `rest` bytes; a file that ends before is an
/// error.
pub(crate) fn read(
    source: &Source,
    node: NodeId,
    content: &Opened,
    buffer: &mut [u8],
    (offset, rest): (u64, u64),
) -> Result<usize, Error> {
    let len = usize::try_from(rest).map_or(buffer.len(), |rest| rest.min(buffer.len()));
    let path = || source.path(node);
    let _busy = source.busy(Work::Read);
    match content.read_at(&mut buffer[..len], offset) {
        Ok(0) => Err(error::source("read", &path())(
            io::ErrorKind::UnexpectedEof.into(),
        )),
        Ok(len) => Ok(len),
        Err(error) => Err(error::source("read", &path())(error)),
    }
}
