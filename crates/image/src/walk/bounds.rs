//! What keeps a walk of a hostile image finite.

use std::collections::HashSet;

use coldpress_format::{Body, Corrupt, Directory, IndexEntry, Inode, InodeRef, Part, Rule};

use crate::error::Error;
use crate::image::Image;
use crate::region::Region;

/// Bytes of listings that a walk reads before it counts the blocks of their table, which has no
/// listing twice in an honest image. Their names are what takes memory: some 300 bytes for 9.
const FREE_LISTING_BYTES: u64 = 1 << 20;
/// Bytes of the lists behind inodes that a walk may read beyond the size of their table. Honest
/// images need them: every hard link of a file reads its block list again.
const FREE_INODE_BYTES: u64 = 64 << 20;
/// What a damaged inode counts for: nobody knows how much was read before the damage showed.
const DAMAGED_INODE_BYTES: u64 = 1 << 10;

/// What keeps a walk of a hostile image finite and its work in proportion to the image.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    directories: HashSet<InodeRef>,
    listings: Allowance,
    inode_lists: Allowance,
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

    /// After an inode was read.
    pub(crate) fn read(&mut self, image: &Image, at: InodeRef, inode: &Inode) -> Result<(), Error> {
        let bytes = match &inode.body {
            Body::File(file) => file.blocks.len() * size_of::<u32>(),
            Body::Symlink(target) => target.len(),
            Body::Directory(directory) => {
                let entries = directory.index.iter();
                entries
                    .map(|entry| IndexEntry::FIXED_BYTES + entry.name.len())
                    .sum()
            }
            _ => 0,
        };
        self.spend_on_inode(image, at, bytes as u64)
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

/// Bytes read of a table, compared with those that it can hold.
#[derive(Debug, Default)]
struct Allowance {
    spent_bytes: u64,
    table_bytes: Option<u64>,
}

impl Allowance {
    fn spend(
        &mut self,
        image: &Image,
        table: Region,
        bytes: u64,
        (field, free_bytes): (&'static str, u64),
    ) -> Result<Option<Rule>, Error> {
        self.spent_bytes = self.spent_bytes.saturating_add(bytes);
        if self.spent_bytes <= free_bytes {
            return Ok(None);
        }
        let table_bytes = match self.table_bytes {
            Some(bytes) => bytes,
            None => image.store.metadata_bytes_max(table)?,
        };
        self.table_bytes = Some(table_bytes);
        let (found, high) = (self.spent_bytes, free_bytes.saturating_add(table_bytes));
        Ok((found > high).then_some(Rule::OutOfRange {
            field,
            found,
            low: 0,
            high,
        }))
    }
}
