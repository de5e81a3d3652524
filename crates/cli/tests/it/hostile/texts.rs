//! Hostile lists, plans, traces and archives.

use std::fs::File;
use std::process::Stdio;

use super::bounded::{Yard, is_full};

/// Every flag and verb that reads a text from the file `list`.
const READERS: &[(&str, &[&str])] = &[
    (
        "exclude file",
        &["build", "source", "out", "--exclude-from", "list"],
    ),
    (
        "exclude file of paths",
        &[
            "build",
            "source",
            "out",
            "--exclude-syntax",
            "path",
            "--exclude-from",
            "list",
        ],
    ),
    (
        "exclude file of wildcards",
        &[
            "build",
            "source",
            "out",
            "--exclude-syntax",
            "wildcards",
            "--exclude-from",
            "list",
        ],
    ),
    (
        "exclude file of expressions",
        &[
            "build",
            "source",
            "out",
            "--exclude-syntax",
            "regex",
            "--exclude-from",
            "list",
        ],
    ),
    (
        "ignore file",
        &["build", "tree", "out", "--ignore-file", "ignore"],
    ),
    (
        "pseudo file",
        &["build", "source", "out", "--pseudo-file", "list"],
    ),
    ("pack file", &["build", "-", "out", "--pack-file", "list"]),
    ("sort file", &["build", "source", "out", "--sort", "list"]),
    (
        "gensquashfs sort file",
        &["build", "source", "out", "--gensquashfs-sort", "list"],
    ),
    ("plan", &["build", "source", "out", "--plan", "list"]),
    (
        "file contexts",
        &["build", "source", "out", "--selinux", "list"],
    ),
    (
        "plan to lint",
        &["plan", "lint", "list", "--from", "plan", "--tree", "tree"],
    ),
    (
        "mksquashfs -ef",
        &["mksquashfs", "tree", "out", "-noappend", "-ef", "list"],
    ),
    (
        "mksquashfs -sort",
        &["mksquashfs", "tree", "out", "-noappend", "-sort", "list"],
    ),
    (
        "mksquashfs -pf",
        &["mksquashfs", "tree", "out", "-noappend", "-pf", "list"],
    ),
];

fn repeated(text: &str, count: usize) -> Vec<u8> {
    text.repeat(count).into_bytes()
}

/// Texts that are no lists, or too much of one.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let long = |before: &str, after: &str| {
        [before.as_bytes(), &repeated("n", 1 << 20), after.as_bytes()].concat()
    };
    let plan = b"coldpress-plan 1\n[data]\n";
    vec![
        ("nothing", Vec::new()),
        ("a name of 1 MiB", long("", "")),
        (
            "a name of 1 MiB in a pack file",
            long("file /", " 0644 0 0\n"),
        ),
        ("a name of 1 MiB in a pseudo file", long("", " d 755 0 0\n")),
        ("a name of 1 MiB in a sort file", long("", " 7\n")),
        (
            "a name of 1 MiB in a gensquashfs sort file",
            long("7 ", "\n"),
        ),
        (
            "a name of 1 MiB in a plan",
            [plan, &long("blocks /", "\n")[..]].concat(),
        ),
        ("a path of 500000 levels", repeated("d/", 500_000)),
        ("500000 levels that lead up", repeated("../", 500_000)),
        ("stars", [repeated("*", 1000), b"x".to_vec()].concat()),
        (
            "stars and names",
            [repeated("*a", 5000), b"b".to_vec()].concat(),
        ),
        (
            "nested groups",
            [repeated("+(", 20_000), repeated(")", 20_000)].concat(),
        ),
        (
            "nested expressions",
            [repeated("(", 20_000), repeated(")*", 20_000)].concat(),
        ),
        (
            "repetitions",
            b"((((((a{1,99}){1,99}){1,99}){1,99}){1,99}){1,99}){1,99} 1\n".to_vec(),
        ),
        ("an open bracket", repeated("[", 100_000)),
        ("classes", repeated("[[:alpha:]", 10_000)),
        ("backslashes", repeated("\\", 1 << 20)),
        ("quotation marks", repeated("\"", 99_999)),
        ("lines that go on", repeated("\\\n", 500_000)),
        ("empty lines", repeated("\n", 1 << 20)),
        ("zero bytes", vec![0; 1 << 16]),
        (
            "bytes that are no text",
            (0..=255).cycle().take(1 << 16).collect(),
        ),
        (
            "numbers",
            repeated("99999999999999999999999999999999999999 ", 100),
        ),
        (
            "negative numbers",
            b"file -99999999999999999999999\n-9223372036854775808 file\n".to_vec(),
        ),
    ]
}

fn staged() -> Yard {
    let yard = Yard::new();
    yard.put("source", b"a file");
    let tree = yard.inside().join("tree");
    std::fs::create_dir(&tree).unwrap();
    for name in ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "file", "ignore"] {
        std::fs::write(tree.join(name), name).unwrap();
    }
    yard
}

#[test]
fn cve_2012_4024_long_names_and_other_traps_in_lists() {
    let yard = staged();
    let texts = texts();
    // Each text goes to some that read texts, so that all of them get some.
    let some = if is_full() { READERS.len() } else { 4 };
    for (number, (what, text)) in texts.iter().enumerate() {
        yard.put("list", text);
        yard.put("tree/ignore", text);
        for (reader, words) in READERS.iter().cycle().skip(number * 3).take(some) {
            yard.run(&format!("{what} as {reader}"), words, Stdio::null());
            yard.remove("out");
        }
    }
}

#[test]
fn profiles_of_anything_and_of_too_much() {
    let yard = staged();
    let long = "/d".repeat(32_000);
    let line = format!("R 0,2,4,6,8,9,11,13,15,17,19,21,23,25,27,29 {long}\n");
    let begin = "coldpress-profile 1\n# recordings: 1\n";
    let many = [begin.as_bytes(), &repeated(&line, 16)[..]].concat();
    let texts = texts().into_iter();
    for (what, text) in texts.chain([("many pages of a file of many levels", many)]) {
        yard.put("list", &text);
        for words in [
            &["build", "source", "out", "--profile", "list"][..],
            &["profile", "merge", "list", "list", "-o", "out"],
            &["profile", "check", "list", "tree"],
            &["profile", "show", "list"],
        ] {
            yard.run(what, words, Stdio::null());
            yard.remove("out");
        }
    }
}

#[test]
fn texts_that_are_no_recordings_are_borne() {
    let yard = staged();
    for (what, text) in texts() {
        yard.put("list", &text);
        let words = ["profile", "import", "list", "-o", "out"];
        yard.run(&format!("{what} as recording"), &words, Stdio::null());
        yard.remove("out");
    }
}

/// A header of a tar archive with a right sum.
fn header(name: &[u8], kind: u8, size: &[u8; 12]) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..name.len()].copy_from_slice(name);
    block[100..107].copy_from_slice(b"0000644");
    block[124..136].copy_from_slice(size);
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block
}

/// An entry with its content.
fn entry(name: &[u8], kind: u8, content: &[u8]) -> Vec<u8> {
    let size = format!("{:011o}\0", content.len());
    let mut bytes = header(name, kind, size.as_bytes().first_chunk().unwrap());
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn archives() -> Vec<Vec<u8>> {
    let pax = |record: &str| {
        let content = format!("{} {record}\n", record.len() + 4);
        [
            entry(b"x", b'x', content.as_bytes()),
            entry(b"f", b'0', b"1"),
        ]
        .concat()
    };
    let binary = |last: u8| {
        let mut size = [last; 12];
        size[0] = if last == 0xff { 0xff } else { 0x80 };
        header(b"f", b'0', &size)
    };
    let mut sparse = header(b"s", b'S', b"00000000000\0");
    sparse[482] = 1;
    let deep: Vec<u8> = (0..2000).flat_map(|_| b"d/".to_owned()).collect();
    vec![
        entry(b"../outside", b'0', b"written"),
        entry(b"/../../outside", b'0', b"written"),
        [
            entry(b"l", b'2', b""),
            entry(b"l/outside", b'0', b"written"),
        ]
        .concat(),
        binary(0xff),
        binary(0x7f),
        sparse,
        entry(b"name", b'L', &vec![b'n'; 1 << 20]),
        header(b"x", b'x', b"77777777777\0"),
        header(b"L", b'L', b"77777777777\0"),
        pax("size=18446744073709551616"),
        pax("size=-1"),
        pax("path="),
        pax("mtime=999999999999999999999999"),
        pax("GNU.sparse.numblocks=4294967295"),
        pax("GNU.sparse.map=0,9223372036854775807"),
        pax("GNU.sparse.size=9223372036854775807"),
        entry(b"x", b'x', b"4294967295 a=b\n"),
        entry(b"x", b'x', b"0 a=b\n"),
        entry(&deep[..99], b'5', b""),
        // The beginnings of gzip, bzip2, xz, zstd and lz4, and then nothing or nonsense.
        b"\x1f\x8b\x08\x00".to_vec(),
        b"\x1f\x8b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        b"BZh9".to_vec(),
        b"BZh91AY&SY\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x28".to_vec(),
        b"\x28\xb5\x2f\xfd\x00\xf8\x21\x00\x00abcd".to_vec(),
        b"\x04\x22\x4d\x18\x60\x70\x73\xff\xff\xff\x7f".to_vec(),
    ]
}

#[test]
fn sqfstar_2025_numbers_and_headers_of_archives() {
    let yard = Yard::new();
    for (number, archive) in archives().iter().enumerate() {
        let what = format!("archive {number}");
        yard.put("archive", archive);
        for words in [
            &["build", "--tar", "archive", "out"][..],
            &["build", "archive", "out"],
        ] {
            yard.run(&what, words, Stdio::null());
            yard.remove("out");
        }
        for words in [&["build", "-", "out"][..], &["sqfstar", "out"]] {
            let input = File::open(yard.inside().join("archive")).unwrap();
            yard.run(&what, words, input.into());
            yard.remove("out");
        }
    }
}
