//! Metadata: names that are searched, inodes, block lists, through a small cache of blocks.

use coldpress_format::{Fragment, METADATA_BLOCK_SIZE, MetadataHeader};

use super::Kernel;
use crate::geometry::{FileGeometry, InodeGeometryKind, Lookup, MetadataRange};
use crate::slots::Kept;

#[expect(clippy::cast_possible_truncation, reason = "8 KiB")]
const METADATA_BLOCK_BYTES: u32 = METADATA_BLOCK_SIZE as u32;
/// A metadata block's header.
const HEADER_BYTES: u64 = MetadataHeader::SIZE;
/// Fragments that a metadata block of their table tells.
const FRAGMENTS_IN_BLOCK: usize = METADATA_BLOCK_SIZE / Fragment::SIZE;
/// Bytes of a block in a block list.
const WORD_BYTES: u64 = 4;

impl Kernel<'_> {
    /// What a mount reads and leaves in the cache: the root's inode and its owner.
    pub(super) fn remember_mount(&mut self) {
        let root = self.geometry.names.get(&b"/"[..]);
        let root = root.and_then(|name| self.geometry.places.get(name.place));
        for block in root
            .map(|root| root.inode.first)
            .into_iter()
            .chain([self.geometry.id_table])
        {
            self.metadata.get(block as u64);
            let start_byte = self.geometry.metadata.get(block).map(|it| it.start_byte);
            self.device.remember_hashes(start_byte.unwrap_or_default());
        }
        // The superblock, and where the tables lie, behind the last of them.
        self.device.remember_hashes(0);
        let end_byte = self.geometry.image_bytes;
        self.device.remember_hashes(end_byte.saturating_sub(1));
    }

    /// Finds a name in its directory and reads the inode (`squashfs_lookup`,
    /// `squashfs_read_inode`).
    pub(crate) fn look_up(&mut self, now_s: &mut f64, name: Lookup) {
        *now_s += self.machine.speeds.lookup_s;
        if self.kept.is_some() {
            self.request(now_s);
        }
        if let Some(search) = name.search {
            self.touch(now_s, search);
        }
        let Some(place) = self.geometry.places.get(name.place) else {
            return;
        };
        self.touch(now_s, place.inode);
        self.touch_block(now_s, self.geometry.id_table);
        if let InodeGeometryKind::File(file) = &place.kind
            && let (Some(fragment), Some(table)) = (file.fragment, self.geometry.fragment_table)
        {
            self.touch_block(now_s, table + fragment as usize / FRAGMENTS_IN_BLOCK);
        }
    }

    /// Reads a listing, or another run of metadata.
    pub(crate) fn touch(&mut self, now_s: &mut f64, range: MetadataRange) {
        for block in range.first..=range.last.min(self.geometry.metadata.len()) {
            self.touch_block(now_s, block);
        }
    }

    /// Reads the block list of a file up to a block, from where the index of that file leads: each
    /// 2048 words, a metadata block's, it knows where they begin, up to the last one that was read.
    pub(super) fn read_block_list(&mut self, now_s: &mut f64, file: &FileGeometry, block: u64) {
        let (first, offset) = file.list;
        let run = block * WORD_BYTES / u64::from(METADATA_BLOCK_BYTES);
        let run = usize::try_from(run).unwrap_or(usize::MAX);
        let known = self.indexed.entry(file.list).or_default();
        let from = run.min(*known);
        *known = run.max(*known);
        let end = u64::from(offset) + (block + 1) * WORD_BYTES;
        let further = end.saturating_sub(1) / u64::from(METADATA_BLOCK_BYTES);
        let further = usize::try_from(further).unwrap_or(usize::MAX);
        let last = first.saturating_add(further);
        let first = first.saturating_add(from);
        self.touch(now_s, MetadataRange { first, last });
    }

    fn touch_block(&mut self, now_s: &mut f64, block: usize) {
        let Some(&extent) = self.geometry.metadata.get(block) else {
            return;
        };
        let kept = self.metadata.get(block as u64);
        if kept == Kept::Yes {
            return;
        }
        let begun_s = *now_s;
        let before = (self.device.reads, self.device.read_bytes);
        let mut body_start = extent.start_byte;
        if self.rules.reads_headers {
            *now_s = self.device.read(*now_s, extent.start_byte, HEADER_BYTES);
            body_start += HEADER_BYTES;
        }
        let body_bytes = extent.end().saturating_sub(body_start);
        *now_s = self.device.read(*now_s, body_start, body_bytes);
        self.metadata_reads += self.device.reads - before.0;
        self.metadata_bytes += self.device.read_bytes - before.1;
        let arrived_s = *now_s;
        self.decompress(now_s, METADATA_BLOCK_BYTES, &extent);
        if kept == Kept::NoMore {
            self.causes.metadata_again_s += *now_s - begun_s;
        } else {
            self.causes.metadata_wait_s += arrived_s - begun_s;
            self.causes.decompress_s += *now_s - arrived_s;
        }
    }
}
