//! Rules of those who take images only if they can make them again.
//!
//! Those of the Snap Store are what its `review-tools` check (`check_squashfs_resquash`): the compressor, no
//! fragment blocks, and the same checksum after `unsquashfs` and `mksquashfs` with fixed options.

use coldpress_format::Compressor;
use coldpress_image::Image;

/// The options that the store gives mksquashfs.
pub(super) fn snap_store(image: &Image) -> Vec<String> {
    let compressor = match image.superblock().compressor {
        Compressor::Lzo => "lzo",
        _ => "xz",
    };
    let time_s = image.superblock().modification_time_s.to_string();
    [
        "-fstime",
        &time_s,
        "-noappend",
        "-comp",
        compressor,
        "-all-root",
        "-no-xattrs",
        "-no-fragments",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// The rules that an image breaks before it is made again.
pub(super) fn broken_of_the_snap_store(image: &Image) -> Vec<String> {
    let superblock = image.superblock();
    let mut broken = Vec::new();
    if !matches!(superblock.compressor, Compressor::Xz | Compressor::Lzo) {
        let compressor = superblock.compressor;
        broken.push(format!(
            "it is compressed by {compressor}, must be by xz or lzo"
        ));
    }
    if superblock.fragment_count > 0 {
        let count = superblock.fragment_count;
        broken.push(format!("it has {count} fragment blocks, must have none"));
    }
    broken
}
