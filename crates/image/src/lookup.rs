//! Paths that are looked up again and again.

use std::collections::HashMap;
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use coldpress_format::{Body, Directory, Entry, Inode, InodeRef};

use crate::error::Error;
use crate::image::Image;

/// What an entry of a listing takes in memory beside its name.
const ENTRY_BYTES: usize = 64;
/// What a path takes in memory beside its name and its block list.
const PATH_BYTES: usize = 240;

/// What a path names.
#[derive(Debug)]
pub struct Located {
    /// Where the inode lies.
    pub at: InodeRef,
    /// The inode, with the block list of a file.
    pub inode: Inode,
}

/// The listings and inodes that lookups came by, kept within a bound.
///
/// [`Image::find`] reads the whole listing of each directory on the way, which for thousands of
/// files in one directory takes longer than reading one of them.
pub struct Lookup {
    bytes_max: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    listings: HashMap<InodeRef, Arc<Vec<Entry>>>,
    paths: HashMap<Box<[u8]>, Arc<Located>>,
    bytes: usize,
}

impl fmt::Debug for Lookup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes_max = &self.bytes_max;
        formatter
            .debug_struct("Lookup")
            .field("bytes_max", bytes_max)
            .finish_non_exhaustive()
    }
}

impl Lookup {
    /// Keeps about `bytes_max` bytes; when there are more, it begins anew.
    pub fn new(bytes_max: usize) -> Self {
        let kept = Mutex::default();
        Self { bytes_max, kept }
    }

    /// As [`Image::find`]. A `Lookup` is for one image: another has other paths.
    ///
    /// # Errors
    ///
    /// As [`Image::find`].
    ///
    /// # Cost
    ///
    /// A lookup in a table for a path that was found before; a search in the listing for others in
    /// a directory that was. No lock is held while the image is read.
    pub fn find(&self, image: &Image, path: &[u8]) -> Result<Option<Arc<Located>>, Error> {
        if let Some(located) = self.known(path) {
            return Ok(Some(located));
        }
        let names = || {
            path.split(|byte| *byte == b'/')
                .filter(|name| !name.is_empty())
        };
        let name_len = names().next_back().map_or(0, <[u8]>::len);
        // Files of a directory are mostly looked up one after the other.
        let above = path.len().checked_sub(name_len + 1);
        let above = above
            .and_then(|end| path.get(..end))
            .filter(|above| !above.is_empty());
        let (mut located, names) = match above.map(|above| (self.known(above), names().next_back()))
        {
            Some((Some(directory), Some(name))) if path.ends_with(name) => (directory, vec![name]),
            _ => (self.root(image)?, names().collect()),
        };
        for name in names {
            let Body::Directory(directory) = &located.inode.body else {
                return Ok(None);
            };
            let entries = self.entries(image, located.at, directory)?;
            let found = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name));
            let Some(entry) = found.ok().and_then(|index| entries.get(index)) else {
                return Ok(None);
            };
            let (at, inode) = (entry.inode, image.inode(entry.inode)?);
            located = Arc::new(Located { at, inode });
        }
        let mut bytes = PATH_BYTES + path.len();
        if let Body::File(file) = &located.inode.body {
            bytes += size_of_val(file.blocks.as_slice());
        }
        let (key, value) = (path.into(), Arc::clone(&located));
        self.keep(bytes, |kept| {
            kept.paths.insert(key, value);
        });
        Ok(Some(located))
    }

    fn known(&self, path: &[u8]) -> Option<Arc<Located>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.paths.get(path).cloned()
    }

    fn root(&self, image: &Image) -> Result<Arc<Located>, Error> {
        if let Some(root) = self.known(b"/") {
            return Ok(root);
        }
        let (at, inode) = (image.superblock().root_inode, image.root()?);
        let root = Arc::new(Located { at, inode });
        let value = Arc::clone(&root);
        self.keep(PATH_BYTES, |kept| {
            kept.paths.insert(b"/".as_slice().into(), value);
        });
        Ok(root)
    }

    /// The entries of the directory at `at`, in byte order of their names.
    ///
    /// # Errors
    ///
    /// As [`Image::entries`].
    pub fn entries(
        &self,
        image: &Image,
        at: InodeRef,
        directory: &Directory,
    ) -> Result<Arc<Vec<Entry>>, Error> {
        {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(entries) = kept.listings.get(&at) {
                return Ok(Arc::clone(entries));
            }
        }
        let entries = Arc::new(image.entries(directory)?);
        let bytes = entries
            .iter()
            .map(|entry| ENTRY_BYTES + entry.name.len())
            .sum();
        let value = Arc::clone(&entries);
        self.keep(bytes, |kept| {
            kept.listings.insert(at, value);
        });
        Ok(entries)
    }

    fn keep(&self, bytes: usize, insert: impl FnOnce(&mut Kept)) {
        if bytes > self.bytes_max {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = None;
        if kept.bytes.saturating_add(bytes) > self.bytes_max {
            before = Some(mem::take(&mut *kept));
        }
        kept.bytes += bytes;
        insert(&mut kept);
        drop(kept);
        // Freed here, outside the lock.
        drop(before);
    }
}
