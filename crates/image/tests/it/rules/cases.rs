//! One damage for each rule.

mod data;
mod directories;
mod inodes;
mod tables;
mod whole;
mod xattrs;

use coldpress_format::{Body, File, TailEnd};
use coldpress_image::Severity;

use super::Case;
use crate::defects::{changed, patched};
use crate::handmade::{self, Handmade};

const fn case(
    rule: &'static str,
    severity: Severity,
    text: &'static str,
    image: fn() -> Vec<u8>,
) -> Case {
    Case {
        rule,
        severity,
        text,
        image,
    }
}

fn stored() -> Handmade {
    handmade::image(false)
}

fn at(start: u64) -> usize {
    usize::try_from(start).unwrap()
}

/// The image with bytes put into the inode of a node.
fn inode(node: usize, offset: usize, bytes: &[u8]) -> Vec<u8> {
    patched(stored().inode_at[node] + offset, bytes)
}

/// The image with bytes put into the first listing, that of the root.
fn listing(offset: usize, bytes: &[u8]) -> Vec<u8> {
    patched(stored().listing_at + offset, bytes)
}

/// The image with a file changed.
fn file(node: usize, change: fn(&mut File)) -> Vec<u8> {
    changed(|nodes| match &mut nodes[node].inode.body {
        Body::File(file) => change(file),
        _ => panic!("it is a file"),
    })
    .bytes
}

/// The image with the tail end of `/tail` elsewhere.
fn tail(fragment: u32, offset: u32) -> Vec<u8> {
    changed(|nodes| {
        if let Body::File(file) = &mut nodes[7].inode.body {
            file.tail = Some(TailEnd { fragment, offset });
        }
    })
    .bytes
}

/// The image with bytes put before the index of the fragment table, whose entry ends there.
fn fragment(back: usize, bytes: &[u8]) -> Vec<u8> {
    let index = at(stored().superblock.fragment_table_start.unwrap());
    patched(index - back, bytes)
}

/// The image with bytes put behind the start of the xattr id table's header.
fn xattr_header(offset: usize, bytes: &[u8]) -> Vec<u8> {
    patched(
        at(stored().superblock.xattr_table_start.unwrap()) + offset,
        bytes,
    )
}

/// The image with bytes put before the xattr id table's header, where its entry ends.
fn xattr_id(back: usize, bytes: &[u8]) -> Vec<u8> {
    patched(
        at(stored().superblock.xattr_table_start.unwrap()) - back,
        bytes,
    )
}

/// The image with bytes put behind the start of the first pair.
fn pair(offset: usize, bytes: &[u8]) -> Vec<u8> {
    let header = at(stored().superblock.xattr_table_start.unwrap());
    // Pairs of 35 bytes, an entry of 16, and a header of 2 bytes before each.
    patched(header - 18 - 35 + offset, bytes)
}

/// The image with bytes at its end.
fn end(bytes: &[u8]) -> Vec<u8> {
    let mut image = stored().bytes;
    let padded = image.len();
    image[padded - bytes.len()..].copy_from_slice(bytes);
    image
}

const WORD: [u8; 4] = [0xff; 4];

/// Every case.
pub(super) fn all() -> impl Iterator<Item = &'static Case> {
    let all = [
        whole::ALL,
        tables::ALL,
        inodes::ALL,
        directories::ALL,
        data::ALL,
        xattrs::ALL,
    ];
    all.into_iter().flatten()
}

/// The image of another compressor, which it does not use, with a block of options over its data.
fn options(compressor: u8, block: &[u8]) -> Vec<u8> {
    let mut bytes = patched(96, block);
    bytes[20] = compressor;
    bytes[25] |= 0x04;
    bytes
}

/// The image with other ids.
fn with_ids(ids: &[u32]) -> Vec<u8> {
    let handmade = stored();
    let index = at(handmade.superblock.id_table_start);
    let mut bytes = handmade.bytes;
    let more = (ids.len() - 1) * 4;
    let entries: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let added = vec![0; more];
    bytes.splice(index..index, added);
    bytes[index - 4..index + more].copy_from_slice(&entries);
    bytes[index - 6] = u8::try_from(entries.len()).unwrap();
    bytes[26] = u8::try_from(ids.len()).unwrap();
    // What lies behind moves: the id table's index, the xattrs, the end.
    for field in [40, 48, 56] {
        add(&mut bytes, field, more);
    }
    let header = at(handmade.superblock.xattr_table_start.unwrap()) + more;
    add(&mut bytes, header, more);
    add(&mut bytes, header + 16, more);
    bytes.truncate(bytes.len() / 4096 * 4096);
    bytes
}

/// Adds to a 64-bit word.
fn add(bytes: &mut [u8], field: usize, more: usize) {
    let word = u64::from_le_bytes(bytes[field..field + 8].try_into().unwrap());
    bytes[field..field + 8].copy_from_slice(&(word + more as u64).to_le_bytes());
}
