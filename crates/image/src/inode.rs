//! Reading inodes and resolving what they name by index.

use coldpress_format::{Body, Corrupt, Extra, File, IndexEntry, Inode, InodeRef, Part, Rule};

use crate::error::Error;
use crate::image::Image;
use crate::metadata::Stream;
use crate::region::Region;

impl Image {
    /// Reads an inode with its block list, target or directory index.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the reference leaves the inode table or the record is damaged, also
    /// if it states a longer list than the table can hold; [`Error::Read`].
    ///
    /// # Cost
    ///
    /// One lookup in the cache of metadata blocks, or a read and a decompression; for a file 4
    /// bytes of memory for each data block.
    pub fn inode(&self, at: InodeRef) -> Result<Inode, Error> {
        self.inode_with_extent(at).map(|(inode, _)| inode)
    }

    /// Reads an inode without the block list of a file: `blocks` stays empty.
    ///
    /// All that `stat(2)` tells is in it. A block list may be megabytes, and each further name of
    /// a file leads to the same one.
    ///
    /// # Errors
    ///
    /// As [`Image::inode`], but for damage in the block list.
    ///
    /// # Cost
    ///
    /// As [`Image::inode`], and no memory for data blocks.
    pub fn inode_head(&self, at: InodeRef) -> Result<Inode, Error> {
        self.read_inode(at, false).map(|record| record.inode)
    }

    /// The file that lies there, with its block list; `None` for an inode of another type.
    pub(crate) fn file(&self, at: InodeRef) -> Result<Option<File>, Error> {
        Ok(match self.inode(at)?.body {
            Body::File(file) => Some(file),
            _ => None,
        })
    }

    /// The root directory's inode.
    ///
    /// # Errors
    ///
    /// As [`Image::inode`], and [`Error::Corrupt`] if it is not a directory.
    pub fn root(&self) -> Result<Inode, Error> {
        let inode = self.inode(self.superblock().root_inode)?;
        if let Body::Directory(_) = inode.body {
            return Ok(inode);
        }
        let rule = Rule::Mismatch {
            field: "type of the root inode",
            found: inode.body.kind() as u64,
            expected: 1,
        };
        Err(Corrupt::new(
            Part::Inode,
            self.inode_start(self.superblock().root_inode),
            rule,
        )
        .into())
    }

    /// Image byte of the metadata block in which an inode begins.
    pub(crate) fn inode_start(&self, at: InodeRef) -> u64 {
        self.inode_table.start.saturating_add(at.block_start.into())
    }

    /// Reads an inode, and tells which image bytes must be read for it.
    pub(crate) fn inode_with_extent(&self, at: InodeRef) -> Result<(Inode, Region), Error> {
        let record = self.inode_record(at)?;
        Ok((record.inode, record.extent))
    }

    /// The least bytes that an inode takes before compression, by its fixed part.
    pub(crate) fn inode_bytes_min(&self, at: InodeRef) -> Result<u64, Error> {
        let (table, block_start) = (self.inode_table, at.block_start.into());
        let mut stream = Stream::open(&self.store, table, Part::Inode, block_start, at.offset)?;
        let start = stream.block_start();
        let mut fixed = [0; Inode::FIXED_MAX_BYTES];
        let found = stream.read(&mut fixed)?;
        let fixed = fixed.get(..found).unwrap_or_default();
        let (_, len, extra) = Inode::parse_fixed(fixed, self.superblock().block_size, start)?;
        let list_bytes = match extra {
            Extra::Nothing => 0,
            Extra::BlockList { count } => count.saturating_mul(4),
            Extra::Target { len_bytes, .. } => len_bytes as u64,
            Extra::Index { count } => u64::from(count) * (IndexEntry::FIXED_BYTES as u64 + 1),
        };
        Ok(list_bytes.saturating_add(len as u64))
    }

    /// Reads an inode, and tells how it lies in the table.
    pub(crate) fn inode_record(&self, at: InodeRef) -> Result<InodeRecord, Error> {
        self.read_inode(at, true)
    }

    /// * `reads_blocks`: whether to read the block list of a file.
    fn read_inode(&self, at: InodeRef, reads_blocks: bool) -> Result<InodeRecord, Error> {
        let block_start = at.block_start.into();
        let table = self.inode_table;
        let mut stream = Stream::open(&self.store, table, Part::Inode, block_start, at.offset)?;
        let start = stream.block_start();
        let first = stream.first_image_byte();
        let block_size = self.superblock().block_size;

        // The length of the fixed part depends on its first bytes, and near the table's end there
        // are fewer than the largest has.
        let mut fixed = [0; Inode::FIXED_MAX_BYTES];
        let found = stream.clone().read(&mut fixed)?;
        let fixed = fixed.get(..found).unwrap_or_default();
        let (mut inode, len, extra) = Inode::parse_fixed(fixed, block_size, start)?;
        let fixed = fixed.get(..len).unwrap_or_default().to_vec();
        stream.skip(len)?;
        let mut len_bytes = len as u64;
        match extra {
            Extra::Nothing => {}
            Extra::BlockList { count } if !reads_blocks => {
                stream.check_room(count.saturating_mul(4))?;
            }
            Extra::BlockList { count } => {
                let words = stream.read_vec(count.saturating_mul(4))?;
                len_bytes += words.len() as u64;
                inode.read_block_list(&words, block_size, start)?;
            }
            Extra::Target {
                len_bytes: target_bytes,
                xattr_follows,
            } => {
                let target = stream.read_vec(target_bytes as u64)?;
                let xattr = xattr_follows.then(|| stream.take::<4>()).transpose()?;
                len_bytes += target.len() as u64 + xattr.map_or(0, |word| word.len() as u64);
                inode.read_target(&target, xattr, start)?;
            }
            Extra::Index { count } => {
                let index = read_index(&mut stream, count)?;
                len_bytes += index_bytes(&index);
                if let Body::Directory(directory) = &mut inode.body {
                    directory.index = index;
                }
            }
        }
        let end = stream.end_image_byte();
        Ok(InodeRecord {
            inode,
            fixed,
            len_bytes,
            extent: Region { start: first, end },
        })
    }

    /// The numeric owner and group of an inode.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if an index is not in the id table.
    pub fn owner(&self, inode: &Inode) -> Result<(u32, u32), Error> {
        let id = |field, index: u16| {
            self.ids().get(usize::from(index)).copied().ok_or_else(|| {
                let rule = Rule::OutOfRange {
                    field,
                    found: index.into(),
                    low: 0,
                    high: (self.ids().len() as u64).saturating_sub(1),
                };
                Corrupt::new(Part::IdTable, self.id_table.start(), rule)
            })
        };
        Ok((
            id("owner index", inode.uid_index)?,
            id("group index", inode.gid_index)?,
        ))
    }
}

/// An inode and how it lies in the inode table.
pub(crate) struct InodeRecord {
    pub(crate) inode: Inode,
    /// The header and the record behind it, without the list that follows.
    pub(crate) fixed: Vec<u8>,
    /// All that it takes before compression.
    pub(crate) len_bytes: u64,
    /// Image bytes that must be read for it.
    pub(crate) extent: Region,
}

/// What the entries of a directory index take in an inode.
pub(crate) fn index_bytes(index: &[IndexEntry]) -> u64 {
    let bytes = |entry: &IndexEntry| (IndexEntry::FIXED_BYTES + entry.name.len()) as u64;
    index.iter().map(bytes).sum()
}

fn read_index(stream: &mut Stream, count: u16) -> Result<Vec<IndexEntry>, Error> {
    let mut index = Vec::new();
    for _ in 0..count {
        let start = stream.block_start();
        let fixed = stream.take::<{ IndexEntry::FIXED_BYTES }>()?;
        let (mut entry, name_len) = IndexEntry::parse_fixed(&fixed, start)?;
        entry.name = stream.read_vec(name_len as u64)?;
        index.push(entry);
    }
    Ok(index)
}
