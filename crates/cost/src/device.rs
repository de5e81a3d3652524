//! The device: what is read of it, and when it is there.

use std::collections::HashSet;

use crate::event::{IoEvent, Log};
use crate::hash_tree::{HashTree, Hashes};
use crate::medium::Medium;

/// The kernel's throttle counts in slices of 0.1 s (`throtl_slice`): what a slice allows passes at
/// once.
const SLICE_S: f64 = 0.1;
/// Sums of slices are not exact.
const ROUNDING_S: f64 = 1e-9;
const PAGE_BYTES: u64 = 4096;
/// The most that one read of the device has: 128 pages that do not follow each other in memory
/// (`max_segments`).
pub(crate) const READ_BYTES_MAX: u64 = 128 * PAGE_BYTES;

/// The device while it is read.
#[derive(Debug)]
pub(crate) struct Device {
    medium: Medium,
    /// When the bytes of what was asked for so far are through.
    idle_s: f64,
    bytes: Option<Bucket>,
    requests: Option<Bucket>,
    /// Pages of the image that stay in memory: all of them with `via_file`, those at the ends of
    /// reads on a device with sectors of a page (`squashfs_bio_read_cached`).
    cached: HashSet<u64>,
    /// Of the hash tree through which the image is read, if it is read through one.
    hashes: Option<Hashes>,
    /// Bytes of data that are verified in a second.
    verify_bytes_per_s: f64,
    pub(crate) reads: u64,
    pub(crate) read_bytes: u64,
    /// Of the reads and bytes, those of the hash tree.
    pub(crate) hash_reads: u64,
    pub(crate) hash_bytes: u64,
    /// Its reads, and the pages that they are for.
    pub(crate) log: Log,
}

impl Device {
    pub(crate) fn new(medium: Medium) -> Self {
        Self {
            hashes: None,
            verify_bytes_per_s: f64::INFINITY,
            hash_reads: 0,
            hash_bytes: 0,
            medium,
            idle_s: 0.0,
            bytes: medium.limit_bytes_per_s.map(|rate| Bucket::new(rate, true)),
            requests: medium.reads_per_s.map(|rate| Bucket::new(rate, false)),
            cached: HashSet::new(),
            reads: 0,
            read_bytes: 0,
            log: Log::default(),
        }
    }

    /// Reads from here on through a hash tree: no less than its data blocks, each verified.
    pub(crate) fn read_through(&mut self, tree: &HashTree, verify_bytes_per_s: f64) {
        let data_block_bytes = u32::try_from(tree.data_block_bytes).unwrap_or(u32::MAX);
        self.medium.sector_bytes = self.medium.sector_bytes.max(data_block_bytes);
        self.hashes = Some(Hashes::new(tree.clone()));
        self.verify_bytes_per_s = verify_bytes_per_s;
    }

    /// Notes that a byte was read when the image was mounted, and so are its hashes.
    pub(crate) fn remember_hashes(&mut self, start_byte: u64) {
        if let Some(hashes) = &mut self.hashes {
            hashes.read(start_byte, start_byte + 1);
        }
    }

    /// Reads a piece of the image, rounded to sectors (equations 1 to 3); returns when it is there.
    pub(crate) fn read(&mut self, now_s: f64, start_byte: u64, len_bytes: u64) -> f64 {
        let sector = u64::from(self.medium.sector_bytes.max(512));
        let end_byte = start_byte.saturating_add(len_bytes);
        let start = start_byte - start_byte % sector;
        let end = end_byte.saturating_add(sector - 1) / sector * sector;
        if self.medium.via_file {
            let done_s = self.read_absent(now_s, start, end);
            return self.verify(now_s, done_s, start, end);
        }
        if sector < PAGE_BYTES {
            let done_s = self.request(now_s, start, end - start);
            return self.verify(now_s, done_s, start, end);
        }
        let (mut first, mut behind) = (start / PAGE_BYTES, end / PAGE_BYTES);
        if self.cached.contains(&first) {
            first += 1;
        } else if start < start_byte {
            self.cached.insert(first);
        }
        if behind > first && self.cached.contains(&(behind - 1)) {
            behind -= 1;
        } else if end_byte < end {
            self.cached.insert(behind - 1);
        }
        if behind <= first {
            return now_s;
        }
        let done_s = self.request_pages(now_s, first, behind);
        self.verify(now_s, done_s, first * PAGE_BYTES, behind * PAGE_BYTES)
    }

    /// Reads the hashes of data that were asked for and have come, and verifies these (equation 10).
    fn verify(&mut self, asked_s: f64, come_s: f64, start: u64, end: u64) -> f64 {
        let Some(hashes) = &mut self.hashes else {
            return come_s;
        };
        let [ahead, root] = hashes.read(start, end);
        let before = (self.reads, self.read_bytes);
        let mut done_s = come_s;
        for (start_byte, len_bytes) in ahead {
            done_s = done_s.max(self.read_hashes(asked_s, start_byte, len_bytes));
        }
        for (start_byte, len_bytes) in root {
            done_s = done_s.max(self.read_hashes(come_s, start_byte, len_bytes));
        }
        self.hash_reads += self.reads - before.0;
        self.hash_bytes += self.read_bytes - before.1;
        done_s + as_f64(end - start) / self.verify_bytes_per_s
    }

    /// A tree in the file of the image, or in another, is in the page cache of its file too.
    fn read_hashes(&mut self, now_s: f64, start_byte: u64, len_bytes: u64) -> f64 {
        if self.medium.via_file {
            return self.read_absent(now_s, start_byte, start_byte + len_bytes);
        }
        self.request(now_s, start_byte, len_bytes)
    }

    /// What is not in the page cache of the image's file yet, in as few requests as there are gaps.
    fn read_absent(&mut self, now_s: f64, start: u64, end: u64) -> f64 {
        let mut done_s = now_s;
        let behind = end.div_ceil(PAGE_BYTES);
        let mut first_absent = None;
        for page in start / PAGE_BYTES..behind {
            if self.cached.insert(page) {
                first_absent = first_absent.or(Some(page));
            } else if let Some(first) = first_absent.take() {
                done_s = self.request_pages(done_s, first, page);
            }
        }
        match first_absent {
            Some(first) => self.request_pages(done_s, first, behind),
            None => done_s,
        }
    }

    fn request_pages(&mut self, now_s: f64, first: u64, behind: u64) -> f64 {
        self.request(now_s, first * PAGE_BYTES, (behind - first) * PAGE_BYTES)
    }

    /// Latencies of several reads overlap, their bytes follow each other.
    fn request(&mut self, now_s: f64, start_byte: u64, len_bytes: u64) -> f64 {
        let reads = len_bytes.div_ceil(READ_BYTES_MAX);
        self.reads += reads;
        self.read_bytes += len_bytes;
        let len = as_f64(len_bytes);
        let mut let_through_s = now_s;
        for (bucket, amount) in [(&mut self.bytes, len), (&mut self.requests, as_f64(reads))] {
            if let Some(bucket) = bucket {
                let_through_s = let_through_s.max(bucket.take(now_s, amount));
            }
        }
        let begin_s = let_through_s.max(self.idle_s);
        self.idle_s = begin_s + len / self.medium.bandwidth_bytes_per_s;
        let done_s = self.idle_s + self.medium.request_s;
        self.note(now_s, done_s, (start_byte, len_bytes));
        done_s
    }

    /// Notes each of the reads that a request is.
    fn note(&mut self, asked_s: f64, done_s: f64, (start_byte, len_bytes): (u64, u64)) {
        let end_byte = start_byte + len_bytes;
        let mut start_byte = start_byte;
        while start_byte < end_byte {
            let len_bytes = READ_BYTES_MAX.min(end_byte - start_byte);
            let (ask, arrive) = (
                IoEvent::Ask {
                    start_byte,
                    len_bytes,
                },
                IoEvent::Arrive {
                    start_byte,
                    len_bytes,
                },
            );
            self.log.note(asked_s, ask);
            self.log.note(done_s, arrive);
            start_byte += len_bytes;
        }
    }
}

/// A limit on how much passes in a second, as `blk-throttle` keeps it: each slice allows its share
/// at once, and what is too much for one passes when the next has begun (equation 2).
#[derive(Debug)]
struct Bucket {
    per_s: f64,
    /// Whether what is too much waits for its share of the next slice besides, as bytes do.
    is_continuous: bool,
    /// When the slice began.
    start_s: f64,
    /// What passed in it; more than its share, if that is to pass later.
    used: f64,
    passed_s: f64,
}

impl Bucket {
    fn new(per_s: f64, is_continuous: bool) -> Self {
        Self {
            per_s,
            is_continuous,
            start_s: 0.0,
            used: 0.0,
            passed_s: 0.0,
        }
    }

    /// When an amount may pass that is asked for now.
    fn take(&mut self, now_s: f64, amount: f64) -> f64 {
        let share = self.per_s * SLICE_S;
        if now_s >= self.passed_s + SLICE_S {
            self.start_s = now_s;
            self.used = 0.0;
        }
        let ended = ((now_s - self.start_s + ROUNDING_S) / SLICE_S)
            .floor()
            .max(0.0);
        self.start_s += ended * SLICE_S;
        self.used = (self.used - ended * share).max(0.0) + amount;
        let too_much = self.used - share;
        let wait_s = if self.is_continuous {
            too_much / self.per_s
        } else {
            ((too_much / share).ceil() - 1.0) * SLICE_S
        };
        self.passed_s = if too_much > 0.0 {
            self.start_s + SLICE_S + wait_s
        } else {
            now_s
        };
        self.passed_s
    }
}

/// Figures of media are known to a few digits.
#[expect(clippy::cast_precision_loss, reason = "a few digits count")]
pub(crate) fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn reads_are_rounded_to_sectors() {
        for (start, len, expected) in [
            (0, 1, 1024),
            (1023, 2, 2048),
            (1024, 1024, 1024),
            (500, 5000, 6144),
        ] {
            let mut device = Device::new(Medium::FREE);
            near(device.read(1.0, start, len), 1.0);
            assert_eq!((device.reads, device.read_bytes), (1, expected));
        }
        let mut device = Device::new(Medium::FREE);
        device.read(0.0, 100, 600_000);
        assert_eq!((device.reads, device.read_bytes), (2, 601_088));
    }

    #[test]
    fn large_sectors_are_kept_at_both_ends() {
        let mut device = Device::new(Medium {
            sector_bytes: 4096,
            ..Medium::FREE
        });
        device.read(0.0, 5000, 10_000);
        assert_eq!((device.reads, device.read_bytes), (1, 12_288));
        // Its neighbors need one of its ends each, and nothing else.
        device.read(0.0, 4096, 800);
        device.read(0.0, 15_000, 1_000);
        assert_eq!((device.reads, device.read_bytes), (1, 12_288));
        device.read(0.0, 15_000, 5_000);
        assert_eq!((device.reads, device.read_bytes), (2, 16_384));
    }

    #[test]
    fn hashes_are_read_beside_their_data_and_once() {
        let tree = HashTree {
            data_block_bytes: 4096,
            hash_block_bytes: 4096,
            hashes_per_block: 128,
            levels: vec![1026..1034, 1025..1026],
            device_start_byte: 0,
        };
        let medium = Medium {
            request_s: 0.01,
            ..Medium::FREE
        };
        let mut device = Device::new(medium);
        device.read_through(&tree, 4_096_000.0);
        // Two blocks of data, and beside them the blocks 1024 to 1033, which have the uppermost.
        near(device.read(0.0, 5000, 4096), 0.012);
        assert_eq!((device.reads, device.read_bytes), (2, 12 * 4096));
        assert_eq!((device.hash_reads, device.hash_bytes), (1, 10 * 4096));
        near(device.read(1.0, 409_600, 4096), 1.011);
        assert_eq!((device.hash_reads, device.hash_bytes), (1, 10 * 4096));
        // Without a cluster before it, the uppermost block is read after the data.
        let mut device = Device::new(medium);
        device.read_through(
            &HashTree {
                levels: vec![1088..1096, 1025..1026],
                ..tree
            },
            f64::INFINITY,
        );
        near(device.read(0.0, 0, 4096), 0.02);
        assert_eq!((device.reads, device.hash_reads), (3, 2));
    }

    #[test]
    fn a_file_is_read_once() {
        let mut device = Device::new(Medium {
            via_file: true,
            ..Medium::FREE
        });
        device.read(0.0, 4096, 4096);
        device.read(0.0, 0, 12_288);
        assert_eq!((device.reads, device.read_bytes), (3, 12_288));
    }

    #[test]
    fn requests_wait_for_their_turn_and_their_bytes() {
        let medium = Medium {
            request_s: 0.01,
            bandwidth_bytes_per_s: 1e6,
            ..Medium::FREE
        };
        let mut device = Device::new(medium);
        near(device.read(0.0, 0, 102_400), 0.1124);
        // Asked for at the same time: its latency passes meanwhile.
        near(device.read(0.0, 102_400, 102_400), 0.2148);
    }

    #[test]
    fn limits_let_a_slice_through_and_then_count() {
        let medium = Medium {
            reads_per_s: Some(100.0),
            limit_bytes_per_s: Some(1e9),
            ..Medium::FREE
        };
        let mut device = Device::new(medium);
        let mut now_s = 0.0;
        for _ in 0..10 {
            now_s = device.read(now_s, 0, 1);
        }
        near(now_s, 0.0);
        for _ in 0..100 {
            now_s = device.read(now_s, 0, 1);
        }
        near(now_s, 1.0);
        // After a pause, no more than a slice.
        now_s = 10.0;
        for _ in 0..20 {
            now_s = device.read(now_s, 0, 1);
        }
        near(now_s, 10.1);
    }

    #[test]
    fn bytes_wait_for_the_next_slice_and_what_is_too_much_of_it() {
        let medium = Medium {
            limit_bytes_per_s: Some(10_240_000.0),
            ..Medium::FREE
        };
        let mut device = Device::new(medium);
        // A slice has 1,024,000 bytes.
        near(device.read(0.0, 0, 512_000), 0.0);
        near(device.read(0.01, 0, 256_000), 0.01);
        near(device.read(0.02, 0, 512_000), 0.125);
        near(device.read(0.125, 0, 512_000), 0.125);
        near(device.read(0.13, 0, 512_000), 0.225);
        let mut now_s = 0.225;
        for _ in 0..200 {
            now_s = device.read(now_s, 0, 512_000);
        }
        assert!((10.1..10.3).contains(&now_s), "{now_s}");
    }
}
