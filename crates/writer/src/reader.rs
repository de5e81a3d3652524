//! The blocks of the data area in their order, and reading them.
//!
//! [`Jobs`] only names what is to be read, so that the thread that hands jobs out never waits for
//! a disk; the workers open and read.

use std::iter::Enumerate;
use std::slice;
use std::sync::{Arc, OnceLock};

use coldpress_assemble::own_bytes;
use coldpress_format::BlockSize;
use coldpress_layout::{BlockEncoding, Item, NodeId, Order};

use crate::content::Opened;
use crate::error::Error;
use crate::reuse::{Candidate, Candidates};
use crate::source::Source;
use crate::warning::Warning;

/// A block of the data area, not read yet.
pub(crate) enum Job<'a> {
    /// A data block of a file.
    Block {
        node: NodeId,
        file: Arc<Opening<'a>>,
        offset: u64,
        len_bytes: u32,
        /// A block of another image that may be this one.
        candidate: Option<Candidate<'a>>,
        encoding: BlockEncoding,
    },
    /// A fragment block of the tail ends of these files.
    Fragment(&'a [NodeId], BlockEncoding),
}

/// A file that the first worker opens that needs it.
pub(crate) struct Opening<'a> {
    source: &'a Source,
    node: NodeId,
    opened: OnceLock<Result<Opened<'a>, Warning>>,
}

/// That a file is not as it was found.
pub(crate) struct Problem {
    pub(crate) node: NodeId,
    /// Bytes from its beginning that the image can hold.
    pub(crate) size_bytes: u64,
    pub(crate) warning: Warning,
}

/// The blocks of some items in order.
pub(crate) struct Jobs<'a> {
    source: &'a Source,
    order: &'a Order,
    items: Enumerate<slice::Iter<'a, Item>>,
    /// Nodes whose tail end is in a fragment block.
    packed_tails: &'a [bool],
    block_size: BlockSize,
    open: Option<OpenFile<'a>>,
}

/// The file whose blocks are being handed out.
struct OpenFile<'a> {
    item: usize,
    file: Arc<Opening<'a>>,
    candidates: Option<Candidates<'a>>,
    next: u64,
    end: u64,
}

impl<'a> Jobs<'a> {
    pub(crate) fn new(
        source: &'a Source,
        order: &'a Order,
        packed_tails: &'a [bool],
        block_size: BlockSize,
    ) -> Self {
        Self {
            source,
            order,
            items: order.data.iter().enumerate(),
            packed_tails,
            block_size,
            open: None,
        }
    }

    fn next_block(&mut self) -> Option<Job<'a>> {
        let open = self.open.as_mut()?;
        if open.next >= open.end {
            self.open = None;
            return None;
        }
        let offset = open.next;
        let len = u64::from(self.block_size.bytes()).min(open.end - offset);
        let len_bytes = u32::try_from(len).expect("a block is at most 1 MiB");
        open.next += len;
        let encoding = self
            .order
            .encoding(open.item, self.block_size.full_blocks(offset));
        Some(Job::Block {
            node: open.file.node,
            file: Arc::clone(&open.file),
            offset,
            len_bytes,
            encoding,
            candidate: open.candidates.as_mut().and_then(|it| it.next(len_bytes)),
        })
    }

    fn open(&mut self, item: usize, node: NodeId) {
        let size_bytes = self.source.size_bytes(node);
        let is_packed = self.packed_tails[node.index()];
        self.open = Some(OpenFile {
            item,
            file: Arc::new(Opening::new(self.source, node)),
            candidates: self.source.candidates(node, self.block_size),
            next: 0,
            end: own_bytes(size_bytes, is_packed, self.block_size),
        });
    }
}

impl<'a> Iterator for Jobs<'a> {
    type Item = Job<'a>;

    fn next(&mut self) -> Option<Job<'a>> {
        loop {
            if let Some(job) = self.next_block() {
                return Some(job);
            }
            match self.items.next()? {
                (item, Item::Blocks(node)) => self.open(item, *node),
                (item, Item::Fragment(nodes)) => {
                    return Some(Job::Fragment(nodes, self.order.encoding(item, 0)));
                }
            }
        }
    }
}

impl<'a> Opening<'a> {
    pub(crate) fn new(source: &'a Source, node: NodeId) -> Self {
        Self {
            source,
            node,
            opened: OnceLock::new(),
        }
    }

    /// Reads a range into `bytes`, which then has the length of what could be read. Returns whether
    /// the range is a hole; `bytes` is then empty.
    pub(crate) fn read(
        &self,
        offset: u64,
        len_bytes: u32,
        bytes: &mut Vec<u8>,
    ) -> Result<bool, Problem> {
        let opened = self.opened.get_or_init(|| open(self.source, self.node));
        let opened = match opened {
            Ok(opened) => opened,
            Err(warning) => {
                bytes.clear();
                return Err(Problem {
                    node: self.node,
                    size_bytes: offset,
                    warning: warning.clone(),
                });
            }
        };
        if opened.is_hole(offset, len_bytes.into()) && opened.is_unchanged() {
            bytes.clear();
            return Ok(true);
        }
        // Overwritten, not cleared: zeroing each block costs a percent of fast compressors.
        bytes.truncate(len_bytes as usize);
        read_into(
            self.source,
            self.node,
            opened,
            (offset, len_bytes),
            0,
            bytes,
        )?;
        Ok(false)
    }
}

/// Reads the tail end of a file behind what `bytes` holds.
pub(crate) fn append_tail(
    source: &Source,
    node: NodeId,
    block_size: BlockSize,
    bytes: &mut Vec<u8>,
) -> Result<(), Problem> {
    let size_bytes = source.size_bytes(node);
    let len_bytes = block_size.tail_bytes(size_bytes);
    let offset = size_bytes - u64::from(len_bytes);
    let opened = open(source, node).map_err(|warning| Problem {
        node,
        size_bytes: offset,
        warning,
    })?;
    let start = bytes.len();
    read_into(source, node, &opened, (offset, len_bytes), start, bytes)
}

/// Whether a file whose content is known is still the one that was found.
pub(crate) fn check_unchanged(source: &Source, node: NodeId) -> Result<(), Problem> {
    let size_bytes = source.size_bytes(node);
    let problem = |warning| Problem {
        node,
        size_bytes,
        warning,
    };
    let opened = open(source, node).map_err(problem)?;
    if opened.is_unchanged() {
        return Ok(());
    }
    Err(problem(changed(source, node)))
}

fn changed(source: &Source, node: NodeId) -> Warning {
    Warning::Changed {
        path: source.path(node),
        expected_bytes: source.size_bytes(node),
        stored_bytes: source.size_bytes(node),
    }
}

fn open(source: &Source, node: NodeId) -> Result<Opened<'_>, Warning> {
    source.open(node).map_err(|error| match error {
        Error::Source {
            action,
            path,
            error,
        } => Warning::unreadable(action, &path, &error),
        error => Warning::Unreadable {
            action: "open",
            path: source.path(node),
            reason: error.to_string(),
        },
    })
}

/// Reads a range to the place `start` of `bytes`, which then ends with all of it, or with what
/// could be read.
fn read_into(
    source: &Source,
    node: NodeId,
    opened: &Opened,
    (offset, len_bytes): (u64, u32),
    start: usize,
    bytes: &mut Vec<u8>,
) -> Result<(), Problem> {
    let len = len_bytes as usize;
    bytes.resize(start + len, 0);
    let read = opened.read_at(&mut bytes[start..], offset);
    let read_len = *read.as_ref().unwrap_or(&0);
    bytes.truncate(start + read_len);
    let found_bytes = source.size_bytes(node);
    let warning = match read {
        Err(error) => Warning::unreadable("read", &source.path(node), &error),
        // Asked after reading: it may have been written to without a change of its length.
        Ok(_) if read_len < len || !opened.is_unchanged() => changed(source, node),
        Ok(_) => return Ok(()),
    };
    Err(Problem {
        node,
        size_bytes: if read_len < len {
            offset + read_len as u64
        } else {
            found_bytes
        },
        warning,
    })
}
