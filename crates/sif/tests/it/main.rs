//! What is written is read; what cannot be true is an error.

mod replace;

use coldpress_sif::{
    Architecture, DESCRIPTOR_BYTES, Descriptor, Error, HEADER_BYTES, Header, Identity, Kind,
    Object, Partition, check, head, partition_start,
};

const PARTITION_BYTES: u64 = 8192;
/// Where the second and the third descriptor are.
const SECOND: usize = 4096 + DESCRIPTOR_BYTES;
const THIRD: usize = SECOND + DESCRIPTOR_BYTES;

fn objects() -> [Object; 2] {
    let object = |kind, name: &str, bytes: &[u8]| Object {
        kind,
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    };
    [
        object(Kind::Definition, "", b"bootstrap: docker\nfrom: alpine:3\n"),
        object(Kind::Json, "oci-config.json", b"{}"),
    ]
}

fn identity() -> Identity {
    Identity {
        id: Identity::id_of(&[0xff; 32]),
        time_s: 1_700_000_000,
        architecture: Architecture::named("amd64"),
    }
}

fn at(place: u64) -> usize {
    usize::try_from(place).unwrap()
}

/// A container whose file system is zeros.
fn container() -> Vec<u8> {
    let mut bytes = head(&objects(), PARTITION_BYTES, &identity());
    bytes.resize(bytes.len() + at(PARTITION_BYTES), 0);
    bytes
}

fn read(bytes: &[u8]) -> Result<(Header, Vec<Descriptor>), Error> {
    let header = Header::parse(bytes)?.expect("it begins as a container");
    let table = header.table(bytes.len() as u64);
    let table = &bytes[at(table.start)..at(table.end)];
    let descriptors = check(&header, table, bytes.len() as u64)?;
    Ok((header, descriptors))
}

#[test]
fn what_is_written_is_read() {
    let bytes = container();
    let (header, descriptors) = read(&bytes).unwrap();
    assert_eq!(header.uuid(), "ffffffff-ffff-8fff-bfff-ffffffffffff");
    assert_eq!((header.descriptors, header.free_descriptors), (48, 45));
    assert_eq!(header.data_start, 32_176);
    assert_eq!(header.data_start + header.data_bytes, bytes.len() as u64);
    assert_eq!(&header.launch, b"#!/usr/bin/env run-singularity\n\0");
    let content = |descriptor: &Descriptor| {
        bytes[at(descriptor.start)..at(descriptor.end().unwrap())].to_vec()
    };
    for ((object, descriptor), id) in objects().iter().zip(&descriptors).zip(1..) {
        assert_eq!(content(descriptor), object.bytes);
        assert_eq!(descriptor.name, object.name.as_bytes());
        assert_eq!((descriptor.kind, descriptor.id), (object.kind, id));
        assert_eq!(descriptor.padded_bytes, descriptor.size_bytes);
    }
    let system = descriptors.last().unwrap();
    let partition = Partition::primary(Architecture::named("amd64"));
    assert_eq!(system.partition(), Some(partition));
    assert_eq!(
        (system.start, system.start % 4096),
        (partition_start(&objects()), 0)
    );
    assert_eq!(system.end(), Some(bytes.len() as u64));
    // From the end of the last small object on.
    assert_eq!(system.padded_bytes, bytes.len() as u64 - 32_176 - 35);
}

#[test]
fn more_objects_than_descriptors_are_left_out() {
    let many = vec![objects()[1].clone(); 60];
    let mut bytes = head(&many, 0, &identity());
    assert_eq!(bytes.len() as u64, partition_start(&many));
    bytes.resize(bytes.len(), 0);
    let (header, descriptors) = read(&bytes).unwrap();
    assert_eq!((descriptors.len(), header.free_descriptors), (48, 0));
}

/// What is changed, where, to which number, and what is said of it.
const DAMAGES: [(&str, usize, u64, &str); 12] = [
    (
        "count",
        88,
        u64::MAX,
        "header at byte 88 states 18446744073709551615 descriptors at byte 4096, but only 63 are",
    ),
    (
        "count",
        88,
        47,
        "header at byte 104 states that its 47 descriptors take 28080 bytes, must be 27495",
    ),
    (
        "table",
        96,
        u64::MAX,
        "header at byte 88 states 48 descriptors at byte 18446744073709551615, but only 0",
    ),
    (
        "table",
        96,
        0,
        "header at byte 80 states 45 free descriptors, but 47 are",
    ),
    (
        "table bytes",
        104,
        u64::MAX,
        "header at byte 104 states that its 48 descriptors take",
    ),
    (
        "free",
        80,
        48,
        "header at byte 80 states 48 free descriptors, but 45 are",
    ),
    (
        "start",
        SECOND + 17,
        u64::MAX,
        "descriptor 2 at byte 4681 puts 2 bytes at byte 18446744073709551615, but the file has 40960",
    ),
    (
        "size",
        THIRD + 25,
        8193,
        "descriptor 3 at byte 5266 puts 8193 bytes at byte 32768, but",
    ),
    (
        "on an object",
        SECOND + 17,
        32_180,
        "descriptor 2 at byte 4681 puts 2 bytes at byte 32180, where the object of descriptor 1 is",
    ),
    (
        "on the header",
        SECOND + 17,
        127,
        "descriptor 2 at byte 4681 puts 2 bytes at byte 127, where the header or the table is",
    ),
    (
        "on the table",
        SECOND + 17,
        4095,
        "descriptor 2 at byte 4681 puts 2 bytes at byte 4095, where the header or the table is",
    ),
    (
        "before the objects",
        THIRD + 17,
        32_768 - 600,
        "descriptor 3 at byte 5266 puts 8192 bytes at byte 32168, where the header or the table is",
    ),
];

#[test]
fn what_cannot_be_true_is_an_error_with_its_place() {
    for (what, at, number, expected) in DAMAGES {
        let mut bytes = container();
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        let error = read(&bytes).expect_err(what).to_string();
        assert!(error.starts_with("the SIF "), "{error}");
        assert!(error.contains(expected), "{what} at {at}: {error}");
    }
}

#[test]
fn a_number_and_a_system_are_there_once() {
    let mut bytes = container();
    bytes[SECOND + 5] = 1;
    let error = read(&bytes).unwrap_err().to_string();
    assert!(
        error.ends_with("has the id 1, as another descriptor has"),
        "{error}"
    );
    let system: Vec<u8> = bytes[THIRD..THIRD + DESCRIPTOR_BYTES].to_vec();
    let mut bytes = container();
    bytes[SECOND..THIRD].copy_from_slice(&system);
    bytes[SECOND + 5] = 2;
    bytes[SECOND + 25..SECOND + 33].fill(0);
    let error = read(&bytes).unwrap_err().to_string();
    assert!(
        error.contains("descriptor 3 at byte 5266 is the second of a system"),
        "{error}"
    );
}

#[test]
fn every_cut_is_an_error_or_another_file() {
    let bytes = container();
    for len in 0..bytes.len() {
        let cut = &bytes[..len];
        match Header::parse(cut) {
            Ok(Some(_)) => assert!(read(cut).is_err(), "{len}"),
            Ok(None) => assert!(len < HEADER_BYTES, "{len}"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn any_changed_byte_is_borne() {
    let mut bytes = container();
    let len = bytes.len() as u64;
    for place in (0..HEADER_BYTES).chain(4096..THIRD + DESCRIPTOR_BYTES) {
        let before = bytes[place];
        for after in [0, 1, 0x7f, 0x80, 0xff, before ^ 1] {
            bytes[place] = after;
            if let Ok(Some(_)) = Header::parse(&bytes)
                && let Ok((_, descriptors)) = read(&bytes)
            {
                let is_inside = |it: &Descriptor| it.end().is_some_and(|end| end <= len);
                assert!(descriptors.iter().all(is_inside), "{place}");
            }
        }
        bytes[place] = before;
    }
}
