//! Reading and compressing one block after the other, on a thread of its own.

use coldpress_codec::Work;
use coldpress_layout::{BlockEncoding, NodeId};

use crate::error::Error;
use crate::options::Options;
use crate::packer::{Block, Packer};
use crate::reader::{self, Job, Opening, Problem};
use crate::reuse::Candidate;
use crate::source::Source;

/// A block as it goes into the image.
pub(super) struct Packed {
    pub(super) piece: Piece,
    /// Bytes of the source that it deals with.
    pub(super) len_bytes: u64,
    /// `None` for zeros that take no bytes, and for what could not be read.
    pub(super) stored: Option<Block>,
    pub(super) problems: Vec<Problem>,
}

/// Which block it is.
pub(super) enum Piece {
    /// The data block of a file at this offset.
    Block { node: NodeId, offset: u64 },
    /// A fragment block: for each tail end whose it is and where it begins.
    Fragment(Vec<(NodeId, u32)>),
}

/// What reads and compresses, and keeps its memory from block to block.
pub(super) struct Worker<'a> {
    source: &'a Source,
    options: &'a Options,
    packer: Packer,
    bytes: Vec<u8>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(source: &'a Source, options: &'a Options) -> Result<Self, Error> {
        Ok(Self {
            source,
            options,
            packer: options.packer()?,
            bytes: Vec::new(),
        })
    }

    /// Reads a block and compresses it, or finds that it is zeros or better stored as it is.
    pub(super) fn pack(&mut self, job: Job) -> Result<Packed, Error> {
        match job {
            Job::Block {
                node,
                file,
                offset,
                len_bytes,
                candidate,
                encoding,
            } => {
                // What is packed specially now was not necessarily then.
                let is_default = encoding == BlockEncoding::Default;
                let candidate = candidate.filter(|it| is_default || it.is_kept);
                let known = candidate.and_then(|it| self.copy_known(node, &it));
                let (stored, problem) = match known {
                    Some(block) => (Some(block), None),
                    None => self.pack_block(&file, (offset, len_bytes), candidate, encoding)?,
                };
                Ok(Packed {
                    piece: Piece::Block { node, offset },
                    len_bytes: len_bytes.into(),
                    stored,
                    problems: problem.into_iter().collect(),
                })
            }
            Job::Fragment(nodes, encoding) => self.pack_fragment(nodes, encoding),
        }
    }

    /// The candidate, if it is known to hold the bytes of a node.
    fn copy_known(&mut self, node: NodeId, candidate: &Candidate) -> Option<Block> {
        if candidate.is_exact {
            self.packer.copy_exact(candidate)
        } else {
            self.source.same_file(node)?;
            self.packer.copy_verified(candidate)
        }
    }

    fn pack_block(
        &mut self,
        file: &Opening,
        (offset, len_bytes): (u64, u32),
        candidate: Option<Candidate>,
        encoding: BlockEncoding,
    ) -> Result<(Option<Block>, Option<Problem>), Error> {
        let busy = self.source.busy(Work::Read);
        let read = file.read(offset, len_bytes, &mut self.bytes);
        drop(busy);
        let is_hole = matches!(read, Ok(true)) || is_zero(&self.bytes);
        let stored = if is_hole {
            None
        } else {
            Some(self.compress(candidate, false, encoding)?)
        };
        Ok((stored, read.err()))
    }

    fn pack_fragment(
        &mut self,
        nodes: &[NodeId],
        encoding: BlockEncoding,
    ) -> Result<Packed, Error> {
        if let Some(packed) = self.copy_fragment(nodes, encoding) {
            return Ok(packed);
        }
        let (source, block_size) = (self.source, self.options.block_size);
        self.bytes.clear();
        let (mut members, mut problems, mut len_bytes) = (Vec::new(), Vec::new(), 0);
        let busy = source.busy(Work::Read);
        for node in nodes.iter().copied() {
            let start = self.bytes.len();
            let read = reader::append_tail(source, node, block_size, &mut self.bytes);
            problems.extend(read.err());
            if self.bytes.len() > start {
                let start = u32::try_from(start).expect("a fragment block is at most 1 MiB");
                members.push((node, start));
            }
            len_bytes += u64::from(block_size.tail_bytes(source.size_bytes(node)));
        }
        drop(busy);
        let stored = if let Some((first, _)) = members.first() {
            // If that of the first is known, so is that the block is another.
            let is_known = source.same_file(*first).is_some();
            let candidate = source.fragment_candidate(*first);
            let is_default = encoding == BlockEncoding::Default;
            let candidate = candidate.filter(|it| (is_default || it.is_kept) && !is_known);
            Some(self.compress(candidate, true, encoding)?)
        } else {
            None
        };
        Ok(Packed {
            piece: Piece::Fragment(members),
            len_bytes,
            stored,
            problems,
        })
    }

    /// The fragment block of the older image, if it is known to be this one without reading the
    /// files.
    fn copy_fragment(&mut self, nodes: &[NodeId], encoding: BlockEncoding) -> Option<Packed> {
        let (source, block_size) = (self.source, self.options.block_size);
        let mut end = 0;
        let members: Vec<(NodeId, u32)> = nodes
            .iter()
            .map(|node| {
                let start = end;
                end += block_size.tail_bytes(source.size_bytes(*node));
                (*node, start)
            })
            .collect();
        if encoding != BlockEncoding::Default || !source.has_tails(&members) {
            return None;
        }
        let candidate = source.fragment_candidate(*nodes.first()?)?;
        let _busy = source.busy(Work::Compress);
        let stored = self.packer.copy_if(&candidate, |content| {
            source.is_of_tails(content, &members, block_size)
        })?;
        Some(Packed {
            piece: Piece::Fragment(members),
            len_bytes: end.into(),
            stored: Some(stored),
            problems: Vec::new(),
        })
    }

    /// The bytes as they go into the image.
    fn compress(
        &mut self,
        candidate: Option<Candidate>,
        is_fragment: bool,
        encoding: BlockEncoding,
    ) -> Result<Block, Error> {
        let _busy = self.source.busy(Work::Compress);
        let copied = candidate.and_then(|it| self.packer.copy(&self.bytes, &it));
        match copied {
            Some(block) => Ok(block),
            None => self.packer.pack(&self.bytes, is_fragment, encoding),
        }
    }
}

pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    // A word at a time; most blocks end it at once.
    let (words, rest) = bytes.as_chunks::<16>();
    words.iter().all(|word| *word == [0; 16]) && rest.iter().all(|byte| *byte == 0)
}
