//! What `stat(2)` shows.

use coldpress_format::{Body, Inode, InodeKind};

use crate::node::NodeId;

/// Bytes of `.` and `..`, which a listing does not store but its length counts.
const DOTS_BYTES: u64 = 3;
/// The unit of `st_blocks`.
const SECTOR_BYTES: u64 = 512;

/// The metadata of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Its name in requests, and its number for programs.
    pub node: NodeId,
    /// What it is.
    pub kind: InodeKind,
    /// Permission bits, 12 of them.
    pub mode: u16,
    /// Names of it; of a directory 2 and its subdirectories.
    pub link_count: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// Bytes of a file's content, of a link's target, of a directory's listing.
    pub size_bytes: u64,
    /// Sectors of 512 bytes that the content would take without compression and holes.
    pub sectors: u64,
    /// Modification time, seconds since 1970; the others are the same.
    pub mtime_s: u32,
    /// Of a device: its number, as Linux encodes it in 32 bits.
    pub device: u32,
}

impl Attributes {
    /// * `owner`: user and group.
    pub(crate) fn new(node: NodeId, inode: &Inode, owner: (u32, u32)) -> Self {
        let (size_bytes, sectors) = sizes(&inode.body);
        let device = match inode.body {
            Body::BlockDevice(number) | Body::CharDevice(number) => number.encode().unwrap_or(0),
            _ => 0,
        };
        Self {
            node,
            kind: inode.body.kind(),
            mode: inode.mode,
            link_count: inode.link_count,
            uid: owner.0,
            gid: owner.1,
            size_bytes,
            sectors,
            mtime_s: inode.mtime_s,
            device,
        }
    }
}

fn sizes(body: &Body) -> (u64, u64) {
    match body {
        Body::File(file) => {
            let stored_bytes = file.size_bytes.saturating_sub(file.sparse_bytes);
            (file.size_bytes, stored_bytes.div_ceil(SECTOR_BYTES))
        }
        Body::Directory(directory) => (u64::from(directory.listing_bytes) + DOTS_BYTES, 0),
        Body::Symlink(target) => (target.len() as u64, 0),
        Body::BlockDevice(_) | Body::CharDevice(_) | Body::Fifo | Body::Socket => (0, 0),
    }
}

/// What `statfs(2)` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Blocks that the image takes.
    pub blocks: u64,
    /// How many inodes it has.
    pub inodes: u64,
}
