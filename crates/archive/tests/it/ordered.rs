//! What each layout and setting gives.

use coldpress_archive::{Finding, Layout, Refusal, Settings, Storing};

use crate::made::{Around, Made, PLAIN, four, names, order, read, with_layout, zip};

#[test]
fn hot_entries_are_first_or_last() {
    let file = zip(&four(), &Around::default());
    for (layout, expected) in [
        (Layout::Tail, ["a", "d", "e", "b/c"]),
        (Layout::Double, ["e", "b/c", "a", "d"]),
        (Layout::Gecko, ["e", "b/c", "a", "d"]),
    ] {
        let new = order(&file, &[3, 1], with_layout(layout)).expect("it is ordered");
        let read = read(&new);
        assert_eq!(names(&read), expected, "{layout:?}");
        let kept: Vec<_> = read
            .entries
            .iter()
            .map(|entry| entry.name.as_slice())
            .collect();
        assert_eq!(
            kept,
            [&b"a"[..], b"b/c", b"d", b"e"],
            "the directory keeps its order"
        );
        assert_eq!(read.gap_bytes, 0);
    }
}

#[test]
fn an_index_at_the_beginning_says_how_much_to_read_ahead() {
    let file = zip(&four(), &Around::default());
    let new = order(&file, &[3, 1], with_layout(Layout::Double)).expect("it is ordered");
    let zip = read(&new);
    let hot_end = zip.by_place().nth(1).expect("there are four").range.end;
    assert_eq!(zip.readahead_bytes.map(u64::from), Some(hot_end));
    let records = usize::try_from(zip.directory().end - zip.directory().start).expect("small");
    let back = usize::try_from(zip.directory().start).expect("small");
    assert_eq!(new[4..4 + records], new[back..back + records]);
    assert_eq!(new[4 + records..][..4], *b"PK\x05\x06");
}

#[test]
fn an_order_is_kept_when_it_is_asked_for_again() {
    let file = zip(&four(), &Around::default());
    for layout in [Layout::Tail, Layout::Double, Layout::Gecko] {
        let once = order(&file, &[3, 1], with_layout(layout)).expect("it is ordered");
        let twice = order(&once, &[3, 1], with_layout(layout)).expect("it is ordered");
        assert!(once == twice, "{layout:?}");
    }
}

#[test]
fn hot_entries_or_all_are_decompressed() {
    let file = zip(&four(), &Around::default());
    for (storing, expected) in [
        (Storing::Nothing, [0, 8, 0, 8]),
        (Storing::Hot, [0, 0, 0, 8]),
        (Storing::All, [0, 0, 0, 0]),
    ] {
        let new = order(&file, &[1], Settings { storing, ..PLAIN }).expect("it is ordered");
        let zip = read(&new);
        let methods: Vec<u16> = zip.entries.iter().map(|entry| entry.method).collect();
        assert_eq!(methods, expected, "{storing:?}");
        read(&file)
            .compare(&file, &zip, &new)
            .expect("contents are the same");
    }
}

#[test]
fn data_are_aligned_and_stay_so() {
    let file = zip(&four(), &Around::default());
    let settings = |align_bytes| Settings {
        align_bytes,
        storing: Storing::All,
        ..PLAIN
    };
    for align_bytes in [4, 4096] {
        let new = order(&file, &[2, 1], settings(align_bytes)).expect("it is ordered");
        let again = order(&new, &[0], settings(0)).expect("it is ordered");
        for file in [&new, &again] {
            for entry in read(file).entries {
                assert!(entry.data_start.is_multiple_of(align_bytes), "{entry:?}");
            }
        }
    }
}

#[test]
fn what_stands_around_an_archive_stays() {
    let around = Around {
        prefix: b"#!/usr/bin/env python3\n".to_vec(),
        gap: b"gap".to_vec(),
        comment: b"comment".to_vec(),
        trailing: b"more".to_vec(),
        ..Around::default()
    };
    for is_shifted in [false, true] {
        let file = zip(
            &four(),
            &Around {
                is_shifted,
                ..around.clone()
            },
        );
        let found = read(&file).findings(&file).expect("it is read");
        let expected = [Finding::Prefix(23), Finding::Gaps(3), Finding::Trailing(4)];
        assert_eq!(found, expected);
        let new = order(&file, &[0], PLAIN).expect("it is ordered");
        assert!(new.starts_with(b"#!/usr/bin/env python3\nPK") && new.ends_with(b"commentmore"));
        assert_eq!(read(&new).gap_bytes, 0);
        let refused = order(&file, &[0], with_layout(Layout::Double)).expect_err("no room");
        assert!(
            refused.to_string().contains("needs the 23 bytes"),
            "{refused}"
        );
    }
}

#[test]
fn entries_that_streams_need_first_stay_first() {
    let entries: Vec<Made> = ["META-INF/", "META-INF/MANIFEST.MF", "a", "b"]
        .map(|name| Made::new(name, b"x"))
        .to_vec();
    let new = order(&zip(&entries, &Around::default()), &[2, 1], PLAIN).expect("ordered");
    let expected = ["META-INF/", "META-INF/MANIFEST.MF", "b", "a"];
    assert_eq!(names(&read(&new)), expected);
    let entries = [Made::new("mimetype", b"x"), Made::new("a", b"x")];
    let file = zip(&entries, &Around::default());
    assert_eq!(
        names(&read(&order(&file, &[1, 0], PLAIN).expect("ordered"))),
        ["mimetype", "a"]
    );
    order(&file, &[1], with_layout(Layout::Gecko)).expect_err("it must be at byte 0");
}

#[test]
fn signed_archives_are_ordered_only_if_asked() {
    let entries = [
        "META-INF/MANIFEST.MF",
        "META-INF/X.SF",
        "META-INF/X.RSA",
        "a",
        "b",
    ];
    let entries = entries.map(|name| Made::new(name, b"x"));
    let file = zip(&entries, &Around::default());
    let refused = order(&file, &[3], PLAIN).expect_err("it is signed");
    let by = b"META-INF/X.SF".to_vec();
    let is_signed = matches!(&refused, coldpress_archive::Error::Refused(refusal)
        if *refusal == Refusal::Signed { by });
    assert!(is_signed, "{refused}");
    let settings = Settings {
        takes_signed: true,
        ..PLAIN
    };
    let new = order(&file, &[3, 1], settings).expect("it was asked for");
    let expected = [
        "META-INF/MANIFEST.MF",
        "META-INF/X.SF",
        "META-INF/X.RSA",
        "b",
        "a",
    ];
    assert_eq!(names(&read(&new)), expected);
}

#[test]
fn entries_of_one_name_and_names_of_one_spelling_stay_and_are_told() {
    let entries = ["a", "A", "a", "../b"].map(|name| Made::new(name, name.as_bytes()));
    let file = zip(&entries, &Around::default());
    let new = order(&file, &[2], PLAIN).expect("ordered");
    let findings = read(&new).findings(&new).expect("it is read");
    let expected = [
        Finding::CaseTwins(b"a".to_vec(), b"A".to_vec()),
        Finding::Duplicate(b"a".to_vec()),
        Finding::Outside(b"../b".to_vec()),
    ];
    assert_eq!(findings, expected);
}

#[test]
fn more_entries_than_16_bits_count_are_read_and_written() {
    let entries: Vec<Made> = (0..70_000)
        .map(|i| Made::new(&format!("{i}"), b""))
        .collect();
    for is_zip64 in [false, true] {
        let file = zip(
            &entries,
            &Around {
                is_zip64,
                ..Around::default()
            },
        );
        let new = order(&file, &[69_999, 3], PLAIN).expect("ordered");
        let zip = read(&new);
        assert_eq!(zip.entries.len(), 70_000);
        assert_eq!(
            zip.by_place().last().map(|entry| entry.name.clone()),
            Some(b"3".to_vec())
        );
        order(&file, &[1], with_layout(Layout::Gecko)).expect_err("Gecko knows no zip64");
    }
}
