use std::num::NonZeroUsize;

use coldpress_format::Compressor;
use coldpress_layout::{Plan, PlanItem, Tails};
use proptest::prelude::*;

use crate::trees::{Entry, built, differences, make, options, scanned, try_build};

pub(crate) fn entry() -> impl Strategy<Value = Entry> {
    let len = prop_oneof![
        0_usize..40,
        4090_usize..4102,
        8188_usize..8197,
        0_usize..20_000
    ];
    let leaf = prop_oneof![
        4 => (0_u8..4, len).prop_map(|(seed, len)| Entry::File { seed, len }),
        1 => (1_u64..200_000).prop_map(|len| Entry::Sparse { len }),
        1 => "[a-z/.]{1,40}".prop_map(Entry::Symlink),
        1 => Just(Entry::Link),
    ];
    leaf.prop_recursive(4, 40, 8, |inner| {
        prop::collection::vec((name(), inner), 0..8).prop_map(Entry::Directory)
    })
}

pub(crate) fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-f]{1,2}", "[ -.0-~\u{e4}-\u{ff}]{3,20}"]
}

fn compressor() -> impl Strategy<Value = Option<Compressor>> {
    prop::sample::select(vec![
        None,
        Some(Compressor::Gzip),
        Some(Compressor::Lzo),
        Some(Compressor::Lz4),
        Some(Compressor::Zstd),
    ])
}

/// A plan that names some of the paths, in any order, in any role.
pub(crate) fn plan(paths: &[Vec<u8>], picks: &[(prop::sample::Index, u8)]) -> Plan {
    let mut plan = Plan::default();
    for (index, role) in picks {
        let path = index.get(paths).clone();
        match role {
            0 => plan.data.push(PlanItem::Blocks(path)),
            1 => plan.data.push(PlanItem::Fragment(vec![path])),
            2 => match plan.data.last_mut() {
                Some(PlanItem::Fragment(tails)) => tails.push(path),
                _ => plan.data.push(PlanItem::Fragment(vec![path])),
            },
            3 => plan.inodes.push(path),
            _ => plan.directories.push(path),
        }
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_image_holds_its_tree_for_any_plan_options_and_threads(
        entries in prop::collection::vec((name(), entry()), 0..12),
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..5), 0..30),
        compressor in compressor(),
        tails in prop::sample::select(vec![Tails::None, Tails::Small, Tails::All]),
        exportable in any::<bool>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        make(directory.path(), &entries);
        let source = scanned(directory.path());
        let plan = plan(&source.tree.paths(), &picks);
        let mut options = options(compressor, 4096);
        (options.tails, options.exportable) = (tails, exportable);
        let image = built(&source, &plan, &options);
        prop_assert_eq!(differences(&image, &source), Vec::<String>::new());
        for threads in [2, 7] {
            options.threads = NonZeroUsize::new(threads).unwrap();
            prop_assert!(image == built(&source, &plan, &options), "differs with {} threads", threads);
        }
    }
}

#[test]
fn duplicates_take_their_space_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, len| (name.to_owned(), Entry::File { seed: 1, len });
    make(
        directory.path(),
        &[
            file("a", 100_000),
            file("b", 100_000),
            file("c", 10),
            file("d", 10),
        ],
    );
    let source = scanned(directory.path());
    let (image, summary) = try_build(
        &source,
        &Plan::default(),
        &options(Some(Compressor::Gzip), 4096),
    )
    .unwrap();
    assert_eq!(differences(&image, &source), Vec::<String>::new());
    assert_eq!(
        (summary.duplicate_files, summary.duplicate_bytes),
        (2, 100_010)
    );
    assert_eq!(summary.stored_bytes, 100_010);
}

#[test]
fn a_terabyte_of_hole_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let len = 1 << 40;
    make(
        directory.path(),
        &[("hole".to_owned(), Entry::Sparse { len })],
    );
    let source = scanned(directory.path());
    let options = options(Some(Compressor::Zstd), 1 << 20);
    let (_, summary) = try_build(&source, &Plan::default(), &options).unwrap();
    assert_eq!(summary.sparse_bytes, len - (1 << 20));
}

#[test]
fn a_directory_with_a_long_index_settles_and_reads_back() {
    let directory = tempfile::tempdir().unwrap();
    let name = |n: u32| {
        (
            format!("{n:0width$}", width = 5 + (n % 40) as usize),
            Entry::Directory(vec![]),
        )
    };
    let entries: Vec<_> = (0..20_000).map(name).collect();
    make(directory.path(), &entries);
    let source = scanned(directory.path());
    let image = built(
        &source,
        &Plan::default(),
        &options(Some(Compressor::Lz4), 4096),
    );
    assert_eq!(differences(&image, &source), Vec::<String>::new());
}
