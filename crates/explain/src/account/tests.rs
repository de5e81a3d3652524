use coldpress_host::RawKind;

use super::*;
use crate::image_map::tests::{INODES_START, METADATA_BYTES, example};

fn explained(kinds: &[RawKind], counters: Counters) -> Explanation {
    let events: Vec<RawEvent> = (0..)
        .step_by(10)
        .zip(kinds)
        .map(|(time_us, &kind)| RawEvent {
            time_us,
            pid: 1,
            kind,
        })
        .collect();
    let map = example();
    let start = Start {
        events: &events,
        counters,
        wall_us: 1_000,
        decompression_bytes_per_s: Some(1_000_000_000),
        caches: CacheSizes::default(),
    };
    Account::new(&map, start).explanation()
}

fn read(start_byte: u64, len_bytes: u64) -> RawKind {
    RawKind::DeviceRead {
        start_byte,
        len_bytes,
    }
}

#[test]
fn sums_are_those_of_the_parts() {
    let counters = Counters {
        reads: 3,
        read_bytes: 5_120 + 1_024 + 2_048 + 81,
    };
    let explanation = explained(
        &[
            RawKind::Cache {
                inode: 1,
                first_page: 0,
                last_page: 3,
            },
            RawKind::Cache {
                inode: 2,
                first_page: 0,
                last_page: 3,
            },
            read(4_096, 5_120),
            read(19_968, 1_024),
            read(INODES_START - 304, 2_048),
            RawKind::Fault { inode: 1, page: 2 },
        ],
        counters,
    );
    let totals = &explanation.totals;
    assert_eq!(totals.read_bytes, 5_120 + 1_024 + 2_048);
    let parts = (
        totals.data_bytes,
        totals.fragment_bytes,
        totals.metadata_bytes,
    );
    assert_eq!(parts, (5_120, 1_024, 2_048));
    // The first block of `/a`, the fragment block of `/b` and the metadata block.
    assert_eq!(totals.needed_bytes, 5_000 + 700 + METADATA_BYTES);
    assert_eq!(totals.decompressed_bytes, 16_384 + 2_000 + 8_192);
    assert_eq!((totals.files, totals.used_bytes), (2, 2 * 4_096));
    assert_eq!(
        (totals.cached_bytes, totals.unused_bytes),
        (8 * 4_096, 6 * 4_096)
    );
    assert_eq!(totals.past_end_bytes, 3 * 4_096);
    let apart = totals.difference().unwrap();
    assert!((0.009..0.011).contains(&apart), "{apart}");
    let amplification = totals.decompression_amplification().unwrap();
    assert!((3.2..3.3).contains(&amplification), "{amplification}");
    let [area] = explanation.metadata.as_slice() else {
        panic!("{:?}", explanation.metadata)
    };
    assert_eq!(
        (area.area, area.blocks, area.readings),
        (DumpArea::InodeTable, 1, 1)
    );
    let kinds: Vec<ReadKind> = explanation.reads.iter().map(|read| read.kind).collect();
    assert_eq!(
        kinds,
        [ReadKind::Data, ReadKind::Fragment, ReadKind::Metadata]
    );
}

#[test]
fn a_start_that_read_nothing_is_explained_too() {
    let explanation = explained(&[], Counters::default());
    let totals = &explanation.totals;
    assert_eq!((totals.reads, totals.needed_bytes), (0, 0));
    assert_eq!(totals.read_amplification(), None);
    assert_eq!(totals.decompression_amplification(), None);
    assert_eq!(totals.difference(), None);
    assert!(explanation.files.is_empty() && explanation.metadata.is_empty());
}
