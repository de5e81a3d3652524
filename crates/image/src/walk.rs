//! Visiting every path of an image.

use std::collections::HashSet;
use std::vec;

use coldpress_format::{Body, Corrupt, Directory, Entry, IndexEntry, Inode, InodeRef, Part, Rule};

use crate::error::Error;
use crate::image::Image;
use crate::region::Region;

/// Bytes of listings that a walk reads before it counts the blocks of their table, which has no
/// listing twice in an honest image. Their names are what takes memory: some 300 bytes for 9.
const FREE_LISTING_BYTES: u64 = 1 << 20;
/// Bytes of the lists behind inodes that a walk may read beyond the size of their table. Honest
/// images need them: every hard link of a file reads its block list again.
const FREE_INODE_BYTES: u64 = 64 << 20;

/// A path and what it names.
#[derive(Clone, Copy, Debug)]
pub struct Visited<'a> {
    /// The absolute path.
    pub path: &'a [u8],
    /// Where the inode lies.
    pub at: InodeRef,
    /// The inode.
    pub inode: &'a Inode,
    /// Number of names in the path: 0 for the root.
    pub depth: usize,
}

/// Visits every path depth-first, names in byte order, a directory before what it holds.
///
/// Hard links are visited once for each path. A chain of directories may be of any length: nothing
/// recurses.
///
/// # Errors
///
/// [`Error::Corrupt`] for damaged inodes and listings, and if a directory is reached twice or
/// the listings are together larger than their table: a walk of a hostile image ends. The first
/// error ends it. Whatever `visit` returns.
///
/// # Cost
///
/// Holds the listings of the directories on the path and the references of those seen.
pub fn walk(
    image: &Image,
    visit: &mut dyn FnMut(&Visited) -> Result<(), Error>,
) -> Result<(), Error> {
    walk_into(image, &mut |visited| visit(visited).map(|()| true))
}

/// As [`walk`], but goes into a directory only if `visit` returns `true` for it.
pub(crate) fn walk_into(
    image: &Image,
    visit: &mut dyn FnMut(&Visited) -> Result<bool, Error>,
) -> Result<(), Error> {
    let mut bounds = Bounds::default();
    let mut levels: Vec<Level> = Vec::new();
    let mut path = b"/".to_vec();
    let mut at = image.superblock().root_inode;
    let mut inode = image.root()?;
    loop {
        let visited = Visited {
            path: &path,
            at,
            inode: &inode,
            depth: levels.len(),
        };
        let enter = visit(&visited)?;
        if let Body::Directory(directory) = &inode.body
            && enter
        {
            bounds.enter(image, at, directory)?;
            let entries = image
                .entries(directory)
                .map_err(|error| error.in_file(&path))?;
            levels.push(Level {
                entries: entries.into_iter(),
                path_len: path.len(),
            });
        }
        let entry = loop {
            let Some(level) = levels.last_mut() else {
                return Ok(());
            };
            path.truncate(level.path_len);
            if let Some(entry) = level.entries.next() {
                break entry;
            }
            levels.pop();
        };
        push_name(&mut path, &entry.name);
        at = entry.inode;
        inode = image.inode(at).map_err(|error| error.in_file(&path))?;
        bounds.read(image, at, &inode)?;
    }
}

/// A directory whose entries are being visited.
struct Level {
    entries: vec::IntoIter<Entry>,
    path_len: usize,
}

/// Appends a name to the path of its directory.
pub(crate) fn push_name(path: &mut Vec<u8>, name: &[u8]) {
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

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
        let field = "bytes of all block lists, targets and indexes";
        let (table, limit) = (image.inode_table, (field, FREE_INODE_BYTES));
        if let Some(rule) = self.inode_lists.spend(image, table, bytes as u64, limit)? {
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
