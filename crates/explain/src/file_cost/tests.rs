use coldpress_host::{RawEvent, RawKind};

use super::*;
use crate::device_read::device_reads;
use crate::image_map::tests::example;
use crate::page_use::page_uses;

/// A thread uses a page of an inode and then reads a block.
fn access(time_us: u64, inode: u64, (start_byte, len_bytes): (u64, u64)) -> [RawEvent; 3] {
    let kinds = [
        RawKind::Fault { inode, page: 0 },
        RawKind::DeviceRead {
            start_byte,
            len_bytes,
        },
        RawKind::DeviceDone {
            start_byte,
            len_bytes,
        },
    ];
    let mut times = (time_us..).step_by(10);
    kinds.map(|kind| RawEvent {
        time_us: times.next().unwrap_or(0),
        pid: 1,
        kind,
    })
}

#[test]
fn files_pay_for_their_blocks_and_for_fragments_that_they_needed() {
    let map = example();
    let events = [
        // The block that both files share, for the second of them.
        access(0, 3, (4_096, 5_120)),
        access(100, 1, (9_096, 6_144)),
        // The fragment block of the first file, for the second.
        access(200, 2, (20_000, 700)),
        // Metadata is nobody's.
        access(300, 2, (30_000, 1_500)),
    ]
    .concat();
    let reads = device_reads(&events, &map, None);
    let costs = file_costs(&map, &page_uses(&events, &map), &reads);
    let mut paid: Vec<_> = costs
        .iter()
        .map(|cost| {
            (
                cost.file,
                cost.device_reads,
                cost.read_bytes,
                cost.decompressed_bytes,
            )
        })
        .collect();
    paid.sort_unstable();
    assert_eq!(
        paid,
        [
            (0, 1, 6_144, 16_384),
            (1, 1, 700, 2_000),
            (2, 1, 5_120, 16_384)
        ]
    );
    let first = costs.iter().find(|cost| cost.file == 0).unwrap();
    assert_eq!((first.used_bytes, first.first_access_us), (4_096, 100));
    assert_eq!(first.waited_us, 10);
    assert_eq!(first.amplification(), Some(4.0));
    assert!(costs.is_sorted_by_key(|cost| std::cmp::Reverse(cost.cost_us())));
}
