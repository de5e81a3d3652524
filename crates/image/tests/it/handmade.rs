//! Writing small images record by record, so that every byte can be put where a test wants it.

use coldpress_codec::{Encoder, Settings};
use coldpress_format::{
    BlockSize, BlockWord, Body, Compressor, Directory, Entry, File, Flags, Fragment, Inode,
    InodeRef, METADATA_BLOCK_SIZE, MetadataHeader, PADDING_SIZE, Superblock, TailEnd, XattrId,
    XattrTable, write_listing,
};

/// An inode to write, with the entries of a directory: names and indexes of nodes.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) inode: Inode,
    pub(crate) entries: Vec<(Vec<u8>, usize)>,
}

/// An image in memory and where its records lie.
pub(crate) struct Handmade {
    pub(crate) bytes: Vec<u8>,
    pub(crate) superblock: Superblock,
    /// Image byte of each node's inode, if the tables are stored.
    pub(crate) inode_at: Vec<usize>,
    /// Image byte of the first listing.
    pub(crate) listing_at: usize,
}

pub(crate) fn node(number: u32, body: Body) -> Node {
    let inode = Inode {
        mode: 0o755,
        uid_index: 0,
        gid_index: 0,
        mtime_s: 1_000_000_000,
        number,
        link_count: 1,
        xattr: None,
        body,
    };
    Node {
        inode,
        entries: Vec::new(),
    }
}

pub(crate) fn directory(number: u32, parent: u32, entries: &[(&[u8], usize)]) -> Node {
    let body = Body::Directory(Directory {
        parent,
        ..Directory::default()
    });
    let mut node = node(number, body);
    node.inode.link_count = 2;
    node.entries = entries
        .iter()
        .map(|(name, index)| (name.to_vec(), *index))
        .collect();
    node
}

pub(crate) const BLOCK_SIZE: BlockSize = BlockSize::MIN;
/// Content of the file with blocks and a tail end.
pub(crate) fn file_content() -> Vec<u8> {
    crate::source_tree::text(1, 2 * 4096 + 50)
}
const FRAGMENT_BYTES: usize = 100;

/// A tree with something of everything: `/dir/file` (two blocks and a tail end), `/dir/sub/`,
/// `/fifo`, `/link` (a symlink), `/sparse` (holes), `/tail` (a tail end only, with an xattr).
pub(crate) fn nodes() -> Vec<Node> {
    let content = file_content();
    let file = |size_bytes, start, blocks, tail| {
        Body::File(File {
            start,
            size_bytes,
            sparse_bytes: 0,
            tail,
            blocks,
        })
    };
    let tail = |offset| {
        Some(TailEnd {
            fragment: 0,
            offset,
        })
    };
    let block = BlockWord::new(4096, false);
    let mut tail_only = node(7, file(FRAGMENT_BYTES as u64 - 50, 0, Vec::new(), tail(50)));
    tail_only.inode.xattr = Some(0);
    let holes = vec![BlockWord::SPARSE; 20];
    vec![
        directory(
            1,
            8,
            &[
                (b"dir", 1),
                (b"fifo", 4),
                (b"link", 5),
                (b"sparse", 6),
                (b"tail", 7),
            ],
        ),
        directory(2, 1, &[(b"file", 2), (b"sub", 3)]),
        node(3, file(content.len() as u64, 96, vec![block; 2], tail(0))),
        directory(4, 2, &[]),
        node(5, Body::Fifo),
        node(6, Body::Symlink(b"dir/file".to_vec())),
        node(8, file(20 * 4096, 0, holes, None)),
        tail_only,
    ]
}

/// The image of [`nodes`], with metadata compressed or not.
pub(crate) fn image(compressed: bool) -> Handmade {
    write(&nodes(), compressed)
}

/// The image of these nodes; the first is the root.
pub(crate) fn write(nodes: &[Node], compressed: bool) -> Handmade {
    let mut writer = Writer::new(compressed);
    let content = file_content();
    writer.bytes.extend_from_slice(&content[..2 * 4096]);
    let fragment = Fragment {
        start: writer.position(),
        size: BlockWord::new(u32::try_from(FRAGMENT_BYTES).unwrap(), false),
    };
    writer.bytes.extend_from_slice(&content[2 * 4096..]);
    writer
        .bytes
        .extend_from_slice(&crate::source_tree::text(2, FRAGMENT_BYTES - 50));

    let streams = Streams::new(nodes);
    let inode_table_start = writer.position();
    writer.stream(&streams.inodes);
    let directory_table_start = writer.position();
    writer.stream(&streams.listings);
    let fragment_table_start = writer.table(&fragment.write());
    let mut numbered: Vec<_> = nodes.iter().zip(&streams.offsets).collect();
    numbered.sort_by_key(|(node, _)| node.inode.number);
    let exports = numbered
        .iter()
        .flat_map(|(_, offset)| refer(**offset).word().to_le_bytes());
    let export_table_start = writer.table(&exports.collect::<Vec<u8>>());
    let id_table_start = writer.table(&0_u32.to_le_bytes());
    let xattr_table_start = writer.xattrs();

    let inode_count = u32::try_from(nodes.len()).unwrap();
    let superblock = Superblock {
        inode_count,
        modification_time_s: 1,
        block_size: BLOCK_SIZE,
        fragment_count: 1,
        compressor: Compressor::Gzip,
        flags: Flags::EXPORTABLE,
        id_count: 1,
        root_inode: refer(0),
        bytes_used: writer.position(),
        id_table_start,
        xattr_table_start: Some(xattr_table_start),
        inode_table_start,
        directory_table_start,
        fragment_table_start: Some(fragment_table_start),
        export_table_start: Some(export_table_start),
    };
    let mut bytes = writer.bytes;
    bytes[..96].copy_from_slice(&superblock.write());
    bytes.resize(
        bytes
            .len()
            .next_multiple_of(usize::try_from(PADDING_SIZE).unwrap()),
        0,
    );
    let inode_table = usize::try_from(inode_table_start).unwrap();
    let on_disk = |offset: usize| {
        inode_table + offset / METADATA_BLOCK_SIZE * 8194 + 2 + offset % METADATA_BLOCK_SIZE
    };
    Handmade {
        bytes,
        superblock,
        inode_at: streams.offsets.into_iter().map(on_disk).collect(),
        listing_at: usize::try_from(directory_table_start).unwrap() + 2,
    }
}

/// Where a byte of a stored stream is, as references state it.
fn refer(offset: usize) -> InodeRef {
    InodeRef {
        block_start: u32::try_from(offset / METADATA_BLOCK_SIZE * 8194).unwrap(),
        offset: u16::try_from(offset % METADATA_BLOCK_SIZE).unwrap(),
    }
}

/// The inode and directory tables before they are cut into metadata blocks.
struct Streams {
    /// Where each inode begins.
    offsets: Vec<usize>,
    inodes: Vec<u8>,
    listings: Vec<u8>,
}

impl Streams {
    fn new(nodes: &[Node]) -> Self {
        // Lengths of inodes do not depend on what they refer to.
        let mut nodes = nodes.to_vec();
        let (mut offsets, mut inodes, mut listings) = (Vec::new(), Vec::new(), Vec::new());
        for node in &nodes {
            offsets.push(inodes.len());
            node.inode.write(&mut inodes);
        }
        for index in 0..nodes.len() {
            let entries = nodes[index].entries.iter().map(|(name, child)| Entry {
                name: name.clone(),
                inode: refer(offsets[*child]),
                number: nodes[*child].inode.number,
                kind: nodes[*child].inode.body.kind(),
            });
            let entries: Vec<_> = entries.collect();
            let at = refer(listings.len());
            let listing = write_listing(&entries, listings.len() as u64);
            if let Body::Directory(directory) = &mut nodes[index].inode.body {
                directory.block_start = at.block_start;
                directory.offset = at.offset;
                directory.listing_bytes = u32::try_from(listing.bytes.len()).unwrap();
                listings.extend_from_slice(&listing.bytes);
            }
        }
        inodes.clear();
        for node in &nodes {
            node.inode.write(&mut inodes);
        }
        Self {
            offsets,
            inodes,
            listings,
        }
    }
}

struct Writer {
    bytes: Vec<u8>,
    encoder: Option<Encoder>,
}

impl Writer {
    fn new(compressed: bool) -> Self {
        let settings = Settings::new(Compressor::Gzip, None).unwrap();
        Self {
            bytes: vec![0; 96],
            encoder: compressed.then(|| Encoder::new(&settings, BLOCK_SIZE).unwrap()),
        }
    }

    fn position(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Metadata blocks; compressed ones only if there is one, whose place is then known.
    fn stream(&mut self, stream: &[u8]) {
        for block in stream.chunks(METADATA_BLOCK_SIZE) {
            let mut output = Vec::new();
            let encoder = self.encoder.as_mut();
            let shrunk =
                encoder.is_some_and(|encoder| encoder.compress(block, &mut output).unwrap());
            assert!(!shrunk || stream.len() <= METADATA_BLOCK_SIZE);
            let content = if shrunk { &output } else { block };
            let header = MetadataHeader {
                size_bytes: u16::try_from(content.len()).unwrap(),
                compressed: shrunk,
            };
            self.bytes.extend_from_slice(&header.write());
            self.bytes.extend_from_slice(content);
        }
    }

    /// A table and its index; returns where the index starts.
    fn table(&mut self, entries: &[u8]) -> u64 {
        let mut starts = Vec::new();
        for block in entries.chunks(METADATA_BLOCK_SIZE) {
            starts.push(self.position());
            self.stream(block);
        }
        let index = self.position();
        for start in starts {
            self.bytes.extend_from_slice(&start.to_le_bytes());
        }
        index
    }

    /// One set of two pairs, the second with its value out of line.
    fn xattrs(&mut self) -> u64 {
        let pairs_start = self.position();
        let mut pairs = Vec::new();
        pairs.extend_from_slice(&[0, 0, 3, 0]);
        pairs.extend_from_slice(b"one");
        pairs.extend_from_slice(&[5, 0, 0, 0]);
        pairs.extend_from_slice(b"value");
        pairs.extend_from_slice(&[0, 1, 3, 0]);
        pairs.extend_from_slice(b"two");
        pairs.extend_from_slice(&[8, 0, 0, 0]);
        // The value of the first pair.
        pairs.extend_from_slice(&7_u64.to_le_bytes());
        self.stream(&pairs);
        let id = XattrId {
            pairs: 0,
            count: 2,
            size_bytes: u32::try_from(pairs.len()).unwrap(),
        };
        let block = self.position();
        self.stream(&id.write());
        let header = self.position();
        let table = XattrTable {
            pairs_start,
            count: 1,
        };
        self.bytes.extend_from_slice(&table.write());
        self.bytes.extend_from_slice(&block.to_le_bytes());
        header
    }
}
