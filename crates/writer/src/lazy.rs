//! An image that is not written: its blocks are read from the source when somebody asks for them.

use std::fmt;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;

use coldpress_assemble::{DataArea, Duplicates, MetadataLayout, packed_tails};
use coldpress_format::{BlockSize, BlockWord, PADDING_SIZE, SUPERBLOCK_SIZE};
use coldpress_image::ReadAt;
use coldpress_layout::{Group, Item, NodeId, Order, Plan, Tails, order};

use crate::error::Error;
use crate::options::Options;
use crate::sink::Sink;
use crate::source::Source;
use crate::summary::Summary;
use crate::tar::scratch_file;
use crate::uncompressed::Uncompressed;
use crate::write::write_tables;

/// A source as an image without compression, for those who read images.
///
/// Only its tables are written, to a file without a name; each block of data is the source's own
/// bytes. Where the source fails, so does reading the image there.
pub struct LazyImage {
    source: Source,
    /// The superblock, a hole in the place of the data, and the tables.
    file: File,
    data_end: u64,
    image_bytes: u64,
    /// Blocks in the order of the image.
    blocks: Vec<Block>,
}

/// A block of data.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: u64,
    /// Where it begins in its file.
    offset: u64,
    node: NodeId,
}

impl LazyImage {
    /// * `directory`: where the tables are kept.
    ///
    /// # Errors
    ///
    /// [`Error`] if the tables cannot be made or kept.
    ///
    /// # Cost
    ///
    /// Memory and scratch space are in proportion to the inodes; no content is read.
    pub fn new(source: Source, directory: &Path) -> Result<Self, Error> {
        let file = scratch_file(directory)?;
        let options = options(&source);
        let plan = Plan::default();
        let (order, _) = order(&source.tree, &plan, options.block_size, options.tails);
        let (area, blocks) = area(&source, &order, options.block_size)?;
        let mut sink = Sink::new(&file, 0);
        sink.end = area.end;
        let data_end = area.end;
        let summary = &mut Summary::default();
        let superblock = write_tables(&source, &order, area, &options, &mut sink, summary)?;
        let image_bytes = sink.end.next_multiple_of(PADDING_SIZE);
        sink.finish(image_bytes)?;
        sink.write_at(&superblock.write(), 0)?;
        Ok(Self {
            source,
            file,
            data_end,
            image_bytes,
            blocks,
        })
    }

    /// What it shows.
    pub fn source(&self) -> &Source {
        &self.source
    }
}

/// Nothing is compressed, and each file has blocks of its own.
fn options(source: &Source) -> Options {
    let times = source.tree.nodes.iter().map(|node| node.mtime_s);
    Options {
        compression: None,
        uncompressed: Uncompressed::default(),
        block_size: BlockSize::MAX,
        threads: NonZeroUsize::MIN,
        memory_bytes: 0,
        modification_time_s: times.max().unwrap_or(0),
        tails: Tails::None,
        group: Group::None,
        exportable: false,
        metadata: MetadataLayout::Dense,
        offset_bytes: 0,
        is_padded: false,
        deduplicated: false,
        without_xattrs: false,
    }
}

/// Where every block would lie.
fn area(
    source: &Source,
    order: &Order,
    block_size: BlockSize,
) -> Result<(DataArea, Vec<Block>), Error> {
    debug_assert!(
        !packed_tails(
            source.tree.nodes.len(),
            &order.data,
            Duplicates::of(&source.tree)
        )
        .contains(&true),
        "no tail ends are packed"
    );
    let mut area = DataArea::behind(source.kept_files(), Vec::new(), SUPERBLOCK_SIZE as u64);
    let mut blocks = Vec::new();
    for item in &order.data {
        let Item::Blocks(node) = *item else { continue };
        let size_bytes = source.size_bytes(node);
        let is_sparse = source.is_sparse(node);
        let opened = if is_sparse {
            Some(source.open(node)?)
        } else {
            None
        };
        let mut offset = 0;
        while offset < size_bytes {
            let len = (size_bytes - offset).min(block_size.bytes().into());
            let size = u32::try_from(len).expect("a block is at most 1 MiB");
            let is_hole = opened
                .as_ref()
                .is_some_and(|file| file.is_hole(offset, len));
            let start = area.end;
            if is_hole {
                area.push_block(node, BlockWord::SPARSE, len, is_sparse);
            } else {
                area.push_block(node, BlockWord::new(size, false), len, is_sparse);
                blocks.push(Block {
                    start,
                    offset,
                    node,
                });
            }
            offset += len;
        }
    }
    area.set_sizes(&source.tree);
    area.limit_sparse();
    Ok((area, blocks))
}

impl ReadAt for LazyImage {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        let first = SUPERBLOCK_SIZE as u64;
        let upto = |end: u64, buf: &mut [u8]| {
            usize::try_from(end - start).map_or(buf.len(), |left| left.min(buf.len()))
        };
        if start < first || start >= self.data_end {
            let end = if start < first { first } else { u64::MAX };
            let len = upto(end, buf);
            return ReadAt::read_at(&self.file, &mut buf[..len], start);
        }
        let next = self.blocks.partition_point(|block| block.start <= start);
        let Some(block) = next.checked_sub(1).and_then(|at| self.blocks.get(at)) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let end = self
            .blocks
            .get(next)
            .map_or(self.data_end, |next| next.start);
        let len = upto(end, buf);
        let opened = self.source.open(block.node).map_err(io::Error::other)?;
        let read = opened.read_at(&mut buf[..len], block.offset + (start - block.start))?;
        // A file that ended early would end the image.
        if read == 0 && len > 0 {
            let path = self.source.path(block.node);
            let text = format!("`{}` has become shorter", path.display());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        Ok(read)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.image_bytes)
    }
}

impl fmt::Debug for LazyImage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LazyImage")
            .field("image_bytes", &self.image_bytes)
            .field("blocks", &self.blocks.len())
            .finish_non_exhaustive()
    }
}
