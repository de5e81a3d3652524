//! The data area: data blocks and fragment blocks, read and compressed in parallel, written in
//! order.
//!
//! A file that cannot be read to its end, or changes meanwhile, does not end the build: it is cut
//! where reading ended, which needs no change of what is written already, since a last block may
//! be short, and is told in a warning.

mod aligning;
mod worker;

use std::collections::{BTreeMap, BTreeSet};

use coldpress_assemble::{DataArea, Duplicates, packed_tails};
use coldpress_codec::{Work, ordered};
use coldpress_format::BlockWord;
use coldpress_layout::{Item, NodeId, Order};

use crate::error::Error;
use crate::options::Options;
use crate::progress::Meter;
use crate::reader::{self, Jobs, Problem};
use crate::sink::Sink;
use crate::source::Source;
use crate::warning::Warning;
use aligning::Aligning;
pub(crate) use worker::is_zero;
use worker::{Packed, Piece, Worker};

/// The data area, and what writing it told.
pub(crate) struct Written {
    /// Where everything of it lies.
    pub(crate) area: DataArea,
    /// Bytes whose blocks were copied from another image.
    pub(crate) copied_bytes: u64,
    /// Files that are not as they were found.
    pub(crate) changed: BTreeMap<NodeId, Problem>,
}

/// Writes the data area behind what `output` has.
pub(crate) fn write(
    source: &Source,
    order: &Order,
    output: &mut Sink,
    options: &Options,
    meter: &mut Meter,
) -> Result<Written, Error> {
    let nodes = source.tree.nodes.len();
    let kept_fragments = source
        .base()
        .map_or_else(Vec::new, |base| base.fragments().to_vec());
    let mut written = Written {
        area: DataArea::behind(source.kept_files(), kept_fragments, output.end),
        copied_bytes: 0,
        changed: BTreeMap::new(),
    };
    let duplicates = Duplicates::of(&source.tree);
    let packed = packed_tails(nodes, &order.data, duplicates);
    written.write(source, order, &packed, output, options, meter)?;
    // Duplicates were compared with files that are not the same any more: they get data of their
    // own, and tail ends a fragment block of their own.
    let orphans = written.orphans(source);
    let tails = written.orphaned_tails(source, &packed);
    let blocks = orphans.iter().copied().map(Item::Blocks);
    let fragments = tails.iter().map(|node| Item::Fragment(vec![*node]));
    let own = Order {
        data: blocks.chain(fragments).collect(),
        ..Order::default()
    };
    let own_packed = packed_tails(nodes, &own.data, duplicates);
    written.write(source, &own, &own_packed, output, options, meter)?;
    written.share_tails(source, &tails, &packed);
    written.finish(source, options, &orphans, meter)?;
    Ok(written)
}

impl Written {
    /// Writes the blocks of an order.
    fn write(
        &mut self,
        source: &Source,
        order: &Order,
        packed_tails: &[bool],
        output: &mut Sink,
        options: &Options,
        meter: &mut Meter,
    ) -> Result<(), Error> {
        let aligning = Aligning::new(order);
        ordered(
            Jobs::new(source, order, packed_tails, options.block_size).map(Ok),
            &options.workers(),
            || Worker::new(source, options),
            |worker, job| worker.pack(job),
            |packed| {
                meter.add(packed.len_bytes)?;
                self.push(source, packed, &aligning, output)
            },
        )
    }

    fn push(
        &mut self,
        source: &Source,
        packed: Packed,
        aligning: &Aligning,
        output: &mut Sink,
    ) -> Result<(), Error> {
        for problem in packed.problems {
            self.note(problem);
        }
        if let Piece::Block { node, offset } = packed.piece
            && self
                .changed
                .get(&node)
                .is_some_and(|cut| cut.size_bytes <= offset)
        {
            return Ok(());
        }
        let word = match &packed.stored {
            None => BlockWord::SPARSE,
            Some(block) => {
                let busy = source.busy(Work::Write);
                let gap = aligning.gap(&packed.piece, self.area.end);
                output.append(&gap)?;
                self.area.skip(gap.len() as u64);
                output.append(&block.bytes)?;
                drop(busy);
                self.copied_bytes += if block.is_copied { packed.len_bytes } else { 0 };
                let size = u32::try_from(block.bytes.len()).expect("a block is at most 1 MiB");
                BlockWord::new(size, block.is_compressed)
            }
        };
        match packed.piece {
            Piece::Block { node, .. } => {
                let is_sparse = word.is_sparse() && source.is_sparse(node);
                self.area
                    .push_block(node, word, packed.len_bytes, is_sparse);
            }
            Piece::Fragment(members) => self.area.push_fragment(members, word),
        }
        debug_assert_eq!(self.area.end, output.end, "what was appended");
        Ok(())
    }

    /// Notes that a file is not as it was found; the first reason is told, the shortest counts.
    fn note(&mut self, problem: Problem) {
        let size_bytes = problem.size_bytes;
        let noted = self.changed.entry(problem.node).or_insert(problem);
        noted.size_bytes = noted.size_bytes.min(size_bytes);
    }

    /// Duplicates of files that are not as they were compared.
    fn orphans(&self, source: &Source) -> BTreeSet<NodeId> {
        let duplicates = source.tree.duplicates.iter();
        let orphans = duplicates.filter(|(_, original)| self.changed.contains_key(original));
        orphans.map(|(node, _)| *node).collect()
    }

    /// Files whose tail end is that of a file that is not as it was compared.
    fn orphaned_tails(&self, source: &Source, packed: &[bool]) -> BTreeSet<NodeId> {
        let tails = source.tree.duplicate_tails.iter();
        let orphans = tails.filter(|(_, original)| self.changed.contains_key(original));
        let orphans = orphans.filter(|(node, _)| packed[node.index()]);
        orphans.map(|(node, _)| *node).collect()
    }

    /// Gives duplicate tail ends the place of their originals, where those are packed.
    fn share_tails(&mut self, source: &Source, orphans: &BTreeSet<NodeId>, packed: &[bool]) {
        for (node, original) in &source.tree.duplicate_tails {
            if packed[node.index()] && !orphans.contains(node) {
                // A file that is all tail end was not read again.
                if let Err(problem) = reader::check_unchanged(source, *node) {
                    self.note(problem);
                }
                self.area.share_tail(*node, *original);
            }
        }
    }

    /// Gives every file its length, and duplicates the data of their originals.
    fn finish(
        &mut self,
        source: &Source,
        options: &Options,
        orphans: &BTreeSet<NodeId>,
        meter: &mut Meter,
    ) -> Result<(), Error> {
        self.area.set_sizes(&source.tree);
        for (node, problem) in &mut self.changed {
            self.area.cut(*node, problem.size_bytes, options.block_size);
            if let Warning::Changed { stored_bytes, .. } = &mut problem.warning {
                *stored_bytes = self.area.files[node.index()].size_bytes;
            }
        }
        for (node, original) in &source.tree.duplicates {
            if orphans.contains(node) {
                continue;
            }
            // It was compared before the blocks were read; that it has not changed is seen now.
            if let Err(problem) = reader::check_unchanged(source, *node) {
                self.changed.insert(*node, problem);
            }
            self.area.share(*node, *original);
            meter.add(source.size_bytes(*node))?;
        }
        self.area.limit_sparse();
        Ok(())
    }
}
