//! Another file system in a container that has objects around it.

use std::ops::Range;

use coldpress_sif::{
    DESCRIPTOR_BYTES, Descriptor, HEADER_BYTES, Header, Kind, Replacement, check, replace,
    signatures, system,
};

use crate::{at, container};

/// Where the file system of [`container`] is, and ends.
const START: usize = 32_768;
const END: usize = START + 8192;
/// Type, id, link, first byte and size of what is added after it.
const ADDED: [(u32, u32, u32, usize, usize); 4] = [
    // Of the group 1, to which the file system belongs, and of an object before it.
    (0x4005, 4, 0xf000_0001, END, 100),
    (0x4005, 5, 1, END + 100, 50),
    (0x4007, 6, 0, END + 150, 50),
    (0x4007, 7, 0, END + 4096, 200),
];

fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

/// [`container`], with more objects.
fn signed() -> Vec<u8> {
    let mut bytes = container();
    assert_eq!(bytes.len(), END);
    for (index, (kind, id, link, start, len)) in (3..).zip(ADDED) {
        let record = 4096 + index * DESCRIPTOR_BYTES;
        put(&mut bytes, record, &kind.to_le_bytes());
        put(&mut bytes, record + 4, &[1]);
        put(&mut bytes, record + 5, &id.to_le_bytes());
        put(&mut bytes, record + 9, &0xf000_0001_u32.to_le_bytes());
        put(&mut bytes, record + 13, &link.to_le_bytes());
        for (field, number) in [start, len, len].into_iter().enumerate() {
            put(
                &mut bytes,
                record + 17 + 8 * field,
                &(number as u64).to_le_bytes(),
            );
        }
        // What no descriptor of this crate has, as the fingerprint of a signature.
        bytes[record + 201] = 0x5a;
        bytes.resize(start + len, 0);
        bytes[start..].fill(u8::try_from(id).unwrap());
    }
    put(&mut bytes, 80, &41_u64.to_le_bytes());
    bytes
}

fn start(bytes: &[u8]) -> &[u8; HEADER_BYTES] {
    bytes.first_chunk().unwrap()
}

fn table(bytes: &[u8]) -> &[u8] {
    let header = Header::parse(start(bytes)).unwrap().unwrap();
    let Range { start, end } = header.table(bytes.len() as u64);
    &bytes[at(start)..at(end)]
}

fn replaced(bytes: &[u8], new_bytes: u64) -> Replacement {
    let file_bytes = bytes.len() as u64;
    let replaced = replace(start(bytes), table(bytes), file_bytes, new_bytes);
    replaced.unwrap().unwrap()
}

/// The container that a replacement describes.
fn applied(bytes: &[u8], replacement: &Replacement, new_bytes: usize) -> Vec<u8> {
    let mut new = bytes[..START].to_vec();
    new.resize(START + new_bytes, 0xee);
    new.resize(at(replacement.moved_to).max(new.len()), 0);
    new.extend_from_slice(&bytes[at(replacement.moved.start)..at(replacement.moved.end)]);
    put(&mut new, 0, &replacement.header);
    put(&mut new, at(replacement.table_start), &replacement.table);
    for place in &replacement.cleared {
        new[at(place.start)..at(place.end)].fill(0);
    }
    assert_eq!(new.len() as u64, replacement.file_bytes);
    new
}

fn checked(bytes: &[u8]) -> Vec<Descriptor> {
    let header = Header::parse(start(bytes)).unwrap().unwrap();
    assert_eq!(header.data_start + header.data_bytes, bytes.len() as u64);
    check(&header, table(bytes), bytes.len() as u64).unwrap()
}

#[test]
fn what_follows_moves_and_stays_aligned() {
    let old = signed();
    for new_bytes in [4096, 8192, 12_288, 1 << 20] {
        let replacement = replaced(&old, new_bytes as u64);
        let new = applied(&old, &replacement, new_bytes);
        let descriptors = checked(&new);
        let ids: Vec<u32> = descriptors.iter().map(|it| it.id).collect();
        assert_eq!(ids, [1, 2, 3, 5, 6, 7]);
        assert_eq!(system(&descriptors).unwrap().size_bytes, new_bytes as u64);
        for (_, id, _, start, len) in ADDED.into_iter().skip(1) {
            let moved = descriptors.iter().find(|it| it.id == id).unwrap();
            assert_eq!(at(moved.start) % 4096, start % 4096);
            let object = &new[at(moved.start)..][..len];
            assert_eq!(object, &old[start..start + len]);
        }
        // What lies before it, and all of a descriptor that is not known here.
        assert_eq!(
            new[at(replacement.table_start) + 48 * DESCRIPTOR_BYTES..START],
            old[32_176..START]
        );
        assert_eq!(new[4096 + 5 * DESCRIPTOR_BYTES + 201], 0x5a);
    }
}

#[test]
fn the_same_size_moves_nothing() {
    let old = signed();
    let replacement = replaced(&old, 8192);
    assert_eq!(replacement.moved.start, replacement.moved_to);
    assert_eq!(replacement.file_bytes, old.len() as u64);
}

#[test]
fn a_signature_at_the_end_is_cut_off() {
    let mut old = signed();
    old.truncate(END + 100);
    for (index, _) in (4..7).zip(ADDED) {
        old[4096 + index * DESCRIPTOR_BYTES..][..DESCRIPTOR_BYTES].fill(0);
    }
    put(&mut old, 80, &44_u64.to_le_bytes());
    let descriptors = check(
        &Header::parse(start(&old)).unwrap().unwrap(),
        table(&old),
        old.len() as u64,
    );
    let descriptors = descriptors.unwrap();
    let signed = system(&descriptors).unwrap();
    let signatures: Vec<u32> = signatures(&descriptors, signed).map(|it| it.id).collect();
    assert_eq!(signatures, [4]);
    let replacement = replaced(&old, 4096);
    let new = applied(&old, &replacement, 4096);
    assert_eq!(new.len(), START + 4096);
    assert_eq!(checked(&new).len(), 3);
}

#[test]
fn a_signature_between_others_becomes_zeros() {
    let mut old = signed();
    // The second signature is of the group as well.
    put(
        &mut old,
        4096 + 4 * DESCRIPTOR_BYTES + 13,
        &0xf000_0001_u32.to_le_bytes(),
    );
    // An object before both.
    put(
        &mut old,
        4096 + 3 * DESCRIPTOR_BYTES,
        &0x4007_u32.to_le_bytes(),
    );
    let replacement = replaced(&old, 12_288);
    let new = applied(&old, &replacement, 12_288);
    let moved = at(replacement.moved_to);
    assert_eq!(replacement.cleared.len(), 1);
    assert_eq!(
        new[moved + 99..moved + 151],
        [&[4][..], &[0; 50], &[6]].concat()
    );
}

#[test]
fn a_container_without_a_system_and_one_that_lies() {
    let mut other = signed();
    // An overlay.
    put(&mut other, 4096 + 2 * DESCRIPTOR_BYTES + 201 + 4, &[4]);
    let none = replace(start(&other), table(&other), other.len() as u64, 4096);
    assert_eq!(none, Ok(None));
    let mut lying = signed();
    put(&mut lying, 4096 + 5 * DESCRIPTOR_BYTES + 17, &[0xff; 8]);
    let error = replace(start(&lying), table(&lying), lying.len() as u64, 4096);
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("the SIF descriptor 6 at byte 7021 puts 50 bytes"),
        "{error}"
    );
    assert!(
        checked(&container())
            .iter()
            .all(|it| it.kind != Kind::Signature)
    );
}
