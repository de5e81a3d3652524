//! How fast this machine decompresses what a start read.

use std::time::Instant;

use coldpress_format::Body;
use coldpress_host::{RawEvent, RawKind};
use coldpress_image::{Error, Image};

use crate::{Block, BlockKind, ImageMap};

/// Blocks that are decompressed for it, a few milliseconds of work.
const SAMPLES: usize = 48;

/// Bytes that a thread makes in a second of data blocks that were read; `None` if none was.
///
/// Each block is read twice, so that the second time the disk has no part in it.
///
/// # Errors
///
/// If a block is damaged.
pub fn decompression_bytes_per_s(
    image: &Image,
    map: &ImageMap,
    events: &[RawEvent],
) -> Result<Option<u64>, Error> {
    let (mut len_bytes, mut time_ns) = (0_u64, 0_u128);
    for (path, offset, len) in samples(map, events) {
        let Some((_, inode)) = image.find(path)? else {
            continue;
        };
        let Body::File(file) = inode.body else {
            continue;
        };
        let mut buf = vec![0; usize::try_from(len).unwrap_or(0)];
        image.read_at(&file, offset, &mut buf)?;
        let began = Instant::now();
        image.read_at(&file, offset, &mut buf)?;
        time_ns += began.elapsed().as_nanos();
        len_bytes += len;
    }
    let rate = (u128::from(len_bytes) * 1_000_000_000).checked_div(time_ns);
    Ok(rate.and_then(|rate| u64::try_from(rate).ok()))
}

/// Path, offset and length of some of the data blocks that were read, evenly over the start.
fn samples<'a>(
    map: &'a ImageMap,
    events: &[RawEvent],
) -> impl Iterator<Item = (&'a [u8], u64, u64)> {
    let blocks: Vec<&Block> = events
        .iter()
        .filter_map(|event| match event.kind {
            RawKind::DeviceRead {
                start_byte,
                len_bytes,
            } => whole_data_block(map, start_byte, start_byte.saturating_add(len_bytes)),
            _ => None,
        })
        .collect();
    let step = blocks.len().div_ceil(SAMPLES).max(1);
    let chosen: Vec<&Block> = blocks.into_iter().step_by(step).collect();
    chosen.into_iter().filter_map(|block| {
        let BlockKind::Data { file, index } = block.kind else {
            return None;
        };
        let path = &*map.files().get(file)?.path;
        Some((
            path,
            index.saturating_mul(map.block_bytes()),
            block.len_bytes,
        ))
    })
}

/// The first data block that begins in a read, if it ends there as well.
fn whole_data_block(map: &ImageMap, start: u64, end: u64) -> Option<&Block> {
    let first = map.blocks().partition_point(|block| block.start < start);
    let block = map.blocks().get(first)?;
    let is_whole = matches!(block.kind, BlockKind::Data { .. }) && block.end() <= end;
    is_whole.then_some(block)
}
