use super::*;

const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
    \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

fn layout() -> PageLayout {
    PageLayout::parse(HEADER_PAGE, Path::new("header_page")).unwrap()
}

fn header(kind: u32, delta: u32) -> u32 {
    kind | delta << 5
}

fn page(time_ns: u64, commit_flags: u64, words: &[u32]) -> Vec<u8> {
    let used = u64::try_from(words.len() * 4).unwrap();
    let mut page = time_ns.to_le_bytes().to_vec();
    page.extend((used | commit_flags).to_le_bytes());
    page.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    page
}

fn records(page: &[u8]) -> Result<Vec<(u64, usize)>, Damage> {
    layout()
        .records(page)?
        .map(|record| record.map(|record| (record.time_ns, record.data.len())))
        .collect()
}

#[test]
fn times_add_up_over_all_types_of_records() {
    let words = [
        header(2, 5),
        1,
        2, // 8 bytes of data at 1005
        header(TIME_EXTEND, 1),
        1, // 2^27 + 1 later
        header(1, 0),
        3, // 4 bytes
        header(PADDING, 7),
        8,
        0, // taken back
        header(LENGTH_FOLLOWS, 1),
        12,
        9,
        9, // 8 bytes behind the length
        header(TIME_STAMP, 3),
        2, // absolute: 2^28 + 3
        header(1, 1),
        4,
        header(PADDING, 0),
        77, // rest of the page
    ];
    let late = 1005 + (1 << 27) + 1;
    assert_eq!(
        records(&page(1000, 1 << 31, &words)).unwrap(),
        [(1005, 8), (late, 4), (late + 8, 8), ((1 << 28) + 4, 4)]
    );
    assert_eq!(records(&page(1000, 0, &[])).unwrap(), []);
}

#[test]
fn damaged_pages_are_reported_with_their_place() {
    let full = page(0, 0, &[header(2, 5), 1, 2]);
    for (bytes, start_byte) in [
        (vec![], 0),
        (full[..12].to_vec(), 8),
        (full[..20].to_vec(), 8),
        (page(0, 0, &[header(3, 5), 1, 2]), 20),
        (page(0, 0, &[header(LENGTH_FOLLOWS, 5), 4000, 2]), 20),
        (page(0, 0, &[header(LENGTH_FOLLOWS, 5), 0, 2]), 20),
        (page(0, 0, &[header(LENGTH_FOLLOWS, 5), u32::MAX, 2]), 20),
        (page(0, 0, &[header(PADDING, 5), u32::MAX]), 20),
        (page(0, 0, &[header(TIME_EXTEND, 5)]), 20),
        (page(0, 0, &[header(TIME_STAMP, 5)]), 20),
    ] {
        assert_eq!(
            records(&bytes).unwrap_err().start_byte,
            start_byte,
            "{bytes:?}"
        );
    }
}

#[test]
fn no_page_makes_the_reader_panic() {
    // Every word of a small page takes every type, with short and long lengths behind it.
    for kind in 0..32 {
        for delta in [0, 1, u32::MAX >> 5] {
            for word in [0, 1, 4, 7, 8, 4096, u32::MAX] {
                let words = [header(kind, delta), word, header(kind, word >> 5), word];
                for len in 0..=page(9, 0, &words).len() {
                    let _ = records(&page(9, 0, &words)[..len]);
                }
                let _ = records(&page(u64::MAX, u64::from(word), &words));
            }
        }
    }
}

#[test]
fn a_page_size_beyond_reason_is_refused() {
    let text = HEADER_PAGE.replace("size:4080", "size:18446744073709551615");
    assert!(PageLayout::parse(&text, Path::new("header_page")).is_err());
}
