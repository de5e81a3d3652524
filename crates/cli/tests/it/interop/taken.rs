//! A part of a directory of this machine, small enough to be built many times.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::program;

/// Content of a part in bytes, and its files: several blocks of 1M and several metadata blocks.
/// With 18 images of each part, these keep the suite below a minute on two cores.
const BYTES_MAX: u64 = 8 << 20;
const FILES_MAX: u64 = 1000;

/// Set to test whole directories, which takes half an hour.
const WHOLE: &str = "COLDPRESS_WHOLE_TREES";

/// Copies as many entries of `directory`, in the order of their names, as the limits allow.
pub(super) fn part_of(directory: &Path, work: &Path) -> PathBuf {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let (mut bytes, mut files) = (0, 0);
    let is_whole = std::env::var_os(WHOLE).is_some();
    entries.retain(|path| {
        let (entry_bytes, entry_files) = weight(path);
        let fits = bytes + entry_bytes <= BYTES_MAX && files + entry_files <= FILES_MAX;
        let fits = fits || is_whole;
        if fits {
            bytes += entry_bytes;
            files += entry_files;
        }
        fits
    });
    let part = work.join("source");
    fs::create_dir(&part).unwrap();
    // One call, so that hard links between entries stay links.
    program(Command::new("cp").arg("-a").args(entries).arg(&part));
    part
}

/// Bytes and files of an entry with all below it.
fn weight(path: &Path) -> (u64, u64) {
    let metadata = fs::symlink_metadata(path).unwrap();
    if !metadata.is_dir() {
        return (metadata.len(), 1);
    }
    fs::read_dir(path)
        .unwrap()
        .fold((0, 1), |(bytes, files), entry| {
            let (entry_bytes, entry_files) = weight(&entry.unwrap().path());
            (bytes + entry_bytes, files + entry_files)
        })
}
