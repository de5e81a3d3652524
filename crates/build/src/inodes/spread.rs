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

use super::{Contents, InodeTables, listing_bytes};
use crate::error::Error;
use crate::metadata::stored_header;
use crate::sink::Sink;
use crate::summary::TableSize;

/// Bytes from the start of one metadata block to the start of the next.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Bytes of metadata in such a block.
const CONTENT_BYTES: usize = 4094;

pub(super) fn pack(contents: &mut Contents, image: &mut Sink) -> Result<InodeTables, Error> {
    image.end = image.end.next_multiple_of(PAGE_BYTES);
    let inode_table_start = image.end;
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
        listing_lens[node.index()] = bytes.len();
        listing_starts[node.index()] = block_start(next)?;
        next += pages(bytes.len()) * PAGE_BYTES;
    }
    for node in &contents.order.inodes {
        bytes.clear();
        if contents.tree.is_directory(*node) {
            let listing = Directory {
                block_start: listing_starts[node.index()],
                listing_bytes: listing_bytes(listing_lens[node.index()])?,
                ..Directory::default()
            };
            contents.directory(*node, listing).write(&mut bytes);
        } else {
            contents.leaf(*node).write(&mut bytes);
        }
        refs[node.index()].block_start = block_start(image.end - inode_table_start)?;
        append_pages(&bytes, image)?;
    }
    let directory_table_start = image.end;
    for node in &contents.order.directories {
        bytes.clear();
        let entries = contents.entries(*node, |child| refs[child.index()]);
        append_listing(entries, 0, &mut bytes);
        append_pages(&bytes, image)?;
    }
    let uncompressed = |start, end| TableSize {
        stored_bytes: end - start,
        content_bytes: end - start,
    };
    Ok(InodeTables {
        inode_table_start,
        directory_table_start,
        refs,
        inode_table: uncompressed(inode_table_start, directory_table_start),
        directory_table: uncompressed(directory_table_start, image.end),
    })
}

/// Pages that `len` bytes take. An empty listing has a page too, which is never read.
fn pages(len: usize) -> u64 {
    len.div_ceil(CONTENT_BYTES).max(1) as u64
}

fn block_start(found: u64) -> Result<u32, Error> {
    let limit = u32::MAX.into();
    let what = "bytes in a metadata table of a recording image";
    u32::try_from(found).map_err(|_| Error::TooMany { what, found, limit })
}

/// Appends `bytes` on pages of their own.
fn append_pages(bytes: &[u8], image: &mut Sink) -> Result<(), Error> {
    for page in 0..pages(bytes.len()) {
        let first = usize::try_from(page).expect("it fits in memory") * CONTENT_BYTES;
        let content = &bytes[first..bytes.len().min(first + CONTENT_BYTES)];
        let start = image.end;
        image.append(&[&stored_header(CONTENT_BYTES), content].concat())?;
        // The zeros up to the end of the page are left to a hole of the file.
        image.end = start + PAGE_BYTES;
    }
    Ok(())
}
