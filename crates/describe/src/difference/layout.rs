//! Why two images of the same files are different bytes.

use coldpress_format::Superblock;
use coldpress_image::{Comparison, Image};
use coldpress_report::text::{plural, quoted_bytes};

/// The causes that were found, one on each line.
///
/// * `comparison`: of the two.
pub fn causes(left: &Image, right: &Image, comparison: &Comparison) -> Vec<String> {
    let mut causes = Vec::new();
    let layout = &comparison.layout;
    for (what, path) in [
        ("data lies", &layout.data_order),
        ("tail ends lie", &layout.tail_order),
        ("inodes lie", &layout.inode_order),
    ] {
        if let Some(path) = path {
            let path = quoted_bytes(path);
            causes.push(format!("{what} in another order after {path}"));
        }
    }
    if let Some(path) = &layout.first_packed_differently {
        let count = plural(
            layout.tails_packed_differently,
            "tail end is",
            "tail ends are",
        );
        let path = quoted_bytes(path);
        causes.push(format!(
            "{count} in fragment blocks of one image only, the first of {path}"
        ));
    }
    let (first, second) = layout.sharing;
    if first != second {
        causes.push(format!(
            "files that share their data with another: {first} -> {second}"
        ));
    }
    causes.extend(compression(left, right, comparison));
    if layout.renumbered > 0 {
        let count = plural(layout.renumbered, "inode has", "inodes have");
        causes.push(format!("{count} another number"));
    }
    causes
}

/// Whether blocks of the same content are stored as other bytes.
fn compression(left: &Image, right: &Image, comparison: &Comparison) -> Option<String> {
    let blocks = &comparison.blocks;
    let path = blocks.first_recompressed.as_ref()?;
    let compressor = left.superblock().compressor;
    // With two compressors no other is to be expected.
    if compressor != right.superblock().compressor {
        return None;
    }
    let all = blocks.equal + blocks.recompressed;
    let why = if left.options() == right.options() {
        "another level or another encoder"
    } else {
        "with other options"
    };
    Some(format!(
        "{} of {all} data blocks hold the same, compressed by {compressor} to other bytes ({why}), \
         the first of {}",
        blocks.recompressed,
        quoted_bytes(path)
    ))
}

/// Where the first byte lies that differs, if nothing else was found.
pub fn unexplained(image: &Image, byte: u64) -> String {
    let part = part_of(image.superblock(), byte);
    format!("the first byte that differs is {byte}, {part}")
}

fn part_of(superblock: &Superblock, byte: u64) -> &'static str {
    if byte >= superblock.bytes_used {
        "after the end of the first image"
    } else if byte >= superblock.directory_table_start {
        "in the directory table or a later table"
    } else if byte >= superblock.inode_table_start {
        "in the inode table"
    } else if byte >= coldpress_format::SUPERBLOCK_SIZE as u64 {
        "in the data area"
    } else {
        "in the superblock"
    }
}
