//! What is decompressed before it is asked for.

use std::io;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::thread;

use coldpress_format::Body;
use coldpress_image::{Image, ReadAt};
use coldpress_mount::{
    FileSystem, NodeId, Options, Prefetch, PrefetchCounts, PrefetchLimits, PrefetchStage,
};
use coldpress_nasty::{Packing, Structure, Tables};
use coldpress_trace::{FileAccess, PageRun, WorkingSet};

use crate::tree::{OPTIONS, content, mounted, open};

/// Of the sample's blocks.
const BLOCK_BYTES: u64 = 4096;
const LIMITS: PrefetchLimits = PrefetchLimits {
    threads: NonZeroUsize::MIN,
    bytes_per_s: None,
};

/// A working set of pages in this order.
fn working_set(accesses: &[(&str, u64)]) -> WorkingSet {
    let mut set = WorkingSet::default();
    for ((path, page), rank) in accesses.iter().zip(0..) {
        let run = PageRun {
            first_page: *page,
            last_page: *page,
            rank,
            certain: true,
        };
        let known = set
            .files
            .iter_mut()
            .find(|file| file.path == path.as_bytes());
        match known {
            Some(file) => file.pages.push(run),
            None => set.files.push(FileAccess {
                path: path.as_bytes().to_vec(),
                first_rank: rank,
                pages: vec![run],
            }),
        }
    }
    set
}

fn shared(image: Image, cache_bytes: u64) -> Arc<FileSystem> {
    let options = Options {
        cache_bytes,
        ..OPTIONS
    };
    Arc::new(mounted(image, options).0)
}

fn sample(cache_bytes: u64) -> Arc<FileSystem> {
    shared(open(&coldpress_nasty::image(true).bytes), cache_bytes)
}

fn file(file_system: &FileSystem) -> NodeId {
    let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap().node;
    file_system.lookup(dir, b"file").unwrap().node
}

/// Prefetches to the end.
fn prefetched(file_system: &Arc<FileSystem>, set: WorkingSet) -> PrefetchCounts {
    let mut prefetch = Prefetch::start(file_system, set, LIMITS).unwrap();
    prefetch.wait();
    let counts = file_system.stats().prefetch;
    drop(prefetch);
    counts
}

/// An image that notes where it is read.
struct Noted {
    bytes: Vec<u8>,
    starts: Arc<Mutex<Vec<u64>>>,
}

impl ReadAt for Noted {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        self.starts.lock().unwrap().push(start);
        self.bytes.read_at(buf, start)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }
}

#[test]
fn blocks_are_prefetched_in_the_order_in_which_they_were_needed() {
    let bytes = coldpress_nasty::image(true).bytes;
    let image = open(&bytes);
    let (_, inode) = image.find(b"/dir/file").unwrap().unwrap();
    let Body::File(of_file) = &inode.body else {
        panic!("it is a file");
    };
    let blocks: Vec<u64> = image.stored_blocks(of_file).map(|it| it.start).collect();
    let tail = image.stored_fragment(of_file.tail.unwrap()).unwrap().start;
    let starts = Arc::new(Mutex::new(Vec::new()));
    let noted = Noted {
        bytes,
        starts: Arc::clone(&starts),
    };
    let file_system = shared(Image::new(Box::new(noted)).unwrap(), 1 << 20);
    let order = [("/dir/file", 1), ("/dir/file", 2), ("/dir/file", 0)];
    let counts = prefetched(&file_system, working_set(&order));
    let data = [blocks[0], blocks[1], tail];
    let read = starts.lock().unwrap().clone();
    let read: Vec<u64> = read.into_iter().filter(|it| data.contains(it)).collect();
    assert_eq!(read, [blocks[1], tail, blocks[0]]);
    assert_eq!((counts.prefetched, counts.used), (3, 0));
    assert_eq!(counts.stage, PrefetchStage::Done);
}

#[test]
fn what_was_prefetched_is_not_decompressed_again() {
    let file_system = sample(1 << 20);
    let set = working_set(&[("/dir/file", 0), ("/dir/file", 1), ("/dir/file", 2)]);
    assert_eq!(prefetched(&file_system, set).prefetched, 3);
    let read = content(&file_system, file(&file_system));
    assert_eq!(read, coldpress_nasty::file_content());
    let stats = file_system.stats();
    assert_eq!(stats.blocks.made, 3);
    assert_eq!(stats.read_bytes, read.len() as u64);
    assert!(stats.kept_bytes > 2 * BLOCK_BYTES);
}

#[test]
fn what_a_request_asked_for_is_counted_as_used_once() {
    let file_system = sample(1 << 20);
    let set = working_set(&[("/dir/file", 0), ("/dir/file", 1)]);
    let mut prefetch = Prefetch::start(&file_system, set, LIMITS).unwrap();
    prefetch.wait();
    let file = file(&file_system);
    for _ in 0..3 {
        file_system.read(file, 10, 10).unwrap();
    }
    assert_eq!(file_system.stats().prefetch.used, 1);
    file_system.read(file, 0, 5000).unwrap();
    assert_eq!(file_system.stats().prefetch.used, 2);
    drop(prefetch);
}

#[test]
fn what_the_image_does_not_have_is_passed_over() {
    let file_system = sample(1 << 20);
    let set = working_set(&[
        ("/none", 0),
        ("/dir", 0),
        ("/dir/file/below", 0),
        ("/fifo", 0),
        ("/../tail", 0),
        ("", 0),
        // Holes, and what is behind the end of a file.
        ("/sparse", 0),
        ("/tail", 99),
        ("/tail", 1 << 51),
        ("/dir/file", 0),
    ]);
    let counts = prefetched(&file_system, set);
    assert_eq!(counts.missing, 6);
    assert_eq!(counts.stage, PrefetchStage::Done);
    assert!(counts.prefetched >= 1);
}

#[test]
fn no_more_is_held_than_the_cache_has_room_for() {
    // Half of it is two blocks.
    let file_system = sample(4 * BLOCK_BYTES);
    let set = working_set(&[("/dir/file", 0), ("/dir/file", 1), ("/tail", 0)]);
    let prefetch = Prefetch::start(&file_system, set, LIMITS).unwrap();
    let so_many = |count| {
        while file_system.stats().prefetch.prefetched < count {
            thread::yield_now();
        }
        let stats = file_system.stats();
        assert!(stats.prefetch.prefetched == count, "{stats:?}");
    };
    so_many(2);
    let file = file(&file_system);
    file_system.read(file, 0, 10).unwrap();
    so_many(3);
    drop(prefetch);
    let stats = file_system.stats();
    assert_eq!((stats.blocks.made, stats.prefetch.used), (3, 1));
}

#[test]
fn a_prefetch_that_waits_ends_when_it_is_dropped() {
    let file_system = sample(4 * BLOCK_BYTES);
    let set = working_set(&[("/dir/file", 0), ("/dir/file", 1), ("/tail", 0)]);
    drop(Prefetch::start(&file_system, set, LIMITS).unwrap());
    assert!(file_system.stats().prefetch.prefetched <= 2);
    // And requests are answered as before.
    let read = content(&file_system, file(&file_system));
    assert_eq!(read, coldpress_nasty::file_content());
}

#[test]
fn nothing_is_prefetched_into_a_cache_without_room() {
    for cache_bytes in [0, BLOCK_BYTES] {
        let file_system = sample(cache_bytes);
        let counts = prefetched(&file_system, working_set(&[("/dir/file", 0)]));
        assert_eq!(counts, PrefetchCounts::default());
    }
}

#[test]
fn a_damaged_block_is_told_when_it_is_asked_for_and_not_before() {
    let image = Tables::new(&coldpress_nasty::sample(Packing::gzip(true))).write();
    let at = image.start_of(Structure::Data);
    let (file_system, told) = mounted(open(&image.with(at, &[0xff; 8])), OPTIONS);
    let file_system = Arc::new(file_system);
    let counts = prefetched(&file_system, working_set(&[("/dir/file", 0)]));
    assert_eq!((counts.prefetched, counts.wasted), (1, 1));
    assert_eq!(told.lock().unwrap().len(), 0);
    assert!(file_system.read(file(&file_system), 0, 10).is_err());
    assert_eq!(told.lock().unwrap().len(), 1);
}
