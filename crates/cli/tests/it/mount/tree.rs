//! What is in the mount.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirEntryExt as _, FileExt as _, MetadataExt as _};
use std::path::Path;
use std::process::Command;
use std::thread;

use rustix::fs::{Dir, Mode, OFlags, open};

use super::stage::{MountStage, large};
use crate::fuse::{generated, manifest::Manifest};
use crate::run::{detach, program};
use crate::skip;

/// Compressors of mksquashfs, all at the fastest level they have.
const COMPRESSORS: [&[&str]; 5] = [
    &["-comp", "gzip", "-Xcompression-level", "1"],
    &["-comp", "lzo", "-Xalgorithm", "lzo1x_1"],
    &["-comp", "lz4"],
    &["-comp", "xz", "-b", "1M"],
    &["-comp", "zstd", "-Xcompression-level", "1"],
];

fn generate(stage: &MountStage) -> Manifest {
    let source = stage.at("source");
    generated::write(&source);
    Manifest::of(&source)
}

/// Mounts `image` and compares it.
fn compare(stage: &MountStage, expected: &Manifest, what: &str) {
    let guard = stage.mount(["--cache", "1M"]);
    expected.demand(&Manifest::of(&stage.at("at")), what);
    drop(guard);
    fs::remove_file(stage.at("image")).unwrap();
}

#[test]
fn images_of_every_compressor_show_the_tree_they_were_made_of() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::empty();
    let expected = generate(&stage);
    for compressor in ["gzip", "lzo", "lz4", "xz", "zstd", "none"] {
        let level: &[&str] = match compressor {
            "gzip" | "lz4" | "zstd" => &["-l", "1"],
            "xz" => &["-l", "0"],
            _ => &[],
        };
        let args = [&["-q", "build", "source", "image", "-c", compressor], level];
        stage.session.done(args.concat());
        compare(&stage, &expected, compressor);
    }
}

#[test]
fn images_of_mksquashfs_show_the_tree_they_were_made_of() {
    if skip::without_fuse() || skip::without_peer("mksquashfs") {
        return;
    }
    let stage = MountStage::empty();
    let expected = generate(&stage);
    for options in COMPRESSORS {
        let mut command = Command::new("mksquashfs");
        command.args(["source", "image", "-no-progress", "-quiet"]);
        program(command.args(options).current_dir(stage.session.directory()));
        compare(&stage, &expected, &format!("mksquashfs {options:?}"));
    }
}

#[test]
fn images_of_gensquashfs_show_the_tree_they_were_made_of() {
    if skip::without_fuse() || skip::without_peer("gensquashfs") {
        return;
    }
    let stage = MountStage::empty();
    // It stores neither hard links nor owners of a directory that is packed, and sockets not at
    // all.
    let source = stage.at("source");
    fs::create_dir_all(source.join("a/b")).unwrap();
    fs::write(source.join("a/b/large"), large()).unwrap();
    fs::write(source.join("a/small"), "small").unwrap();
    std::os::unix::fs::symlink("../small", source.join("a/b/link")).unwrap();
    let expected = Manifest::of(&source).without_top();
    for compressor in ["gzip", "lz4", "xz", "zstd"] {
        let mut command = Command::new("gensquashfs");
        command.args(["-q", "-k", "-D", "source", "-c", compressor, "image"]);
        program(command.current_dir(stage.session.directory()));
        let guard = stage.mount([""; 0]);
        let found = Manifest::of(&stage.at("at")).without_top();
        expected.demand(&found, &format!("gensquashfs {compressor}"));
        drop(guard);
        fs::remove_file(stage.at("image")).unwrap();
    }
}

/// What the kernel and we show of a path beyond content and metadata.
fn details(root: &Path) -> BTreeMap<Vec<u8>, [u64; 5]> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_path_buf()];
    // Both call the root differently, and so the inode whose number it takes.
    let numbers = |number: u64, root_number: u64| if number == root_number { 1 } else { number };
    let root_number = fs::metadata(root).unwrap().ino();
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                pending.push(path.clone());
            }
            let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes();
            let details = [
                numbers(metadata.ino(), root_number),
                numbers(entry.ino(), root_number),
                metadata.nlink(),
                metadata.size(),
                // The kernel counts xattrs, too.
                if name.starts_with(b"xattrs") {
                    0
                } else {
                    metadata.blocks()
                },
            ];
            found.insert(name.to_vec(), details);
        }
    }
    found
}

#[test]
fn numbers_links_lengths_and_sectors_are_the_kernels() {
    if skip::without_fuse() || skip::without_kernel() {
        return;
    }
    let stage = MountStage::empty();
    generate(&stage);
    stage
        .session
        .done(["-q", "build", "source", "image", "-l", "1"]);
    let guard = stage.mount([""; 0]);
    let ours = details(&stage.at("at"));
    drop(guard);
    let mut mount = Command::new("mount");
    mount.args(["-t", "squashfs", "-o", "loop,ro", "image", "at"]);
    program(mount.current_dir(stage.session.directory()));
    let mut kernels = details(&stage.at("at"));
    detach(&stage.at("at"));
    // The kernel shows the inode that is number 1 as that; we give it the root's number.
    let exchanged = |details: &mut [u64; 5], other: u64| {
        for number in &mut details[..2] {
            if *number == 1 {
                *number = other;
            }
        }
    };
    let different: Vec<_> = ours
        .iter()
        .filter(|(name, details)| kernels.get(*name) != Some(details))
        .map(|(name, details)| (name.escape_ascii().to_string(), *details))
        .collect();
    assert!(different.len() <= 1, "{different:?}");
    for (name, details) in &different {
        let kernels = kernels.get_mut(name.as_bytes()).unwrap();
        exchanged(kernels, details[0]);
        assert_eq!(kernels, details, "{name}");
    }
    assert_eq!(ours.len(), kernels.len());
}

#[test]
fn a_large_directory_is_read_on_from_where_a_program_was() {
    const NAMES: usize = 6000;
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::empty();
    let directory = stage.at("source/many");
    fs::create_dir_all(&directory).unwrap();
    for index in 0..NAMES {
        fs::write(directory.join(format!("name of file {index:05}")), "").unwrap();
    }
    stage.session.done(["-q", "build", "source", "image"]);
    let _guard = stage.mount([""; 0]);
    // Programs that other tests start would hold the mount.
    let opened = open(
        stage.mounted("many"),
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    let mut many = Dir::new(opened.unwrap()).unwrap();
    let read = |many: &mut Dir| {
        let entry = many.read()?.unwrap();
        Some((entry.file_name().to_bytes().to_vec(), entry.offset()))
    };
    let mut whole = Vec::new();
    while let Some(entry) = read(&mut many) {
        whole.push(entry);
    }
    assert_eq!(whole.len(), NAMES + 2);
    for index in (0..whole.len() - 1).rev().step_by(371) {
        many.seek(whole[index].1).unwrap();
        assert_eq!(read(&mut many).as_ref(), Some(&whole[index + 1]), "{index}");
    }
    many.rewind();
    assert_eq!(read(&mut many).as_ref(), Some(&whole[0]));
    // By `ls`, with metadata of each.
    let mut ls = Command::new("ls");
    let listed = program(ls.arg("-fl").arg(stage.mounted("many")));
    assert_eq!(listed.text().lines().count(), NAMES + 3);
}

#[test]
fn parallel_readers_read_what_is_there() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let _guard = stage.mount(["-j", "4", "--cache", "256K"]);
    let (file, expected) = (stage.mounted("large"), large());
    let (file, expected) = (&file, &expected);
    thread::scope(|scope| {
        for reader in 0..8_usize {
            scope.spawn(move || {
                let file = fs::File::open(file).unwrap();
                // In another order each.
                for step in 0..120 {
                    let start = (reader * 17 + step * (reader + 1)) % 120 * 4219;
                    let mut buffer = vec![0; 9001];
                    let read = file.read_at(&mut buffer, start as u64).unwrap();
                    let end = expected.len().min(start + buffer.len());
                    assert_eq!(buffer[..read], expected[start..end]);
                }
            });
        }
    });
}
