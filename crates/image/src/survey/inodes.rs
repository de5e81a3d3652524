//! Reading the inode table from its beginning to its end.

use std::ops::ControlFlow;

use coldpress_format::{Corrupt, InodeRef, Part, Rule};

use super::tree::{POLL_INODES, note, place};
use super::{Account, Blocks, Node, Span, Survey};
use crate::error::Error;
use crate::findings::{Findings, Severity};
use crate::image::Image;
use crate::inode::InodeRecord;

/// Bytes that are read of what turns out to be no inode: a hostile table may look like large inodes
/// anywhere.
const GUESSES_BYTES: u64 = 64 << 20;

/// Finds the bytes of each inode, and the inodes that no directory names.
///
/// # Errors
///
/// [`Error::Interrupted`] only.
pub(super) fn scan(
    survey: &mut Survey,
    image: &Image,
    findings: &mut Findings,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(), Error> {
    let nodes = survey.nodes.iter().enumerate();
    let mut places: Vec<_> = nodes
        .map(|(node, found)| (place(image, found.at), node))
        .collect();
    places.sort_unstable();
    let hints: Vec<u64> = places.iter().map(|((start, _), _)| *start).collect();
    let blocks = Blocks::scan(image, image.inode_table, &hints, findings);

    let (mut known, mut strays) = (Vec::new(), Vec::new());
    for ((start, offset), node) in places {
        match blocks.position(start, offset) {
            Some(position) => known.push((position, node)),
            None => strays.push((start, node)),
        }
    }
    known.sort_unstable();
    let mut scan = Scan {
        image,
        survey,
        findings,
        spans: Vec::with_capacity(known.len()),
        is_synced: true,
        guesses_bytes: GUESSES_BYTES,
    };
    let mut position = 0;
    let mut read = 0_u64;
    for (next, node) in known
        .iter()
        .map(|(next, node)| (*next, Some(*node)))
        .chain([(blocks.len_bytes(), None)])
    {
        while position < next {
            position = scan.unknown(&blocks, position, next);
        }
        position = position.max(scan.known(&blocks, next, node));
        read += 1;
        if read.is_multiple_of(POLL_INODES) && poll().is_break() {
            return Err(Error::Interrupted);
        }
    }
    let mut spans = scan.spans;
    spans.sort_unstable();
    survey.inode_table = Account {
        blocks,
        spans,
        strays,
    };
    Ok(())
}

struct Scan<'a> {
    image: &'a Image,
    survey: &'a mut Survey,
    findings: &'a mut Findings,
    spans: Vec<Span>,
    /// Whether the last inode ended where the next bytes begin.
    is_synced: bool,
    /// Bytes that may still be read in vain.
    guesses_bytes: u64,
}

impl Scan<'_> {
    /// Notes the bytes of an inode that a directory names; returns the position behind them.
    fn known(&mut self, blocks: &Blocks, start: u64, node: Option<usize>) -> u64 {
        let Some(node) = node else {
            return start;
        };
        let at = self.survey.nodes.get(node).map(|node| node.at);
        let Some(Ok(record)) = at.map(|at| self.image.inode_record(at)) else {
            return start;
        };
        let end = (start + record.len_bytes).min(blocks.len_bytes());
        self.spans.push(Span { start, end, node });
        self.is_synced = true;
        end
    }

    /// Looks for an inode that no directory names at a position; returns where to look next.
    fn unknown(&mut self, blocks: &Blocks, position: u64, limit: u64) -> u64 {
        let Some((block, offset)) = blocks.at(position) else {
            return limit;
        };
        let (block_start, block_end) = (block.start, block.position_end());
        let at = reference(self.image, block_start, offset);
        let record = at.and_then(|at| Some((at, self.guess(at, limit - position)?)));
        let Some((at, record)) = record else {
            self.is_synced = false;
            return block_end.min(limit);
        };
        let number = record.inode.number;
        let rule = Rule::Unnamed {
            number: number.into(),
        };
        let corrupt = Corrupt::new(Part::Inode, block_start, rule);
        self.findings.add(Severity::Notice, || None, corrupt);
        let node = Node::new(at, &record.inode, 0, (0, b""));
        let node = self.survey.push(node);
        for (severity, error) in note(self.survey, self.image, node, &record, block_start) {
            self.findings.add(severity, || None, error);
        }
        let (start, end) = (position, position + record.len_bytes);
        self.spans.push(Span { start, end, node });
        self.is_synced = true;
        end
    }

    /// Reads what may be an inode of at most `limit` bytes.
    fn guess(&mut self, at: InodeRef, limit: u64) -> Option<InodeRecord> {
        let bytes = self.image.inode_bytes_min(at).ok()?;
        if bytes > limit || bytes > self.guesses_bytes {
            return None;
        }
        let record = self.image.inode_record(at).ok();
        let record = record.filter(|record| record.len_bytes <= limit && self.is_plausible(record));
        if record.is_none() {
            self.guesses_bytes -= bytes;
        }
        record
    }

    /// Whether bytes that read as an inode are one. Behind another inode nothing else is expected;
    /// behind bytes that were none its number must be missing.
    fn is_plausible(&self, record: &InodeRecord) -> bool {
        let (inode, image) = (&record.inode, self.image);
        let ids = image.superblock().id_count;
        inode.number <= image.superblock().inode_count
            && inode.uid_index < ids
            && inode.gid_index < ids
            && (self.is_synced || self.survey.node_of_number(inode.number).is_none())
    }
}

/// The reference of an inode at a byte of a metadata block.
fn reference(image: &Image, block_start: u64, offset: u64) -> Option<InodeRef> {
    Some(InodeRef {
        block_start: u32::try_from(block_start.checked_sub(image.inode_table.start)?).ok()?,
        offset: u16::try_from(offset).ok()?,
    })
}
