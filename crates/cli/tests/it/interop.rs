//! Images as others read them: the kernel, squashfs-tools, squashfs-tools-ng.
//!
//! Five trees, each with every compressor at 4K, 128K and 1M: one generated with every inode type
//! and edge size, an empty one, and three of this machine, which stand for what nobody thinks of.
//! Of those a part is taken, because xz on one of them whole takes minutes. Levels are the fastest,
//! for the format is the same at any; at 128K they are the default ones.

mod generated;
mod manifest;
mod peers;
mod taken;

use std::path::{Path, PathBuf};

use crate::run::done;
use crate::skip;

use manifest::Manifest;

/// Compressors with the arguments for their fastest level.
const COMPRESSORS: [(&str, &[&str]); 6] = [
    ("gzip", &["-l", "1"]),
    ("lzo", &["-l", "0"]),
    ("lz4", &["-l", "0"]),
    ("xz", &["-l", "0"]),
    ("zstd", &["-l", "1"]),
    ("none", &[]),
];
const BLOCK_SIZES: [&str; 3] = ["4K", "128K", "1M"];

/// Builds an image with our own verification.
fn build(source: &Path, image: &Path, compressor: &str, block_size: &str, more: &[&str]) {
    let mut args: Vec<PathBuf> = [
        "-q", "build", "--verify", "-c", compressor, "-b", block_size,
    ]
    .iter()
    .chain(more)
    .map(PathBuf::from)
    .collect();
    args.extend([source.to_path_buf(), image.to_path_buf()]);
    done(args);
}

/// Everyone who reads the image finds the tree.
fn check(image: &Path, expected: &Manifest, work: &Path) {
    let context = image.file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(
        done([Path::new("-q"), Path::new("check"), image]).text(),
        "",
        "{context}"
    );
    peers::kernel(image, expected, work, &context);
    peers::unsquashfs(image, expected, work, &context);
    peers::rdsquashfs(image, expected, work, &context);
    peers::coldpress(image, expected, work, &context);
    std::fs::remove_file(image).unwrap();
}

/// Whether the tests of this module can run at all; what is not there skips its part.
fn cannot_run() -> bool {
    // Owners, devices and trusted xattrs are root's.
    skip::without_root()
}

/// A directory in memory if that has room and holds xattrs of users, else on disk.
///
/// ext4 does not reuse inodes deleted in the last five seconds and searches past them for each
/// file created: with thousands deleted after each image that took most of the time.
fn stage() -> tempfile::TempDir {
    const ROOM_BYTES: u64 = 1 << 30;
    let in_memory = || {
        let room = rustix::fs::statvfs("/dev/shm").ok()?;
        let stage = tempfile::tempdir_in("/dev/shm").ok()?;
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(stage.path(), "user.coldpress", b"", flags).ok()?;
        (room.f_bavail.saturating_mul(room.f_frsize) >= ROOM_BYTES).then_some(stage)
    };
    in_memory().unwrap_or_else(|| tempfile::tempdir().unwrap())
}

fn every_pair(source: &Path, work: &Path) {
    let expected = Manifest::of(source);
    for (compressor, fastest) in COMPRESSORS {
        for block_size in BLOCK_SIZES {
            let image = work.join(format!("{compressor}-{block_size}"));
            let level = if block_size == "128K" { &[] } else { fastest };
            build(source, &image, compressor, block_size, level);
            check(&image, &expected, work);
        }
    }
}

#[test]
fn a_tree_of_every_inode_type_and_edge_size_is_read_alike_by_all() {
    if cannot_run() {
        return;
    }
    let work = stage();
    let source = work.path().join("source");
    generated::write(&source);
    every_pair(&source, work.path());
}

#[test]
fn an_empty_directory_is_read_alike_by_all() {
    if cannot_run() {
        return;
    }
    let work = stage();
    let source = work.path().join("source");
    std::fs::create_dir(&source).unwrap();
    every_pair(&source, work.path());
}

/// Other layouts of the same content: tail ends, export table and xattrs as flags say.
#[test]
fn other_layouts_of_the_generated_tree_are_read_alike_by_all() {
    if cannot_run() {
        return;
    }
    let work = stage();
    let source = work.path().join("source");
    generated::write(&source);
    let expected = Manifest::of(&source);
    let layouts: [&[&str]; 3] = [
        &["--tails", "none"],
        &["--tails", "all"],
        &["--tails", "all", "--no-export", "-l", "3"],
    ];
    for (index, layout) in layouts.into_iter().enumerate() {
        let image = work.path().join(format!("layout-{index}"));
        build(&source, &image, "zstd", "128K", layout);
        check(&image, &expected, work.path());
    }
    let image = work.path().join("no-xattrs");
    let args = ["-q", "build", "--no-xattrs", "-c", "lz4"].map(Path::new);
    done(args.into_iter().chain([source.as_path(), &image]));
    check(&image, &expected.without_xattrs(), work.path());
}

/// Each tuning gives an image of a part of `/usr/bin`.
fn every_tuning(tunings: &[(&str, &str, &[&str])]) {
    let work = stage();
    let source = taken::part_of(Path::new("/usr/bin"), work.path());
    let expected = Manifest::of(&source);
    for (index, (compressor, block_size, tuning)) in tunings.iter().enumerate() {
        let image = work.path().join(format!("{compressor}-tuned-{index}"));
        build(&source, &image, compressor, block_size, tuning);
        check(&image, &expected, work.path());
    }
}

/// What the options of single compressors change in streams and in what the image records.
#[test]
fn options_of_gzip_lz4_and_zstd_are_read_alike_by_all() {
    if cannot_run() {
        return;
    }
    let strategies = "default,filtered,huffman_only,run_length_encoded,fixed";
    every_tuning(&[
        ("gzip", "128K", &["--gzip-window", "8", "-l", "1"]),
        (
            "gzip",
            "128K",
            &["--gzip-strategies", strategies, "-l", "1"],
        ),
        ("lz4", "128K", &["--lz4-acceleration", "100"]),
        ("zstd", "128K", &["-l", "-5"]),
    ]);
}

#[test]
fn options_of_xz_are_read_alike_by_all() {
    if cannot_run() {
        return;
    }
    let small_dictionary = ["--xz-filters", "x86", "--xz-dictionary", "8K", "-l", "0"];
    let two_filters = ["--xz-filters", "x86,arm64", "--xz-dictionary", "75%"];
    every_tuning(&[
        ("xz", "4K", &["--xz-filters", "x86", "-l", "0"]),
        ("xz", "128K", &[&two_filters[..], &["-l", "1"]].concat()),
        ("xz", "1M", &small_dictionary),
        (
            "xz",
            "128K",
            &["--xz-lc", "0", "--xz-lp", "4", "--xz-pb", "4", "-l", "0"],
        ),
        (
            "xz",
            "128K",
            &["--xz-lc", "4", "--xz-pb", "0", "--xz-extreme", "-l", "0"],
        ),
    ]);
}

/// Every compressor at every block size, of a part of `directory`.
fn every_pair_of_part(directory: &str) {
    if cannot_run() {
        return;
    }
    let work = stage();
    let source = taken::part_of(Path::new(directory), work.path());
    every_pair(&source, work.path());
}

#[test]
fn programs_of_this_machine_are_read_alike_by_all() {
    every_pair_of_part("/usr/bin");
}

#[test]
fn documents_of_this_machine_are_read_alike_by_all() {
    every_pair_of_part("/usr/share/doc");
}

#[test]
fn settings_of_this_machine_are_read_alike_by_all() {
    every_pair_of_part("/etc");
}
