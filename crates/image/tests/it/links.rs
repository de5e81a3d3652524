//! Files with many names: what is read of them once, and what for each name.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use coldpress_format::{BlockWord, Body, File};
use coldpress_image::{
    DiffOptions, ExtractOptions, Image, ReadLimits, TarOptions, check, diff, extract, walk,
    write_tar,
};
use coldpress_nasty::{Nasty, Packing, Tables, node, sample};

use crate::counted::Counted;

/// Data blocks of a hole of 2.4 GiB, whose list of 2.4 MiB is longer than what is kept of metadata.
const BLOCKS: usize = 600_000;
/// Names whose block lists would together be over the 64 MiB that a walk may come to.
const NAMES: u32 = 40;

/// An image whose `/dir` has many names of one long hole.
fn linked(link_count: u32) -> Nasty {
    let mut model = sample(Packing::STORED);
    let mut hole = node(
        9,
        Body::File(File {
            size_bytes: BLOCKS as u64 * 4096,
            sparse_bytes: BLOCKS as u64 * 4096,
            blocks: vec![BlockWord::SPARSE; BLOCKS],
            ..File::default()
        }),
    );
    hole.inode.link_count = link_count;
    let index = model.nodes.len();
    model.nodes.push(hole);
    let names = (0..NAMES).map(|name| (format!("x{name:02}").into_bytes(), index));
    model.nodes[1].entries.extend(names);
    Tables::new(&model).write()
}

#[test]
fn a_walk_reads_no_block_list() {
    let (source, read_bytes) = Counted::new(linked(NAMES).bytes);
    let image = Image::new(Box::new(source)).unwrap();
    let mut names = 0;
    walk(&image, &mut |visited| {
        names += u32::from(visited.inode.link_count == NAMES);
        Ok(())
    })
    .unwrap();
    assert_eq!(names, NAMES);
    let read_bytes = read_bytes.load(Ordering::Relaxed);
    assert!(read_bytes < 200_000, "{read_bytes} bytes were read");
}

#[test]
fn the_block_list_of_a_file_of_many_names_counts_once() {
    let bytes = linked(NAMES).bytes;
    let image = Image::new(Box::new(bytes.clone())).unwrap();
    let proceed = ControlFlow::Continue(());
    let problems = check(&image, &mut |_| proceed).unwrap();
    assert!(problems.is_empty(), "{problems:?}");

    let scratch = tempfile::tempdir().unwrap();
    let to = scratch.path().join("to");
    let options = ExtractOptions::default();
    let extracted = extract(&image, &to, &options, &mut |_| proceed).unwrap();
    assert_eq!(extracted.hard_links, u64::from(NAMES) - 1);

    let options = TarOptions {
        paths: Vec::new(),
        keep_as_directory: false,
        root_becomes: None,
        xattrs: true,
        hard_links: true,
        sparse: true,
        limits: ReadLimits {
            threads: NonZeroUsize::MIN,
            memory_bytes: 1 << 20,
        },
    };
    let mut archive = Vec::new();
    write_tar(&image, &options, &mut archive, &mut |_| {}, &mut |_| {
        proceed
    })
    .unwrap();
    assert!(archive.len() < 1 << 20, "{} bytes", archive.len());

    let other = Image::new(Box::new(bytes)).unwrap();
    let mut differences = 0;
    let options = DiffOptions {
        content: true,
        modes: true,
        owners: true,
        times: true,
        xattrs: true,
        links: true,
    };
    diff(
        &image,
        &other,
        &options,
        &mut |_| differences += 1,
        &mut |_| proceed,
    )
    .unwrap();
    assert_eq!(differences, 0);
}

#[test]
fn names_that_the_link_count_denies_count_each() {
    let image = Image::new(Box::new(linked(1).bytes)).unwrap();
    let error = walk(&image, &mut |_| Ok(())).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("bytes of all block lists"), "{text}");
}
