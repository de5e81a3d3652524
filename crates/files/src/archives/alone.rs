//! A file as the only one of an image, whose blocks are compressed to know their sizes.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use anyhow::anyhow;
use coldpress_codec::{Encoder, Settings, Workers, ordered};
use coldpress_cost::{
    Extent, FileGeometry, Geometry, InodeGeometry, InodeGeometryKind, Lookup, MetadataRange,
};
use coldpress_format::{BlockSize, Compressor};
use coldpress_image::ReadAt;

/// The archive, as the only file of its file system.
pub(super) const ARCHIVE: &[u8] = b"/archive";
/// What mksquashfs and coldpress take.
const BLOCK_SIZE: BlockSize = BlockSize::DEFAULT;
/// Blocks of Firefox's `omni.ja` are 5 % larger than at the default level, in a sixth of the time.
const ZSTD_LEVEL: i32 = 9;
/// Blocks that wait for each thread, so that none waits for the reader.
const WINDOW_OF_THREAD: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// A metadata block with one inode.
const INODE_BYTES: u32 = 64;

/// An image that holds nothing but this file.
pub(super) fn geometry(file: &dyn ReadAt) -> anyhow::Result<Geometry> {
    let size_bytes = file.size_bytes()?;
    let blocks = blocks(file, size_bytes)?;
    let image_bytes = blocks.last().map_or(0, Extent::end);
    let inode = MetadataRange { first: 0, last: 0 };
    let name = Lookup {
        place: 0,
        search: None,
    };
    Ok(Geometry {
        compressor: Compressor::Zstd,
        block_size: BLOCK_SIZE,
        image_bytes,
        places: vec![InodeGeometry {
            inode,
            kind: InodeGeometryKind::File(FileGeometry {
                size_bytes,
                blocks,
                ..FileGeometry::default()
            }),
        }],
        names: HashMap::from([(ARCHIVE.to_vec(), name)]),
        fragments: Vec::new(),
        // Reads of metadata are left out: an image has other files, whose metadata lie beside.
        metadata: vec![Extent {
            start_byte: image_bytes,
            stored_bytes: INODE_BYTES,
            len_bytes: INODE_BYTES,
            is_stored: true,
        }],
        fragment_table: None,
        hash_tree: None,
        id_table: 0,
    })
}

/// Its data blocks, one after the other.
fn blocks(file: &dyn ReadAt, size_bytes: u64) -> anyhow::Result<Vec<Extent>> {
    let settings = Settings::new(Compressor::Zstd, Some(ZSTD_LEVEL))?;
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let workers = Workers {
        threads,
        window: threads.saturating_mul(WINDOW_OF_THREAD),
    };
    let block_bytes = u64::from(BLOCK_SIZE.bytes());
    let jobs = (0..size_bytes.div_ceil(block_bytes)).map(|block| {
        let start = block * block_bytes;
        let len = block_bytes.min(size_bytes - start);
        let mut content = vec![0; usize::try_from(len)?];
        let read = file.fill_at(&mut content, start)?;
        if read < content.len() {
            return Err(anyhow!(
                "it ends at byte {}, not {size_bytes}",
                start + read as u64
            ));
        }
        Ok(content)
    });
    let mut blocks: Vec<Extent> = Vec::new();
    ordered(
        jobs,
        &workers,
        || Ok((Encoder::new(&settings, BLOCK_SIZE)?, Vec::new())),
        |(encoder, output), content| {
            let shrank = encoder.compress(&content, output)?;
            let stored = if shrank { output.len() } else { content.len() };
            Ok((shrank, stored, content.len()))
        },
        |(shrank, stored, len)| {
            blocks.push(Extent {
                start_byte: blocks.last().map_or(0, Extent::end),
                stored_bytes: u32::try_from(stored)?,
                len_bytes: u32::try_from(len)?,
                is_stored: !shrank,
            });
            Ok(())
        },
    )?;
    Ok(blocks)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Bytes that no compressor makes shorter.
    pub(in super::super) fn fill(content: &mut Vec<u8>, len: u64) {
        let mut state = 1_u64;
        while (content.len() as u64) < len {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            content.push(state.to_le_bytes()[5]);
        }
    }

    #[test]
    fn blocks_lie_one_after_the_other() {
        let mut content = vec![0; 200_000];
        fill(&mut content, 300_000);
        let blocks = blocks(&content.as_slice(), 300_000).expect("they are in memory");
        let lens: Vec<u32> = blocks.iter().map(|block| block.len_bytes).collect();
        assert_eq!(lens, [131_072, 131_072, 37_856]);
        assert_eq!(blocks[1].start_byte, blocks[0].end());
        assert!(blocks[0].stored_bytes < 100 && blocks[2].is_stored);
    }
}
