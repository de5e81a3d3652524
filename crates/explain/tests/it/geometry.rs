//! The predicted geometry with the sizes of real blocks is that of the built image.

use std::collections::HashMap;
use std::io::{Read as _, Seek as _};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_assemble::{MetadataLayout, TableOptions};
use coldpress_codec::Settings;
use coldpress_cost::{Geometry, ImageOptions};
use coldpress_explain::geometry;
use coldpress_format::{BlockSize, Compressor};
use coldpress_image::Image;
use coldpress_layout::{BlockEncoding, EncodingRule, Group, Kind, Plan, PlanItem, Tails, order};
use coldpress_writer::{Options, Source, Uncompressed, write};

use crate::real_sizes::RealSizes;
use crate::trees::{Numbers, make_crowd, make_mixed, scanned};

const TAILS: [Tails; 3] = [Tails::None, Tails::Small, Tails::All];
const COMPRESSORS: [Option<Compressor>; 5] = [
    Some(Compressor::Zstd),
    None,
    Some(Compressor::Lz4),
    Some(Compressor::Gzip),
    Some(Compressor::Lzo),
];

/// Options of which each differs with another number.
fn options(number: usize, block_size: BlockSize, tails: Tails) -> Options {
    let compressor = COMPRESSORS[number % COMPRESSORS.len()];
    Options {
        compression: compressor.map(|compressor| {
            let has_levels = matches!(compressor, Compressor::Zstd | Compressor::Gzip);
            let level = has_levels.then_some(1);
            Settings::new(compressor, level).unwrap()
        }),
        uncompressed: Uncompressed {
            inodes: number % 4 == 1,
            ids: number % 4 == 2,
            data: number % 7 == 3,
            fragments: number % 5 == 3,
            xattrs: number % 6 == 4,
        },
        block_size,
        threads: NonZeroUsize::new(2).unwrap(),
        memory_bytes: 8 << 20,
        modification_time_s: 7,
        tails,
        group: Group::None,
        exportable: !number.is_multiple_of(3),
        metadata: if number % 8 == 5 {
            MetadataLayout::Spread
        } else {
            MetadataLayout::Dense
        },
        offset_bytes: 0,
        is_padded: true,
        deduplicated: true,
        without_xattrs: false,
    }
}

/// A plan that names a part of a tree, in no good order.
fn plan(source: &Source, numbers: &mut Numbers) -> Plan {
    let mut plan = Plan::default();
    let mut paths = source.tree.paths();
    paths.sort_by_cached_key(|_| numbers.below(1 << 20));
    for path in paths.into_iter().take(400) {
        let node = source.tree.find(&path).unwrap();
        match (&source.tree[node].kind, numbers.below(4)) {
            (Kind::File { .. }, 0) => plan.data.push(PlanItem::Blocks(path.clone())),
            (Kind::File { .. }, 1) => match plan.data.last_mut() {
                Some(PlanItem::Fragment(members)) if members.len() < 3 => {
                    members.push(path.clone());
                }
                _ => plan.data.push(PlanItem::Fragment(vec![path.clone()])),
            },
            (Kind::File { .. }, 2) => plan.encoding.push(EncodingRule {
                path: path.clone(),
                encoding: BlockEncoding::Stored,
                blocks: vec![0..=numbers.below(2)],
            }),
            (Kind::Directory { .. }, 0 | 1) => plan.directories.push(path.clone()),
            _ => {}
        }
        if numbers.below(2) == 0 {
            plan.inodes.push(path);
        }
    }
    plan
}

/// Builds an image, predicts it with the sizes of its blocks, and compares.
fn compare(source: &Source, plan: &Plan, options: &Options) {
    let (block_size, tails) = (options.block_size, options.tails);
    let (order, _) = order(&source.tree, plan, block_size, tails);
    let mut output = tempfile::tempfile().unwrap();
    let summary = write(source, &order, &output, options, &mut |_| {
        ControlFlow::Continue(())
    });
    assert_eq!(summary.unwrap().changed.len(), 0);
    let mut bytes = Vec::new();
    output.rewind().unwrap();
    output.read_to_end(&mut bytes).unwrap();
    let image = Image::new(Box::new(bytes.clone())).unwrap();
    let mut go_on = || ControlFlow::Continue(());
    let built = geometry(&image, Box::new(bytes.clone()), &mut go_on).unwrap();
    let sizes = RealSizes::new(source, &image, &bytes);
    let image_options = ImageOptions {
        compressor: image.superblock().compressor,
        block_size,
        data_start: options.data_start(),
        tables: TableOptions {
            metadata: options.metadata,
            is_exportable: options.exportable,
        },
    };
    let predicted = Geometry::predicted(&source.tree, &order, &image_options, &sizes).unwrap();
    assert_equal(predicted, built);
}

fn assert_equal(mut predicted: Geometry, built: Geometry) {
    // What an image holds in a fragment block is not known without the tail ends.
    for block in &mut predicted.fragments {
        assert!(block.len_bytes <= predicted.block_size.bytes());
        block.len_bytes = predicted.block_size.bytes();
    }
    assert_eq!(predicted.metadata, built.metadata);
    assert_eq!(predicted.fragments, built.fragments);
    assert_eq!(predicted.names.len(), built.names.len());
    let mut place_of = HashMap::new();
    for (path, name) in &built.names {
        let shown = path.escape_ascii();
        let found = predicted.names[path];
        assert_eq!(found.search, name.search, "the search of `{shown}`");
        let (found, place) = (found.place, name.place);
        assert_eq!(
            predicted.places[found], built.places[place],
            "the place of `{shown}`"
        );
        // Names of one inode have one place.
        assert_eq!(*place_of.entry(place).or_insert(found), found, "`{shown}`");
    }
    assert_eq!(place_of.len(), predicted.places.len());
    let rest = |geometry: Geometry| Geometry {
        places: Vec::new(),
        names: HashMap::new(),
        ..geometry
    };
    assert_eq!(rest(predicted), rest(built));
}

#[test]
fn what_is_predicted_of_a_mixed_tree_is_what_is_built() {
    let mut number = 0;
    for block_log in 12..=20 {
        let block_size = BlockSize::new(1 << block_log).unwrap();
        let mut numbers = Numbers(block_log);
        let directory = tempfile::tempdir().unwrap();
        make_mixed(directory.path(), block_size, &mut numbers);
        for tails in TAILS {
            let source = scanned(directory.path(), (block_size, tails), &mut numbers);
            let plans = [Plan::default(), plan(&source, &mut numbers)];
            for plan in plans {
                compare(&source, &plan, &options(number, block_size, tails));
                number += 1;
            }
        }
    }
}

#[test]
fn what_is_predicted_of_a_huge_directory_is_what_is_built() {
    let mut numbers = Numbers(1);
    for (files, name_bytes) in [(5_000, 7), (5_000, 200), (70_000, 9)] {
        let directory = tempfile::tempdir().unwrap();
        let crowd = directory.path().join("crowd");
        std::fs::create_dir(&crowd).unwrap();
        make_crowd(&crowd, files, name_bytes);
        let block_size = BlockSize::DEFAULT;
        let shape = (block_size, Tails::Small);
        let source = scanned(directory.path(), shape, &mut numbers);
        let mut options = options(2, block_size, Tails::Small);
        compare(&source, &Plan::default(), &options);
        compare(&source, &plan(&source, &mut numbers), &options);
        let listed = Plan {
            directories: vec![b"/crowd".to_vec(), b"/".to_vec()],
            ..Plan::default()
        };
        options.metadata = MetadataLayout::Spread;
        compare(&source, &listed, &options);
    }
}
