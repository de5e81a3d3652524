//! File systems are read, and refused with a place.

mod damaged;
mod made;

use coldpress_iso::{Naming, boot_images, size_field};

use crate::made::{
    CATALOG, DATA, FILE_BYTES, FIRST_RECORD, JOLIET_LIVE, LIVE, PRIMARY, ROOT, entry, made, record,
};

const PATH: &[u8] = b"live/filesystem.squashfs";

#[test]
fn a_file_is_found_with_its_records_in_all_trees() {
    let iso = made().read().unwrap().unwrap();
    let namings: Vec<Naming> = iso.trees.iter().map(|it| it.volume.naming).collect();
    assert_eq!(namings, [Naming::RockRidge, Naming::Joliet]);
    assert_eq!(iso.trees[1].files[0].path, PATH);
    let file = iso.find(PATH).unwrap();
    assert_eq!(file.size_bytes(), FILE_BYTES.into());
    let data = &file.sections[0].data;
    assert_eq!(data.start, DATA as u64 * 2048);
    let records: Vec<u64> = iso.records(data).into_iter().collect();
    let expected = [LIVE, JOLIET_LIVE].map(|it| (it * 2048 + FIRST_RECORD) as u64);
    assert_eq!(records, expected);
    assert_eq!(iso.trees[0].volume.modified, *b"2026112401020300");
    assert_eq!(iso.other_at(data), None);
    let catalog = CATALOG as u64 * 2048;
    let beside = catalog + 2047..catalog + 2048;
    assert_eq!(iso.other_at(&beside), Some(catalog..catalog + 2048));
}

#[test]
fn the_catalogue_names_what_is_started() {
    let made = made();
    let iso = made.read().unwrap().unwrap();
    assert_eq!(iso.boot_catalog, Some(CATALOG as u64 * 2048));
    let images = boot_images(&made.0[CATALOG * 2048..][..2048]);
    assert_eq!(images.len(), 1);
    assert_eq!(
        (images[0].start, images[0].size_bytes),
        (25 * 2048, 4 * 512)
    );
}

#[test]
fn names_are_those_that_linux_shows() {
    let named = |flags: u8, name: &[u8]| entry(b"NM", &[&[flags], name].concat());
    let both = |value: u32| size_field(value);
    let elsewhere = entry(b"CE", &[both(28), both(10), both(10)].concat());
    for (extra, expected) in [
        (named(0, b"a"), &b"a"[..]),
        (
            [named(1, b"one,"), named(0, b"two")].concat(),
            &b"one,two"[..],
        ),
        ([named(1, b"here,"), elsewhere].concat(), &b"here,there"[..]),
        (named(2, b"self"), &b"file.ext"[..]),
        (Vec::new(), &b"file.ext"[..]),
    ] {
        let mut made = made();
        made.put(28, 10, &named(0, b"there"));
        made.directory(LIVE, &[], &[record(b"FILE.EXT;1", DATA, 1, 0, &extra)]);
        let iso = made.read().unwrap().unwrap();
        assert_eq!(iso.trees[0].files[0].path, [b"live/", expected].concat());
    }
    // Without Rock Ridge, Joliet's names are shown.
    let mut made = made();
    made.put(ROOT, 34, &[0; 7]);
    let iso = made.read().unwrap().unwrap();
    assert_eq!(iso.trees[0].volume.naming, Naming::Plain);
    assert_eq!(iso.trees[0].files[0].path, b"live/filesyst.squ");
    assert!(iso.find(PATH).is_some());
}

#[test]
fn a_file_may_be_in_several_pieces() {
    let mut made = made();
    let pieces = [(DATA, 2048, 0x80), (DATA + 1, 100, 0)];
    let records = pieces.map(|(block, size, flags)| record(b"A.;1", block, size, flags, &[]));
    made.directory(LIVE, &[], &records);
    let iso = made.read().unwrap().unwrap();
    let file = iso.find(b"live/a").unwrap();
    assert_eq!((file.sections.len(), file.size_bytes()), (2, 2148));
}

#[test]
fn a_directory_may_be_elsewhere() {
    let mut made = made();
    let place = size_field(u32::try_from(LIVE).unwrap());
    let child = record(b"DEEP", 0, 0, 0, &entry(b"CL", &place));
    let moved = record(b"MOVED", LIVE, 2048, 2, &entry(b"RE", &[]));
    made.directory(ROOT, b"SP\x07\x01\xbe\xef\0", &[child, moved]);
    let iso = made.read().unwrap().unwrap();
    assert!(iso.find(b"deep/filesystem.squashfs").is_some());
    assert_eq!(iso.trees[0].files.len(), 1);
}

#[test]
fn other_files_are_none() {
    let mut made = made();
    made.put(PRIMARY, 1, b"X");
    assert_eq!(made.read().unwrap(), None);
    made.0.truncate(17 * 2048 - 1);
    assert_eq!(made.read().unwrap(), None);
}
