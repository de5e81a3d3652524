//! What lies where in an image, as far as one start asks for it, packed.
//!
//! Names are not stored: they are the paths of the start and the directories above them, in the
//! order in which the start first asks for them. Blocks of a file follow each other, so each takes
//! the bytes of its length.

mod places;

use std::collections::{HashMap, HashSet};

use coldpress_cost::{AccessSequence, Extent, Geometry, InodeGeometryKind, Lookup};
use coldpress_format::{BlockSize, Compressor, METADATA_BLOCK_SIZE};

use crate::error::Error;
use crate::packed::{Packer, Unpacker};

/// What a fragment block takes of the fragment table, so that so many of them are possible in
/// images of the largest size that this crate predicts.
const FRAGMENTS_MAX: u64 = 1 << 20;
/// No image is as large as this: positions stay below it.
const IMAGE_MAX_BYTES: u64 = 1 << 50;
/// A metadata block at its largest: it is stored as it is if that is shorter.
const METADATA_BYTES: u64 = METADATA_BLOCK_SIZE as u64;
/// Header of a metadata block.
const HEADER_BYTES: u64 = 2;

/// The names that a start asks for, each once, with those of the directories above: first the root.
pub(crate) fn names(sequence: &AccessSequence) -> Vec<&[u8]> {
    let mut known = HashSet::from([&b"/"[..]]);
    let mut names = vec![&b"/"[..]];
    for path in &sequence.paths {
        let slashes = path
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, byte)| **byte == b'/');
        for end in slashes.map(|(at, _)| at).chain([path.len()]) {
            if known.insert(&path[..end]) {
                names.push(&path[..end]);
            }
        }
    }
    names
}

/// What a start asks of an image.
pub(crate) fn pack(geometry: &Geometry, sequence: &AccessSequence) -> String {
    let mut packer = Packer::default();
    packer.number(geometry.compressor.number().into());
    packer.number(geometry.block_size.bytes().into());
    packer.number(geometry.image_bytes);
    packer.count(geometry.metadata.len());
    let mut end = 0;
    for block in &geometry.metadata {
        packer.near(block.start_byte, end);
        packer.number(word(block));
        packer.near(METADATA_BYTES, block.len_bytes.into());
        end = block.end();
    }
    packer.count(geometry.fragment_table.map_or(0, |table| table + 1));
    packer.number(geometry.id_table.wrapping_add(1) as u64);
    let mut found = Vec::new();
    let mut wanted = Vec::new();
    let mut number_of = HashMap::new();
    for name in names(sequence) {
        let lookup = geometry.names.get(name);
        let lookup = lookup.filter(|lookup| lookup.place < geometry.places.len());
        found.push(lookup.map(|lookup| {
            let next = wanted.len();
            let number = *number_of.entry(lookup.place).or_insert(next);
            if number == next {
                wanted.push(&geometry.places[lookup.place]);
            }
            Lookup {
                place: number,
                ..*lookup
            }
        }));
    }
    let mut used: Vec<u32> = wanted
        .iter()
        .filter_map(|place| fragment(&place.kind))
        .collect();
    used.sort_unstable();
    used.dedup();
    pack_fragments(geometry, &used, &mut packer);
    places::pack(&wanted, &mut packer);
    for lookup in found {
        packer.count(lookup.map_or(0, |lookup| lookup.place + 1));
        if let Some(lookup) = lookup {
            places::pack_range(lookup.search, &mut packer);
        }
    }
    packer.text()
}

/// What an index says that a start asks of an image.
///
/// * `place`: where it stands in the index.
///
/// # Errors
///
/// [`Error::Packed`] with the byte that breaks a rule.
pub(crate) fn unpack(
    place: &str,
    text: &str,
    sequence: &AccessSequence,
) -> Result<Geometry, Error> {
    let mut unpacker = Unpacker::new(place, text)?;
    let number = unpacker.number()?;
    let compressor = u16::try_from(number).ok().and_then(Compressor::from_number);
    let compressor =
        compressor.ok_or_else(|| unpacker.wrong(format!("{number} is no compressor")))?;
    let bytes = unpacker.word("a block size")?;
    let block_size = BlockSize::new(bytes);
    let block_size = block_size.map_err(|_| unpacker.wrong(format!("{bytes} is no block size")))?;
    let image_bytes = unpacker.at_most(IMAGE_MAX_BYTES, "the size of the image")?;
    let metadata = unpack_metadata(image_bytes, &mut unpacker)?;
    let fragment_table = unpacker.place(metadata.len() + 1, "metadata block")?;
    let id_table = unpacker.place(metadata.len() + 1, "metadata block")?;
    let fragments = unpack_fragments((block_size, image_bytes), &mut unpacker)?;
    let limits = places::Limits {
        block_size,
        image_bytes,
        metadata: metadata.len(),
        fragments: fragments.len(),
    };
    let places = places::unpack(&limits, &mut unpacker)?;
    let mut found = HashMap::new();
    for name in names(sequence) {
        let place = unpacker.place(places.len() + 1, "inode")?;
        if let Some(place) = place.checked_sub(1) {
            let search = limits.range(&mut unpacker)?;
            found.insert(name.to_vec(), Lookup { place, search });
        }
    }
    unpacker.end()?;
    Ok(Geometry {
        compressor,
        block_size,
        image_bytes,
        places,
        names: found,
        fragments,
        metadata,
        fragment_table: fragment_table.checked_sub(1),
        id_table: id_table.wrapping_sub(1),
        hash_tree: None,
    })
}

fn unpack_metadata(image_bytes: u64, unpacker: &mut Unpacker) -> Result<Vec<Extent>, Error> {
    let mut metadata = Vec::new();
    let mut end = 0;
    for _ in 0..unpacker.count("a number of metadata blocks")? {
        let start_byte = unpacker.near(end)?;
        let len_max = METADATA_BYTES + HEADER_BYTES;
        let (stored_bytes, is_stored) = extent_word(len_max, unpacker)?;
        let len_bytes = METADATA_BYTES.wrapping_sub(unpacker.near(0)?);
        if len_bytes > METADATA_BYTES {
            return Err(unpacker.wrong(format!("a metadata block holds {len_bytes} bytes")));
        }
        let extent = Extent {
            start_byte,
            stored_bytes,
            len_bytes: u32::try_from(len_bytes).unwrap_or(u32::MAX),
            is_stored,
        };
        end = within(extent, image_bytes, unpacker)?.end();
        metadata.push(extent);
    }
    Ok(metadata)
}

fn pack_fragments(geometry: &Geometry, used: &[u32], packer: &mut Packer) {
    packer.count(geometry.fragments.len());
    let known = |number: &u32| geometry.fragments.get(*number as usize);
    packer.count(used.iter().filter_map(known).count());
    let (mut next, mut end) = (0, 0);
    for number in used {
        if let Some(block) = known(number) {
            packer.number(u64::from(*number) - next);
            packer.near(block.start_byte, end);
            packer.number(word(block));
            packer.near(geometry.block_size.bytes().into(), block.len_bytes.into());
            (next, end) = (u64::from(*number) + 1, block.end());
        }
    }
}

/// All fragment blocks; those that nothing uses lie nowhere.
fn unpack_fragments(
    (block_size, image_bytes): (BlockSize, u64),
    unpacker: &mut Unpacker,
) -> Result<Vec<Extent>, Error> {
    let count = unpacker.at_most(FRAGMENTS_MAX, "the number of fragment blocks")?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let nowhere = Extent {
        start_byte: 0,
        stored_bytes: 0,
        len_bytes: block_size.bytes(),
        is_stored: false,
    };
    let used = unpacker.count("a number of fragment blocks")?;
    let mut fragments = vec![nowhere; if used == 0 { 0 } else { count }];
    let (mut next, mut end) = (0_usize, 0);
    for _ in 0..used {
        let place = unpacker.place(count.saturating_sub(next), "fragment block further on,")?;
        next += place;
        let start_byte = unpacker.near(end)?;
        let (stored_bytes, is_stored) = extent_word(block_size.bytes().into(), unpacker)?;
        let len_bytes = u64::from(block_size.bytes()).wrapping_sub(unpacker.near(0)?);
        if len_bytes > block_size.bytes().into() {
            return Err(unpacker.wrong(format!("a fragment block holds {len_bytes} bytes")));
        }
        let extent = Extent {
            start_byte,
            stored_bytes,
            len_bytes: u32::try_from(len_bytes).unwrap_or(u32::MAX),
            is_stored,
        };
        end = within(extent, image_bytes, unpacker)?.end();
        fragments[next] = extent;
        next += 1;
    }
    Ok(fragments)
}

/// The length of a block in the image, and whether it is stored as it is.
pub(crate) fn word(block: &Extent) -> u64 {
    u64::from(block.stored_bytes) << 1 | u64::from(block.is_stored)
}

pub(crate) fn extent_word(max_bytes: u64, unpacker: &mut Unpacker) -> Result<(u32, bool), Error> {
    let word = unpacker.at_most(max_bytes << 1 | 1, "twice the length of a block")?;
    Ok((u32::try_from(word >> 1).unwrap_or(u32::MAX), word & 1 == 1))
}

/// A block that lies in the image.
pub(crate) fn within(
    extent: Extent,
    image_bytes: u64,
    unpacker: &Unpacker,
) -> Result<Extent, Error> {
    let end = extent.start_byte.checked_add(extent.stored_bytes.into());
    if end.is_none_or(|end| end > image_bytes) {
        let start = extent.start_byte;
        let rule = format!("a block at byte {start} lies behind the image of {image_bytes}");
        return Err(unpacker.wrong(rule));
    }
    Ok(extent)
}

fn fragment(kind: &InodeGeometryKind) -> Option<u32> {
    match kind {
        InodeGeometryKind::File(file) => file.fragment,
        _ => None,
    }
}

#[cfg(test)]
mod tests;
