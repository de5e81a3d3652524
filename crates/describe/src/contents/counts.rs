//! How many files of each type an image has, and how long they are.

use coldpress_format::{Body, File, Inode};
use coldpress_report::units::{bytes, count};
use serde::Serialize;

/// The files of an image. A file with several names counts once.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Counts {
    directories: u64,
    files: u64,
    symlinks: u64,
    block_devices: u64,
    char_devices: u64,
    fifos: u64,
    sockets: u64,
    /// Names beyond the first.
    pub(crate) hard_links: u64,
    /// Files of which at least the tail end is in a fragment block.
    files_with_fragment: u64,
    data_blocks: u64,
    sparse_blocks: u64,
    inodes_with_xattrs: u64,
    /// Bytes of all regular files.
    pub(crate) content_bytes: u64,
}

impl Counts {
    /// Counts an inode.
    ///
    /// * `file`: what it is, with its block list, if a regular file.
    pub(crate) fn add(&mut self, inode: &Inode, file: Option<&File>) {
        self.inodes_with_xattrs += u64::from(inode.xattr.is_some());
        self.add_body(&inode.body);
        let blocks = file.map_or(&[][..], |file| &file.blocks);
        self.data_blocks += blocks.len() as u64;
        let sparse = blocks.iter().filter(|block| block.is_sparse());
        self.sparse_blocks += sparse.count() as u64;
    }

    fn add_body(&mut self, body: &Body) {
        match body {
            Body::Directory(_) => self.directories += 1,
            Body::File(file) => {
                self.files += 1;
                self.files_with_fragment += u64::from(file.tail.is_some());
                self.content_bytes = self.content_bytes.saturating_add(file.size_bytes);
            }
            Body::Symlink(_) => self.symlinks += 1,
            Body::BlockDevice(_) => self.block_devices += 1,
            Body::CharDevice(_) => self.char_devices += 1,
            Body::Fifo => self.fifos += 1,
            Body::Socket => self.sockets += 1,
        }
    }

    /// What there is at least one of, and files and directories in any case.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let rows = [
            ("  symbolic links", self.symlinks),
            ("  block devices", self.block_devices),
            ("  char devices", self.char_devices),
            ("  fifos", self.fifos),
            ("  sockets", self.sockets),
            ("  with xattrs", self.inodes_with_xattrs),
            ("further names", self.hard_links),
        ];
        let mut text = vec![
            (
                "  files",
                format!("{}, {}", count(self.files), bytes(self.content_bytes)),
            ),
            ("  directories", count(self.directories)),
        ];
        text.extend(
            rows.iter()
                .filter(|row| row.1 > 0)
                .map(|row| (row.0, count(row.1))),
        );
        text
    }
}
