//! Reading inodes in two steps: the fixed part, then the list whose length it states.

use std::ops::RangeInclusive;

use zerocopy::FromBytes;

use super::raw::{
    RawDevice, RawDirectory, RawExtendedDevice, RawExtendedDirectory, RawExtendedFile,
    RawExtendedIpc, RawFile, RawInodeHeader, RawIpc, RawSymlink,
};
use super::{Body, DeviceNumber, Directory, File, Inode, InodeKind, OFFSET_MAX, TailEnd};
use crate::block::{BlockSize, BlockWord};

use crate::error::{Corrupt, Part, Rule};

/// The word for "no fragment" and "no xattrs".
pub(super) const NONE: u32 = u32::MAX;

/// The permission bits of a mode; the type stands elsewhere.
pub(super) const MODE_BITS: u16 = 0o7777;

/// What a directory's size counts beside its listing: the names `.` and `..`, which the kernel
/// makes up while reading.
pub(super) const DOTS_BYTES: u32 = 3;

/// The most bytes of a symlink target, as unsquashfs has it. The kernel refuses one that does not
/// fit a page, so a writer stops at 4095.
const TARGET_MAX_BYTES: u32 = 65_535;

/// What follows the fixed part of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Nothing.
    Nothing,
    /// A list of this many [`BlockWord`]s, 4 bytes each: give it to [`Inode::read_block_list`].
    BlockList {
        /// Words in the list. Not checked against the image: compare before allocating.
        count: u64,
    },
    /// A symlink target, then in the extended form a 32-bit xattr index: [`Inode::read_target`].
    Target {
        /// Bytes of the target, at most 65,535.
        len_bytes: usize,
        /// Whether the xattr index follows.
        xattr_follows: bool,
    },
    /// Entries of a directory index, each read with [`crate::IndexEntry::parse_fixed`].
    Index {
        /// Number of entries.
        count: u16,
    },
}

impl Inode {
    /// Bytes of the largest fixed part.
    pub const FIXED_MAX_BYTES: usize = size_of::<RawInodeHeader>() + size_of::<RawExtendedFile>();

    /// Reads the fixed part of an inode.
    ///
    /// * `bytes`: at least the fixed part; [`Self::FIXED_MAX_BYTES`] are always enough.
    /// * `start`: image byte of the metadata block in which it begins, for errors.
    ///
    /// Returns the inode with an empty list, the bytes that the fixed part took, and what follows.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the type is unknown, bytes are missing or a field is outside its range.
    pub fn parse_fixed(
        bytes: &[u8],
        block_size: BlockSize,
        start: u64,
    ) -> Result<(Self, usize, Extra), Corrupt> {
        let mut cursor = Cursor { bytes, start };
        let header: RawInodeHeader = cursor.take()?;
        let kind = header.kind.get();
        let mut inode = Self {
            mode: header.mode.get() & MODE_BITS,
            uid_index: header.uid_index.get(),
            gid_index: header.gid_index.get(),
            mtime_s: header.mtime.get(),
            number: header.number.get(),
            link_count: 1,
            xattr: None,
            body: Body::Fifo,
        };
        // The kernel refuses 0 (CVE-2024-26982).
        cursor.check_range("inode number", inode.number.into(), 1..=u32::MAX.into())?;
        let extended = kind > InodeKind::EXTENDED;
        let basic = if extended {
            kind.saturating_sub(InodeKind::EXTENDED)
        } else {
            kind
        };
        let Some(kind) = InodeKind::from_number(basic) else {
            return Err(cursor.fail(Rule::OutOfRange {
                field: "inode type",
                found: kind.into(),
                low: 1,
                high: 14,
            }));
        };
        let extra = match kind {
            InodeKind::Directory => inode.parse_directory(&mut cursor, extended)?,
            InodeKind::File => inode.parse_file(&mut cursor, extended, block_size)?,
            InodeKind::Symlink => inode.parse_symlink(&mut cursor, extended)?,
            InodeKind::BlockDevice | InodeKind::CharDevice => {
                let number = inode.parse_device(&mut cursor, extended)?;
                let block = kind == InodeKind::BlockDevice;
                inode.body = if block {
                    Body::BlockDevice(number)
                } else {
                    Body::CharDevice(number)
                };
                Extra::Nothing
            }
            InodeKind::Fifo | InodeKind::Socket => {
                inode.parse_ipc(&mut cursor, extended)?;
                inode.body = if kind == InodeKind::Fifo {
                    Body::Fifo
                } else {
                    Body::Socket
                };
                Extra::Nothing
            }
        };
        let taken = bytes.len().saturating_sub(cursor.bytes.len());
        Ok((inode, taken, extra))
    }

    fn parse_directory(&mut self, cursor: &mut Cursor, extended: bool) -> Result<Extra, Corrupt> {
        let (block_start, offset, size, parent, index_count) = if extended {
            let raw: RawExtendedDirectory = cursor.take()?;
            self.link_count = raw.link_count.get();
            self.xattr = present(raw.xattr.get());
            let count = raw.index_count.get();
            (
                raw.block_start,
                raw.offset,
                raw.size.get(),
                raw.parent,
                count,
            )
        } else {
            let raw: RawDirectory = cursor.take()?;
            self.link_count = raw.link_count.get();
            (
                raw.block_start,
                raw.offset,
                u32::from(raw.size.get()),
                raw.parent,
                0,
            )
        };
        cursor.check_range("listing offset", offset.get().into(), 0..=OFFSET_MAX)?;
        let (low, high) = (DOTS_BYTES.into(), u32::MAX.into());
        cursor.check_range("directory size", size.into(), low..=high)?;
        self.body = Body::Directory(Directory {
            block_start: block_start.get(),
            offset: offset.get(),
            listing_bytes: size.saturating_sub(DOTS_BYTES),
            parent: parent.get(),
            index: Vec::new(),
        });
        Ok(if index_count == 0 {
            Extra::Nothing
        } else {
            Extra::Index { count: index_count }
        })
    }

    fn parse_file(
        &mut self,
        cursor: &mut Cursor,
        extended: bool,
        block_size: BlockSize,
    ) -> Result<Extra, Corrupt> {
        let (start, size_bytes, sparse_bytes, fragment, tail_offset) = if extended {
            let raw: RawExtendedFile = cursor.take()?;
            self.link_count = raw.link_count.get();
            self.xattr = present(raw.xattr.get());
            let sparse = raw.sparse.get();
            (
                raw.start.get(),
                raw.size.get(),
                sparse,
                raw.fragment,
                raw.tail_offset,
            )
        } else {
            let raw: RawFile = cursor.take()?;
            (
                raw.start.get().into(),
                raw.size.get().into(),
                0,
                raw.fragment,
                raw.tail_offset,
            )
        };
        // The kernel keeps both in signed 64-bit integers (CVE-2025-40200).
        for (field, found) in [("file size", size_bytes), ("data start", start)] {
            cursor.check_range(field, found, 0..=i64::MAX.unsigned_abs())?;
        }
        let tail = present(fragment.get()).map(|fragment| TailEnd {
            fragment,
            offset: tail_offset.get(),
        });
        let file = File {
            start,
            size_bytes,
            sparse_bytes,
            tail,
            blocks: Vec::new(),
        };
        let count = file.block_count(block_size);
        self.body = Body::File(file);
        Ok(if count == 0 {
            Extra::Nothing
        } else {
            Extra::BlockList { count }
        })
    }

    fn parse_symlink(&mut self, cursor: &mut Cursor, extended: bool) -> Result<Extra, Corrupt> {
        let raw: RawSymlink = cursor.take()?;
        self.link_count = raw.link_count.get();
        let len = raw.target_size.get();
        let allowed = 1..=TARGET_MAX_BYTES.into();
        cursor.check_range("symlink target size", len.into(), allowed)?;
        self.body = Body::Symlink(Vec::new());
        Ok(Extra::Target {
            len_bytes: len as usize,
            xattr_follows: extended,
        })
    }

    fn parse_device(
        &mut self,
        cursor: &mut Cursor,
        extended: bool,
    ) -> Result<DeviceNumber, Corrupt> {
        let word = if extended {
            let raw: RawExtendedDevice = cursor.take()?;
            self.link_count = raw.link_count.get();
            self.xattr = present(raw.xattr.get());
            raw.number
        } else {
            let raw: RawDevice = cursor.take()?;
            self.link_count = raw.link_count.get();
            raw.number
        };
        Ok(DeviceNumber::decode(word.get()))
    }

    fn parse_ipc(&mut self, cursor: &mut Cursor, extended: bool) -> Result<(), Corrupt> {
        if extended {
            let raw: RawExtendedIpc = cursor.take()?;
            self.link_count = raw.link_count.get();
            self.xattr = present(raw.xattr.get());
        } else {
            let raw: RawIpc = cursor.take()?;
            self.link_count = raw.link_count.get();
        }
        Ok(())
    }

    /// Reads the block list of a regular file; other inodes have none and ignore it.
    ///
    /// * `bytes`: 4 bytes for each word that [`Extra::BlockList`] announced.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if a word is larger than a block.
    pub fn read_block_list(
        &mut self,
        bytes: &[u8],
        block_size: BlockSize,
        start: u64,
    ) -> Result<(), Corrupt> {
        let Body::File(file) = &mut self.body else {
            return Ok(());
        };
        file.blocks = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| BlockWord::parse(u32::from_le_bytes(*word), block_size, Part::Inode, start))
            .collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Reads the target of a symlink and, in the extended form, the xattr index behind it.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the target holds a zero byte.
    pub fn read_target(
        &mut self,
        target: &[u8],
        xattr: Option<[u8; 4]>,
        start: u64,
    ) -> Result<(), Corrupt> {
        if target.contains(&0) {
            return Err(Corrupt::new(Part::Inode, start, Rule::BadTarget));
        }
        self.xattr = xattr.and_then(|word| present(u32::from_le_bytes(word)));
        self.body = Body::Symlink(target.to_vec());
        Ok(())
    }
}

fn present(word: u32) -> Option<u32> {
    (word != NONE).then_some(word)
}

/// The rest of the bytes of an inode, and where the inode begins.
struct Cursor<'a> {
    bytes: &'a [u8],
    start: u64,
}

impl Cursor<'_> {
    fn take<T: FromBytes>(&mut self) -> Result<T, Corrupt> {
        let (needed, found) = (size_of::<T>() as u64, self.bytes.len() as u64);
        let (value, rest) = T::read_from_prefix(self.bytes)
            .map_err(|_| self.fail(Rule::Truncated { needed, found }))?;
        self.bytes = rest;
        Ok(value)
    }

    fn fail(&self, rule: Rule) -> Corrupt {
        Corrupt::new(Part::Inode, self.start, rule)
    }

    fn check_range(
        &self,
        field: &'static str,
        found: u64,
        allowed: RangeInclusive<u64>,
    ) -> Result<(), Corrupt> {
        Corrupt::check_range(Part::Inode, self.start, field, found, allowed)
    }
}
