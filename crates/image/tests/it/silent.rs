//! No change of a byte gives a file other content without a check that tells.
//!
//! Every byte of an image is changed, as it lies on disk and in its table before that is packed,
//! for each compressor. Afterwards each file has its content, or cannot be read, or a check finds a
//! problem. But some bytes are what says which content a file has, and the format has no checksum:
//!
//! * in the data area, if the compressor has none either: lzo, lz4, zstd as it is used here, and
//!   blocks that are stored;
//! * in the inode of a file: its length, block list, and where data and tail end lie;
//! * in the fragment table: where the fragment blocks lie.
//!
//! Of these any other value may be as right (docs/semantics.md, "Damage that cannot be detected").

use std::ops::Range;

use coldpress_codec::Decoder;
use coldpress_format::{BlockSize, Body, Compressor, Fragment, MetadataHeader};
use coldpress_image::Image;
use coldpress_nasty::{
    FRAGMENT_BYTES, Nasty, Packing, Structure, Tables, WRITABLE, file_content, sample, text,
};

use crate::compare::content;
use crate::defects::{open, problems};

/// What a byte becomes.
const CHANGES: [fn(u8) -> u8; 5] = [
    |_| 0,
    |_| 0xff,
    |byte| byte ^ 1,
    |byte| byte ^ 0x80,
    |byte| byte.wrapping_add(1),
];
/// Longer files than the sample has are not read: their length says enough.
const READ_MAX_BYTES: u64 = 1 << 20;
/// Of stored data a byte in so many is changed: nothing can be found out there.
const STORED_STEP: usize = 61;

/// The changes of the byte at a place: all if the environment asks for it, else one.
fn changes(at: usize) -> &'static [fn(u8) -> u8] {
    if std::env::var("COLDPRESS_TESTS").is_ok_and(|what| what == "full") {
        return &CHANGES;
    }
    let one = at % CHANGES.len();
    &CHANGES[one..=one]
}

/// The regular files of the sample.
fn originals() -> [(&'static [u8], Vec<u8>); 3] {
    [
        (b"/dir/file", file_content()),
        (b"/sparse", vec![0; 20 * 4096]),
        (b"/tail", text(2, FRAGMENT_BYTES - 50)),
    ]
}

fn read(image: &Image, path: &[u8]) -> Option<Vec<u8>> {
    let (_, inode) = image.find(path).ok()??;
    match &inode.body {
        Body::File(file) if file.size_bytes <= READ_MAX_BYTES => content(image, file).ok(),
        _ => None,
    }
}

/// The file that has other content, of which a check tells nothing.
fn silently_wrong(bytes: &[u8]) -> Option<&'static [u8]> {
    let image = open(bytes).ok()?;
    let mut wrong = originals().into_iter().filter(|(path, expected)| {
        let found = read(&image, path);
        found.is_some_and(|found| found != *expected)
    });
    let (path, _) = wrong.next()?;
    problems(&image).is_empty().then_some(path)
}

/// The content of a metadata block with its header.
fn unpacked(compressor: Compressor, block: &[u8]) -> Option<Vec<u8>> {
    let (header, rest) = block.split_first_chunk::<2>()?;
    let header = MetadataHeader::parse(*header, 0).ok()?;
    let packed = rest.get(..usize::from(header.size_bytes))?;
    if !header.compressed {
        return Some(packed.to_vec());
    }
    let mut output = vec![0; 8192];
    let mut decoder = Decoder::new(compressor, BlockSize::MIN).ok()?;
    let len = decoder.decompress(packed, &mut output).ok()?;
    output.truncate(len);
    Some(output)
}

/// Whether two contents of a table differ in one of the places.
fn differ_in(places: &[Range<usize>], before: &[u8], after: &[u8]) -> bool {
    let byte_differs = |at: usize| before.get(at) != after.get(at);
    places.iter().cloned().flatten().any(byte_differs)
}

/// The bytes of a table that say which content files have.
fn content_of(tables: &Tables, what: Structure) -> Vec<Range<usize>> {
    match what {
        Structure::Inodes => tables.content_of_inodes(),
        Structure::Fragments => tables.content_of_fragments(),
        _ => Vec::new(),
    }
}

/// Whether the byte of the data area is one of a compressed block. Two tail ends may be too short
/// to be compressed; the data blocks are not.
fn is_compressed(tables: &Tables, at: usize) -> bool {
    let fragment = Fragment::parse(&tables.fragments, BlockSize::MIN, 0).unwrap();
    let is_fragment = at as u64 >= fragment.start;
    tables.packing.compressed && (fragment.size.is_compressed() || !is_fragment)
}

/// Whether a change of the image byte `at` may go unnoticed.
fn is_content(tables: &Tables, image: &Nasty, at: usize, changed: &[u8]) -> bool {
    let structure = image.structures.iter().find(|it| it.at.contains(&at));
    let Some(structure) = structure else {
        return false;
    };
    let compressor = tables.packing.compressor;
    if structure.what == Structure::Data {
        let has_checksum = matches!(compressor, Compressor::Gzip | Compressor::Xz);
        return !(has_checksum && is_compressed(tables, at));
    }
    let places = content_of(tables, structure.what);
    // A block that claims to be longer or shorter is no less a block.
    let block = |bytes: &[u8]| unpacked(compressor, bytes.get(structure.at.start..)?);
    match (block(&image.bytes), block(changed)) {
        (Some(before), Some(after)) => differ_in(&places, &before, &after),
        _ => false,
    }
}

#[test]
fn bytes_on_disk() {
    let mut packings: Vec<_> = WRITABLE.map(Packing::compressed).into();
    packings.push(Packing::STORED);
    for packing in packings {
        let tables = Tables::new(&sample(packing));
        let image = tables.write();
        assert_eq!(silently_wrong(&image.bytes), None);
        assert_eq!(problems(&open(&image.bytes).unwrap()), [""; 0]);
        for structure in &image.structures {
            let is_data = structure.what == Structure::Data && !packing.compressed;
            let step = if is_data { STORED_STEP } else { 1 };
            for at in structure.at.clone().step_by(step) {
                for change in changes(at) {
                    let mut bytes = image.bytes.clone();
                    bytes[at] = change(bytes[at]);
                    if let Some(path) = silently_wrong(&bytes) {
                        assert!(
                            is_content(&tables, &image, at, &bytes),
                            "{packing:?}, {structure:?}, byte {at}, {}",
                            path.escape_ascii()
                        );
                    }
                }
            }
        }
    }
}

/// A table of an image, to be changed before it is packed.
type Table = (Structure, fn(&mut Tables) -> &mut Vec<u8>);

const TABLES: [Table; 7] = [
    (Structure::Inodes, |tables| &mut tables.inodes),
    (Structure::Listings, |tables| &mut tables.listings),
    (Structure::Fragments, |tables| &mut tables.fragments),
    (Structure::Exports, |tables| &mut tables.exports),
    (Structure::Ids, |tables| &mut tables.ids),
    (Structure::Pairs, |tables| &mut tables.pairs),
    (Structure::XattrIds, |tables| &mut tables.xattr_ids),
];

#[test]
fn bytes_of_tables_before_they_are_packed() {
    for packing in WRITABLE.map(Packing::compressed) {
        let mut tables = Tables::new(&sample(packing));
        for (what, table) in TABLES {
            let places = content_of(&tables, what);
            for at in 0..table(&mut tables).len() {
                for change in changes(at) {
                    let before = table(&mut tables)[at];
                    table(&mut tables)[at] = change(before);
                    let wrong = silently_wrong(&tables.write().bytes);
                    table(&mut tables)[at] = before;
                    let is_content = places.iter().any(|place| place.contains(&at));
                    assert!(
                        wrong.is_none() || is_content,
                        "{what:?}, byte {at}: {wrong:?}"
                    );
                }
            }
        }
    }
}
