use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{Grouping, Plan, Sketches, Tails, order_grouped};
use coldpress_writer::{Error, Options, Source};

use crate::trees::{build_in_order, content, differences, options, scanned};

const BLOCK_BYTES: u32 = 16384;

/// Sixty files that no compressor makes smaller, of twenty kinds: those of a kind differ in a line,
/// and lie as far apart as can be.
fn make_kinds(root: &Path) {
    for copy in 0..3 {
        let directory = root.join(format!("{copy}"));
        fs::create_dir(&directory).unwrap();
        for kind in 0..20_u8 {
            let mut bytes = content(2 * kind + 1, 3000);
            bytes.extend(format!("this is copy {copy}\n").as_bytes());
            fs::write(directory.join(format!("{kind:02}")), bytes).unwrap();
        }
    }
}

fn sketches(source: &Source, tails: Tails, threads: usize) -> Sketches {
    let block_size = BlockSize::new(BLOCK_BYTES).unwrap();
    let threads = NonZeroUsize::new(threads).unwrap();
    let mut go_on = |_| ControlFlow::Continue(());
    source
        .sketch_tails(block_size, tails, threads, &mut go_on)
        .unwrap()
}

/// The image, and the bytes of its data area.
fn built(source: &Source, grouping: Grouping<'_>, options: &Options) -> (Vec<u8>, u64) {
    let plan = Plan::default();
    let (order, _) = order_grouped(
        &source.tree,
        &plan,
        options.block_size,
        options.tails,
        grouping,
    );
    let mut go_on = |_| ControlFlow::Continue(());
    let (image, summary) = build_in_order(source, &order, options, &mut go_on).unwrap();
    (image, summary.stored_bytes)
}

#[test]
fn what_is_similar_shares_a_block_and_the_image_is_smaller() {
    let directory = tempfile::tempdir().unwrap();
    make_kinds(directory.path());
    let source = scanned(directory.path());
    let options = options(Some(Compressor::Zstd), BLOCK_BYTES);
    let sketches = sketches(&source, Tails::Small, 1);
    assert_eq!(sketches.len(), 60);
    let (_, ungrouped_bytes) = built(&source, Grouping::None, &options);
    let (image, grouped_bytes) = built(&source, Grouping::Similar(&sketches), &options);
    assert_eq!(differences(&image, &source), Vec::<String>::new());
    // Two of three files are in a block with one that is almost the same.
    assert!(ungrouped_bytes > 175_000, "{ungrouped_bytes}");
    assert!(grouped_bytes < 95_000, "{grouped_bytes}");
}

#[test]
fn sketches_and_images_do_not_depend_on_threads() {
    let directory = tempfile::tempdir().unwrap();
    make_kinds(directory.path());
    let source = scanned(directory.path());
    let mut options = options(Some(Compressor::Gzip), BLOCK_BYTES);
    options.tails = Tails::All;
    let first = sketches(&source, Tails::All, 1);
    let (image, _) = built(&source, Grouping::Similar(&first), &options);
    for threads in [2, 7] {
        let again = sketches(&source, Tails::All, threads);
        assert_eq!(again, first);
        options.threads = NonZeroUsize::new(threads).unwrap();
        assert!(image == built(&source, Grouping::Similar(&again), &options).0);
    }
}

#[test]
fn only_tails_that_may_share_a_block_are_looked_at() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, len: u32| {
        fs::write(directory.path().join(name), content(1, len as usize)).unwrap();
    };
    write("empty", 0);
    write("full", 2 * BLOCK_BYTES);
    write("large", 2 * BLOCK_BYTES + 5000);
    write("small", 6000);
    write("small-again", 6000);
    let source = scanned(directory.path());
    let names = |tails| {
        let paths = source.tree.paths();
        let found = sketches(&source, tails, 1).into_keys();
        found
            .map(|node| String::from_utf8(paths[node.index()].clone()).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(Tails::None), [""; 0]);
    assert_eq!(names(Tails::Small), ["/small"]);
    let mut all = names(Tails::All);
    all.sort();
    assert_eq!(all, ["/large", "/small"]);
}

#[test]
fn a_file_that_is_gone_has_no_sketch_and_who_interrupts_is_heard() {
    let directory = tempfile::tempdir().unwrap();
    make_kinds(directory.path());
    let source = scanned(directory.path());
    fs::remove_file(directory.path().join("0/00")).unwrap();
    assert_eq!(sketches(&source, Tails::Small, 2).len(), 59);
    let block_size = BlockSize::new(BLOCK_BYTES).unwrap();
    let mut stop = |_| ControlFlow::Break(());
    let stopped = source.sketch_tails(block_size, Tails::Small, NonZeroUsize::MIN, &mut stop);
    assert!(matches!(stopped, Err(Error::Interrupted)));
}
