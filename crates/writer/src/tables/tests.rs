//! Speed and memory of large tables. Slow: run with
//! `cargo test --release -p coldpress-writer --lib -- --ignored --nocapture`.

use std::fs;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use coldpress_assemble::{DataArea, MetadataLayout, TableOptions, assemble};
use coldpress_codec::Settings;
use coldpress_format::{BlockSize, BlockWord, Compressor, File};
use coldpress_layout::{Group, Kind, Node, NodeId, Order, Plan, Tails, Tree, order};

use super::TableWriter;
use crate::options::Options;
use crate::sink::Sink;
use crate::uncompressed::Uncompressed;

const FILES: u32 = 1_000_000;
/// What the tables may take of memory for each file, beyond tree, order and data.
const LIMIT_BYTES: u64 = 100;

fn node(kind: Kind, mtime_s: u32) -> Node {
    Node {
        kind,
        mode: 0o755,
        uid: 0,
        gid: 0,
        mtime_s,
        xattrs: Arc::default(),
    }
}

/// Files of 4 KiB, so many to a directory.
fn tree(files_of_each: u32) -> Tree {
    let mut nodes = vec![node(Kind::Fifo, 0)];
    let mut add = |node| {
        nodes.push(node);
        NodeId(u32::try_from(nodes.len() - 1).unwrap())
    };
    let mut root = Vec::new();
    for first in (0..FILES).step_by(files_of_each as usize) {
        let file = |number: u32| {
            let kind = Kind::File { size_bytes: 4096 };
            let file = node(
                kind,
                1_700_000_000 + number.wrapping_mul(2_654_435_761) % 100_000,
            );
            (format!("file-{number:07}").into_bytes(), file)
        };
        let files = (first..first + files_of_each).map(file);
        let entries = files.map(|(name, file)| (name, add(file))).collect();
        let directory = add(node(Kind::Directory { entries }, 7));
        root.push((format!("directory-{first:07}").into_bytes(), directory));
    }
    nodes[0] = node(Kind::Directory { entries: root }, 7);
    Tree {
        nodes,
        ..Tree::default()
    }
}

fn options(compressor: Compressor, threads: usize) -> Options {
    Options {
        compression: Some(Settings::new(compressor, None).unwrap()),
        uncompressed: Uncompressed::default(),
        block_size: BlockSize::DEFAULT,
        threads: NonZeroUsize::new(threads).unwrap(),
        memory_bytes: 1 << 20,
        modification_time_s: 7,
        tails: Tails::None,
        group: Group::None,
        exportable: true,
        metadata: MetadataLayout::Dense,
        offset_bytes: 0,
        is_padded: true,
        deduplicated: true,
        without_xattrs: false,
    }
}

fn files(count: usize) -> Vec<File> {
    let file = |number: u64| File {
        start: 96 + number * 1000,
        size_bytes: 4096,
        blocks: vec![BlockWord::new(1000, true)],
        ..File::default()
    };
    (0..).map(file).take(count).collect()
}

/// A line of `/proc/self/status`, bytes.
fn status_bytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kib = line.split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() * 1024
}

/// Packs the tables and says what it took.
#[expect(clippy::print_stdout, reason = "a measurement is there to be read")]
fn measure(tree: &Tree, order: &Order, options: &Options) {
    let area = DataArea {
        files: files(tree.nodes.len()),
        ..DataArea::default()
    };
    let output = tempfile::tempfile().unwrap();
    let mut image = Sink::new(&output, 0);
    // The high-water mark begins anew.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status_bytes("VmRSS");
    let begin = Instant::now();
    let mut tables = TableWriter::new(options, &mut image).unwrap();
    let table_options = TableOptions {
        metadata: options.metadata,
        is_exportable: false,
    };
    assemble(tree, order, area, table_options, &mut tables).unwrap();
    let each = status_bytes("VmHWM").saturating_sub(before) / u64::from(FILES);
    println!(
        "{}: {:.2} s, {each} bytes of memory for each file, {} bytes in the image",
        options.compressor(),
        begin.elapsed().as_secs_f64(),
        image.end
    );
    assert!(each < LIMIT_BYTES, "{each} bytes for each file");
}

#[test]
#[ignore = "takes a minute and much memory"]
#[expect(clippy::print_stdout, reason = "a measurement is there to be read")]
fn a_million_files_take_little_memory_in_few_and_in_many_directories() {
    for files_of_each in [50, FILES] {
        let tree = tree(files_of_each);
        let begin = Instant::now();
        let (order, _) = order(&tree, &Plan::default(), BlockSize::DEFAULT, Tails::None);
        println!(
            "{files_of_each} each: order {:.2} s",
            begin.elapsed().as_secs_f64()
        );
        for compressor in [Compressor::Lz4, Compressor::Zstd] {
            measure(&tree, &order, &options(compressor, 2));
        }
    }
}
