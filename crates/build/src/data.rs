//! The data area: data blocks and fragment blocks, read and compressed in parallel, written in
//! order.
//!
//! A file that cannot be read to its end, or changes meanwhile, does not end the build: it is cut
//! where reading ended, which needs no change of what is written already, since a last block may
//! be short, and is told in a warning.

mod worker;

use std::collections::{BTreeMap, BTreeSet};

use coldpress_codec::{Work, ordered};
use coldpress_format::{BlockSize, BlockWord, File, Fragment, TailEnd};
use coldpress_layout::{Item, NodeId, Order, Tree};

use crate::error::Error;
use crate::options::Options;
use crate::progress::Meter;
use crate::reader::{self, Jobs, Problem};
use crate::sink::Sink;
use crate::source::Source;
use crate::warning::Warning;
pub(crate) use worker::is_zero;
use worker::{Packed, Piece, Worker};

/// Where everything of the data area lies.
pub(crate) struct DataArea {
    /// For each node its data, as its inode states it; empty for what is not a file.
    pub(crate) files: Vec<File>,
    /// The fragment table.
    pub(crate) fragments: Vec<Fragment>,
    /// Bytes that sparse blocks save.
    pub(crate) sparse_bytes: u64,
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
) -> Result<DataArea, Error> {
    let mut area = DataArea {
        files: source.kept_files(),
        fragments: source
            .base()
            .map_or_else(Vec::new, |base| base.fragments().to_vec()),
        sparse_bytes: 0,
        copied_bytes: 0,
        changed: BTreeMap::new(),
    };
    let packed = packed_tails(&source.tree, &order.data);
    area.write(source, order, &packed, output, options, meter)?;
    // Duplicates were compared with files that are not the same any more: they get data of their
    // own, and tail ends a fragment block of their own.
    let orphans = area.orphans(source);
    let tails = area.orphaned_tails(source, &packed);
    let blocks = orphans.iter().copied().map(Item::Blocks);
    let fragments = tails.iter().map(|node| Item::Fragment(vec![*node]));
    let own = Order {
        data: blocks.chain(fragments).collect(),
        ..Order::default()
    };
    let own_packed = packed_tails(&source.tree, &own.data);
    area.write(source, &own, &own_packed, output, options, meter)?;
    area.share_tails(source, &tails, &packed);
    area.finish(source, options, &orphans, meter)?;
    Ok(area)
}

impl DataArea {
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
        ordered(
            Jobs::new(source, order, packed_tails, options.block_size).map(Ok),
            &options.workers(),
            || Worker::new(source, options),
            |worker, job| worker.pack(job),
            |packed| {
                meter.add(packed.len_bytes)?;
                self.push(source, packed, output)
            },
        )
    }

    fn push(&mut self, source: &Source, packed: Packed, output: &mut Sink) -> Result<(), Error> {
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
        let start = output.end;
        let word = match &packed.stored {
            None => BlockWord::SPARSE,
            Some(block) => {
                let busy = source.busy(Work::Write);
                output.append(&block.bytes)?;
                drop(busy);
                self.copied_bytes += if block.is_copied { packed.len_bytes } else { 0 };
                let size = u32::try_from(block.bytes.len()).expect("a block is at most 1 MiB");
                BlockWord::new(size, block.is_compressed)
            }
        };
        match packed.piece {
            Piece::Block { node, .. } => {
                self.push_block(source, node, word, start, packed.len_bytes);
            }
            Piece::Fragment(members) => self.push_fragment(members, word, start),
        }
        Ok(())
    }

    fn push_block(
        &mut self,
        source: &Source,
        node: NodeId,
        word: BlockWord,
        start: u64,
        len_bytes: u64,
    ) {
        let file = &mut self.files[node.index()];
        if word.is_sparse() {
            self.sparse_bytes += len_bytes;
            // A file that takes all its bytes in the source keeps doing so for stat(2).
            if source.is_sparse(node) {
                file.sparse_bytes += len_bytes;
            }
        } else if file.start == 0 {
            file.start = start;
        }
        file.blocks.push(word);
    }

    fn push_fragment(&mut self, members: Vec<(NodeId, u32)>, word: BlockWord, start: u64) {
        if members.is_empty() {
            return;
        }
        let fragment = u32::try_from(self.fragments.len()).expect("fewer fragments than inodes");
        for (node, offset) in members {
            self.files[node.index()].tail = Some(TailEnd { fragment, offset });
        }
        self.fragments.push(Fragment { start, size: word });
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
                self.files[node.index()].tail = self.files[original.index()].tail;
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
        for (node, found) in source.tree.nodes.iter().enumerate() {
            if let Some(size_bytes) = found.size_bytes() {
                self.files[node].size_bytes = size_bytes;
            }
        }
        for (node, problem) in &mut self.changed {
            let file = &mut self.files[node.index()];
            cut(file, problem.size_bytes, options.block_size);
            if let Warning::Changed { stored_bytes, .. } = &mut problem.warning {
                *stored_bytes = file.size_bytes;
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
            self.files[node.index()] = self.files[original.index()].clone();
            meter.add(source.size_bytes(*node))?;
        }
        for file in &mut self.files {
            // The kernel takes st_blocks from the difference, which must not be 0.
            file.sparse_bytes = file.sparse_bytes.min(file.size_bytes.saturating_sub(1));
        }
        Ok(())
    }
}

/// Shortens a file to what could be read of it.
fn cut(file: &mut File, size_bytes: u64, block_size: BlockSize) {
    if size_bytes >= file.size_bytes {
        return;
    }
    let tail_start = file.size_bytes - u64::from(block_size.tail_bytes(file.size_bytes));
    if file.tail.is_some() && size_bytes <= tail_start {
        file.tail = None;
    }
    file.size_bytes = size_bytes;
    if file.tail.is_none() {
        let count = size_bytes.div_ceil(block_size.bytes().into());
        file.blocks
            .truncate(usize::try_from(count).unwrap_or(usize::MAX));
    }
    if file.blocks.is_empty() {
        file.start = 0;
    }
}

/// Nodes whose tail end is in a fragment block.
pub(crate) fn packed_tails(tree: &Tree, items: &[Item]) -> Vec<bool> {
    let mut packed = vec![false; tree.nodes.len()];
    for item in items {
        if let Item::Fragment(members) = item {
            for node in members {
                packed[node.index()] = true;
            }
        }
    }
    for (node, tail) in &tree.duplicate_tails {
        packed[node.index()] |= packed[tail.index()];
    }
    packed
}
