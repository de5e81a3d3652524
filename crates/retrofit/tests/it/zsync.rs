//! What a zsync file says.

use coldpress_retrofit::{Error, zsync};

#[test]
fn a_zsync_file_states_what_zsync_needs() {
    let file: Vec<u8> = (0..5000_u32)
        .map(|number| number.to_le_bytes()[0])
        .collect();
    let made = zsync(&file, b"App.AppImage", b"https://example.org/App.AppImage").unwrap();
    let end = made.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
    assert_eq!(
        str::from_utf8(&made[..end]).unwrap(),
        "zsync: 0.6.2\n\
         Filename: App.AppImage\n\
         Blocksize: 2048\n\
         Length: 5000\n\
         Hash-Lengths: 2,2,3\n\
         URL: https://example.org/App.AppImage\n\
         SHA-1: 4ba51528e69c2efd8c40cdeac3ee1984acc05478\n\n"
    );
    // Three blocks, as zsyncmake 0.6.2 describes them; the first two are the same.
    assert_eq!(
        made[end..],
        [
            84, 0, 142, 42, 88, 84, 0, 142, 42, 88, 164, 52, 110, 81, 101
        ]
    );
}

#[test]
fn an_empty_file_has_no_blocks() {
    let made = zsync(&Vec::new(), b"a", b"b").unwrap();
    assert!(made.ends_with(b"\n\n"));
}

#[test]
fn a_line_break_would_become_a_line_of_the_file() {
    for (name, url) in [(&b"a\nURL: x"[..], &b"b"[..]), (b"a", b"b\r")] {
        let made = zsync(&Vec::new(), name, url);
        assert!(matches!(made, Err(Error::LineBreak { .. })), "{made:?}");
    }
}
