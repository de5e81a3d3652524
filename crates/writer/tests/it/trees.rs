//! Trees on disk, and images of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;

use coldpress_codec::Settings;
use coldpress_format::{BlockSize, Compressor};
use coldpress_image::{Image, Severity};
use coldpress_layout::{Group, NodeId, Order, Plan, Tails, order};
use coldpress_writer::{
    Error, Input, MetadataLayout, Options, Progress, Source, SourceOptions, Summary, Uncompressed,
    Warning, gather, write,
};

/// What a generated tree has in one place.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// Bytes that follow from the seed, so that equal seeds and lengths are duplicates.
    File {
        seed: u8,
        len: usize,
    },
    /// Data only in the middle of a hole.
    Sparse {
        len: u64,
    },
    Symlink(String),
    /// Another name for the file that was made before.
    Link,
    Directory(Vec<(String, Entry)>),
}

/// Makes `entries` in `directory`; names that are there already are left out.
pub(crate) fn make(directory: &Path, entries: &[(String, Entry)]) {
    let mut last_file = None;
    for (name, entry) in entries {
        let path = directory.join(name);
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match entry {
            Entry::File { seed, len } => {
                fs::write(&path, content(*seed, *len)).unwrap();
                last_file = Some(path);
            }
            Entry::Sparse { len } => {
                let file = File::create(&path).unwrap();
                file.set_len(*len).unwrap();
                file.write_all_at(b"in the middle", len / 2).unwrap();
                last_file = Some(path);
            }
            Entry::Symlink(target) => symlink(target, &path).unwrap(),
            Entry::Link => {
                if let Some(file) = &last_file {
                    fs::hard_link(file, &path).unwrap();
                }
            }
            Entry::Directory(entries) => {
                fs::create_dir(&path).unwrap();
                make(&path, entries);
            }
        }
    }
}

/// Compressible for even seeds, not for odd ones, zeros for 0.
pub(crate) fn content(seed: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    if seed > 0 {
        blake3::Hasher::new()
            .update(&[seed])
            .finalize_xof()
            .fill(&mut bytes);
    }
    if seed.is_multiple_of(2) {
        for byte in &mut bytes {
            *byte &= 3;
        }
    }
    bytes
}

pub(crate) fn options(compressor: Option<Compressor>, block_bytes: u32) -> Options {
    Options {
        compression: compressor.map(|compressor| Settings::new(compressor, None).unwrap()),
        uncompressed: Uncompressed::default(),
        block_size: BlockSize::new(block_bytes).unwrap(),
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
    }
}

pub(crate) fn scanned(directory: &Path) -> Source {
    scanned_for(directory, None)
}

/// Scanned with duplicate tail ends for images of this block size, if there is one.
pub(crate) fn scanned_for(directory: &Path, tails: Option<BlockSize>) -> Source {
    let mut source = gather(
        &[Input::Directory(directory.to_path_buf())],
        &SourceOptions::default(),
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    source
        .find_duplicates(tails, NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    source
}

/// The image's bytes.
pub(crate) fn built(source: &Source, plan: &Plan, options: &Options) -> Vec<u8> {
    try_build(source, plan, options).unwrap().0
}

pub(crate) fn try_build(
    source: &Source,
    plan: &Plan,
    options: &Options,
) -> Result<(Vec<u8>, Summary), Error> {
    build_while(source, plan, options, &mut |_| ControlFlow::Continue(()))
}

/// Builds, with something that happens meanwhile.
pub(crate) fn build_while(
    source: &Source,
    plan: &Plan,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Vec<u8>, Summary), Error> {
    let (order, _) = order(&source.tree, plan, options.block_size, options.tails);
    build_in_order(source, &order, options, progress)
}

/// Builds as an order says.
pub(crate) fn build_in_order(
    source: &Source,
    order: &Order,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Vec<u8>, Summary), Error> {
    let mut output = tempfile::tempfile().unwrap();
    let summary = write(source, order, &output, options, progress)?;
    let mut bytes = Vec::new();
    std::io::Seek::rewind(&mut output).unwrap();
    std::io::Read::read_to_end(&mut output, &mut bytes).unwrap();
    Ok((bytes, summary))
}

pub(crate) fn differences(bytes: &[u8], source: &Source) -> Vec<String> {
    differences_but(bytes, source, &BTreeMap::new())
}

/// Differences, but for length and content of `changed` files.
pub(crate) fn differences_but(
    bytes: &[u8],
    source: &Source,
    changed: &BTreeMap<NodeId, Warning>,
) -> Vec<String> {
    let image = Image::new(Box::new(bytes.to_vec())).unwrap();
    let problems = coldpress_image::check(&image, &mut |_| ControlFlow::Continue(())).unwrap();
    // The metadata blocks of an image that is recorded are not full, which is noticed.
    let errors = problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error);
    assert_eq!(errors.map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    let differences =
        coldpress_writer::verify(&image, source, changed, &mut |_| ControlFlow::Continue(()))
            .unwrap();
    differences.iter().map(ToString::to_string).collect()
}
