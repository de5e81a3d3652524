//! Files that lie, are cut off or hold too much.

use coldpress_retrofit::Error;

use crate::app_image::{Made, made};

/// A text with the numbers of a file in it: `{N}` is the header of section N, `{image}` its image,
/// `{end}` its end.
fn expected(text: &str, made: &Made) -> String {
    let mut text = text
        .replace("{image}", &made.image.to_string())
        .replace("{table}", &made.headers.to_string())
        .replace("{end}", &made.bytes.len().to_string());
    for (section, start) in made.sections.iter().enumerate() {
        let header = made.headers + (section + 1) * 64;
        text = text.replace(&format!("{{h{section}}}"), &header.to_string());
        text = text.replace(&format!("{{s{section}}}"), &start.to_string());
    }
    text
}

type Damage = fn(&mut Made);

/// What is done to a file, and what is said of it.
const CASES: [(&str, Damage); 19] = [
    (
        "the mark at byte 8 is that of an AppImage of type 1, an ISO file; only type 2 is rebuilt",
        |made| made.put(10, &[1]),
    ),
    (
        "the mark at byte 8 is that of an AppImage of type 1, an ISO file; only type 2 is rebuilt",
        |made| {
            made.put(8, &[0; 3]);
            made.bytes.resize(0x9000, 0);
            made.put(0x8001, b"CD001");
        },
    ),
    (
        "the ELF header at byte 4 states class 2 and byte order 2; AppImages are of class 1 or 2, \
             order 1",
        |made| made.put(5, &[2]),
    ),
    (
        "the ELF header at byte 58 states 0 section headers of 64 bytes, must be some of 64",
        |made| made.put(60, &[0, 0]),
    ),
    (
        "the ELF header at byte 58 states 7 section headers of 63 bytes, must be some of 64",
        |made| made.put(58, &[63]),
    ),
    (
        "the ELF header at byte 40 states 448 bytes at byte 18446744073709551615, but the file \
             has {end}",
        |made| made.put(40, &[0xff; 8]),
    ),
    (
        "the ELF header at byte 40 states 4194240 bytes at byte {table}, but the file has {end}",
        |made| made.put(60, &[0xff; 2]),
    ),
    (
        "the ELF header at byte 62 states that names are in section 7, but there are 7",
        |made| made.put(62, &[7]),
    ),
    (
        "the section header at byte {last} states 18446744073709551615 bytes at byte {names}, \
             but the file has {end}",
        |made| made.put(made.headers + 6 * 64 + 32, &[0xff; 8]),
    ),
    (
        "the section header at byte {h3} states 8192 bytes at byte 281474976710656, but the file \
             has {image}",
        |made| {
            // Names are looked for in another section.
            made.put(62, &[4]);
            made.put(made.header(3), &(1_u64 << 48).to_le_bytes());
            made.put(made.header(3) + 8, &8192_u64.to_le_bytes());
        },
    ),
    (
        "the section `.sig_key` at byte {h4} states 8192 bytes at byte 281474976710656, but the \
             file has {image}",
        |made| made.put(made.header(4), &(1_u64 << 48).to_le_bytes()),
    ),
    (
        "the section `.sha256_sig` at byte 8 takes 1024 bytes, where the ELF header is too",
        |made| made.put(made.header(3), &8_u64.to_le_bytes()),
    ),
    (
        "the section `.sig_key` at byte {s3} takes 8192 bytes, where .sha256_sig is too",
        |made| {
            let start = made.sections[3] as u64;
            made.put(made.header(4), &start.to_le_bytes());
        },
    ),
    (
        "the section `.upd_info` at byte {s3} is the second of its name",
        |made| {
            let name = made.bytes[made.headers + 3 * 64];
            made.put(made.headers + 4 * 64, &[name]);
        },
    ),
    (
        "the section `.digest_md5` at byte {s1} has 15 bytes, but a digest has 16",
        |made| made.put(made.header(1) + 8, &[15]),
    ),
    (
        "the image at byte {image} is no image of SquashFS 4.0: it begins with `DWARFS`",
        |made| made.put(made.image, b"DWARFS"),
    ),
    (
        "the image at byte {image} is no image of SquashFS 4.0: it begins with ``",
        |made| made.bytes.truncate(made.image),
    ),
    (
        "the data at byte {last-byte} is no part of what ends at byte {image-end}, and nobody knows \
             who reads it there",
        |made| {
            made.bytes.resize(made.bytes.len() + 70_000, 0);
            made.bytes.push(1);
        },
    ),
    (
        "the data at byte {second} begins another image, and which of them is to be replaced is not \
             known",
        |made| {
            let image = made.bytes[made.image..].to_vec();
            made.bytes.extend_from_slice(&image);
        },
    ),
];

#[test]
fn damaged_files_are_refused_with_a_place() {
    for (text, damage) in CASES {
        let mut made = made();
        let second = made.bytes.len();
        let image = made.open().unwrap().unwrap().image();
        damage(&mut made);
        let Err(error) = made.open() else {
            panic!("{text}: not refused");
        };
        let text = text
            .replace("{last}", &(made.headers + 6 * 64).to_string())
            .replace("{names}", &(made.sections[4] + 8192).to_string())
            .replace("{last-byte}", &(made.bytes.len() - 1).to_string())
            .replace("{second}", &second.to_string())
            .replace("{image-end}", &image.end.to_string());
        assert_eq!(error.to_string(), expected(&text, &made));
    }
}

#[test]
fn a_program_may_not_be_longer_than_memory() {
    let mut long = made();
    let end = 65_u64 << 20;
    long.put(long.headers + 6 * 64 + 24, &(end - 10).to_le_bytes());
    long.put(long.headers + 6 * 64 + 32, &10_u64.to_le_bytes());
    long.bytes.resize(66 << 20, 0);
    let error = long.open().unwrap_err().to_string();
    let rule =
        "lets the program end at byte 68157440; programs of more than 67108864 bytes are not read";
    assert_eq!(error, format!("the ELF header at byte 0 {rule}"));
}

#[test]
fn a_file_may_end_anywhere() {
    let whole = made();
    for len in (0..whole.bytes.len() - 1).step_by(7) {
        let cut = Made {
            bytes: whole.bytes[..len].to_vec(),
            ..made()
        };
        match cut.open() {
            Ok(read) => assert!(read.is_none_or(|read| read.image().end <= len as u64)),
            Err(Error::Refused { .. }) => {}
            Err(error) => panic!("{len}: {error}"),
        }
    }
}
