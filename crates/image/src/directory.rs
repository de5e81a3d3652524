//! Directory listings and looking up paths.

use coldpress_format::{Body, Directory, Entry, Inode, InodeRef, Part, parse_listing};

use crate::error::Error;
use crate::image::Image;
use crate::metadata::Stream;
use crate::region::Region;

/// A listing as it lies in the directory table.
pub(crate) struct RawListing {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// For each metadata block that holds a part: the listing byte at which it continues, and the
    /// block's image byte.
    pub(crate) blocks: Vec<(u64, u64)>,
    /// Image bytes that must be read for it.
    pub(crate) extent: Region,
}

impl Image {
    /// The entries of a directory, in byte order of their names.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the listing leaves the directory table, is cut short, or a name is
    /// illegal, unsorted or there twice; [`Error::Read`].
    ///
    /// # Cost
    ///
    /// Reads and holds the whole listing.
    pub fn entries(&self, directory: &Directory) -> Result<Vec<Entry>, Error> {
        let start = self.listing_start(directory);
        Ok(parse_listing(&self.listing(directory)?.bytes, start)?)
    }

    /// Image byte of the metadata block in which a listing begins.
    pub(crate) fn listing_start(&self, directory: &Directory) -> u64 {
        let block_start = directory.block_start.into();
        self.directory_table.start.saturating_add(block_start)
    }

    /// Reads a listing without looking into it.
    pub(crate) fn listing(&self, directory: &Directory) -> Result<RawListing, Error> {
        let (listing, read) = self.listing_so_far(directory)?;
        read.map(|()| listing)
    }

    /// Reads a listing up to its end or to where it cannot be read.
    ///
    /// # Errors
    ///
    /// If not even its first byte can be read; the second value says why it is not whole.
    pub(crate) fn listing_so_far(
        &self,
        directory: &Directory,
    ) -> Result<(RawListing, Result<(), Error>), Error> {
        let table = self.directory_table;
        let mut listing = RawListing {
            bytes: Vec::new(),
            blocks: Vec::new(),
            extent: Region {
                start: table.start,
                end: table.start,
            },
        };
        if directory.listing_bytes == 0 {
            // An empty directory's reference may point behind the last listing.
            return Ok((listing, Ok(())));
        }
        let (part, block_start) = (Part::DirectoryHeader, directory.block_start.into());
        let mut stream = Stream::open(&self.store, table, part, block_start, directory.offset)?;
        listing.extent.start = stream.first_image_byte();
        let len_bytes = directory.listing_bytes.into();
        let RawListing { bytes, blocks, .. } = &mut listing;
        let read = stream.read_into(bytes, len_bytes, &mut |at, block| blocks.push((at, block)));
        listing.extent.end = stream.end_image_byte();
        Ok((listing, read))
    }

    /// Looks up an absolute path, byte by byte: no link is followed, and `.` and `..` are not
    /// names. Repeated and trailing slashes do not matter.
    ///
    /// # Errors
    ///
    /// As [`Image::inode`] and [`Image::entries`].
    ///
    /// # Cost
    ///
    /// The inode and the whole listing of each directory on the way; their directory indexes are
    /// not used.
    pub fn find(&self, path: &[u8]) -> Result<Option<(InodeRef, Inode)>, Error> {
        let mut at = self.superblock().root_inode;
        let mut inode = self.root()?;
        for name in path.split(|byte| *byte == b'/') {
            if name.is_empty() {
                continue;
            }
            let Body::Directory(directory) = &inode.body else {
                return Ok(None);
            };
            let entries = self.entries(directory)?;
            let found = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name));
            let Some(entry) = found.ok().and_then(|index| entries.get(index)) else {
                return Ok(None);
            };
            at = entry.inode;
            inode = self.inode_head(at)?;
        }
        if let Body::File(_) = inode.body {
            inode = self.inode(at)?;
        }
        Ok(Some((at, inode)))
    }
}
