use std::ops::ControlFlow;
use std::path::Path;

use coldpress_codec::Settings;
use coldpress_format::{BlockSize, Compressor};
use coldpress_image::Image;
use coldpress_layout::{Grouping, Keeping, Plan, Stability, Tails, order_keeping};
use coldpress_writer::{Error, NotReusable, Options, Reuse, Source, former};
use proptest::prelude::*;

use crate::round_trip::{entry, name, plan};
use crate::trees::{Entry, build_in_order, built, differences, make, options, scanned_for};

fn scanned(directory: &Path) -> Source {
    scanned_for(directory, BlockSize::new(4096).ok())
}

fn image(bytes: &[u8]) -> Image {
    Image::new(Box::new(bytes.to_vec())).unwrap()
}

/// An image of a source that keeps what an older one has.
fn kept(
    source: &mut Source,
    (plan, options): (&Plan, &Options),
    before: &[u8],
    stability: Stability,
) -> Result<Vec<u8>, Error> {
    let former = former(&image(before), source, options, &mut |_| {
        ControlFlow::Continue(())
    })?;
    source.reuse = Some(Reuse::keeping(image(before), source, options)?);
    let keeping = Keeping {
        former: &former,
        stability,
        align_bytes: 4096,
    };
    let (block_size, tails) = (options.block_size, options.tails);
    let grouping = Grouping::None;
    let tree = &source.tree;
    let order = order_keeping(tree, plan, block_size, tails, grouping, Some(keeping)).0;
    let go_on = &mut |_| ControlFlow::Continue(());
    Ok(build_in_order(source, &order, options, go_on)?.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_image_holds_its_tree_whatever_is_kept(
        entries in prop::collection::vec((name(), entry()), 0..12),
        others in prop::collection::vec((name(), entry()), 0..6),
        common in 0..12_usize,
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..5), 0..30),
        tails in prop::sample::select(vec![Tails::None, Tails::Small, Tails::All]),
        share in 0.0..=1.0,
    ) {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        make(first.path(), &entries);
        make(second.path(), entries.get(..common).unwrap_or(&entries));
        make(second.path(), &others);
        let mut options = options(Some(Compressor::Zstd), 4096);
        options.tails = tails;
        let source = scanned(first.path());
        let old_plan = plan(&source.tree.paths(), &picks);
        let before = built(&source, &old_plan, &options);

        let stability = Stability::new(share).unwrap();
        let mut next = scanned(second.path());
        let next_plan = plan(&next.tree.paths(), &picks);
        let after = kept(&mut next, (&next_plan, &options), &before, stability).unwrap();
        prop_assert_eq!(differences(&after, &next), Vec::<String>::new());

        // The same tree and plan: the same image. Another plan: the same data.
        let mut again = scanned(first.path());
        let same = kept(&mut again, (&old_plan, &options), &before, Stability::MAX).unwrap();
        prop_assert!(same == before, "another image of the same tree");
        let mut again = scanned(first.path());
        let data = kept(&mut again, (&Plan::default(), &options), &before, Stability::MAX).unwrap();
        let end = |bytes: &[u8]| usize::try_from(image(bytes).superblock().inode_table_start).unwrap();
        prop_assert!(data[96..end(&data)] == before[96..end(&before)], "other data");
    }
}

fn tree(directory: &Path, last: u8) -> Source {
    let file = |name: &str, seed, len| (name.to_owned(), Entry::File { seed, len });
    make(
        directory,
        &[
            file("a", 1, 30_000),
            file("b", last, 30_000),
            file("c", 3, 30_000),
            file("d", 2, 900),
            file("e", 4, 900),
        ],
    );
    scanned(directory)
}

#[test]
fn blocks_of_another_level_are_kept_as_they_are() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at_level = |level| Options {
        compression: Some(Settings::new(Compressor::Gzip, Some(level)).unwrap()),
        ..options(None, 4096)
    };
    // Of gzip only the default level is not recorded.
    let before = built(&tree(first.path(), 8), &Plan::default(), &at_level(9));
    let mut source = tree(second.path(), 8);
    let plan = Plan::default();
    let after = kept(&mut source, (&plan, &at_level(9)), &before, Stability::MAX).unwrap();
    assert!(after == before);
    let other = kept(&mut source, (&plan, &at_level(1)), &before, Stability::MAX);
    let refused = matches!(other, Err(Error::NotReusable(NotReusable::Settings { .. })));
    assert!(refused, "nothing could stay");
}

#[test]
fn what_stays_begins_where_an_updater_with_fixed_blocks_finds_it() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = options(None, 4096);
    let plan = Plan::default();
    let before = built(&tree(first.path(), 8), &plan, &options);
    let file = (String::from("a0"), Entry::File { seed: 7, len: 5000 });
    make(second.path(), &[file]);
    let mut source = tree(second.path(), 8);
    let after = kept(&mut source, (&plan, &options), &before, Stability::MAX).unwrap();
    assert_eq!(differences(&after, &source), [""; 0]);
    let blocks =
        |bytes: &[u8]| -> Vec<Vec<u8>> { bytes.chunks_exact(4096).map(<[u8]>::to_vec).collect() };
    let known = blocks(&before);
    let new = blocks(&after);
    let lost = new.iter().filter(|block| !known.contains(block)).count();
    // Of 90,000 bytes that did not change none is fetched: only those of the new file, and tables.
    assert!(lost <= 4, "{lost} of {}", new.len());
}

#[test]
fn a_damaged_image_is_an_error_and_one_that_lies_does_no_harm() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = options(Some(Compressor::Zstd), 4096);
    let plan = Plan::default();
    let before = built(&tree(first.path(), 8), &plan, &options);
    let mut damaged = before.clone();
    // In the first block of `b`, the first file that is compressed.
    damaged[30_110..30_300].fill(0xff);
    let mut source = tree(second.path(), 8);
    let found = kept(&mut source, (&plan, &options), &damaged, Stability::MAX);
    let said = found
        .map(|bytes| bytes.len())
        .map_err(|error| error.to_string());
    assert!(said.is_err(), "{said:?}");

    // It changes after it was compared: what it holds is compared again when it is copied.
    let found = former(&image(&before), &source, &options, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let other = tempfile::tempdir().unwrap();
    let liar = built(&tree(other.path(), 6), &plan, &options);
    source.reuse = Some(Reuse::keeping(image(&liar), &source, &options).unwrap());
    let keeping = Keeping {
        former: &found,
        stability: Stability::MAX,
        align_bytes: 0,
    };
    let (block_size, tails) = (options.block_size, options.tails);
    let order = order_keeping(
        &source.tree,
        &plan,
        block_size,
        tails,
        Grouping::None,
        Some(keeping),
    )
    .0;
    let go_on = &mut |_| ControlFlow::Continue(());
    let after = build_in_order(&source, &order, &options, go_on).unwrap().0;
    assert_eq!(differences(&after, &source), [""; 0]);
}
