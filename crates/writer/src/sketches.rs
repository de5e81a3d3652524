//! Sketches of tail ends, by which an order puts similar ones into one fragment block.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_codec::{Work, Workers, ordered};
use coldpress_format::BlockSize;
use coldpress_layout::{NodeId, Sketch, Sketches, Tails};

use crate::duplicates::{BATCH_FILES, WINDOW, read};
use crate::error::Error;
use crate::progress::{Meter, Progress};
use crate::source::Source;

impl Source {
    /// Sketches of the tail ends that share fragment blocks, for
    /// [`Grouping::Similar`](coldpress_layout::Grouping::Similar). One that cannot be read has
    /// none; that it cannot is told when its blocks are read.
    ///
    /// * `progress`: called for each few files; counts the bytes that are looked at, stops the work
    ///   when it breaks.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] if the caller stops it.
    ///
    /// # Cost
    ///
    /// The first [`Sketch::HEAD_BYTES`] of each tail end are read once.
    pub fn sketch_tails(
        &self,
        block_size: BlockSize,
        tails: Tails,
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Sketches, Error> {
        let head = |node| self.tail_head(node, block_size);
        let nodes = self.tree.walk().map(|(node, _)| node);
        let candidates: Vec<_> = nodes
            .filter(|node| self.shares(*node, block_size, tails))
            .collect();
        let total_bytes = candidates.iter().map(|node| head(*node).1).sum();
        let mut meter = Meter::new(total_bytes, progress);
        let workers = Workers {
            threads,
            window: threads.saturating_mul(WINDOW),
        };
        let mut sketches = Sketches::new();
        ordered::<_, _, _, Error>(
            candidates.chunks(BATCH_FILES).map(Ok),
            &workers,
            || Ok(vec![0; Sketch::HEAD_BYTES]),
            |buffer, batch| {
                let sketch = |node: &NodeId| sketch(self, *node, head(*node), buffer).ok();
                Ok((batch, batch.iter().map(sketch).collect::<Vec<_>>()))
            },
            |(batch, found)| {
                let found = batch.iter().zip(found);
                sketches.extend(found.filter_map(|(node, sketch)| Some((*node, sketch?))));
                meter.add(batch.iter().map(|node| head(*node).1).sum())
            },
        )?;
        Ok(sketches)
    }

    /// Whether a node has a tail end of its own, and that may be in a fragment block.
    fn shares(&self, node: NodeId, block_size: BlockSize, tails: Tails) -> bool {
        let size_bytes = self.size_bytes(node);
        let is_packed = match tails {
            Tails::None => false,
            Tails::Small => block_size.full_blocks(size_bytes) == 0,
            Tails::All => true,
        };
        is_packed && block_size.tail_bytes(size_bytes) > 0 && self.tree.tail_of(node) == node
    }

    /// Where the tail end of a file begins, and how much of it is looked at.
    fn tail_head(&self, node: NodeId, block_size: BlockSize) -> (u64, u64) {
        let size_bytes = self.size_bytes(node);
        let tail_bytes = u64::from(block_size.tail_bytes(size_bytes));
        (
            size_bytes - tail_bytes,
            tail_bytes.min(Sketch::HEAD_BYTES as u64),
        )
    }
}

/// The sketch of a span.
fn sketch(
    source: &Source,
    node: NodeId,
    span: (u64, u64),
    buffer: &mut [u8],
) -> Result<Sketch, Error> {
    let content = source.open(node)?;
    let len = read(source, node, &content, buffer, span)?;
    let _busy = source.busy(Work::Hash);
    Ok(Sketch::of(&buffer[..len]))
}
