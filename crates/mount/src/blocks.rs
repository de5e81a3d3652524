//! The content of files, from blocks that are decompressed once.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coldpress_format::{Corrupt, Part, Rule};
use coldpress_image::{Error, Image, StoredBlock};

use crate::block::{Block, BlockKey, key};
use crate::buffers::Buffers;
use crate::cache::{Cache, CacheCounts};
use crate::content::Content;
use crate::file_map::{FileMap, Piece};
use crate::helpers::Offers;
use crate::node::NodeId;
use crate::page_cache_push::{BlockRest, PushQueue};
use crate::prefetch_control::{Over, PrefetchControl, Ticket};

/// How far ahead of a read that goes on helpers may be.
const AHEAD_BYTES: u64 = 1 << 20;

/// Decompressed data and fragment blocks.
pub(crate) struct Blocks {
    cache: Cache<BlockKey, Block>,
    buffers: Arc<Buffers>,
    pub(crate) offers: Offers,
    pub(crate) push_queue: PushQueue,
    pub(crate) prefetch_control: Arc<PrefetchControl>,
}

impl Blocks {
    pub(crate) fn new(image: &Image, limit_bytes: u64) -> Self {
        let block_bytes = image.superblock().block_size.bytes();
        Self {
            cache: Cache::new(limit_bytes, block_bytes.into()),
            buffers: Arc::new(Buffers::new(
                usize::try_from(block_bytes).unwrap_or(usize::MAX),
            )),
            offers: Offers::default(),
            push_queue: PushQueue::default(),
            prefetch_control: Arc::default(),
        }
    }

    pub(crate) fn counts(&self) -> CacheCounts {
        self.cache.counts()
    }

    pub(crate) fn kept_bytes(&self) -> u64 {
        self.cache.kept_bytes()
    }

    /// Reads a range of a file; what is behind its end is left out.
    pub(crate) fn read(
        &self,
        image: &Image,
        node: NodeId,
        map: &FileMap,
        range: Range<u64>,
    ) -> Result<Content, Error> {
        let _answering = self.prefetch_control.request();
        self.hand_over(map, &range);
        let len = range.end.min(map.size_bytes()).saturating_sub(range.start);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut joined = Vec::new();
        let mut offset = range.start;
        for piece in map.pieces(range) {
            match piece {
                Piece::Zeros(zeros) => {
                    joined.resize(joined.len() + zeros, 0);
                    offset = offset.saturating_add(zeros as u64);
                }
                Piece::Block(block, within) => {
                    self.prefetch_control.asked(key(&block));
                    let content = self.block(image, &block)?;
                    let bytes = within_block(&block, &content, within.clone())?;
                    if !block.is_fragment {
                        self.note(node, offset, &content, &within, &block);
                    }
                    offset = offset.saturating_add(within.len() as u64);
                    if bytes.len() == len {
                        return Ok(Content::shared(content, within));
                    }
                    joined.reserve(len - joined.len());
                    joined.extend_from_slice(bytes);
                }
            }
        }
        Ok(Content::joined(joined))
    }

    /// Notes that a part of a data block was asked for. The kernel's page cache takes the rest, and
    /// a block that is there as a whole is the first to leave this cache.
    ///
    /// * `offset`: where the part lies in the file.
    fn note(
        &self,
        node: NodeId,
        offset: u64,
        content: &Block,
        part: &Range<usize>,
        block: &StoredBlock,
    ) {
        let (len, part_len) = (content.bytes.len() as u64, part.len() as u64);
        let before = content.asked_bytes.fetch_add(part_len, Ordering::Relaxed);
        if before.saturating_add(part_len) >= len {
            self.cache.spend(&key(block));
        } else if content.pushed_to.load(Ordering::Relaxed) != node.0 {
            let start = offset.saturating_sub(part.start as u64);
            let rest = BlockRest {
                node,
                whole: start..start.saturating_add(len),
                asked: offset..offset.saturating_add(part_len),
            };
            if self.push_queue.offer(rest) {
                content.pushed_to.store(node.0, Ordering::Relaxed);
            }
        }
    }

    /// Lets helpers that have nothing to do decompress all blocks of a range but the first, and
    /// what follows a range that goes on.
    fn hand_over(&self, map: &FileMap, range: &Range<u64>) {
        let ahead_bytes = if map.goes_on(range) { AHEAD_BYTES } else { 0 };
        let end = range.end.saturating_add(ahead_bytes);
        for piece in map.pieces(map.block_end(range.start)..end) {
            if let Piece::Block(block, _) = piece
                && !self.cache.has(&key(&block))
                && !self.offers.offer(block)
            {
                return;
            }
        }
    }

    /// Whether all blocks of a range are decompressed.
    pub(crate) fn has_all(&self, map: &FileMap, range: Range<u64>) -> bool {
        map.pieces(range).all(|piece| match piece {
            Piece::Zeros(_) => true,
            Piece::Block(block, _) => self.cache.has(&key(&block)),
        })
    }

    /// What a block holds.
    pub(crate) fn block(&self, image: &Image, block: &StoredBlock) -> Result<Arc<Block>, Error> {
        self.cache
            .get(key(block), || self.decompressed(image, block, None))
    }

    /// Decompresses a block as soon as that is no hindrance, unless it was asked for before.
    ///
    /// # Errors
    ///
    /// If nothing is prefetched any more.
    pub(crate) fn prefetch(&self, image: &Image, block: &StoredBlock) -> Result<(), Over> {
        if self.cache.has(&key(block)) {
            return Ok(());
        }
        if let Some((ticket, _fetching)) = self.prefetch_control.take(block)? {
            let mut ticket = Some(ticket);
            let make = || self.decompressed(image, block, ticket.take());
            // Damage is told when a request meets it.
            let _ = self.cache.prepare(key(block), make);
            // A helper made it while this thread waited for its turn.
            if let Some(ticket) = ticket {
                ticket.give_back(block);
            }
        }
        Ok(())
    }

    fn decompressed(
        &self,
        image: &Image,
        block: &StoredBlock,
        ticket: Option<Ticket>,
    ) -> Result<Block, Error> {
        let mut stored = self.buffers.take();
        let len_bytes = usize::try_from(block.len_bytes).unwrap_or(usize::MAX);
        let mut bytes = self.buffers.take_for(len_bytes);
        let read = image.read_stored(block, &mut stored, &mut bytes);
        self.buffers.give_back(stored);
        read?;
        Ok(Block {
            bytes,
            pushed_to: AtomicU64::new(0),
            asked_bytes: AtomicU64::new(0),
            _ticket: ticket,
            buffers: Arc::clone(&self.buffers),
        })
    }
}

/// The bytes of a block that are wanted.
///
/// Two files of a damaged image may differ about the length of one block, so that it is not enough
/// that the one who decompressed it found its own.
fn within_block<'a>(
    block: &StoredBlock,
    content: &'a Block,
    within: Range<usize>,
) -> Result<&'a [u8], Corrupt> {
    let content = &content.bytes;
    let (found, expected) = (content.len() as u64, u64::from(block.len_bytes));
    if !block.is_fragment && found != expected {
        let field = "decompressed length";
        let rule = Rule::Mismatch {
            field,
            found,
            expected,
        };
        return Err(Corrupt::new(Part::DataBlock, block.start, rule));
    }
    let needed = within.end as u64;
    content.get(within).ok_or_else(|| {
        let rule = Rule::Truncated { needed, found };
        Corrupt::new(Part::FragmentBlock, block.start, rule)
    })
}
