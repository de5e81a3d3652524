//! Images of directories.

use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use coldpress_codec::Settings;
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{Group, Plan, Tails, order};
use coldpress_writer::{
    Input, MetadataLayout, Options, SourceOptions, Uncompressed, gather, write,
};

/// Bytes of a data block.
pub(crate) const BLOCK_BYTES: usize = 4096;

/// Bytes that follow from the seed and do not compress to nothing.
pub(crate) fn content(seed: u32, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.finalize_xof().fill(&mut bytes);
    for byte in &mut bytes {
        *byte &= 63;
    }
    bytes
}

/// Builds an image with blocks of 4 KiB.
///
/// * `level`: of gzip.
pub(crate) fn build(directory: &Path, image: &Path, plan: &Plan, level: i32) {
    let go_on = &mut |_| ControlFlow::Continue(());
    let options = Options {
        compression: Some(Settings::new(Compressor::Gzip, Some(level)).unwrap()),
        uncompressed: Uncompressed::default(),
        block_size: BlockSize::new(u32::try_from(BLOCK_BYTES).unwrap()).unwrap(),
        threads: NonZeroUsize::MIN,
        memory_bytes: 1 << 20,
        modification_time_s: 7,
        tails: Tails::Small,
        group: Group::None,
        exportable: true,
        metadata: MetadataLayout::Dense,
        offset_bytes: 0,
        is_padded: true,
        deduplicated: true,
        without_xattrs: false,
    };
    let inputs = [Input::Directory(directory.to_path_buf())];
    let source = gather(&inputs, &SourceOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let (order, _) = order(&source.tree, plan, options.block_size, options.tails);
    let file = File::create(image).unwrap();
    write(&source, &order, &file, &options, go_on).unwrap();
}
