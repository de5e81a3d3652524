//! The inode table and the directory table, which name each other's positions.
//!
//! A directory's inode states where its listing lies; a listing states where the inodes of its
//! entries lie; and positions are those of compressed blocks. mksquashfs breaks this cycle by
//! writing children before their parents, one block after the other.
//!
//! The cold part of an order has children before parents too. All full blocks whose content is
//! known are compressed side by side: those of a large directory, and, with nothing but files in
//! between, those of many (`inodes/dense.rs`).
//!
//! The hot part behind it has any order, so there the cycle is broken otherwise: metadata blocks
//! that hold a byte of a directory's inode are stored as they are. Their size is then known before
//! their content is, so are the positions of all inodes, then the content of the listings, and last
//! that of the directory inodes (`inodes/hot.rs`). The cost is that these, 32 bytes each, are not
//! compressed, and what shares a block with them is not either: recorded plans keep them together.

mod dense;
mod hot;
mod spread;

use coldpress_format::{Body, DeviceNumber, Directory, EntryRef, File, Inode, InodeKind, InodeRef};
use coldpress_layout::{Kind, NodeId, Order, Tree};

use crate::error::TooMany;
use crate::ids::Ids;
use crate::sink::TableSink;
use crate::xattrs::Xattrs;

pub use dense::PlacedListing;
pub use spread::CONTENT_BYTES as SPREAD_CONTENT_BYTES;

/// How inodes and listings lie in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataLayout {
    /// In full metadata blocks.
    Dense,
    /// Each inode and each listing on pages of its own, uncompressed, so that reads at the block
    /// device tell what was looked up. For recording only.
    Spread,
}

/// Where both tables begin in the image, and each inode in its table.
pub(crate) struct InodeTables {
    pub(crate) inode_table_start: u64,
    pub(crate) directory_table_start: u64,
    /// Image byte behind both.
    pub(crate) end: u64,
    /// For each node.
    pub(crate) refs: Vec<InodeRef>,
}

/// What is known of every inode before any position is.
pub(crate) struct Contents<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) order: &'a Order,
    pub(crate) ids: &'a Ids,
    pub(crate) xattrs: &'a Xattrs,
    /// For each node its data.
    pub(crate) files: &'a mut [File],
    pub(crate) numbers: Numbers,
    links: Vec<u32>,
}

/// Inode numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// For each node its inode number.
    pub of: Vec<u32>,
    /// For each directory the inode number of its parent; 0 for other nodes.
    parents: Vec<u32>,
}

impl Numbers {
    /// Numbers nodes in the order of the inode table: so the numbers in one of its blocks, and in a
    /// run of a listing, differ by less than 32768, and the export table ascends.
    fn new(tree: &Tree, order: &Order) -> Self {
        let count = u32::try_from(tree.nodes.len()).expect("nodes are numbered with 32 bits");
        let mut numbers = Self {
            of: vec![0; tree.nodes.len()],
            parents: vec![0; tree.nodes.len()],
        };
        for (node, number) in order.inodes.iter().zip(1..) {
            numbers.of[node.index()] = number;
        }
        numbers.parents[NodeId::ROOT.index()] = count + 1;
        for directory in &order.directories {
            for (_, child) in tree.entries(*directory) {
                if tree.is_directory(*child) {
                    numbers.parents[child.index()] = numbers.of[directory.index()];
                }
            }
        }
        numbers
    }
}

impl<'a> Contents<'a> {
    pub(crate) fn new(
        tree: &'a Tree,
        order: &'a Order,
        ids: &'a Ids,
        xattrs: &'a Xattrs,
        files: &'a mut [File],
    ) -> Self {
        let (numbers, links) = (Numbers::new(tree, order), tree.link_counts());
        Self {
            tree,
            order,
            ids,
            xattrs,
            files,
            numbers,
            links,
        }
    }

    /// Packs both tables, which lie in the image from byte `start` on.
    pub(crate) fn pack<S: TableSink>(
        mut self,
        metadata: MetadataLayout,
        start: u64,
        sink: &mut S,
    ) -> Result<(InodeTables, Numbers), S::Error> {
        let tables = match metadata {
            MetadataLayout::Dense => dense::pack(&mut self, start, sink)?,
            MetadataLayout::Spread => spread::pack(&mut self, start, sink)?,
        };
        Ok((tables, self.numbers))
    }

    /// The inode of a node that is not a directory.
    fn leaf(&mut self, node: NodeId) -> Inode {
        let body = match &self.tree.nodes[node.index()].kind {
            Kind::Directory { .. } => unreachable!("directories have listings"),
            Kind::File { .. } => Body::File(std::mem::take(&mut self.files[node.index()])),
            Kind::Symlink { target } => Body::Symlink(target.clone()),
            Kind::BlockDevice { major, minor } => Body::BlockDevice(DeviceNumber {
                major: *major,
                minor: *minor,
            }),
            Kind::CharDevice { major, minor } => Body::CharDevice(DeviceNumber {
                major: *major,
                minor: *minor,
            }),
            Kind::Fifo => Body::Fifo,
            Kind::Socket => Body::Socket,
        };
        self.inode(node, body)
    }

    /// The inode of a directory whose listing is known.
    fn directory(&self, node: NodeId, mut listing: Directory) -> Inode {
        listing.parent = self.numbers.parents[node.index()];
        self.inode(node, Body::Directory(listing))
    }

    fn inode(&self, node: NodeId, body: Body) -> Inode {
        let index = node.index();
        let attributes = &self.tree.nodes[index];
        Inode {
            mode: attributes.mode,
            uid_index: self.ids.index(attributes.uid),
            gid_index: self.ids.index(attributes.gid),
            mtime_s: attributes.mtime_s,
            number: self.numbers.of[index],
            link_count: self.links[index],
            xattr: self.xattrs.index(node),
            body,
        }
    }

    /// A directory's entries, with `place` saying where inodes lie.
    fn entries(
        &self,
        node: NodeId,
        place: impl Fn(NodeId) -> InodeRef,
    ) -> impl Iterator<Item = EntryRef<'_>> {
        listed_entries(self.tree, &self.numbers, node, place)
    }
}

/// A directory's entries as its listing states them.
///
/// * `place`: says where inodes lie.
pub fn listed_entries<'t>(
    tree: &'t Tree,
    numbers: &'t Numbers,
    directory: NodeId,
    place: impl Fn(NodeId) -> InodeRef,
) -> impl Iterator<Item = EntryRef<'t>> {
    let entries = tree.entries(directory).iter();
    entries.map(move |(name, child)| EntryRef {
        name,
        inode: place(*child),
        number: numbers.of[child.index()],
        kind: kind(&tree.nodes[child.index()].kind),
    })
}

fn kind(kind: &Kind) -> InodeKind {
    match kind {
        Kind::Directory { .. } => InodeKind::Directory,
        Kind::File { .. } => InodeKind::File,
        Kind::Symlink { .. } => InodeKind::Symlink,
        Kind::BlockDevice { .. } => InodeKind::BlockDevice,
        Kind::CharDevice { .. } => InodeKind::CharDevice,
        Kind::Fifo => InodeKind::Fifo,
        Kind::Socket => InodeKind::Socket,
    }
}

/// The length of a listing as its inode states it.
fn listing_bytes(len: usize) -> Result<u32, TooMany> {
    // 3 are added on disk.
    let limit = u32::MAX - 3;
    u32::try_from(len)
        .ok()
        .filter(|len| *len <= limit)
        .ok_or(TooMany {
            what: "bytes in a directory listing",
            found: len as u64,
            limit: limit.into(),
        })
}
