use coldpress_format::{BlockSize, Compressor};

use super::*;
use crate::geometry::{
    DirectoryGeometry, Extent, FileGeometry, InodeGeometry, Lookup, MetadataRange,
};
use crate::prediction::Limit;
use crate::reader::Decompressors;

const BLOCK_BYTES: u64 = 131_072;
const PAGES: u64 = BLOCK_BYTES / 4096;
/// Image byte of the first metadata block; each takes 2000 bytes.
const METADATA_START: u64 = 1 << 30;

/// An image in the root of which files lie: each with its full blocks and the fragment block of its
/// tail end. A block takes 40,000 bytes. The inode of a file has a metadata block of its own, all
/// names one, ids one, fragments one.
fn image(files: &[(&str, u64, Option<u32>)]) -> Geometry {
    let extent = |start_byte, stored_bytes, len_bytes| Extent {
        start_byte,
        stored_bytes,
        len_bytes,
        is_stored: false,
    };
    let one = |block| MetadataRange {
        first: block,
        last: block,
    };
    let listing = files.len() + 1;
    let mut geometry = Geometry {
        compressor: Compressor::Zstd,
        block_size: BlockSize::DEFAULT,
        image_bytes: 1 << 31,
        places: vec![InodeGeometry {
            inode: one(0),
            kind: InodeGeometryKind::Directory(DirectoryGeometry {
                listing: Some(one(listing)),
                is_indexed: false,
            }),
        }],
        names: [(
            b"/".to_vec(),
            Lookup {
                place: 0,
                search: None,
            },
        )]
        .into(),
        fragments: (0..8)
            .map(|index| extent((1 << 29) + index * 50_000, 50_000, 131_072))
            .collect(),
        metadata: (0..listing as u64 + 3)
            .map(|block| extent(METADATA_START + block * 2000, 2000, 8192))
            .collect(),
        fragment_table: Some(listing + 1),
        id_table: listing + 2,
        hash_tree: None,
    };
    let mut start = 0;
    for (index, (path, blocks, fragment)) in files.iter().enumerate() {
        let block = |at: u64| extent(start + at * 40_000, 40_000, 131_072);
        let file = FileGeometry {
            size_bytes: blocks * BLOCK_BYTES + if fragment.is_some() { 5000 } else { 0 },
            blocks: (0..*blocks).map(block).collect(),
            fragment: *fragment,
            list: (index + 1, 0),
            executable: Vec::new(),
        };
        start += blocks * 40_000;
        geometry.places.push(InodeGeometry {
            inode: one(index + 1),
            kind: InodeGeometryKind::File(file),
        });
        let name = Lookup {
            place: index + 1,
            search: Some(one(listing)),
        };
        geometry.names.insert(path.as_bytes().to_vec(), name);
    }
    geometry
}

fn read(first_page: u64, last_page: u64) -> Access {
    Access::Read {
        first_page,
        last_page,
    }
}

fn fault(page: u64) -> Access {
    Access::Fault { page }
}

/// Accesses of one thread, without time of its own.
fn sequence(accesses: &[(&str, Access)]) -> AccessSequence {
    threads(
        &accesses
            .iter()
            .map(|(path, access)| (1, *path, *access))
            .collect::<Vec<_>>(),
    )
}

fn threads(accesses: &[(u32, &str, Access)]) -> AccessSequence {
    let mut sequence = AccessSequence::default();
    for &(pid, path, access) in accesses {
        let known = sequence
            .paths
            .iter()
            .position(|known| known == path.as_bytes());
        let path = known.unwrap_or_else(|| {
            sequence.paths.push(path.as_bytes().to_vec());
            sequence.paths.len() - 1
        });
        sequence.steps.push(AccessStep {
            access,
            path,
            pid,
            compute_share: 0.0,
        });
    }
    sequence
}

fn run(geometry: &Geometry, sequence: &AccessSequence, reader: &Reader) -> Prediction {
    predict(
        geometry,
        sequence,
        &Medium::FREE,
        &Machine::default(),
        reader,
    )
}

/// Data reads of the kernel: those that are not metadata.
fn data_reads(geometry: &Geometry, accesses: &[(&str, Access)]) -> u64 {
    let prediction = run(geometry, &sequence(accesses), &Reader::KERNEL);
    assert_eq!(prediction.missing, Vec::<Vec<u8>>::new());
    prediction.reads - prediction.metadata_reads
}

#[test]
fn blocks_are_read_whole_and_once() {
    let geometry = image(&[("/a", 20, None), ("/b", 1, None)]);
    for (accesses, expected) in [
        (&[("/b", read(0, 0))][..], 1),
        (
            &[("/b", read(3, 5)), ("/b", read(0, 31)), ("/b", fault(7))],
            1,
        ),
        // A single page in the middle: nothing is read ahead.
        (&[("/a", read(200, 200))], 1),
        // A window of 128 pages, and the mask of `squashfs_readahead` takes a fifth block.
        (&[("/a", read(0, 2 * PAGES - 1))], 5),
        // Data around a fault: 64 pages before, 64 behind, and the block behind that.
        (&[("/a", fault(10 * PAGES))], 5),
        (&[("/a", Access::Lookup)], 0),
        (
            &[(
                "/a",
                Access::Map {
                    first_page: 0,
                    last_page: 15,
                },
            )],
            5,
        ),
        (
            &[
                ("/a", read(0, 0)),
                (
                    "/a",
                    Access::Map {
                        first_page: 0,
                        last_page: 15,
                    },
                ),
            ],
            1,
        ),
        (&[("/a", read(9999, 9999)), ("/a", fault(9999))], 0),
    ] {
        assert_eq!(data_reads(&geometry, accesses), expected, "{accesses:?}");
    }
}

#[test]
fn code_is_read_from_a_fault_on_to_the_end_of_the_mapping() {
    let mut geometry = image(&[("/lib", 20, None)]);
    geometry.set_executable(b"/lib", vec![(4 * PAGES, 8 * PAGES - 1)]);
    geometry.set_executable(b"/nothing", vec![(0, 1)]);
    // From the middle of the block: the rest of the mapping.
    assert_eq!(data_reads(&geometry, &[("/lib", fault(6 * PAGES + 5))]), 3);
    assert_eq!(data_reads(&geometry, &[("/lib", fault(7 * PAGES + 5))]), 2);
    assert_eq!(data_reads(&geometry, &[("/lib", fault(9 * PAGES))]), 5);
}

#[test]
fn fragment_blocks_make_room_for_each_other() {
    let names: Vec<String> = (0..8).map(|index| format!("/{index}")).collect();
    let files: Vec<_> = names
        .iter()
        .zip(0..)
        .map(|(name, index)| (name.as_str(), 0, Some(index % 4)))
        .collect();
    let geometry = image(&files);
    let all: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), read(0, 0)))
        .collect();
    let prediction = run(&geometry, &sequence(&all), &Reader::KERNEL);
    assert_eq!(prediction.reads - prediction.metadata_reads, 8);
    assert!(prediction.by_cause.fragments_again_s > 0.0);
    // Each file fills a block of pages.
    assert_eq!(prediction.page_cache_bytes, 8 * BLOCK_BYTES);
    for reader in [Reader::FUSE, Reader::Erofs] {
        let prediction = run(&geometry, &sequence(&all), &reader);
        assert!(
            prediction.by_cause.fragments_again_s.abs() < 1e-12,
            "{reader:?}"
        );
        assert_eq!(prediction.page_cache_bytes, 8 * 8192, "{reader:?}");
    }
}

#[test]
fn metadata_is_read_by_header_and_block_and_again_once_it_made_room() {
    let names: Vec<String> = (0..10).map(|index| format!("/{index}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), 1, None)).collect();
    let geometry = image(&files);
    let first = [("/0", Access::Lookup)];
    let prediction = run(&geometry, &sequence(&first), &Reader::KERNEL);
    // The listing and the inode; the root's inode and the ids are there since the mount.
    assert_eq!((prediction.reads, prediction.metadata_reads), (4, 4));
    let mut twice: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), Access::Lookup))
        .collect();
    twice.push(("/0", read(0, 0)));
    let prediction = run(&geometry, &sequence(&twice), &Reader::KERNEL);
    assert!(prediction.by_cause.metadata_again_s > 0.0);
    assert!(prediction.metadata_reads > 2 * 11);
    let unpacked = run(&geometry, &sequence(&twice), &Reader::Unpacked);
    assert_eq!(unpacked.metadata_reads, 1 + 10);
}

#[test]
fn long_block_lists_are_read_from_where_their_index_leads() {
    // Its block list has 20,000 bytes, in the metadata blocks 1 to 3.
    let geometry = image(&[("/large", 5000, None)]);
    let reader = Reader::Kernel {
        decompressors: Decompressors::Single,
        fragment_slots: 3,
        metadata_slots: 1,
    };
    let block = |block: u64| ("/large", read(block * PAGES + 5, block * PAGES + 5));
    let reads =
        |accesses: &[(&str, Access)]| run(&geometry, &sequence(accesses), &reader).metadata_reads;
    let first = reads(&[block(4500)]);
    for (then, more) in [
        (&[block(4600)][..], 0),
        (&[block(100)], 1),
        (&[block(100), block(4600)], 2),
        (&[block(100), block(4600), block(2100)], 3),
    ] {
        let both = reads(&[&[block(4500)], then].concat());
        assert_eq!(both, first + 2 * more, "{then:?}");
    }
}

#[test]
fn names_that_are_missing_cost_a_search() {
    let geometry = image(&[("/a", 1, None)]);
    let absent = sequence(&[
        ("/x", Access::Lookup),
        ("/x/y", read(0, 3)),
        ("/x", read(0, 0)),
    ]);
    let prediction = run(&geometry, &absent, &Reader::KERNEL);
    assert_eq!(prediction.missing, [b"/x".to_vec(), b"/x/y".to_vec()]);
    assert_eq!(prediction.reads, 2);
}

#[test]
fn threads_wait_beside_each_other_and_for_what_another_reads() {
    let geometry = image(&[("/a", 1, None), ("/b", 1, None)]);
    let medium = Medium {
        request_s: 1.0,
        ..Medium::FREE
    };
    let time_s = |accesses: &[(u32, &str, Access)]| {
        let mut sequence = threads(accesses);
        sequence.compute_s = 0.5;
        if let Some(first) = sequence.steps.first_mut() {
            first.compute_share = 1.0;
        }
        predict(
            &geometry,
            &sequence,
            &medium,
            &Machine::default(),
            &Reader::KERNEL,
        )
        .time_s
    };
    let begin = [
        (2, "/", Access::Lookup),
        (1, "/a", Access::Lookup),
        (1, "/b", Access::Lookup),
    ];
    let with = |more: &[(u32, &'static str, Access)]| time_s(&[&begin[..], more].concat());
    let alone = with(&[(1, "/a", read(0, 0)), (1, "/b", read(0, 0))]);
    let beside = with(&[(1, "/a", read(0, 0)), (2, "/b", read(0, 0))]);
    let same = with(&[(1, "/a", read(0, 0)), (2, "/a", read(0, 0))]);
    // Header and block of the listing and of two inodes, and two data blocks.
    assert!((alone - 0.5 - 8.0).abs() < 0.01, "{alone}");
    assert!((beside - 0.5 - 7.0).abs() < 0.01, "{beside}");
    assert!((same - beside).abs() < 0.01, "{same}");
}

#[test]
fn the_limit_is_what_takes_longest() {
    let geometry = image(&[("/a", 20, None)]);
    let whole = sequence(&[("/a", read(0, 20 * PAGES - 1))]);
    let limit = |medium: Medium, compute_s: f64| {
        let mut sequence = whole.clone();
        sequence.compute_s = compute_s;
        sequence.steps[0].compute_share = 1.0;
        let prediction = predict(
            &geometry,
            &sequence,
            &medium,
            &Machine::default(),
            &Reader::KERNEL,
        );
        prediction.limit(&medium)
    };
    assert_eq!(limit(Medium::FREE, 0.0), Limit::Decompression);
    assert_eq!(limit(Medium::FREE, 10.0), Limit::Program);
    let slow = Medium {
        limit_bytes_per_s: Some(1e5),
        reads_per_s: Some(1000.0),
        ..Medium::FREE
    };
    assert_eq!(limit(slow, 0.0), Limit::Bandwidth);
    let slow = Medium {
        reads_per_s: Some(2.0),
        ..Medium::FREE
    };
    assert_eq!(limit(slow, 0.0), Limit::Requests);
}

#[test]
fn everything_is_read_and_nothing_twice() {
    let geometry = image(&[("/a", 20, Some(0)), ("/b", 3, None), ("/c", 0, Some(1))]);
    for reader in [Reader::KERNEL, Reader::FUSE, Reader::Erofs] {
        let prediction = run(
            &geometry,
            &AccessSequence::of_everything(&geometry),
            &reader,
        );
        let blocks = (20 + 3 + 2) * BLOCK_BYTES;
        assert!(prediction.decompressed_bytes >= blocks, "{reader:?}");
        assert!(
            prediction.decompressed_bytes <= blocks + 40 * 8192,
            "{reader:?}: {prediction:?}"
        );
    }
}

#[test]
fn events_tell_what_the_prediction_sums_up() {
    let geometry = image(&[("/a", 20, Some(0)), ("/b", 3, None)]);
    let accesses = [
        (1, "/a", fault(10 * PAGES)),
        (2, "/b", read(0, 3 * PAGES - 1)),
        (1, "/a", read(20 * PAGES, 20 * PAGES)),
    ];
    let medium = Medium {
        request_s: 0.1,
        ..Medium::FREE
    };
    for reader in [Reader::KERNEL, Reader::FUSE, Reader::Erofs] {
        let (prediction, events) = predict_in_detail(
            &geometry,
            &threads(&accesses),
            &medium,
            &Machine::default(),
            &reader,
        );
        let (mut reads, mut read_bytes, mut arrived_bytes, mut pages) = (0, 0, 0, 0);
        let mut steps = Vec::new();
        for event in &events {
            match event.io {
                IoEvent::Fill {
                    first_page,
                    last_page,
                    ..
                } => pages += last_page + 1 - first_page,
                IoEvent::Ask { len_bytes, .. } => {
                    reads += 1;
                    read_bytes += len_bytes;
                }
                IoEvent::Arrive { len_bytes, .. } => arrived_bytes += len_bytes,
                IoEvent::Step(step) => steps.push((step, event.pid)),
            }
        }
        let told = (prediction.reads, prediction.read_bytes);
        assert_eq!((reads, read_bytes), told, "{reader:?}");
        assert_eq!(arrived_bytes, read_bytes, "{reader:?}");
        assert_eq!(pages * 4096, prediction.page_cache_bytes, "{reader:?}");
        steps.sort_unstable();
        assert_eq!(steps, [(0, 1), (1, 2), (2, 1)], "{reader:?}");
        let times = events.windows(2);
        assert!({ times }.all(|pair| pair[0].time_s <= pair[1].time_s));
    }
}

#[test]
fn holes_are_not_read_and_shared_blocks_for_each_file() {
    let mut geometry = image(&[("/a", 2, None), ("/b", 2, None)]);
    let first = geometry.file(b"/a").map(|file| file.blocks.clone());
    if let InodeGeometryKind::File(file) = &mut geometry.places[2].kind {
        file.blocks = first.unwrap();
        file.blocks[1].stored_bytes = 0;
    }
    assert_eq!(data_reads(&geometry, &[("/b", fault(PAGES))]), 1);
    let all = read(0, 2 * PAGES - 1);
    assert_eq!(data_reads(&geometry, &[("/a", all), ("/b", all)]), 3);
}
