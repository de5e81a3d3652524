use super::*;
use crate::device_read::device_reads;
use crate::image_map::tests::{INODES_START, METADATA_BYTES, example};

/// Reads of blocks by their index in the example: each is asked for and arrives before the next.
fn one_by_one(blocks: &[usize]) -> Vec<RawEvent> {
    let map = example();
    let times = (0..).step_by(100);
    let both = blocks.iter().zip(times).flat_map(|(&block, time_us)| {
        let block = map.blocks()[block];
        let (start_byte, len_bytes) = (block.start, block.size_bytes);
        let read = RawKind::DeviceRead {
            start_byte,
            len_bytes,
        };
        let done = RawKind::DeviceDone {
            start_byte,
            len_bytes,
        };
        [(time_us, 1, read), (time_us + 50, 0, done)]
    });
    both.map(|(time_us, pid, kind)| RawEvent { time_us, pid, kind })
        .collect()
}

fn found(events: &[RawEvent]) -> Vec<(usize, u64, Reason)> {
    let map = example();
    let reads = device_reads(events, &map, None);
    let repeats = repeats(&reads, events, &map, CacheSizes::default());
    let blocks = repeats.blocks.iter();
    blocks
        .map(|found| (found.block, found.times, found.reason))
        .collect()
}

#[test]
fn small_caches_are_why_fragments_and_metadata_are_read_again() {
    // Blocks 2 to 6 are fragment blocks, from 7 on metadata.
    for (blocks, expected) in [
        (&[2, 3, 4, 5, 6][..], &[][..]),
        (&[2, 3, 4, 5, 2], &[(2, 2, Reason::FragmentCache)]),
        // Two others leave room.
        (&[2, 3, 4, 2], &[(2, 2, Reason::Unknown)]),
        // Metadata does not evict fragment blocks.
        (&[2, 3, 7, 8, 4, 2], &[(2, 2, Reason::Unknown)]),
        (
            &[7, 8, 9, 10, 11, 12, 13, 14, 15, 7],
            &[(7, 2, Reason::MetadataCache)],
        ),
    ] {
        assert_eq!(found(&one_by_one(blocks)), expected, "{blocks:?}");
    }
}

#[test]
fn pages_tell_why_data_is_read_again() {
    let fill = |time_us, inode, first_page, last_page| RawEvent {
        time_us,
        pid: 1,
        kind: RawKind::Cache {
            inode,
            first_page,
            last_page,
        },
    };
    for (what, fills, expected) in [
        (
            "same pages",
            [fill(0, 1, 0, 3), fill(60, 1, 1, 1)],
            Reason::PageCache,
        ),
        (
            "other pages",
            [fill(0, 1, 0, 1), fill(60, 1, 2, 3)],
            Reason::PartOfBlock,
        ),
        (
            "other file",
            [fill(0, 1, 0, 3), fill(60, 3, 0, 3)],
            Reason::SharedContent,
        ),
        (
            "nothing",
            [fill(0, 1, 0, 3), fill(0, 1, 4, 7)],
            Reason::Unknown,
        ),
    ] {
        let mut events = one_by_one(&[0, 0]);
        events.extend(fills);
        events.sort_by_key(|event| event.time_us);
        assert_eq!(found(&events), [(0, 2, expected)], "{what}");
    }
}

#[test]
fn threads_that_ask_at_once_are_told_from_evictions() {
    let read = |time_us, pid| RawEvent {
        time_us,
        pid,
        kind: RawKind::DeviceRead {
            start_byte: 4_096,
            len_bytes: 5_000,
        },
    };
    let done = RawEvent {
        time_us: 90,
        pid: 0,
        kind: RawKind::DeviceDone {
            start_byte: 4_096,
            len_bytes: 5_000,
        },
    };
    assert_eq!(
        found(&[read(0, 1), read(10, 2), done]),
        [(0, 2, Reason::AtOnce)]
    );
}

#[test]
fn sums_are_by_reason_and_the_first_reading_is_free() {
    let map = example();
    let events = one_by_one(&[2, 3, 4, 5, 2, 3, 4, 5]);
    let reads = device_reads(&events, &map, None);
    let repeats = repeats(&reads, &events, &map, CacheSizes::default());
    let sum = RepeatSum {
        reason: Reason::FragmentCache,
        readings: 4,
        again_bytes: 4 * 700,
    };
    assert_eq!(repeats.by_reason, [sum]);
}

#[test]
fn a_header_does_not_count_as_a_reading_of_its_own() {
    let header = INODES_START - INODES_START % 1_024;
    let read = |time_us, len_bytes| RawEvent {
        time_us,
        pid: 1,
        kind: RawKind::DeviceRead {
            start_byte: header,
            len_bytes,
        },
    };
    const { assert!(METADATA_BYTES < 2_048) };
    assert_eq!(found(&[read(0, 1_024), read(9, 3_072)]), []);
}
