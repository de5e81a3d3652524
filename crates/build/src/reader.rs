//! Reading the source in the order of the data area, a block at a time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::slice;

use coldpress_format::BlockSize;
use coldpress_layout::{Item, NodeId, Order};
use rustix::fs::SeekFrom;

use crate::error::{self, Error};
use crate::source::Source;

/// What a block of the data area is.
pub(crate) enum Piece {
    /// A data block of a file.
    Block(NodeId),
    /// A fragment block: for each tail end whose it is and where it begins.
    Fragment(Vec<(NodeId, u32)>),
}

/// One block before compression.
pub(crate) struct Job {
    pub(crate) piece: Piece,
    /// Bytes of the source that this block deals with.
    pub(crate) len_bytes: u32,
    /// The content; `None` for a hole.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// The blocks of the data area in order.
pub(crate) struct Reader<'a> {
    source: &'a Source,
    block_size: BlockSize,
    items: slice::Iter<'a, Item>,
    /// Nodes whose tail end is in a fragment block.
    packed_tails: Vec<bool>,
    open: Option<OpenFile>,
}

struct OpenFile {
    node: NodeId,
    file: File,
    offset: u64,
    end: u64,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source, order: &'a Order, block_size: BlockSize) -> Self {
        let mut packed_tails = vec![false; source.tree.nodes.len()];
        for item in &order.data {
            if let Item::Fragment(nodes) = item {
                for node in nodes {
                    packed_tails[node.index()] = true;
                }
            }
        }
        let items = order.data.iter();
        Self {
            source,
            block_size,
            items,
            packed_tails,
            open: None,
        }
    }

    fn step(&mut self) -> Result<Option<Job>, Error> {
        loop {
            if let Some(open) = &mut self.open {
                if open.offset < open.end {
                    return open.read(self.source, self.block_size).map(Some);
                }
                self.open = None;
            }
            match self.items.next() {
                None => return Ok(None),
                Some(Item::Blocks(node)) => self.open(*node)?,
                Some(Item::Fragment(nodes)) => {
                    if let Some(job) = self.fragment(nodes)? {
                        return Ok(Some(job));
                    }
                }
            }
        }
    }

    fn open(&mut self, node: NodeId) -> Result<(), Error> {
        let size = self.source.size_bytes(node);
        let tail = u64::from(self.block_size.tail_bytes(size));
        let end = if self.packed_tails[node.index()] {
            size - tail
        } else {
            size
        };
        if end > 0 {
            self.open = Some(OpenFile {
                node,
                file: self.source.open(node)?,
                offset: 0,
                end,
            });
        }
        Ok(())
    }

    fn fragment(&self, nodes: &[NodeId]) -> Result<Option<Job>, Error> {
        let mut bytes = Vec::with_capacity(self.block_size.bytes() as usize);
        let mut members = Vec::with_capacity(nodes.len());
        for node in nodes.iter().copied() {
            let size = self.source.size_bytes(node);
            let len = self.block_size.tail_bytes(size);
            let at = bytes.len();
            bytes.resize(at + len as usize, 0);
            let file = self.source.open(node)?;
            read(
                self.source,
                node,
                &file,
                &mut bytes[at..],
                size - u64::from(len),
            )?;
            members.push((
                node,
                u32::try_from(at).expect("a fragment block is at most 1 MiB"),
            ));
        }
        let len_bytes = u32::try_from(bytes.len()).expect("a fragment block is at most 1 MiB");
        let job = Job {
            piece: Piece::Fragment(members),
            len_bytes,
            bytes: Some(bytes),
        };
        Ok((len_bytes > 0).then_some(job))
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Job, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

impl OpenFile {
    fn read(&mut self, source: &Source, block_size: BlockSize) -> Result<Job, Error> {
        let (node, offset) = (self.node, self.offset);
        let len = u64::from(block_size.bytes()).min(self.end - offset);
        let len_bytes = u32::try_from(len).expect("a block is at most 1 MiB");
        self.offset += len;
        let piece = Piece::Block(node);
        if source.sparse[node.index()] && is_hole(&self.file, offset, len) {
            return Ok(Job {
                piece,
                len_bytes,
                bytes: None,
            });
        }
        let mut bytes = vec![0; len_bytes as usize];
        read(source, node, &self.file, &mut bytes, offset)?;
        Ok(Job {
            piece,
            len_bytes,
            bytes: Some(bytes),
        })
    }
}

/// Whether no data lies in this range, so that it need not be read: a file of a terabyte may hold
/// a kilobyte.
pub(crate) fn is_hole(file: &File, offset: u64, len: u64) -> bool {
    match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Ok(data) => data >= offset + len,
        Err(error) => error == rustix::io::Errno::NXIO,
    }
}

fn read(
    source: &Source,
    node: NodeId,
    file: &File,
    bytes: &mut [u8],
    offset: u64,
) -> Result<(), Error> {
    let path = source.path(node);
    file.read_exact_at(bytes, offset).map_err(|error| {
        if error.kind() == std::io::ErrorKind::UnexpectedEof {
            let (expected_bytes, found) = (source.size_bytes(node), "ended before");
            return Error::Changed {
                path: path.to_path_buf(),
                expected_bytes,
                found,
            };
        }
        error::source("read", path)(error)
    })
}
