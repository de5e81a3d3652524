//! Ranges of many files at once, and lookups that are kept.

use std::collections::HashSet;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::Ordering;

use coldpress_format::{Body, File};
use coldpress_image::{Error, Image, Lookup, ReadLimits, Wanted, walk};

use crate::counted::Counted;
use crate::source_tree;
use crate::tools::{have, mksquashfs};

fn limits(threads: usize) -> ReadLimits {
    ReadLimits {
        threads: NonZeroUsize::new(threads).unwrap(),
        memory_bytes: 4 << 20,
    }
}

fn image_bytes(arguments: &[&str]) -> Vec<u8> {
    let scratch = tempfile::tempdir().unwrap();
    let (root, image) = (scratch.path().join("root"), scratch.path().join("image"));
    fs::create_dir(&root).unwrap();
    source_tree::make(&root);
    mksquashfs(&root, &image, arguments);
    fs::read(image).unwrap()
}

fn files(image: &Image) -> Vec<(Vec<u8>, File)> {
    let mut files = Vec::new();
    walk(image, &mut |visited| {
        if let Some(file) = visited.file(image)? {
            files.push((visited.path.to_vec(), file));
        }
        Ok(())
    })
    .unwrap();
    files
}

/// What the deliveries put together; the error of each range that has one.
fn read(
    image: &Image,
    asked: &[(&File, Range<u64>)],
    threads: usize,
) -> Vec<Result<Vec<u8>, String>> {
    let mut results: Vec<_> = asked
        .iter()
        .map(|(file, range)| {
            let len = range.end.min(file.size_bytes).saturating_sub(range.start);
            Ok(vec![0; usize::try_from(len).unwrap()])
        })
        .collect();
    let wanted: Vec<_> = asked
        .iter()
        .map(|(file, range)| Wanted {
            file,
            range: range.clone(),
        })
        .collect();
    let mut ended = HashSet::new();
    image
        .visit_ranges(&wanted, &limits(threads), &mut |deliveries| {
            for delivery in deliveries {
                assert!(
                    !ended.contains(&delivery.wanted),
                    "delivered behind the last"
                );
                if delivery.is_last {
                    ended.insert(delivery.wanted);
                }
                let result: &mut Result<Vec<u8>, String> = &mut results[delivery.wanted];
                match (delivery.bytes, result) {
                    (Ok(bytes), Ok(whole)) => {
                        let offset = usize::try_from(delivery.offset).unwrap();
                        whole[offset..offset + bytes.len()].copy_from_slice(bytes);
                    }
                    (Err(error), result) => *result = Err(error.to_string()),
                    (Ok(_), Err(_)) => {}
                }
            }
            Ok::<_, Error>(())
        })
        .unwrap();
    results
}

#[test]
fn ranges_of_many_files_are_those_of_each() {
    if !have("mksquashfs", "peers") {
        return;
    }
    for arguments in [
        &["-b", "4096"][..],
        &["-b", "131072", "-comp", "zstd"],
        &["-noD", "-noF"],
    ] {
        let image = Image::new(Box::new(image_bytes(arguments))).unwrap();
        let files = files(&image);
        let mut asked = Vec::new();
        for (at, (_, file)) in files.iter().enumerate() {
            let (from, len) = (
                at as u64 * 7919 % (file.size_bytes + 2),
                at as u64 * 104_729 % 200_000,
            );
            asked.push((file, from..from + len));
            asked.push((file, 0..u64::MAX));
        }
        let two = read(&image, &asked, 2);
        assert_eq!(two, read(&image, &asked, 1), "threads change nothing");
        for ((file, range), result) in asked.iter().zip(&two) {
            let mut expected = vec![0; result.as_ref().unwrap().len()];
            image.read_at(file, range.start, &mut expected).unwrap();
            assert!(
                result.as_ref().unwrap() == &expected,
                "{range:?} of {file:?}"
            );
        }
    }
}

#[test]
fn each_block_is_read_once() {
    if !have("mksquashfs", "peers") {
        return;
    }
    let bytes = image_bytes(&["-b", "131072"]);
    let (source, read_bytes) = Counted::new(bytes);
    let image = Image::new(Box::new(source)).unwrap();
    let files = files(&image);
    // In an order that leads to and fro, and each twice.
    let backward = files.iter().rev().chain(&files);
    let asked: Vec<_> = backward.map(|(_, file)| (file, 0..u64::MAX)).collect();
    let before = read_bytes.load(Ordering::Relaxed);
    read(&image, &asked, 2);
    let data_bytes = image.superblock().inode_table_start;
    let read_bytes = read_bytes.load(Ordering::Relaxed) - before;
    assert!(read_bytes <= data_bytes, "{read_bytes} of {data_bytes}");
}

#[test]
fn a_damaged_block_costs_only_the_files_in_it() {
    if !have("mksquashfs", "peers") {
        return;
    }
    let mut bytes = image_bytes(&["-b", "131072", "-comp", "gzip"]);
    let sound = Image::new(Box::new(bytes.clone())).unwrap();
    let files = files(&sound);
    let (path, victim) = files
        .iter()
        .find(|(path, _)| path == b"/text-300000")
        .unwrap();
    let start = usize::try_from(victim.start).unwrap();
    bytes[start..start + 64].fill(0xff);
    let damaged = Image::new(Box::new(bytes)).unwrap();
    let asked: Vec<_> = files.iter().map(|(_, file)| (file, 0..u64::MAX)).collect();
    let (before, after) = (read(&sound, &asked, 2), read(&damaged, &asked, 2));
    let mut hurt = 0;
    for (((of, file), before), after) in files.iter().zip(&before).zip(&after) {
        if file.start == victim.start && !file.blocks.is_empty() {
            let error = after.as_ref().unwrap_err();
            assert!(
                error.starts_with(&format!("data block at byte {start}: ")),
                "{error}"
            );
            hurt += 1;
        } else {
            assert!(
                before == after,
                "{} beside {}",
                of.escape_ascii(),
                path.escape_ascii()
            );
        }
    }
    assert_eq!(hurt, 2, "the file and its second name");
}

#[test]
fn kept_lookups_find_what_lookups_find() {
    if !have("mksquashfs", "peers") {
        return;
    }
    let image = Image::new(Box::new(image_bytes(&[]))).unwrap();
    let mut paths = vec![
        b"/none".to_vec(),
        b"/text-1/none".to_vec(),
        b"//many//".to_vec(),
        b"".to_vec(),
    ];
    walk(&image, &mut |visited| {
        paths.push(visited.path.to_vec());
        Ok(())
    })
    .unwrap();
    // With room for everything, for little, and for nothing.
    for bytes_max in [usize::MAX, 20_000, 0] {
        let lookup = Lookup::new(bytes_max);
        for path in paths.iter().chain(&paths) {
            let found = lookup.find(&image, path).unwrap();
            let found = found.as_ref().map(|found| (found.at, &found.inode));
            let expected = image.find(path).unwrap();
            let expected = expected.as_ref().map(|(at, inode)| (*at, inode));
            let is_directory = |(_, inode): &(_, &coldpress_format::Inode)| {
                matches!(inode.body, Body::Directory(_))
            };
            if expected.as_ref().is_some_and(is_directory) {
                assert_eq!(found.map(|found| found.0), expected.map(|found| found.0));
            } else {
                assert_eq!(found, expected, "{}", path.escape_ascii());
            }
        }
    }
}
