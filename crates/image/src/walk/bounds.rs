//! What keeps a walk of a hostile image finite.

use std::collections::HashSet;

use coldpress_format::{Body, Corrupt, Directory, Inode, InodeRef, Part, Rule};

use crate::allowance::Allowance;
use crate::error::Error;
use crate::image::Image;
use crate::inode::index_bytes;

/// Bytes of listings that a walk reads before it counts the blocks of their table, which has no
/// listing twice in an honest image. Their names are what takes memory: some 300 bytes for 9.
const FREE_LISTING_BYTES: u64 = 1 << 20;
/// Bytes of the lists behind inodes that a walk may come to beyond the size of their table, before
/// its blocks are counted.
const FREE_INODE_BYTES: u64 = 64 << 20;
/// Block lists of up to so many bytes count for nothing: the name that led there takes as much.
const FREE_LIST_BYTES: u64 = 256;
/// The longest target that the kernel reads. Such count for nothing either, since each name of a
/// symlink reads it again.
const FREE_TARGET_BYTES: usize = 4095;
/// What a damaged inode counts for: nobody knows how much was read before the damage showed.
const DAMAGED_INODE_BYTES: u64 = 1 << 10;

/// What keeps a walk of a hostile image finite and its work in proportion to the image.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    directories: HashSet<InodeRef>,
    listings: Allowance,
    inode_lists: Allowance,
    /// Files with several names whose block lists were counted.
    linked: HashSet<InodeRef>,
}

impl Bounds {
    /// Before the listing of a directory is read.
    pub(crate) fn enter(
        &mut self,
        image: &Image,
        at: InodeRef,
        directory: &Directory,
    ) -> Result<(), Error> {
        if !self.directories.insert(at) {
            let start = image.inode_start(at);
            return Err(Corrupt::new(Part::Inode, start, Rule::Loop).into());
        }
        let (table, bytes) = (image.directory_table, directory.listing_bytes.into());
        let limit = ("bytes of all listings", FREE_LISTING_BYTES);
        if let Some(rule) = self.listings.spend(image, table, bytes, limit)? {
            let start = image.listing_start(directory);
            return Err(Corrupt::new(Part::DirectoryHeader, start, rule).into());
        }
        Ok(())
    }

    /// After an inode or its head was read.
    ///
    /// The block list of a file counts once, whatever names the file has: who needs it reads it
    /// once. That bounds what is remembered too, as each counts for some 256 bytes or more.
    pub(crate) fn read(&mut self, image: &Image, at: InodeRef, inode: &Inode) -> Result<(), Error> {
        let bytes = match &inode.body {
            Body::File(file) => {
                let blocks = file.block_count(image.superblock().block_size);
                let bytes = blocks.saturating_mul(size_of::<u32>() as u64);
                // Without further names it is not met again.
                let is_free =
                    bytes <= FREE_LIST_BYTES || (inode.link_count != 1 && !self.linked.insert(at));
                if is_free { 0 } else { bytes }
            }
            Body::Symlink(target) if target.len() > FREE_TARGET_BYTES => target.len() as u64,
            Body::Directory(directory) => index_bytes(&directory.index),
            _ => 0,
        };
        self.spend_on_inode(image, at, bytes)
    }

    /// After an inode could not be read.
    pub(super) fn read_damaged(&mut self, image: &Image, at: InodeRef) -> Result<(), Error> {
        self.spend_on_inode(image, at, DAMAGED_INODE_BYTES)
    }

    fn spend_on_inode(&mut self, image: &Image, at: InodeRef, bytes: u64) -> Result<(), Error> {
        let field = "bytes of all block lists, targets and indexes";
        let (table, limit) = (image.inode_table, (field, FREE_INODE_BYTES));
        if let Some(rule) = self.inode_lists.spend(image, table, bytes, limit)? {
            return Err(Corrupt::new(Part::Inode, image.inode_start(at), rule).into());
        }
        Ok(())
    }
}
