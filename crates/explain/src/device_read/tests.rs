use super::*;
use crate::image_map::tests::{INODES_START, METADATA_BYTES, example};

fn event(time_us: u64, pid: u32, kind: RawKind) -> RawEvent {
    RawEvent { time_us, pid, kind }
}

fn asked(time_us: u64, pid: u32, start_byte: u64, len_bytes: u64) -> RawEvent {
    event(
        time_us,
        pid,
        RawKind::DeviceRead {
            start_byte,
            len_bytes,
        },
    )
}

fn done(time_us: u64, start_byte: u64, len_bytes: u64) -> RawEvent {
    event(
        time_us,
        0,
        RawKind::DeviceDone {
            start_byte,
            len_bytes,
        },
    )
}

fn used(time_us: u64, pid: u32, inode: u64) -> RawEvent {
    event(time_us, pid, RawKind::Fault { inode, page: 0 })
}

#[test]
fn a_thread_waits_until_bytes_arrive_and_decompresses_until_its_next_event() {
    let map = example();
    let events = [
        used(90, 7, 1),
        asked(100, 7, 4_096, 5_120),
        // Another thread has nothing to do with it.
        used(150, 8, 2),
        done(1_100, 4_096, 5_120),
        used(1_130, 8, 2),
        used(1_160, 7, 1),
    ];
    let reads = device_reads(&events, &map, None);
    let [read] = reads.as_slice() else {
        panic!("{reads:?}")
    };
    assert_eq!((read.waited_us, read.decompressing_us), (1_000, 60));
    assert_eq!((read.blocks.as_slice(), read.is_whole), (&[0][..], true));
    assert_eq!((read.file, read.done_us), (Some(0), Some(1_100)));
}

#[test]
fn what_comes_late_is_not_taken_for_decompression() {
    let map = example();
    let events = [
        asked(100, 7, 4_096, 5_120),
        done(200, 4_096, 5_120),
        used(1_000_200, 7, 1),
    ];
    // 16 KiB at 16 MB/s is a millisecond.
    let reads = device_reads(&events, &map, Some(16_384_000));
    assert_eq!(reads[0].decompressing_us, 3_000 + OVERHEAD_US);
    let unbounded = device_reads(&events, &map, None);
    assert_eq!(unbounded[0].decompressing_us, 1_000_000);
}

#[test]
fn blocks_that_are_asked_for_together_share_the_time() {
    let map = example();
    let events = [
        asked(100, 7, 4_096, 5_120),
        asked(110, 7, 8_192, 7_168),
        // A part of the first, then all.
        done(150, 4_096, 512),
        done(500, 4_096, 11_264),
        used(600, 7, 1),
    ];
    let reads = device_reads(&events, &map, None);
    let waited: Vec<u64> = reads.iter().map(|read| read.waited_us).collect();
    assert_eq!(waited, [400 * 5_120 / 12_288, 400 * 7_168 / 12_288]);
    let decompressing: Vec<u64> = reads.iter().map(|read| read.decompressing_us).collect();
    assert_eq!(decompressing, [50, 50]);
}

#[test]
fn a_header_and_its_metadata_block_are_read_once() {
    let map = example();
    let second = INODES_START + METADATA_BYTES;
    let (header, body) = (second - second % 1_024, 3_072);
    let events = [
        asked(0, 7, header, 1_024),
        done(10, header, 1_024),
        asked(12, 7, header, body),
        done(30, header, body),
        asked(60, 7, header, 1_024),
        done(70, header, 1_024),
        asked(72, 7, header, body),
    ];
    let reads = device_reads(&events, &map, None);
    let goes_on: Vec<bool> = reads.iter().map(|read| read.goes_on).collect();
    assert_eq!(goes_on, [false, true, false, true]);
    let decompressing: Vec<u64> = reads.iter().map(|read| read.decompressing_us).collect();
    // The header has nothing to decompress; the last read never arrived.
    assert_eq!(decompressing, [0, 30, 0, 0]);
}

#[test]
fn a_device_that_tells_nothing_makes_nothing_slow() {
    let map = example();
    let events: Vec<RawEvent> = (0..3 * PENDING_MAX as u64)
        .map(|time_us| asked(time_us, 7, 4_096, 5_120))
        .collect();
    let reads = device_reads(&events, &map, None);
    assert_eq!(reads.len(), events.len());
    assert!(reads.iter().all(|read| read.waited_us == 0));
}
