//! What the kernel is given of a block of which it asks for a part.

use std::fs::{self, File};
use std::thread::sleep;
use std::time::Duration;

use coldpress_host::resident_pages;
use rustix::fs::{Advice, fadvise};
use rustix::io::pread;

use super::stage::MountStage;
use crate::skip;

const PAGE_BYTES: u64 = 4096;
const BLOCK_BYTES: u64 = 1 << 20;
/// A gift that comes too late is not made, so one of many has to be enough.
const BLOCKS: u64 = 50;

#[test]
fn who_reads_a_page_finds_its_block_in_memory() {
    if skip::without_fuse() || skip::without_root() {
        return;
    }
    let stage = MountStage::empty();
    fs::create_dir_all(stage.at("source/directory with spaces")).unwrap();
    let name = "directory with spaces/file";
    let content: Vec<u8> = (0..BLOCKS * BLOCK_BYTES)
        .map(|at| u8::try_from(at / BLOCK_BYTES).unwrap())
        .collect();
    fs::write(stage.at("source").join(name), &content).unwrap();
    let words = ["-q", "build", "source", "image", "-b", "1M"];
    stage.session.done(words);
    let _guard = stage.mount([""; 0]);
    let file = File::open(stage.mounted(name)).unwrap();
    // One page of a block, and nothing around it.
    fadvise(&file, 0, None, Advice::Random).unwrap();
    let came_whole = (0..BLOCKS).any(|block| {
        let before = resident_pages(&file).unwrap();
        let mut byte = [0];
        let at = block * BLOCK_BYTES + 5 * PAGE_BYTES;
        assert_eq!(pread(&file, &mut byte, at), Ok(1));
        assert_eq!(u64::from(byte[0]), block);
        (0..20).any(|_| {
            sleep(Duration::from_millis(5));
            let pages = resident_pages(&file).unwrap() - before;
            assert!(pages <= BLOCK_BYTES / PAGE_BYTES, "{pages}");
            pages == BLOCK_BYTES / PAGE_BYTES
        })
    });
    assert!(came_whole);
    assert!(fs::read(stage.mounted(name)).unwrap() == content);
}
