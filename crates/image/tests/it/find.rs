//! Images are found inside other files, and only whole ones.

use coldpress_image::{Image, Offset, find_images, read_sif};

use crate::handmade;

const HAYSTACK_BYTES: usize = 3 << 20;

/// An image at this byte of a file of zeros, with `behind` bytes behind it.
fn hidden(start: usize, behind: usize) -> (Vec<u8>, usize) {
    let image = handmade::image(true).bytes;
    let mut bytes = vec![0; start];
    bytes.extend_from_slice(&image);
    bytes.resize(bytes.len() + behind, 0);
    (bytes, image.len())
}

#[test]
fn an_image_is_found_at_any_byte() {
    // At the beginning, at odd places, and across the 1 MiB that are read at once.
    for start in [0, 1, 4096, (1 << 20) - 2, (1 << 20) - 1, 1 << 20, 2_345_678] {
        let (bytes, _) = hidden(start, 0);
        assert_eq!(find_images(&bytes).unwrap(), [start as u64]);
        let inner = Offset {
            inner: bytes,
            start: start as u64,
        };
        assert!(
            Image::new(Box::new(inner))
                .unwrap()
                .find(b"/dir/file")
                .unwrap()
                .is_some()
        );
    }
}

#[test]
fn images_behind_each_other_are_all_found_and_those_inside_are_not() {
    let (mut bytes, len) = hidden(100, 0);
    let inner = bytes[100..].to_vec();
    bytes.extend_from_slice(&inner);
    assert_eq!(find_images(&bytes).unwrap(), [100, 100 + len as u64]);
    // A file of an image that is stored as it is may be an image.
    let superblock = inner[..96].to_vec();
    bytes[100 + 200..100 + 296].copy_from_slice(&superblock);
    assert_eq!(find_images(&bytes).unwrap(), [100, 100 + len as u64]);
}

#[test]
fn what_only_looks_like_an_image_is_none() {
    let (whole, _) = hidden(50, 0);
    let mut wrong_version = whole.clone();
    wrong_version[50 + 28] = 3;
    let mut magic_only = vec![0; HAYSTACK_BYTES];
    for at in (0..HAYSTACK_BYTES - 4).step_by(4) {
        magic_only[at..at + 4].copy_from_slice(b"hsqs");
    }
    // What is cut is the image, not the padding behind it.
    let image = Image::new(Box::new(whole[50..].to_vec())).unwrap();
    let used = usize::try_from(image.superblock().bytes_used).unwrap();
    let cut = whole[..50 + used - 1].to_vec();
    let end_of_file = [&[0; 10][..], b"hsqs"].concat();
    for bytes in [wrong_version, magic_only, cut, end_of_file, Vec::new()] {
        assert_eq!(find_images(&bytes).unwrap(), []);
    }
}

#[test]
fn an_image_behind_a_large_program_is_found_by_its_header() {
    const PROGRAM_BYTES: usize = (64 << 20) + 4096;
    let (mut bytes, _) = hidden(PROGRAM_BYTES, 0);
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[40..48].copy_from_slice(&(PROGRAM_BYTES as u64 - 640).to_le_bytes());
    bytes[58..62].copy_from_slice(&[64, 0, 10, 0]);
    assert_eq!(find_images(&bytes).unwrap(), [PROGRAM_BYTES as u64]);
    bytes[0] = 0;
    assert_eq!(find_images(&bytes).unwrap(), []);
}

/// What the descriptor of a SIF container says of an object.
struct Object<'a> {
    kind: u32,
    file_system: u32,
    partition: u32,
    bytes: &'a [u8],
}

/// A partition of SquashFS that is run.
fn system(bytes: &[u8]) -> Object<'_> {
    Object {
        kind: 0x4004,
        file_system: 1,
        partition: 2,
        bytes,
    }
}

/// A SIF container as Apptainer writes it: table at 4096, room for 48 objects, objects from 32768
/// on at multiples of 4096. Returns it with the places of the objects.
fn sif(objects: &[Object]) -> (Vec<u8>, Vec<u64>) {
    const TABLE: usize = 4096;
    const DESCRIPTOR_BYTES: usize = 585;
    let mut bytes = vec![0; 32_768];
    bytes[..23].copy_from_slice(b"#!/usr/bin/env run-sin\n");
    bytes[32..45].copy_from_slice(b"SIF_MAGIC\x0001\0");
    for (at, number) in [
        (88, 48),
        (96, TABLE),
        (104, 48 * DESCRIPTOR_BYTES),
        (112, 32_768),
    ] {
        bytes[at..at + 8].copy_from_slice(&(number as u64).to_le_bytes());
    }
    let mut places = Vec::new();
    for (object, start) in objects.iter().zip((TABLE..).step_by(DESCRIPTOR_BYTES)) {
        let place = bytes.len() as u64;
        let fields: [(usize, &[u8]); 6] = [
            (0, &object.kind.to_le_bytes()),
            (4, &[1]),
            (17, &place.to_le_bytes()),
            (25, &(object.bytes.len() as u64).to_le_bytes()),
            (201, &object.file_system.to_le_bytes()),
            (205, &object.partition.to_le_bytes()),
        ];
        for (offset, field) in fields {
            bytes[start + offset..start + offset + field.len()].copy_from_slice(field);
        }
        bytes.extend_from_slice(object.bytes);
        bytes.resize(bytes.len().next_multiple_of(4096), 0);
        places.push(place);
    }
    (bytes, places)
}

#[test]
fn of_a_sif_container_only_the_table_says_where_images_are() {
    let image = handmade::image(true).bytes;
    let generic = Object {
        kind: 0x4007,
        ..system(&image)
    };
    let overlay = Object {
        partition: 4,
        ..system(&image)
    };
    let ext3 = Object {
        file_system: 2,
        ..system(&image)
    };
    let encrypted = Object {
        file_system: 5,
        ..system(&image)
    };
    let recipe = Object {
        kind: 0x4001,
        ..system(b"bootstrap: library")
    };
    let empty = system(b"no image");
    let (mut bytes, places) = sif(&[recipe, generic, overlay, encrypted, empty, system(&image)]);
    assert_eq!(find_images(&bytes).unwrap(), [places[5], places[2]]);
    assert!(read_sif(&bytes).unwrap().is_some());
    // A descriptor that is free again.
    bytes[4096 + 5 * 585 + 4] = 0;
    assert_eq!(find_images(&bytes).unwrap(), [places[2]]);
    // A place outside the file, and a table there.
    bytes[4096 + 2 * 585 + 17..][..8].fill(0xff);
    assert_eq!(find_images(&bytes).unwrap(), []);
    bytes[96..104].fill(0xff);
    assert_eq!(find_images(&bytes).unwrap(), []);
    // No container: whatever looks like an image is one.
    bytes[32] = b's';
    assert_eq!(find_images(&bytes).unwrap()[0], places[1]);
    assert!(read_sif(&bytes).unwrap().is_none());
    let (bytes, _) = sif(&[ext3]);
    assert_eq!(find_images(&bytes).unwrap(), []);
}
