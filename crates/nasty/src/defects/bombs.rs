//! Small images that ask for endless work or memory.

use coldpress_codec::{Encoder, Settings};
use coldpress_format::{
    BlockSize, BlockWord, Body, Compressor, File, MetadataHeader, RawDirectory, RawInodeHeader,
};

use super::{ROOT, SPARSE, changed};
use crate::case::Case;
use crate::image::{Nasty, Structure};
use crate::model::Model;
use crate::node::{Node, directory, node};
use crate::packing::{Packing, WRITABLE};
use crate::sample::sample;
use crate::tables::Tables;

/// Metadata blocks that decompress to more than 8 KiB, by each compressor.
pub fn metadata_bombs() -> Vec<Case> {
    let case = |compressor: Compressor| {
        let packing = Packing::compressed(compressor);
        let tables = Tables::new(&sample(packing));
        let image = tables.write();
        let settings = Settings::new(compressor, None).expect("it can be written");
        let mut encoder = Encoder::new(&settings, BlockSize::MAX).expect("as above");
        let mut stream = Vec::new();
        let mut content = tables.inodes.clone();
        content.resize(1 << 20, 0);
        let shrunk = encoder.compress(&content, &mut stream);
        assert_eq!(shrunk, Ok(true));
        // It takes the place of the inode table and what is behind.
        let at = image.start_of(Structure::Inodes);
        let mut bytes = image.bytes;
        let size_bytes = u16::try_from(stream.len()).expect("zeros compress well");
        let header = MetadataHeader {
            size_bytes,
            compressed: true,
        };
        let block = [&header.write()[..], &stream].concat();
        let end = (at + block.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&block[..end - at]);
        Case::any(format!("1 MiB in a {compressor} metadata block"), bytes)
    };
    WRITABLE.into_iter().map(case).collect()
}

/// Files of holes as long as a small image can claim.
pub fn endless_files() -> Vec<Case> {
    // 16 metadata blocks of zeros are the words of 32768 holes of 1 MiB.
    let mut packing = Packing::gzip(true);
    packing.block_size = BlockSize::MAX;
    let file = |number: u32, blocks: usize| {
        let body = Body::File(File {
            size_bytes: (blocks as u64) << 20,
            blocks: vec![BlockWord::SPARSE; blocks],
            ..File::default()
        });
        node(number, body)
    };
    let mut image = |files: &[usize]| {
        // Inodes of a compressed table must begin in its first block.
        packing.compressed = files.len() == 1;
        let mut model = Model::new(packing);
        let mut root = directory(1, 9, &[]);
        for (index, blocks) in files.iter().enumerate() {
            let number = u32::try_from(index).expect("few files") + 2;
            root.entries.push((
                vec![b'a' + u8::try_from(index).expect("few files")],
                index + 1,
            ));
            model.nodes.push(file(number, *blocks));
        }
        model.nodes.insert(0, root);
        Tables::new(&model).write().bytes
    };
    vec![
        Case::new("a hole of 32 GiB", image(&[32 << 10]), ""),
        Case::new("three equal holes of 2 GiB", image(&[2 << 10; 3]), ""),
    ]
}

/// Directories below each other, far deeper than a path can be.
pub fn nested_directories(depth: usize) -> Case {
    let nodes: Vec<_> = (0..depth).map(|index| level(index, depth)).collect();
    let image = changed(|model| {
        model.nodes = nodes;
        model.pairs.clear();
        model.xattr_sets.clear();
        model.fragments.clear();
    });
    Case::new(format!("{depth} nested directories"), image.bytes, "")
}

fn level(index: usize, depth: usize) -> Node {
    let number = u32::try_from(index).expect("tests make small images") + 1;
    let mut made = directory(number, number - 1, &[]);
    if index + 1 < depth {
        made.entries = vec![(b"d".to_vec(), index + 1)];
        made.inode.link_count = 3;
    }
    made
}

/// Many directories with one long listing: more names than bytes.
///
/// * `directories`, `names`: of each how many; the inode of a directory has room for 4900 names.
pub fn large_listings(directories: usize, names: usize) -> Case {
    let mut first = 0;
    let image = changed(|model| {
        first = model.nodes.len();
        let names = (0..names).map(|name| (format!("{name:05}").into_bytes(), SPARSE));
        let mut shared: Vec<_> = names.collect();
        let root = &mut model.nodes[ROOT];
        for index in 0..directories {
            root.entries
                .push((format!("many-{index:05}").into_bytes(), first + index));
        }
        root.entries.sort();
        for index in 0..directories {
            let number = u32::try_from(first + index).expect("tests make small images") + 1;
            let mut made = directory(number, 1, &[]);
            made.entries = std::mem::take(&mut shared);
            model.nodes.push(made);
        }
    });
    let what = format!("{directories} directories with the same {names} names");
    // A walk ends where the listings read are 1 MiB more than there is room for.
    Case::any(what, share_listing(&image, first, directories))
}

/// The image after the first of `count` directories behind the sample's nodes has given its listing
/// to the others.
fn share_listing(image: &Nasty, first: usize, count: usize) -> Vec<u8> {
    let record = |index: usize| image.inode_at[index] + size_of::<RawInodeHeader>();
    let shared = record(first)..record(first) + size_of::<RawDirectory>();
    let mut bytes = image.bytes.clone();
    for index in first + 1..first + count {
        bytes.copy_within(shared.clone(), record(index));
    }
    bytes
}
