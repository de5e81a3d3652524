//! Pages of a start pack, and what is put off while it is on its way.

use std::io::{self, Cursor};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, mpsc};

use coldpress_codec::Settings;
use coldpress_format::{Compressor, pack_start};
use coldpress_mount::{Failure, FileSystem, NodeId, PackPrefetch, PageDelivery, ReadReason};
use coldpress_pack::{PackOptions, write_pack};
use coldpress_trace::{FileAccess, PageRun, WorkingSet};

use crate::tree::{OPTIONS, mounted, open};

const PAGE_BYTES: u64 = 4096;

/// The sample with a pack of the second page of `/dir/file`.
fn packed() -> Vec<u8> {
    let bytes = coldpress_nasty::image(true).bytes;
    let image = open(&bytes);
    let run = PageRun {
        first_page: 1,
        last_page: 1,
        rank: 0,
        certain: true,
    };
    let access = FileAccess {
        path: b"/dir/file".to_vec(),
        first_rank: 0,
        pages: vec![run],
    };
    let set = WorkingSet {
        files: vec![access],
        ..WorkingSet::default()
    };
    let options = PackOptions {
        settings: Settings::new(Compressor::Zstd, None).unwrap(),
        limit_bytes: 1 << 20,
        threads: NonZeroUsize::MIN,
    };
    let mut out = Cursor::new(bytes.clone());
    out.set_position(pack_start(image.superblock().bytes_used));
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let summary = write_pack(&image, &set, &options, &mut out, go_on).unwrap();
    assert_eq!((summary.pages, summary.files), (1, 1));
    out.into_inner()
}

/// A file system with the pack of an image, what it told of damage, and the packed file.
fn with_pack(bytes: &[u8]) -> (Arc<FileSystem>, Arc<Mutex<Vec<String>>>, NodeId) {
    let image = open(bytes);
    let pack = image.start_pack().unwrap().expect("a pack");
    let (file_system, told) = mounted(image, OPTIONS);
    let file_system = file_system.with_start_pack(pack);
    let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap().node;
    let file = file_system.lookup(dir, b"file").unwrap().node;
    (Arc::new(file_system), told, file)
}

fn pages(file_system: &FileSystem) -> u64 {
    file_system.stats().start_pack.expect("a pack").pages
}

#[test]
fn bytes_are_the_same_with_a_pack_and_without() {
    let bytes = packed();
    let (file_system, told, file) = with_pack(&bytes);
    let (plain, _) = mounted(open(&bytes), OPTIONS);
    let dir = plain.lookup(NodeId::ROOT, b"dir").unwrap().node;
    let same = plain.lookup(dir, b"file").unwrap().node;
    for start in (0..5 * PAGE_BYTES).step_by(1009) {
        for len in [1, 100, 4096, 5000, 20_000] {
            let content = file_system.read(file, start, len).unwrap();
            let expected = plain.read(same, start, len).unwrap();
            assert_eq!(content.bytes(), expected.bytes(), "{start} {len}");
        }
    }
    assert!(pages(&file_system) > 0);
    assert_eq!(told.lock().unwrap().len(), 0);
}

#[test]
fn a_damaged_pack_is_told_once_and_the_blocks_are_used() {
    let bytes = packed();
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let (file_system, told, file) = with_pack(&damaged);
    let (sound, _, same) = with_pack(&bytes);
    for _ in 0..3 {
        let content = file_system.read(file, PAGE_BYTES, 4096).unwrap();
        let expected = sound.read(same, PAGE_BYTES, 4096).unwrap();
        assert_eq!(content.bytes(), expected.bytes());
    }
    assert_eq!((pages(&file_system), pages(&sound)), (0, 3));
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("the piece does not match its digest"),
        "{told:?}"
    );
}

#[test]
fn what_is_not_needed_is_put_off_once_while_the_pack_is_on_its_way() {
    let around = ReadReason::Around;
    let (file_system, _, file) = with_pack(&packed());
    let read = |start, len, reason| {
        let read = file_system.read_for(file, start, len, reason);
        read.map(|content| content.bytes().len())
    };
    let (tell, told) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    let delivery: PageDelivery = Box::new(move |ranges| {
        tell.send(ranges.to_vec()).unwrap();
        // An error is the end of the test.
        let _ = wait.recv();
        Ok(())
    });
    let prefetch = PackPrefetch::start(&file_system, NonZeroUsize::MIN, Some(delivery)).unwrap();
    let expected = ("/dir/file".into(), PAGE_BYTES..2 * PAGE_BYTES);
    assert_eq!(told.recv().unwrap(), [expected]);
    // All of it is packed; a part is not; the same again.
    assert_eq!(read(PAGE_BYTES, 4096, around), Ok(4096));
    assert_eq!(read(0, 8192, around), Err(Failure::PutOff));
    assert_eq!(read(0, 8192, around), Ok(8192));
    // Its blocks are decompressed by now.
    assert_eq!(read(0, 4096, around), Ok(4096));
    assert_eq!(
        file_system.stats().start_pack.map(|counts| counts.put_off),
        Some(1)
    );
    go_on.send(()).unwrap();
    drop((go_on, prefetch));
}

#[test]
fn nothing_is_put_off_when_somebody_needs_it_or_the_pack_has_come() {
    for (reason, has_come) in [(ReadReason::Needed, false), (ReadReason::Around, true)] {
        let (file_system, _, file) = with_pack(&packed());
        let (go_on, wait) = mpsc::channel::<()>();
        let delivery: PageDelivery = Box::new(move |_| wait.recv().map_err(io::Error::other));
        let threads = NonZeroUsize::MIN;
        let prefetch = PackPrefetch::start(&file_system, threads, Some(delivery)).unwrap();
        if has_come {
            drop(go_on);
            drop(prefetch);
            assert!(file_system.read_for(file, 0, 8192, reason).is_ok());
        } else {
            assert!(file_system.read_for(file, 0, 8192, reason).is_ok());
            go_on.send(()).unwrap();
        }
    }
}
