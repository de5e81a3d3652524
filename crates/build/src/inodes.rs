//! The inode table and the directory table, which name each other's positions.
//!
//! A directory's inode states where its listing lies; a listing states where the inodes of its
//! entries lie; and positions are those of compressed blocks. mksquashfs breaks this cycle by
//! writing children before their parents, which fixes the order of everything. Here any order is
//! possible, so the cycle is broken otherwise: metadata blocks that hold a byte of a directory's
//! inode are stored as they are. Their size is then known before their content is, so are the
//! positions of all inodes, then the content of the listings, and last that of the directory
//! inodes.
//!
//! The cost is that directory inodes, 32 bytes each, are not compressed, and what shares a block
//! with them is not either: orders keep them together.

mod dense;
mod spread;

use coldpress_format::{Body, DeviceNumber, Directory, Entry, File, Inode, InodeKind, InodeRef};
use coldpress_layout::{Kind, NodeId, Order, Tree};

use crate::error::Error;
use crate::ids::Ids;
use crate::write::{Metadata, Options};

/// A part of the image: bytes at their places, with holes of zeros between them.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) len_bytes: u64,
    /// Offset from the table's start, and the bytes there.
    pub(crate) pieces: Vec<(u64, Vec<u8>)>,
}

/// Both tables, and where each inode lies.
pub(crate) struct InodeTables {
    pub(crate) inodes: Table,
    pub(crate) directories: Table,
    /// For each node.
    pub(crate) refs: Vec<InodeRef>,
}

/// What is known of every inode before any position is.
pub(crate) struct Contents<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) order: &'a Order,
    pub(crate) ids: &'a Ids,
    /// For each node its set of xattrs.
    pub(crate) xattrs: &'a [Option<u32>],
    /// For each node its data.
    pub(crate) files: &'a mut [File],
    pub(crate) numbers: Numbers,
    links: Vec<u32>,
}

/// Inode numbers.
pub(crate) struct Numbers {
    /// For each node its inode number.
    pub(crate) of: Vec<u32>,
    /// For each directory the inode number of its parent.
    parents: Vec<u32>,
}

impl Numbers {
    /// Numbers nodes so that those of one directory follow each other: a run of a listing holds
    /// only numbers that differ by less than 32768.
    fn new(tree: &Tree) -> Self {
        let count = u32::try_from(tree.nodes.len()).expect("nodes are numbered with 32 bits");
        let mut numbers = Self {
            of: vec![0; tree.nodes.len()],
            parents: vec![0; tree.nodes.len()],
        };
        let mut next = 1;
        numbers.of[0] = next;
        numbers.parents[0] = count + 1;
        for (directory, _) in tree.walk().filter(|(node, _)| tree.is_directory(*node)) {
            for (_, child) in tree.entries(directory) {
                if numbers.of[child.index()] == 0 {
                    next += 1;
                    numbers.of[child.index()] = next;
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
        xattrs: &'a [Option<u32>],
        files: &'a mut [File],
    ) -> Self {
        let (numbers, links) = (Numbers::new(tree), tree.link_counts());
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

    /// Lays out and packs both tables.
    pub(crate) fn pack(mut self, options: &Options) -> Result<(InodeTables, Numbers), Error> {
        let tables = match options.metadata {
            Metadata::Dense => dense::pack(&mut self, options)?,
            Metadata::Spread => spread::pack(&mut self)?,
        };
        Ok((tables, self.numbers))
    }

    /// Directories in the order of the inode table.
    fn directories(&self) -> impl Iterator<Item = NodeId> {
        self.order
            .inodes
            .iter()
            .copied()
            .filter(|node| self.tree.is_directory(*node))
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
            xattr: self.xattrs[index],
            body,
        }
    }

    /// A directory's entries, with `place` saying where inodes lie.
    fn entries(&self, node: NodeId, place: impl Fn(NodeId) -> InodeRef) -> Vec<Entry> {
        let entry = |(name, child): &(Vec<u8>, NodeId)| Entry {
            name: name.clone(),
            inode: place(*child),
            number: self.numbers.of[child.index()],
            kind: kind(&self.tree.nodes[child.index()].kind),
        };
        self.tree.entries(node).iter().map(entry).collect()
    }
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
fn listing_bytes(len: usize) -> Result<u32, Error> {
    // 3 are added on disk.
    let limit = u32::MAX - 3;
    u32::try_from(len)
        .ok()
        .filter(|len| *len <= limit)
        .ok_or(Error::TooMany {
            what: "bytes in a directory listing",
            found: len as u64,
            limit: limit.into(),
        })
}
