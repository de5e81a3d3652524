use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coldpress_assemble::Table;
use coldpress_codec::{Settings, Work, WorkObserver};
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{Item, Plan, Tails, order};
use coldpress_writer::{
    Error, Estimate, Options, SampleMeans, SampleOptions, Sampling, Source, Uncompressed,
};

use crate::trees::{Entry, built, make, options, scanned};

/// Numbers without pattern (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % end
    }
}

/// Sentences of a vocabulary of the seed's own.
fn text(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random(seed * 77 + 1);
    let words: Vec<Vec<u8>> = (0..200 + random.below(3000))
        .map(|_| {
            let len = 2 + random.below(8);
            (0..len)
                .map(|_| b'a' + u8::try_from(random.below(26)).unwrap())
                .collect()
        })
        .collect();
    let mut text = Vec::new();
    while text.len() < len {
        // Few words are frequent.
        let place = random.below(words.len()).min(random.below(words.len()));
        text.extend_from_slice(&words[place]);
        text.push(if random.below(9) == 0 { b'\n' } else { b' ' });
    }
    text.truncate(len);
    text
}

/// Records of numbers that grow, with noise in some of their bytes.
fn records(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random(seed * 99 + 7);
    let noisy_bytes = 1 + random.below(6);
    let mut bytes = Vec::new();
    let mut number = 0_u64;
    while bytes.len() < len {
        number += random.next() % 40;
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(&random.next().to_le_bytes()[..noisy_bytes]);
    }
    bytes.truncate(len);
    bytes
}

fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random(seed * 13 + 5);
    let numbers = std::iter::repeat_with(|| random.next());
    numbers.flat_map(u64::to_le_bytes).take(len).collect()
}

/// Files of all kinds, of `scale` KiB and less.
fn make_mixed(root: &Path, scale: usize) {
    for (number, directory) in ["bin", "share", "share/doc", "lib"].into_iter().enumerate() {
        let directory = root.join(directory);
        fs::create_dir_all(&directory).unwrap();
        for file in 0..12 {
            let seed = (number * 100 + file) as u64 + 1;
            let len = scale * 1024 / (1 + file) + file * 37;
            let content = match (number + file) % 4 {
                0 => text(seed, len),
                1 => records(seed, len),
                2 => noise(seed, len / 2),
                _ => [
                    text(seed, len / 2),
                    records(seed, len / 3),
                    vec![0; len / 3],
                ]
                .concat(),
            };
            fs::write(directory.join(format!("file {file}")), content).unwrap();
        }
    }
    let entries = [
        (
            "twin a".to_owned(),
            Entry::File {
                seed: 4,
                len: 70_000,
            },
        ),
        (
            "twin b".to_owned(),
            Entry::File {
                seed: 4,
                len: 70_000,
            },
        ),
        (
            "linked".to_owned(),
            Entry::File {
                seed: 6,
                len: 9_000,
            },
        ),
        ("link".to_owned(), Entry::Link),
        ("sparse".to_owned(), Entry::Sparse { len: 3_000_000 }),
        (
            "symlink".to_owned(),
            Entry::Symlink("bin/file 0".to_owned()),
        ),
        ("empty".to_owned(), Entry::File { seed: 0, len: 0 }),
    ];
    make(root, &entries);
}

fn means(threads: usize) -> SampleMeans<'static> {
    SampleMeans {
        threads: NonZeroUsize::new(threads).unwrap(),
        clock: &|| 0.0,
    }
}

fn sampled(source: &Source, candidates: &[Options], builds: f64, threads: usize) -> Sampling {
    let options = SampleOptions {
        candidates,
        plan: &Plan::default(),
        builds,
        means: means(threads),
    };
    Sampling::run(source, &options, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn with(compressor: Compressor, level: i32, block_bytes: u32, tails: Tails) -> Options {
    Options {
        compression: Some(Settings::new(compressor, Some(level)).unwrap()),
        tails,
        ..options(None, block_bytes)
    }
}

/// By how much a size may be wrong: 1 %, or 4 KiB.
fn assert_close(estimate: &Estimate, image: &[u8], what: &Options) {
    let image_bytes = image.len() as u64;
    let allowed_bytes = (image_bytes / 100).max(4096);
    assert!(
        estimate.image_bytes.abs_diff(image_bytes) <= allowed_bytes,
        "{what:?}: {image_bytes} bytes are {estimate:?}"
    );
}

fn assert_all_close(source: &Source, candidates: &[Options]) {
    let sampling = sampled(source, candidates, Sampling::BUILDS, 2);
    for (estimate, candidate) in sampling.estimates.iter().zip(candidates) {
        assert_close(
            estimate,
            &built(source, &Plan::default(), candidate),
            candidate,
        );
    }
}

#[test]
fn sizes_are_those_of_the_images_with_every_compressor() {
    let directory = tempfile::tempdir().unwrap();
    make_mixed(directory.path(), 60);
    let source = scanned(directory.path());
    let candidates = [
        with(Compressor::Gzip, 1, 16 << 10, Tails::Small),
        with(Compressor::Gzip, 9, 128 << 10, Tails::None),
        with(Compressor::Lzo, 0, 128 << 10, Tails::Small),
        with(Compressor::Lzo, 8, 16 << 10, Tails::None),
        with(Compressor::Lz4, 0, 1 << 20, Tails::Small),
        with(Compressor::Lz4, 12, 16 << 10, Tails::All),
        with(Compressor::Xz, 1, 16 << 10, Tails::Small),
        with(Compressor::Xz, 6, 1 << 20, Tails::None),
        with(Compressor::Zstd, 1, 4 << 10, Tails::None),
        with(Compressor::Zstd, 15, 128 << 10, Tails::All),
        options(None, 128 << 10),
        Options {
            is_padded: false,
            exportable: false,
            ..with(Compressor::Zstd, 3, 128 << 10, Tails::Small)
        },
        Options {
            uncompressed: Uncompressed {
                data: true,
                inodes: true,
                ..Uncompressed::default()
            },
            ..with(Compressor::Zstd, 3, 128 << 10, Tails::Small)
        },
        Options {
            uncompressed: Uncompressed {
                fragments: true,
                xattrs: true,
                ..Uncompressed::default()
            },
            ..with(Compressor::Gzip, 5, 128 << 10, Tails::Small)
        },
    ];
    assert_all_close(&source, &candidates);
}

#[test]
fn few_samples_of_many_blocks_are_enough() {
    let directory = tempfile::tempdir().unwrap();
    make_mixed(directory.path(), 1500);
    let source = scanned(directory.path());
    let candidates = [
        with(Compressor::Gzip, 6, 8 << 10, Tails::Small),
        with(Compressor::Lz4, 3, 8 << 10, Tails::None),
        with(Compressor::Zstd, 9, 8 << 10, Tails::All),
        with(Compressor::Zstd, 5, 32 << 10, Tails::None),
    ];
    // A few hundred blocks of some thousands.
    let sampling = sampled(&source, &candidates, 0.01, 2);
    for (estimate, candidate) in sampling.estimates.iter().zip(&candidates) {
        assert!(estimate.error_bytes > 0, "all was sampled");
        assert_close(
            estimate,
            &built(&source, &Plan::default(), candidate),
            candidate,
        );
    }
}

#[test]
fn more_samples_of_a_candidate_tell_of_those_with_its_blocks_and_of_no_others() {
    let directory = tempfile::tempdir().unwrap();
    make_mixed(directory.path(), 500);
    let source = scanned(directory.path());
    let candidates = [
        with(Compressor::Gzip, 6, 64 << 10, Tails::Small),
        with(Compressor::Zstd, 19, 64 << 10, Tails::Small),
        with(Compressor::Zstd, 19, 64 << 10, Tails::None),
        with(Compressor::Zstd, 19, 16 << 10, Tails::Small),
    ];
    let refined = [1, 3].map(|threads| {
        let mut sampling = sampled(&source, &candidates, 0.0, threads);
        let before = sampling.estimates.clone();
        let progress = &mut |_| ControlFlow::Continue(());
        let more = sampling.refine(&source, 1, 20 << 20, &means(threads), progress);
        more.unwrap();
        (before, sampling.estimates)
    });
    assert_eq!(refined[0], refined[1]);
    let (before, after) = &refined[0];
    assert_eq!([&before[0], &before[3]], [&after[0], &after[3]]);
    for place in [1, 2] {
        let errors = [before, after].map(|estimates| estimates[place].error_bytes);
        assert!(errors[1] < errors[0] * 3 / 4, "{errors:?}");
        let candidate = &candidates[place];
        let image = built(&source, &Plan::default(), candidate);
        assert_close(&after[place], &image, candidate);
    }
}

#[test]
fn many_small_files_are_mostly_metadata() {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(3);
    for number in 0..3000 {
        let path = directory
            .path()
            .join(format!("{}/{}", number / 100, random.below(1 << 30)));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text(number as u64 % 900, 20 + number % 400)).unwrap();
    }
    let source = scanned(directory.path());
    let candidates = [
        with(Compressor::Gzip, 9, 128 << 10, Tails::Small),
        with(Compressor::Zstd, 15, 4 << 10, Tails::None),
        with(Compressor::Lz4, 12, 1 << 20, Tails::All),
        options(None, 4 << 10),
    ];
    assert_all_close(&source, &candidates);
}

#[test]
fn an_empty_tree_and_one_file_have_sizes_too() {
    let directory = tempfile::tempdir().unwrap();
    let candidates = [
        with(Compressor::Xz, 6, 128 << 10, Tails::Small),
        options(None, 1 << 20),
    ];
    assert_all_close(&scanned(directory.path()), &candidates);
    fs::write(directory.path().join("one"), records(1, 5_000_001)).unwrap();
    assert_all_close(&scanned(directory.path()), &candidates);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    make_mixed(directory.path(), 600);
    let source = scanned(directory.path());
    let candidates = [
        with(Compressor::Zstd, 9, 4 << 10, Tails::Small),
        with(Compressor::Gzip, 6, 16 << 10, Tails::All),
        with(Compressor::Lz4, 3, 4 << 10, Tails::None),
    ];
    let one = sampled(&source, &candidates, 0.005, 1);
    for threads in [2, 5] {
        let more = sampled(&source, &candidates, 0.005, threads);
        assert_eq!(more.estimates, one.estimates, "{threads} threads");
    }
}

#[test]
fn the_sizes_of_blocks_add_up_to_the_data_area() {
    let directory = tempfile::tempdir().unwrap();
    make_mixed(directory.path(), 300);
    let source = scanned(directory.path());
    let candidates = [
        with(Compressor::Zstd, 9, 16 << 10, Tails::Small),
        with(Compressor::Lz4, 0, 128 << 10, Tails::None),
        with(Compressor::Gzip, 6, 4 << 10, Tails::All),
    ];
    let sampling = sampled(&source, &candidates, Sampling::BUILDS, 2);
    for (number, candidate) in candidates.iter().enumerate() {
        let blocks = sampling.blocks(number);
        let block_size = candidate.block_size;
        let (order, _) = order(&source.tree, &Plan::default(), block_size, candidate.tails);
        let tail_bytes = |node| block_size.tail_bytes(source.tree.file_size(node).unwrap());
        let packed: Vec<_> = order.data.iter().filter_map(members).flatten().collect();
        let mut data_bytes = 0;
        for item in &order.data {
            match item {
                Item::Blocks(node) => {
                    let full = block_size.full_blocks(source.tree.file_size(*node).unwrap());
                    let count = full + u64::from(!packed.contains(&node));
                    let sizes = (0..count).map(|block| blocks.stored_bytes(*node, block));
                    data_bytes += sizes.map(u64::from).sum::<u64>();
                }
                Item::Fragment(members) => {
                    let len_bytes = members.iter().map(|node| tail_bytes(*node)).sum();
                    data_bytes += u64::from(blocks.fragment_bytes(members, len_bytes));
                }
            }
        }
        let expected_bytes = sampling.estimates[number].data_bytes;
        // Duplicate tail ends are not known to this order, so that its fragment blocks are others.
        let parts = if candidate.tails == Tails::All {
            100
        } else {
            10_000
        };
        let allowed_bytes = expected_bytes / parts;
        assert!(
            data_bytes.abs_diff(expected_bytes) <= allowed_bytes,
            "{data_bytes} {expected_bytes}"
        );
        assert_eq!(blocks.stored_bytes(coldpress_layout::NodeId::ROOT, 0), 0);
        assert_eq!(
            blocks.stored_bytes(coldpress_layout::NodeId(1), u64::MAX),
            0
        );
        assert!(blocks.metadata_bytes(Table::Inodes, 8192) < 8192);
    }
}

fn members(item: &Item) -> Option<&Vec<coldpress_layout::NodeId>> {
    match item {
        Item::Fragment(members) => Some(members),
        Item::Blocks(_) => None,
    }
}

/// Counts what is read.
#[derive(Debug, Default)]
struct Reads(AtomicUsize);

impl WorkObserver for Reads {
    fn begin(&self, work: Work) -> u64 {
        self.0
            .fetch_add(usize::from(work == Work::Read), Ordering::Relaxed);
        0
    }

    fn end(&self, _: Work, _: u64) {}
}

#[test]
fn a_file_is_read_once_and_little_of_it_again() {
    let directory = tempfile::tempdir().unwrap();
    let mebibytes = 24;
    fs::write(directory.path().join("huge"), records(5, mebibytes << 20)).unwrap();
    let mut source = scanned(directory.path());
    let reads = Arc::new(Reads::default());
    source.watch = Some(reads.clone());
    let candidates = [
        with(Compressor::Zstd, 5, 4 << 10, Tails::Small),
        with(Compressor::Lz4, 0, 4 << 10, Tails::Small),
        with(Compressor::Gzip, 1, 1 << 20, Tails::Small),
    ];
    let sampling = sampled(&source, &candidates, 0.0, 2);
    // Without a budget each curve has its first samples: 256 small blocks or 16 large ones, and
    // both ends. A few metadata blocks are in memory, but counted here.
    let sample_reads = 258 + 258 + 18 + 30;
    let count = reads.0.load(Ordering::Relaxed);
    assert!(
        (mebibytes..=mebibytes + sample_reads).contains(&count),
        "{count}"
    );
    assert!(sampling.estimates[0].error_bytes > 0);
}

#[test]
fn a_source_that_cannot_be_read_is_sampled_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    make_mixed(directory.path(), 30);
    let source = scanned(directory.path());
    let candidates = [with(Compressor::Zstd, 3, 16 << 10, Tails::Small)];
    let whole = sampled(&source, &candidates, Sampling::BUILDS, 2);
    fs::remove_file(directory.path().join("lib/file 0")).unwrap();
    fs::write(directory.path().join("lib/file 1"), "short").unwrap();
    let less = sampled(&source, &candidates, Sampling::BUILDS, 2);
    assert!(less.estimates[0].data_bytes < whole.estimates[0].data_bytes);
}

#[test]
fn an_interruption_ends_it_and_progress_reaches_its_end() {
    let directory = tempfile::tempdir().unwrap();
    make_mixed(directory.path(), 30);
    let source = scanned(directory.path());
    let candidates = [with(Compressor::Zstd, 3, 16 << 10, Tails::Small)];
    let options = SampleOptions {
        candidates: &candidates,
        plan: &Plan::default(),
        builds: Sampling::BUILDS,
        means: means(1),
    };
    let mut last = None;
    Sampling::run(&source, &options, &mut |progress| {
        last = Some(progress);
        ControlFlow::Continue(())
    })
    .unwrap();
    let last = last.unwrap();
    assert_eq!(last.done_bytes, last.total_bytes);
    let stopped = Sampling::run(&source, &options, &mut |progress| {
        if progress.done_bytes * 2 > progress.total_bytes {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn nothing_is_asked_and_nothing_is_answered() {
    let directory = tempfile::tempdir().unwrap();
    let source = scanned(directory.path());
    assert_eq!(sampled(&source, &[], Sampling::BUILDS, 2).estimates, []);
    let refused = with(Compressor::Zstd, 3, BlockSize::MAX.bytes(), Tails::Small);
    let refused = Options {
        compression: refused.compression.map(|settings| Settings {
            level: 99,
            ..settings
        }),
        ..refused
    };
    fs::write(directory.path().join("f"), "text").unwrap();
    let options = SampleOptions {
        candidates: &[refused],
        plan: &Plan::default(),
        builds: Sampling::BUILDS,
        means: means(1),
    };
    let source = scanned(directory.path());
    let error = Sampling::run(&source, &options, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(error, Err(Error::Codec(_))));
}
