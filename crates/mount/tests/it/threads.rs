//! Several threads: each block is decompressed once, and nothing is mixed up.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use coldpress_image::{Image, ReadAt};
use coldpress_mount::{Failure, Helpers, NodeId};

use crate::tree::{OPTIONS, content, mounted, open};

/// Blocks of `/dir/file`, with its tail end.
const BLOCKS: u64 = 3;

#[test]
fn a_block_that_all_want_is_decompressed_once() {
    for _ in 0..20 {
        let (file_system, _) = mounted(open(&coldpress_nasty::image(true).bytes), OPTIONS);
        let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap().node;
        let file = file_system.lookup(dir, b"file").unwrap().node;
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let read = content(&file_system, file);
                    assert_eq!(read, coldpress_nasty::file_content());
                });
            }
        });
        assert_eq!(file_system.block_counts().made, BLOCKS);
    }
}

#[test]
fn blocks_that_do_not_fit_are_decompressed_again() {
    let options = coldpress_mount::Options {
        cache_bytes: 0,
        ..OPTIONS
    };
    let (file_system, _) = mounted(open(&coldpress_nasty::image(true).bytes), options);
    let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap().node;
    let file = file_system.lookup(dir, b"file").unwrap().node;
    for reads in 1..4 {
        for offset in [0, 4096, 8192] {
            file_system.read(file, offset, 10).unwrap();
            // Still the newest.
            file_system.read(file, offset + 20, 10).unwrap();
        }
        assert_eq!(file_system.block_counts().made, reads * BLOCKS);
    }
}

#[test]
fn helpers_change_neither_what_is_read_nor_how_often_it_is_decompressed() {
    for _ in 0..20 {
        let (file_system, _) = mounted(open(&coldpress_nasty::image(true).bytes), OPTIONS);
        let file_system = Arc::new(file_system);
        let helpers = Helpers::start(&file_system, NonZeroUsize::new(3).unwrap()).unwrap();
        let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap().node;
        let file = file_system.lookup(dir, b"file").unwrap().node;
        let read = file_system.read(file, 0, 100_000).unwrap();
        assert_eq!(read.bytes(), coldpress_nasty::file_content());
        drop(helpers);
        assert_eq!(file_system.block_counts().made, BLOCKS);
    }
}

#[test]
fn what_follows_a_read_that_goes_on_is_decompressed_by_a_helper() {
    // One block is kept, so that the next is never there.
    let options = coldpress_mount::Options {
        cache_bytes: 0,
        ..OPTIONS
    };
    let (file_system, _) = mounted(open(&coldpress_nasty::image(true).bytes), options);
    let file_system = Arc::new(file_system);
    let _helpers = Helpers::start(&file_system, NonZeroUsize::MIN).unwrap();
    let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap().node;
    let file = file_system.lookup(dir, b"file").unwrap().node;
    // Until the helper has come to wait.
    while file_system.stats().handed_over == 0 {
        for offset in [0, 4096] {
            file_system.read(file, offset, 4096).unwrap();
        }
    }
}

/// An image whose medium goes away.
struct Medium {
    bytes: Vec<u8>,
    is_gone: Arc<AtomicBool>,
}

impl ReadAt for Medium {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        if self.is_gone.load(Ordering::SeqCst) {
            return Ok(0);
        }
        self.bytes.read_at(buf, start)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }
}

#[test]
fn a_medium_that_goes_away_is_an_error_of_what_is_read_then() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let medium = Medium {
        bytes: coldpress_nasty::image(true).bytes,
        is_gone: Arc::clone(&is_gone),
    };
    let (file_system, told) = mounted(Image::new(Box::new(medium)).unwrap(), OPTIONS);
    let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap().node;
    let file = file_system.lookup(dir, b"file").unwrap().node;
    file_system.read(file, 0, 10).unwrap();
    is_gone.store(true, Ordering::SeqCst);
    // What is in memory stays readable.
    assert!(file_system.read(file, 100, 10).is_ok());
    for _ in 0..2 {
        assert_eq!(
            file_system.read(file, 4096, 10).unwrap_err(),
            Failure::Damaged
        );
    }
    is_gone.store(false, Ordering::SeqCst);
    assert!(file_system.read(file, 4096, 10).is_ok());
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("`/dir/file` (inode 3): cannot read the image at byte "));
}
