//! Archives that contradict themselves are refused, with the place and the rule.

use coldpress_archive::Zip;

use crate::made::{Around, Made, four, zip};

fn refusal(file: &[u8]) -> String {
    match Zip::read(&file) {
        Ok(read) => panic!("it was read: {read:?}"),
        Err(error) => error.to_string(),
    }
}

/// Places at which a signature stands.
fn places(file: &[u8], signature: &[u8]) -> Vec<usize> {
    let windows = file.windows(4).enumerate();
    windows
        .filter(|(_, window)| *window == signature)
        .map(|(place, _)| place)
        .collect()
}

#[test]
fn what_is_stated_twice_must_be_the_same() {
    for (at, what) in [
        (8, "method"),
        (14, "CRC"),
        (18, "packed bytes"),
        (22, "content bytes"),
    ] {
        let mut file = zip(&four(), &Around::default());
        let place = places(&file, b"PK\x03\x04")[1];
        file[place + at] ^= 1;
        let text = refusal(&file);
        assert!(
            text.starts_with(&format!("the entry `b/c` at byte {place} states {what}")),
            "{text}"
        );
        assert!(text.ends_with("in the directory"), "{text}");
    }
    let mut file = zip(&four(), &Around::default());
    file[30] = b'x';
    assert_eq!(
        refusal(&file),
        "the entry `a` at byte 0 has another name in its local header: `x`"
    );
}

#[test]
fn entries_must_not_share_bytes() {
    let outer = Made::new(
        "outer",
        &zip(&[Made::new("inner", b"inner")], &Around::default()),
    );
    let mut file = zip(&[outer, Made::new("inner", b"inner")], &Around::default());
    let record = places(&file, b"PK\x01\x02").pop().expect("there are some");
    let inner = places(&file, b"PK\x03\x04")[1];
    file[record + 42..record + 46]
        .copy_from_slice(&u32::try_from(inner).expect("small").to_le_bytes());
    let text = refusal(&file);
    assert!(
        text.contains(&format!("but entry `inner` begins at byte {inner}")),
        "{text}"
    );
}

#[test]
fn a_quine_of_overlapping_entries_is_refused() {
    // Each entry quotes the header of the next, as in the bomb of Fifield.
    let mut kernel = Made::new("b", &[0; 1000]);
    kernel.deflates = true;
    let mut file = zip(&[Made::new("a", b"12345"), kernel], &Around::default());
    let record = places(&file, b"PK\x01\x02")[0];
    for place in [record + 20, record + 24] {
        file[place] += 31;
    }
    for place in [18, 22] {
        file[place] += 31;
    }
    assert!(
        refusal(&file).contains("but entry `b` begins"),
        "{}",
        refusal(&file)
    );
}

#[test]
fn descriptors_must_fit() {
    let described = Made {
        is_described: true,
        ..Made::new("a", b"hello")
    };
    let mut file = zip(&[described], &Around::default());
    let place = places(&file, b"PK\x07\x08")[0];
    file[place + 4] ^= 1;
    let text = refusal(&file);
    assert!(text.ends_with(&format!(
        "no descriptor with its CRC and its sizes at byte {place}"
    )));
}

#[test]
fn what_is_cut_off_is_no_archive_or_refused() {
    let whole = zip(
        &four(),
        &Around {
            is_zip64: true,
            ..Around::default()
        },
    );
    for len in 0..whole.len() {
        let cut = whole[..len].to_vec();
        assert!(!matches!(Zip::read(&cut), Ok(Some(_))), "{len}");
        let tail = whole[len + 1..].to_vec();
        if let Ok(Some(read)) = Zip::read(&tail) {
            panic!("{len}: {read:?}");
        }
    }
}

#[test]
fn a_content_that_is_longer_than_stated_ends_there() {
    let mut file = zip(&four(), &Around::default());
    let (local, record) = (
        places(&file, b"PK\x03\x04")[1],
        places(&file, b"PK\x01\x02")[1],
    );
    for place in [local + 22, record + 24] {
        file[place..place + 4].copy_from_slice(&100_u32.to_le_bytes());
    }
    let read = Zip::read(&file).expect("headers agree").expect("it is one");
    let error = read.entries[1]
        .content(&file)
        .bytes()
        .expect_err("it is longer");
    let text = error.to_string();
    assert!(text.contains("bytes or more, must be 100"), "{text}");
}
