use std::fs;
use std::path::Path;

use coldpress_format::{Body, Compressor};
use coldpress_image::Image;
use coldpress_layout::{
    BlockEncoding, BlockGain, EncodingGain, EncodingRule, Plan, PlanItem, assign,
};
use coldpress_writer::Source;

use crate::trees::{content, differences, options, scanned, try_build};

const BLOCK_BYTES: u32 = 16384;
/// What a start reads, and what it does not.
const HOT: [&str; 3] = ["/hot/code", "/hot/text", "/hot/tail"];
const COLD: [&str; 2] = ["/cold/text", "/cold/tail"];

fn make(root: &Path) {
    for directory in ["hot", "cold"] {
        fs::create_dir(root.join(directory)).unwrap();
        let text = |from: u32, to| {
            let line =
                |number: u32| format!("{} {number}\n", number.wrapping_mul(2_654_435_761) % 1000);
            (from..to).map(line).collect::<String>()
        };
        let number = u32::from(directory == "hot");
        fs::write(root.join(directory).join("text"), text(number, 20_000)).unwrap();
        fs::write(root.join(directory).join("tail"), text(number, 500)).unwrap();
    }
    fs::write(root.join("hot/code"), content(2, 100_000)).unwrap();
}

/// A block by path and number, that of a fragment block by its first member, and what it takes.
type Size = (&'static str, u64, u32);

/// What each block takes.
fn sizes(image: &[u8]) -> Vec<Size> {
    let image = Image::new(Box::new(image.to_vec())).unwrap();
    let mut sizes = Vec::new();
    for path in HOT.into_iter().chain(COLD) {
        let (_, inode) = image.find(path.as_bytes()).unwrap().unwrap();
        let Body::File(file) = inode.body else {
            panic!("{path} is a file");
        };
        let blocks = file.blocks.iter().zip(0..);
        sizes.extend(blocks.map(|(word, block)| (path, block, word.size_bytes())));
        if let Some(tail) = file.tail.filter(|tail| tail.offset == 0) {
            let fragment = image.fragments()[tail.fragment as usize];
            sizes.push((path, file.blocks.len() as u64, fragment.size.size_bytes()));
        }
    }
    sizes
}

fn plan(encoding: Vec<EncodingRule>) -> Plan {
    let bytes = |path: &str| path.as_bytes().to_vec();
    Plan {
        data: vec![
            PlanItem::Blocks(bytes("/hot/code")),
            PlanItem::Blocks(bytes("/hot/text")),
            PlanItem::Fragment(vec![bytes("/hot/tail")]),
        ],
        encoding,
        ..Plan::default()
    }
}

/// The sizes of all blocks packed in one way.
fn sizes_encoded(source: &Source, encoding: BlockEncoding) -> Vec<Size> {
    let rule = |path: &str| EncodingRule {
        path: path.as_bytes().to_vec(),
        encoding,
        blocks: Vec::new(),
    };
    let rules = HOT.into_iter().chain(COLD).map(rule).collect();
    let options = options(Some(Compressor::Zstd), BLOCK_BYTES);
    sizes(&try_build(source, &plan(rules), &options).unwrap().0)
}

/// Hot blocks save time when they are stored, cold ones only space at the highest level.
fn gains(source: &Source) -> Vec<BlockGain> {
    let default = sizes_encoded(source, BlockEncoding::Default);
    let stored = sizes_encoded(source, BlockEncoding::Stored);
    let highest = sizes_encoded(source, BlockEncoding::Level(22));
    let gain = |((default, stored), highest): ((&Size, &Size), &Size)| {
        let (path, block, default_bytes) = *default;
        for (same_path, same_block, _) in [stored, highest] {
            assert_eq!((*same_path, *same_block), (path, block));
        }
        let is_hot = HOT.contains(&path);
        BlockGain {
            path: path.as_bytes().to_vec(),
            block,
            default_bytes,
            choices: vec![
                EncodingGain {
                    encoding: BlockEncoding::Stored,
                    stored_bytes: stored.2,
                    saved_s: if is_hot { 1e-4 } else { 0.0 },
                },
                EncodingGain {
                    encoding: BlockEncoding::Level(22),
                    stored_bytes: highest.2,
                    saved_s: 0.0,
                },
            ],
        }
    };
    default
        .iter()
        .zip(&stored)
        .zip(&highest)
        .map(gain)
        .collect()
}

#[test]
fn an_image_grows_by_no_more_than_the_budget_and_uses_it() {
    let directory = tempfile::tempdir().unwrap();
    make(directory.path());
    let source = scanned(directory.path());
    let gains = gains(&source);
    let options = options(Some(Compressor::Zstd), BLOCK_BYTES);
    let stored_bytes = |encoding| {
        let (image, summary) = try_build(&source, &plan(encoding), &options).unwrap();
        assert_eq!(differences(&image, &source), Vec::<String>::new());
        summary.stored_bytes
    };
    let ungrown_bytes = stored_bytes(Vec::new());
    for (percent, least_stored) in [(0, 0), (20, 1), (1000, HOT.len())] {
        let budget_bytes = ungrown_bytes * percent / 100;
        let rules = assign(&gains, budget_bytes);
        let grown_bytes = stored_bytes(rules.clone());
        assert!(
            grown_bytes <= ungrown_bytes + budget_bytes,
            "{percent} %: {grown_bytes}"
        );
        let stored = rules
            .iter()
            .filter(|rule| rule.encoding == BlockEncoding::Stored);
        let stored: Vec<_> = stored.map(|rule| rule.path.as_slice()).collect();
        let is_hot = |path: &&[u8]| HOT.iter().any(|hot| hot.as_bytes() == *path);
        assert!(stored.iter().all(is_hot), "{rules:?}");
        assert!(stored.len() >= least_stored, "{percent} %: {rules:?}");
    }
}
