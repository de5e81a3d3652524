//! Writing inodes in the smallest form that holds them.

use zerocopy::{Immutable, IntoBytes};

use super::raw::{
    RawDevice, RawDirectory, RawExtendedDevice, RawExtendedDirectory, RawExtendedFile,
    RawExtendedIpc, RawFile, RawInodeHeader, RawIpc, RawSymlink,
};
use super::read::{DOTS_BYTES, MODE_BITS, NONE};
use super::{Body, DeviceNumber, Directory, File, Inode, InodeKind};
use crate::directory::IndexEntry;

impl Inode {
    /// Appends the inode as it lies on disk.
    ///
    /// # Panics
    ///
    /// If a device number is too large to encode, an index has over 65,535 entries, or a symlink
    /// target or a listing takes 4 GiB: scanning a source refuses such input.
    pub fn write(&self, output: &mut Vec<u8>) {
        match &self.body {
            Body::Directory(directory) => self.write_directory(directory, output),
            Body::File(file) => self.write_file(file, output),
            Body::Symlink(target) => {
                self.write_header(self.xattr.is_some(), output);
                let target_size = u32::try_from(target.len())
                    .expect("a target is short")
                    .into();
                put(
                    output,
                    &RawSymlink {
                        link_count: self.link_count.into(),
                        target_size,
                    },
                );
                output.extend_from_slice(target);
                if let Some(xattr) = self.xattr {
                    output.extend_from_slice(&xattr.to_le_bytes());
                }
            }
            Body::BlockDevice(number) | Body::CharDevice(number) => {
                self.write_device(*number, output);
            }
            Body::Fifo | Body::Socket => {
                self.write_header(self.xattr.is_some(), output);
                let link_count = self.link_count.into();
                match self.xattr {
                    None => put(output, &RawIpc { link_count }),
                    Some(xattr) => put(
                        output,
                        &RawExtendedIpc {
                            link_count,
                            xattr: xattr.into(),
                        },
                    ),
                }
            }
        }
    }

    /// Bytes of the inode on disk, but for a file's block list.
    pub fn fixed_bytes(&self) -> u64 {
        let is_basic = self.xattr.is_none();
        let body_bytes = match &self.body {
            Body::Directory(directory) if self.basic_size(directory).is_some() => {
                size_of::<RawDirectory>()
            }
            Body::Directory(directory) => {
                let names = directory.index.iter().map(|entry| entry.name.len());
                let bytes = names.map(|len| len.saturating_add(IndexEntry::FIXED_BYTES));
                bytes.fold(size_of::<RawExtendedDirectory>(), usize::saturating_add)
            }
            Body::File(file) if self.basic_start_and_size(file).is_some() => size_of::<RawFile>(),
            Body::File(_) => size_of::<RawExtendedFile>(),
            Body::Symlink(target) => {
                let xattr_bytes = self.xattr.map_or(0, |_| size_of::<u32>());
                let target_bytes = target.len().saturating_add(xattr_bytes);
                size_of::<RawSymlink>().saturating_add(target_bytes)
            }
            Body::BlockDevice(_) | Body::CharDevice(_) if is_basic => size_of::<RawDevice>(),
            Body::BlockDevice(_) | Body::CharDevice(_) => size_of::<RawExtendedDevice>(),
            Body::Fifo | Body::Socket if is_basic => size_of::<RawIpc>(),
            Body::Fifo | Body::Socket => size_of::<RawExtendedIpc>(),
        };
        size_of::<RawInodeHeader>().saturating_add(body_bytes) as u64
    }

    /// The size field of a directory's basic form, if that can hold it.
    fn basic_size(&self, directory: &Directory) -> Option<u16> {
        let size = directory.listing_bytes.saturating_add(DOTS_BYTES);
        u16::try_from(size)
            .ok()
            .filter(|_| self.xattr.is_none() && directory.index.is_empty())
    }

    /// The start and the length in a file's basic form, if that can hold it. The kernel takes a
    /// link count of 1 from that form.
    fn basic_start_and_size(&self, file: &File) -> Option<(u32, u32)> {
        let is_plain = self.xattr.is_none() && self.link_count == 1 && file.sparse_bytes == 0;
        let start = u32::try_from(file.start).ok()?;
        let size = u32::try_from(file.size_bytes).ok()?;
        is_plain.then_some((start, size))
    }

    fn write_header(&self, extended: bool, output: &mut Vec<u8>) {
        let form = if extended { InodeKind::EXTENDED } else { 0 };
        let kind = (self.body.kind() as u16).saturating_add(form);
        put(
            output,
            &RawInodeHeader {
                kind: kind.into(),
                // The kernel ors the type into the mode: a bit of it here would change the type.
                mode: (self.mode & MODE_BITS).into(),
                uid_index: self.uid_index.into(),
                gid_index: self.gid_index.into(),
                mtime: self.mtime_s.into(),
                number: self.number.into(),
            },
        );
    }

    fn write_directory(&self, directory: &Directory, output: &mut Vec<u8>) {
        let size = directory
            .listing_bytes
            .checked_add(DOTS_BYTES)
            .expect("a listing is below 4 GiB");
        let basic = self.basic_size(directory);
        self.write_header(basic.is_none(), output);
        if let Some(size) = basic {
            let raw = RawDirectory {
                block_start: directory.block_start.into(),
                link_count: self.link_count.into(),
                size: size.into(),
                offset: directory.offset.into(),
                parent: directory.parent.into(),
            };
            return put(output, &raw);
        }
        let count = u16::try_from(directory.index.len()).expect("an index has at most 65,535");
        let raw = RawExtendedDirectory {
            link_count: self.link_count.into(),
            size: size.into(),
            block_start: directory.block_start.into(),
            parent: directory.parent.into(),
            index_count: count.into(),
            offset: directory.offset.into(),
            xattr: self.xattr.unwrap_or(NONE).into(),
        };
        put(output, &raw);
        for entry in &directory.index {
            entry.write(output);
        }
    }

    fn write_file(&self, file: &File, output: &mut Vec<u8>) {
        let fragment = file.tail.map_or(NONE, |tail| tail.fragment).into();
        let tail_offset = file.tail.map_or(0, |tail| tail.offset).into();
        let basic = self.basic_start_and_size(file);
        self.write_header(basic.is_none(), output);
        if let Some((start, size)) = basic {
            let (start, size) = (start.into(), size.into());
            put(
                output,
                &RawFile {
                    start,
                    fragment,
                    tail_offset,
                    size,
                },
            );
        } else {
            let raw = RawExtendedFile {
                start: file.start.into(),
                size: file.size_bytes.into(),
                sparse: file.sparse_bytes.into(),
                link_count: self.link_count.into(),
                fragment,
                tail_offset,
                xattr: self.xattr.unwrap_or(NONE).into(),
            };
            put(output, &raw);
        }
        for block in &file.blocks {
            output.extend_from_slice(&block.word().to_le_bytes());
        }
    }

    fn write_device(&self, number: DeviceNumber, output: &mut Vec<u8>) {
        let number = number
            .encode()
            .expect("scanning refuses device numbers that do not fit")
            .into();
        let link_count = self.link_count.into();
        self.write_header(self.xattr.is_some(), output);
        match self.xattr {
            None => put(output, &RawDevice { link_count, number }),
            Some(xattr) => {
                put(
                    output,
                    &RawExtendedDevice {
                        link_count,
                        number,
                        xattr: xattr.into(),
                    },
                );
            }
        }
    }
}

fn put(output: &mut Vec<u8>, raw: &(impl IntoBytes + Immutable)) {
    output.extend_from_slice(raw.as_bytes());
}
