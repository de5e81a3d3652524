//! Inodes and listings on pages of their own, for recording.
//!
//! The kernel reads metadata a block at a time. Where each block holds one inode or one listing,
//! and no page of the device holds two blocks, a read at the block device says which inode was
//! looked up or which directory was searched: no tracepoint of the kernel does. Pages, because the
//! kernel keeps the pages at the ends of what it read and would not read a shared one twice.
//!
//! Such an image mounts in the kernel. It has no directory indexes, because the kernel reckons
//! their places in full blocks.

use coldpress_format::{Directory, InodeRef, append_listing};
use coldpress_layout::NodeId;

use super::{Contents, InodeTables, PlacedListing, listing_bytes};
use crate::error::TooMany;
use crate::metadata::BlockStarts;
use crate::sink::{Run, Table, TableSink};

/// Bytes from the start of one metadata block to the start of the next.
const PAGE_BYTES: u64 = 4096;
/// Bytes of metadata in such a block.
pub const CONTENT_BYTES: usize = 4094;

pub(super) fn pack<S: TableSink>(
    contents: &mut Contents,
    start: u64,
    sink: &mut S,
) -> Result<InodeTables, S::Error> {
    let inode_table_start = start.next_multiple_of(PAGE_BYTES);
    let gap = usize::try_from(inode_table_start - start).expect("less than a page");
    sink.append(Table::Inodes, &vec![0; gap])?;
    let mut bytes = Vec::new();
    let mut refs = vec![
        InodeRef {
            block_start: 0,
            offset: 0
        };
        contents.tree.nodes.len()
    ];

    // Each listing's length depends only on which entries name the same inode.
    let mut listing_lens = vec![0; contents.tree.nodes.len()];
    let mut listing_starts = vec![0; contents.tree.nodes.len()];
    let mut next = 0;
    for node in &contents.order.directories {
        let entries = contents.entries(*node, |NodeId(child)| InodeRef {
            block_start: child,
            offset: 0,
        });
        bytes.clear();
        append_listing(entries, 0, &mut bytes);
        listing_lens[node.index()] = listing_bytes(bytes.len())?;
        listing_starts[node.index()] = block_start(next * PAGE_BYTES)?;
        let first = next * CONTENT_BYTES as u64;
        sink.note_listing(
            *node,
            &PlacedListing::without_index(first, listing_lens[node.index()]),
        );
        next += pages(bytes.len());
    }
    let mut inodes = BlockStarts::default();
    for node in &contents.order.inodes {
        let inode = if contents.tree.is_directory(*node) {
            let listing = Directory {
                block_start: listing_starts[node.index()],
                listing_bytes: listing_lens[node.index()],
                ..Directory::default()
            };
            contents.directory(*node, listing)
        } else {
            contents.leaf(*node)
        };
        sink.note_inode(*node, &inode);
        bytes.clear();
        inode.write(&mut bytes);
        refs[node.index()].block_start = block_start(inodes.size_bytes())?;
        append_pages(Table::Inodes, &mut bytes, &mut inodes, sink)?;
    }
    let mut listings = BlockStarts::default();
    for node in &contents.order.directories {
        bytes.clear();
        let entries = contents.entries(*node, |child| refs[child.index()]);
        append_listing(entries, 0, &mut bytes);
        append_pages(Table::Directories, &mut bytes, &mut listings, sink)?;
    }
    let directory_table_start = inode_table_start + inodes.size_bytes();
    Ok(InodeTables {
        inode_table_start,
        directory_table_start,
        end: directory_table_start + listings.size_bytes(),
        refs,
    })
}

/// Pages that `len` bytes take. An empty listing has a page too, which is never read.
fn pages(len: usize) -> u64 {
    len.div_ceil(CONTENT_BYTES).max(1) as u64
}

fn block_start(found: u64) -> Result<u32, TooMany> {
    let limit = u32::MAX.into();
    let what = "bytes in a metadata table of a recording image";
    u32::try_from(found).map_err(|_| TooMany { what, found, limit })
}

/// Appends `bytes` on pages of their own, filled up with zeros.
fn append_pages<S: TableSink>(
    table: Table,
    bytes: &mut Vec<u8>,
    starts: &mut BlockStarts,
    sink: &mut S,
) -> Result<(), S::Error> {
    let len = bytes.len().max(1).next_multiple_of(CONTENT_BYTES);
    bytes.resize(len, 0);
    let run = Run {
        table,
        content: bytes,
        block_bytes: CONTENT_BYTES,
        uncompressed: &vec![true; len / CONTENT_BYTES],
    };
    sink.take(&run, starts)?;
    sink.place(table)
}
