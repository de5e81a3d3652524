//! Building what was read, and reading it back.

use std::collections::BTreeMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_codec::Settings;
use coldpress_format::BlockSize;
use coldpress_image::{Image, check};
use coldpress_layout::{Group, Grouping, Keeping, Plan, Stability, Tails, order_keeping};
use coldpress_writer::{
    MetadataLayout, Options, Reuse, Source, Uncompressed, former, verify, write,
};

/// More content is not built: holes of gigabytes take their time, and no more.
const CONTENT_MAX_BYTES: u64 = 1 << 20;
/// More inodes are not built.
const INODES_MAX: usize = 2000;

/// The compressor and the block size of the image.
pub(crate) type Packing = (Option<Settings>, BlockSize);

/// Builds an image of a source, and asserts that it is sound and holds what the source holds.
///
/// A source that cannot be read to its end gives an error, and that is fine.
///
/// * `kept`: an image of which is kept what the source has too, opened twice.
pub(crate) fn build(
    mut source: Source,
    output: &File,
    (compression, block_size): Packing,
    kept: Option<[Image; 2]>,
) {
    if source.content_bytes() > CONTENT_MAX_BYTES || source.tree.nodes.len() > INODES_MAX {
        return;
    }
    source.tree.check().expect("a source gives a lawful tree");
    let options = Options {
        compression,
        uncompressed: Uncompressed::default(),
        block_size,
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
    let mut go_on = |_| ControlFlow::Continue(());
    let found = source.find_duplicates(None, NonZeroUsize::MIN, &mut go_on);
    found.expect("nobody interrupts");
    let former = kept.and_then(|[image, again]| {
        let former = former(&image, &source, &options, &mut go_on).ok()?;
        source.reuse = Some(Reuse::keeping(again, &source, &options).ok()?);
        Some(former)
    });
    let keeping = former.as_ref().map(|former| Keeping {
        former,
        stability: Stability::MAX,
        align_bytes: 0,
    });
    let (order, _) = order_keeping(
        &source.tree,
        &Plan::default(),
        options.block_size,
        options.tails,
        Grouping::None,
        keeping,
    );
    let Ok(summary) = write(&source, &order, output, &options, &mut go_on) else {
        return;
    };
    let output = output.try_clone().expect("descriptors are left");
    let image = Image::new(Box::new(output)).expect("what was built opens");
    let problems = check(&image, &mut |_| ControlFlow::Continue(())).expect("nobody interrupts");
    assert!(
        problems.is_empty(),
        "what was built is damaged: {}",
        problems[0]
    );
    if summary.changed.is_empty() {
        let differences = verify(&image, &source, &BTreeMap::new(), &mut go_on);
        let differences = differences.expect("the source was read before");
        assert!(differences.is_empty(), "{}", differences[0]);
    }
}
