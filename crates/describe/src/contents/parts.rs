//! The parts of an image in the order of its bytes, and the share of each.

use std::ops::Range;

use coldpress_format::{Flags, MetadataHeader, SUPERBLOCK_SIZE, Superblock};
use coldpress_image::ReadAt;
use coldpress_verity::Tree;
use serde::Serialize;

/// A range of image bytes with one purpose.
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) start: u64,
    pub(crate) size_bytes: u64,
    /// Of the bytes used; `None` for the padding behind them.
    pub(crate) share: Option<f64>,
}

/// The parts of an image.
///
/// The superblock states where the *index* of a fragment, export or id table begins; its metadata
/// blocks lie before, and the first word of the index says where. For xattrs that word is the
/// start of the names and values. A word that cannot be true is not followed: then the blocks are
/// counted to the part before.
///
/// * `pack`: where its start pack lies, if it has one.
pub(crate) fn of(
    superblock: &Superblock,
    bytes: &dyn ReadAt,
    pack: Option<Range<u64>>,
) -> Vec<Part> {
    let options_start = SUPERBLOCK_SIZE as u64;
    let mut starts = vec![("superblock", 0)];
    let mut data_start = options_start;
    if superblock.flags.contains(Flags::COMPRESSOR_OPTIONS) {
        starts.push(("compressor options", options_start));
        data_start += options_bytes(bytes, options_start).unwrap_or(0);
    }
    starts.extend([
        ("data", data_start),
        ("inode table", superblock.inode_table_start),
        ("directory table", superblock.directory_table_start),
    ]);
    let indexed = [
        (
            "fragment table",
            superblock
                .fragment_table_start
                .filter(|_| superblock.fragment_count > 0),
        ),
        ("export table", superblock.export_table_start),
        ("id table", Some(superblock.id_table_start)),
        ("xattr table", superblock.xattr_table_start),
    ];
    for (name, index_start) in indexed {
        let Some(index_start) = index_start else {
            continue;
        };
        let floor = starts.last().map_or(0, |(_, start)| *start);
        let first_block = first_word(bytes, index_start);
        let believable = first_block.filter(|start| (floor..=index_start).contains(start));
        starts.push((name, believable.unwrap_or(index_start)));
    }
    let ends = starts
        .iter()
        .skip(1)
        .map(|(_, start)| *start)
        .chain([superblock.bytes_used]);
    let mut parts: Vec<Part> = starts
        .iter()
        .zip(ends)
        .map(|(&(name, start), end)| {
            let size_bytes = end.saturating_sub(start);
            Part {
                name,
                start,
                size_bytes,
                share: coldpress_report::units::share(size_bytes, superblock.bytes_used),
            }
        })
        .collect();
    let file_bytes = bytes.size_bytes().unwrap_or(0);
    let appended = Tree::appended(bytes, superblock.bytes_used).ok().flatten();
    let tree_start = appended.map_or(file_bytes, |tree| tree.start);
    let pack = pack.unwrap_or(tree_start..tree_start);
    let behind = [
        ("padding", superblock.bytes_used, pack.start),
        ("start pack", pack.start, pack.end),
        ("padding", pack.end, tree_start),
        ("hash tree", tree_start, file_bytes),
    ];
    parts.extend(
        behind
            .into_iter()
            .filter(|(_, start, end)| start < end)
            .map(|(name, start, end)| Part {
                name,
                start,
                size_bytes: end - start,
                share: None,
            }),
    );
    parts
}

/// Bytes of the metadata block at `start`.
fn options_bytes(bytes: &dyn ReadAt, start: u64) -> Option<u64> {
    let header = read(bytes, start)?;
    let header = MetadataHeader::parse(header, start).ok()?;
    Some(MetadataHeader::SIZE + u64::from(header.size_bytes))
}

fn first_word(bytes: &dyn ReadAt, start: u64) -> Option<u64> {
    Some(u64::from_le_bytes(read(bytes, start)?))
}

fn read<const N: usize>(bytes: &dyn ReadAt, start: u64) -> Option<[u8; N]> {
    let mut buf = [0; N];
    let len = bytes.fill_at(&mut buf, start).ok()?;
    (len == N).then_some(buf)
}
