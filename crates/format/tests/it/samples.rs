//! Values that several tests start from, and reading an inode as `image` does.

use coldpress_format::{
    BlockSize, Body, Compressor, Corrupt, Extra, Flags, IndexEntry, Inode, InodeRef, Part, Rule,
    Superblock,
};

/// Image byte that tests give for the place of a record.
pub(crate) const START: u64 = 0x1234;

/// A superblock with every table.
pub(crate) fn superblock() -> Superblock {
    Superblock {
        inode_count: 0x11,
        modification_time_s: 0x6543_2100,
        block_size: BlockSize::DEFAULT,
        fragment_count: 3,
        compressor: Compressor::Zstd,
        flags: Flags::DUPLICATES.with(Flags::EXPORTABLE),
        id_count: 2,
        root_inode: InodeRef {
            block_start: 0x2_0004,
            offset: 0x1ff0,
        },
        bytes_used: 0x9000,
        id_table_start: 0x8500,
        xattr_table_start: Some(0x8f00),
        inode_table_start: 0x5000,
        directory_table_start: 0x6000,
        fragment_table_start: Some(0x7000),
        export_table_start: Some(0x8000),
    }
}

/// An inode of user 1, group 2, number 7, permissions 0755.
pub(crate) fn inode(body: Body, xattr: Option<u32>) -> Inode {
    Inode {
        mode: 0o755,
        uid_index: 1,
        gid_index: 2,
        mtime_s: 0x6543_2100,
        number: 7,
        link_count: 1,
        xattr,
        body,
    }
}

/// The bytes of an inode on disk.
pub(crate) fn written(inode: &Inode) -> Vec<u8> {
    let mut bytes = Vec::new();
    inode.write(&mut bytes);
    bytes
}

/// Reads an inode with its list and returns the bytes behind it.
pub(crate) fn read_inode(bytes: &[u8], block_size: BlockSize) -> Result<(Inode, &[u8]), Corrupt> {
    let (mut inode, taken, extra) = Inode::parse_fixed(bytes, block_size, START)?;
    let mut rest = &bytes[taken..];
    let mut take = |needed: u64| {
        let truncated = Rule::Truncated {
            needed,
            found: rest.len() as u64,
        };
        let list = usize::try_from(needed)
            .ok()
            .and_then(|len| rest.split_at_checked(len));
        let (list, after) = list.ok_or(Corrupt::new(Part::Inode, START, truncated))?;
        rest = after;
        Ok(list)
    };
    match extra {
        Extra::Nothing => {}
        Extra::BlockList { count } => {
            let list = take(count.saturating_mul(4))?;
            inode.read_block_list(list, block_size, START)?;
        }
        Extra::Target {
            len_bytes,
            xattr_follows,
        } => {
            let target = take(len_bytes as u64)?;
            let xattr = if xattr_follows {
                take(4)?.as_array::<4>().copied()
            } else {
                None
            };
            inode.read_target(target, xattr, START)?;
        }
        Extra::Index { count } => {
            for _ in 0..count {
                let fixed = take(IndexEntry::FIXED_BYTES as u64)?.as_array();
                let fixed = fixed.expect("as many bytes as were asked for");
                let (mut entry, name_len) = IndexEntry::parse_fixed(fixed, START)?;
                entry.name = take(name_len as u64)?.to_vec();
                if let Body::Directory(directory) = &mut inode.body {
                    directory.index.push(entry);
                }
            }
        }
    }
    Ok((inode, rest))
}
