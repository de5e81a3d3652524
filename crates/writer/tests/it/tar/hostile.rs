use coldpress_layout::Plan;
use coldpress_writer::{Error, TarDefect};
use proptest::prelude::*;

use super::archive::{Archive, header, octal, pax, set_checksum};
use super::source;
use crate::trees::{differences, options, try_build};

/// A header with a number that needs base 256.
fn with_binary(at: usize, len: usize, number: i64) -> [u8; 512] {
    let mut block = header("f", b'0', 0);
    let field = &mut block[at..at + len];
    field.fill(if number < 0 { 0xff } else { 0 });
    for (byte, shift) in field.iter_mut().rev().zip((0..8).map(|n| 8 * n)) {
        *byte = (number >> shift).to_le_bytes()[0];
    }
    field[0] |= 0x80;
    set_checksum(&mut block);
    block
}

fn sparse(records: &[(&str, &str)], data: &[u8]) -> Vec<u8> {
    let archive = Archive::default().entry("x", b'x', 0, &pax(records));
    archive.file("s", data).end()
}

#[test]
fn damage_is_located() {
    let good = || Archive::default().file("good", b"1");
    let mut sum = header("f", b'0', 0);
    sum[0] = b'g';
    let mut letters = header("f", b'0', 0);
    letters[124..130].copy_from_slice(b"12x456");
    set_checksum(&mut letters);
    let huge = header("x", b'x', (8 << 30) - 1);
    let number = |at| (at, "Number");
    for (archive, (at, defect)) in [
        (Vec::new(), (0, "Empty")),
        (b"hello, this is text".repeat(100), (0, "NotTar")),
        (b"short".to_vec(), (5, "Truncated")),
        (good().raw(&sum).end(), (1024, "Checksum")),
        (good().raw(&letters).end(), number(1024)),
        (good().raw(&huge).end(), (1024, "TooLarge")),
        (
            good().raw(&header("x", b'L', 2 << 20)).end(),
            (1024, "TooLarge"),
        ),
        (good().raw(&with_binary(124, 12, -1)).end(), number(1024)),
        (
            good().raw(&with_binary(124, 12, i64::MAX)).end(),
            (1536, "Truncated"),
        ),
        (
            good().entry("x", b'x', 0, b"99 a=b\n").end(),
            (1024, "Record"),
        ),
        (
            good().entry("x", b'x', 0, &pax(&[("size", "1e9")])).end(),
            number(1024),
        ),
        (good().file("a/../b", b"").end(), (1024, "ParentComponent")),
        (good().file("good/b", b"").end(), (1024, "NotADirectory")),
        (
            good().file("./", b"").link("/", b'2', "x").end(),
            (1536, "RootKind"),
        ),
        (good().entry("m", b'M', 0, b"").end(), (1024, "Volume")),
        (
            good().file("cut", &[1; 600]).bytes()[..2000].to_vec(),
            (1536, "Truncated"),
        ),
    ] {
        let found = source(&archive);
        let Err(Error::Tar {
            at_bytes,
            defect: found,
            ..
        }) = found
        else {
            panic!("{defect}: {found:?}");
        };
        let found = format!("{found:?}");
        assert!(
            at_bytes == at && found.starts_with(defect),
            "{at_bytes}: {found}"
        );
    }
}

#[test]
fn sparse_maps_that_lie_are_refused() {
    let map = |size, map| {
        let records = [("GNU.sparse.size", size), ("GNU.sparse.map", map)];
        sparse(&records, b"12345")
    };
    let in_data = |text: &[u8]| {
        let (major, minor) = (("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"));
        let mut data = text.to_vec();
        data.resize(512, 0);
        sparse(&[major, minor, ("GNU.sparse.realsize", "100")], &data)
    };
    let mut gnu = header("s", b'S', 5);
    gnu[257..265].copy_from_slice(b"ustar  \0");
    // Blocks follow, it says, and then none does.
    gnu[482] = 1;
    octal(&mut gnu[483..495], 1 << 20);
    set_checksum(&mut gnu);
    for archive in [
        map("4", "0,5"),
        map("100", "0,4"),
        map("100", "0,6"),
        map("100", "0,3,2,2"),
        map("100", "0,5,7"),
        map("99999999999999999", "0,5"),
        map("100", "18446744073709551615,5"),
        sparse(&[("GNU.sparse.map", "0,5")], b"12345"),
        sparse(&[("GNU.sparse.major", "2")], b"12345"),
        in_data(b"18446744073709551615\n0\n1\n"),
        in_data(b"99999999999999999999999999"),
        in_data(b"1\n0\n"),
        Archive::default().raw(&gnu).bytes(),
    ] {
        let found = source(&archive);
        let is_refused = matches!(
            found,
            Err(Error::Tar {
                defect: TarDefect::SparseMap { .. } | TarDefect::Truncated { .. },
                ..
            })
        );
        assert!(is_refused, "{found:?}");
    }
    // No piece at all is a file of zeros.
    assert!(source(&in_data(b"0\n0\n0\n")).is_ok());
}

#[test]
fn what_no_image_holds_is_named() {
    let path = |path: &str| Archive::default().entry("x", b'x', 0, &pax(&[("path", path)]));
    let link = pax(&[("linkpath", &"t".repeat(4096))]);
    for archive in [
        path(&"n".repeat(257)).file("f", b""),
        path(&"d/".repeat(2048)).file("f", b""),
        path("a\0b").file("f", b""),
        Archive::default()
            .entry("x", b'x', 0, &link)
            .link("l", b'2', "t"),
        Archive::default().link("l", b'2', ""),
        Archive::default().device("d", b'3', 4096, 0),
        Archive::default().device("d", b'3', 0, 1 << 20),
        Archive::default().raw(&with_binary(108, 8, 1 << 32)),
        Archive::default().raw(&with_binary(116, 8, -1)),
    ] {
        let found = source(&archive.end());
        assert!(matches!(found, Err(Error::Unstorable { .. })), "{found:?}");
    }
}

/// An archive with something of everything.
fn sample() -> Vec<u8> {
    let records = pax(&[
        ("path", "long/name"),
        ("mtime", "-1.5"),
        ("SCHILY.xattr.user.a", "b"),
        ("LIBARCHIVE.xattr.user.b", "AAE="),
    ]);
    let sparse = [
        ("GNU.sparse.size", "20000"),
        ("GNU.sparse.map", "0,3,9000,2"),
    ];
    let mut gnu = header("gnu", b'S', 5);
    gnu[257..265].copy_from_slice(b"ustar  \0");
    octal(&mut gnu[386..398], 4096);
    octal(&mut gnu[398..410], 5);
    octal(&mut gnu[483..495], 10_000);
    set_checksum(&mut gnu);
    Archive::default()
        .entry("g", b'g', 0, &pax(&[("gid", "70")]))
        .entry("x", b'x', 0, &records)
        .file("f", b"content")
        .entry("x", b'x', 0, &pax(&sparse))
        .file("s", b"12345")
        .raw(&gnu)
        .data(b"12345")
        .entry("L", b'L', 0, b"longer/name\0")
        .link("l", b'1', "f")
        .link("y", b'2', "x")
        .device("d", b'4', 8, 1)
        .end()
}

/// Either an error, or an image that holds what was read.
fn check(archive: &[u8]) {
    let Ok(source) = source(archive) else {
        return;
    };
    let total: u64 = source
        .tree
        .nodes
        .iter()
        .filter_map(coldpress_layout::Node::size_bytes)
        .sum();
    // Holes of gigabytes take their time, and no more.
    if total < 1 << 24
        && let Ok((image, _)) = try_build(&source, &Plan::default(), &options(None, 4096))
    {
        assert_eq!(differences(&image, &source), Vec::<String>::new());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_an_error_or_an_archive(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        check(&bytes);
    }

    #[test]
    fn any_change_of_an_archive_is_an_error_or_a_tree(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(b'0'), Just(0xff), Just(b'7')]),
            1..6,
        ),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut archive = sample();
        for (at, byte) in changes {
            let at = at.index(archive.len());
            archive[at] = byte;
            // The sum is made right again, else every change is found by it.
            let block = archive[at / 512 * 512..].first_chunk_mut().unwrap();
            if block[257..262] == *b"ustar" {
                set_checksum(block);
            }
        }
        if is_cut {
            archive.truncate(cut.index(archive.len()));
        }
        check(&archive);
    }
}
