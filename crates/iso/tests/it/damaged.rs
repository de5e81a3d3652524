//! File systems that lie.

use crate::made::{DATA, JOLIET_LIVE, LIVE, Made, PRIMARY, ROOT, SECTORS, entry, made, record};

type Damage = fn(&mut Made);

/// What is done to a file system, and what is said of it.
const CASES: [(&str, Damage); 14] = [
    (
        "volume descriptor at byte 32768 states the block size as 512 in little-endian and 2048 in big",
        |made| made.put(PRIMARY, 128, &[0, 2]),
    ),
    (
        "volume descriptor at byte 32768 states blocks of 512 bytes, must be 2048",
        |made| made.put(PRIMARY, 128, &[0, 2, 2, 0]),
    ),
    (
        "volume descriptor at byte 32768 has type 255, must be 1",
        |made| made.put(PRIMARY, 0, &[255]),
    ),
    (
        "volume descriptor at byte 98304 is one of more than 32, and none of them ends the list",
        |made| {
            let descriptor = made.0[PRIMARY * 2048..][..2048].to_vec();
            made.0.resize(64 * 2048, 0);
            (PRIMARY + 1..60).for_each(|at| made.put(at, 0, &descriptor));
            (PRIMARY + 1..60).for_each(|at| made.put(at, 0, &[9]));
        },
    ),
    (
        "directory record at byte 32924 puts 2048 bytes at byte 61440, but the file has 61440",
        |made| made.put(PRIMARY, 158, &[30, 0, 0, 0, 0, 0, 0, 30]),
    ),
    (
        "root directory record at byte 32924 states 0 bytes, must be at least 34",
        |made| made.put(PRIMARY, 156, &[0]),
    ),
    (
        "directory record at byte 43076 states its size as 3001 in little-endian and 3000 in big",
        |made| made.put(LIVE, 34 + 34 + 10, &[0xb9]),
    ),
    (
        "directory record at byte 47172 puts 3000 bytes at byte 522240, but the file has 61440",
        |made| made.put(JOLIET_LIVE, 34 + 34 + 2, &[255, 0, 0, 0, 0, 0, 0, 255]),
    ),
    (
        "directory record at byte 41035 leads to the directory at byte 40960, to which another",
        |made| made.put(ROOT, 34 + 7 + 34 + 2, &[20, 0, 0, 0, 0, 0, 0, 20]),
    ),
    (
        "directory record at byte 43076 states 33 bytes, must be at least 47",
        |made| made.put(LIVE, 34 + 34, &[33]),
    ),
    (
        "directory record at byte 45012 states 60 bytes, but its sector has only 44 more",
        |made| {
            let mut records = vec![record(b"A.;1", DATA, 1, 0, &[0; 210]); 7];
            let rest = 2004 - 68 - records.concat().len();
            records.push(record(b"B.;1", DATA, 1, 0, &vec![0; rest - 38]));
            records.push(record(b"C.;1", DATA, 1, 0, &[])[..6].to_vec());
            made.directory(LIVE, &[], &records);
            made.put(LIVE, 2004, &[60]);
        },
    ),
    (
        "directory record at byte 43076 is not the last of its file, but no other record",
        |made| made.put(LIVE, 34 + 34 + 25, &[0x80]),
    ),
    (
        "Rock Ridge entry at byte 43076 has more than 16 areas of Rock Ridge entries",
        |made| {
            let both = |value: u8| [value, 0, 0, 0, 0, 0, 0, value];
            let again = entry(b"CE", &[both(28), both(0), both(28)].concat());
            made.put(28, 0, &again);
            made.directory(LIVE, &[], &[record(b"A.;1", DATA, 1, 0, &again)]);
        },
    ),
    (
        "Rock Ridge entry at byte 43076 puts 28 bytes at byte 522240, but the file has 61440",
        |made| {
            let both = |value: u8| [value, 0, 0, 0, 0, 0, 0, value];
            let outside = entry(b"CE", &[both(255), both(0), both(28)].concat());
            made.directory(LIVE, &[], &[record(b"A.;1", DATA, 1, 0, &outside)]);
        },
    ),
];

#[test]
fn what_cannot_be_true_is_refused_with_its_place() {
    for (expected, damage) in CASES {
        let mut made = made();
        damage(&mut made);
        let error = made.read().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}

#[test]
fn directories_have_limits() {
    let mut made = made();
    made.0.resize(SECTORS * 2048 + (33 << 20), 0);
    let size = 33 << 20;
    made.directory(ROOT, &[], &[record(b"A", SECTORS, size, 2, &[])]);
    let error = made.read().unwrap_err().to_string();
    let expected = "leads to more than 33554432 bytes of directories, which are not read";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_file_system_may_end_anywhere() {
    let made = made();
    for len in (0..made.0.len()).step_by(61) {
        let cut = Made(made.0[..len].to_vec());
        let _ = cut.read();
    }
}

#[test]
fn any_byte_may_be_another() {
    let mut made = made();
    for at in PRIMARY * 2048..(JOLIET_LIVE + 1) * 2048 {
        let before = made.0[at];
        for other in [0, 0xff] {
            made.0[at] = other;
            let _ = made.read();
        }
        made.0[at] = before;
    }
}
