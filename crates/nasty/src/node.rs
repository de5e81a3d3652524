//! Inodes and the names that lead to them.

use coldpress_format::{Body, Directory, Inode};

/// An inode, with the entries of a directory: names and indexes of nodes.
#[derive(Clone, Debug)]
pub struct Node {
    /// The inode. Where a directory's listing lies is filled in when tables are made.
    pub inode: Inode,
    /// Entries of a directory, in the order in which they are written.
    pub entries: Vec<(Vec<u8>, usize)>,
}

/// A node of mode 0755 without entries.
pub fn node(number: u32, body: Body) -> Node {
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

/// A directory.
pub fn directory(number: u32, parent: u32, entries: &[(&[u8], usize)]) -> Node {
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
