//! The tables of an image before they are packed.

use std::ops::Range;

use coldpress_format::{
    Body, Entry, Fragment, InodeRef, METADATA_BLOCK_SIZE, RawExtendedFile, RawInodeHeader, XattrId,
    write_listing,
};

use crate::model::Model;
use crate::packing::Packing;

/// The bytes of each table, which are packed whatever they are.
#[derive(Clone, Debug)]
pub struct Tables {
    /// How the tables are packed. The data area is packed already.
    pub packing: Packing,
    /// The block of compressor options.
    pub options: Option<Vec<u8>>,
    /// The data area.
    pub data: Vec<u8>,
    /// The inode table.
    pub inodes: Vec<u8>,
    /// Where each inode begins in it, and behind the last where they end.
    pub inode_at: Vec<usize>,
    /// The directory table.
    pub listings: Vec<u8>,
    /// The fragment table.
    pub fragments: Vec<u8>,
    /// The export table.
    pub exports: Vec<u8>,
    /// The id table.
    pub ids: Vec<u8>,
    /// The pairs of xattrs.
    pub pairs: Vec<u8>,
    /// The xattr id table.
    pub xattr_ids: Vec<u8>,
    /// Number of inodes.
    pub(crate) inode_count: u32,
    /// For each file that the nodes have: its index.
    files: Vec<usize>,
}

impl Tables {
    /// The tables of a model.
    ///
    /// # Panics
    ///
    /// If inodes or listings lie behind the first metadata block of a table that is compressed:
    /// nobody knows where the second begins.
    pub fn new(model: &Model) -> Self {
        // Lengths of inodes do not depend on what they refer to.
        let mut nodes = model.nodes.clone();
        let (mut inode_at, mut inodes, mut listings) = (Vec::new(), Vec::new(), Vec::new());
        for node in &nodes {
            inode_at.push(inodes.len());
            node.inode.write(&mut inodes);
        }
        let refer = |offset| refer(model.packing, offset);
        for index in 0..nodes.len() {
            let entries = nodes[index].entries.iter().map(|(name, child)| Entry {
                name: name.clone(),
                inode: refer(inode_at[*child]),
                number: nodes[*child].inode.number,
                kind: nodes[*child].inode.body.kind(),
            });
            let entries: Vec<_> = entries.collect();
            let listing = write_listing(&entries, listings.len() as u64);
            if let Body::Directory(directory) = &mut nodes[index].inode.body {
                let at = refer(listings.len());
                directory.block_start = at.block_start;
                directory.offset = at.offset;
                directory.listing_bytes = narrow(listing.bytes.len());
                listings.extend_from_slice(&listing.bytes);
            }
        }
        inodes.clear();
        for node in &nodes {
            node.inode.write(&mut inodes);
        }
        let mut numbered: Vec<_> = nodes.iter().zip(&inode_at).collect();
        numbered.sort_by_key(|(node, _)| node.inode.number);
        let exports = numbered
            .iter()
            .flat_map(|(_, offset)| refer(**offset).word().to_le_bytes());
        let is_file = |index: &usize| matches!(nodes[*index].inode.body, Body::File(_));
        let ids = model.ids.iter().flat_map(|id| id.to_le_bytes());
        Self {
            packing: model.packing,
            options: model.packing.options(),
            data: model.data.clone(),
            fragments: model.fragments.iter().flat_map(|it| it.write()).collect(),
            exports: exports.collect(),
            ids: ids.collect(),
            pairs: model.pairs.clone(),
            xattr_ids: xattr_ids(model),
            inode_count: narrow(nodes.len()),
            files: (0..nodes.len()).filter(is_file).collect(),
            inode_at: inode_at.into_iter().chain([inodes.len()]).collect(),
            inodes,
            listings,
        }
    }

    /// The bytes of an inode, to be changed.
    pub fn inode(&mut self, index: usize) -> &mut [u8] {
        &mut self.inodes[self.inode_at[index]..self.inode_at[index + 1]]
    }

    /// The bytes of the inode table that say which bytes a file has: its length, its block list,
    /// and where data and tail end lie.
    pub fn content_of_inodes(&self) -> Vec<Range<usize>> {
        const HEADER_BYTES: usize = size_of::<RawInodeHeader>();
        let extended = std::mem::offset_of!(RawExtendedFile, sparse);
        let fragment = std::mem::offset_of!(RawExtendedFile, fragment);
        let xattr = std::mem::offset_of!(RawExtendedFile, xattr);
        let ranges = self.files.iter().flat_map(|index| {
            let (start, end) = (self.inode_at[*index], self.inode_at[*index + 1]);
            let record = start + HEADER_BYTES;
            // The basic form has nothing else.
            if self.inodes[start] == 2 {
                return [record..end, 0..0, 0..0];
            }
            [
                record..record + extended,
                record + fragment..record + xattr,
                record + size_of::<RawExtendedFile>()..end,
            ]
        });
        ranges.collect()
    }

    /// The bytes of the fragment table that say where the blocks lie.
    pub fn content_of_fragments(&self) -> Vec<Range<usize>> {
        let unused = std::mem::offset_of!(coldpress_format::RawFragment, unused);
        let entries = (0..self.fragments.len()).step_by(Fragment::SIZE);
        entries.map(|start| start..start + unused).collect()
    }
}

/// Where a byte of a table is, as references state it.
pub(crate) fn refer(packing: Packing, offset: usize) -> InodeRef {
    let (block, within) = (offset / METADATA_BLOCK_SIZE, offset % METADATA_BLOCK_SIZE);
    assert!(block == 0 || !packing.compressed, "nobody knows where");
    InodeRef {
        block_start: narrow(block * (2 + METADATA_BLOCK_SIZE)),
        offset: u16::try_from(within).expect("8192 fits 16 bits"),
    }
}

fn xattr_ids(model: &Model) -> Vec<u8> {
    let sets = model.xattr_sets.iter().flat_map(|(pairs, count)| {
        let set = XattrId {
            pairs: *pairs,
            count: *count,
            size_bytes: narrow(model.pairs.len()),
        };
        set.write()
    });
    sets.collect()
}

/// A length in 32 bits.
pub(crate) fn narrow(len: usize) -> u32 {
    u32::try_from(len).expect("tests make small images")
}
