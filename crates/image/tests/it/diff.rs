//! Comparing an image with itself damaged: whatever the bytes are, it ends, and both ways alike.

use std::ops::ControlFlow;

use coldpress_image::{
    Comparison, Contrast, DiffError, DiffOptions, Image, TreeDifference, diff, first_difference,
};

use crate::handmade;

const ALL: DiffOptions = DiffOptions {
    content: true,
    modes: true,
    owners: true,
    times: true,
    xattrs: true,
    links: true,
};

fn open(bytes: &[u8]) -> Option<Image> {
    Image::new(Box::new(bytes.to_vec())).ok()
}

fn compare(left: &Image, right: &Image) -> Result<(Vec<TreeDifference>, Comparison), DiffError> {
    let mut found = Vec::new();
    let comparison = diff(left, right, &ALL, &mut |one| found.push(one), &mut |_| {
        ControlFlow::Continue(())
    })?;
    assert_eq!(comparison.differences, found.len() as u64);
    Ok((found, comparison))
}

#[test]
fn an_image_does_not_differ_from_itself_however_it_is_compressed() {
    let [stored, compressed] = [false, true].map(|compressed| handmade::image(compressed).bytes);
    let stored = open(&stored).unwrap();
    let (found, comparison) = compare(&stored, &stored).unwrap();
    assert_eq!(found, []);
    assert_eq!(comparison.blocks.recompressed, 0);
    assert!(comparison.blocks.equal > 0);
    let compressed = open(&compressed).unwrap();
    assert_eq!(compare(&stored, &compressed).unwrap().0, []);
    let go_on = &mut |_| ControlFlow::Continue(());
    assert_eq!(first_difference(&stored, &stored, go_on).unwrap(), None);
    assert!(
        first_difference(&stored, &compressed, go_on)
            .unwrap()
            .is_some()
    );
}

#[test]
fn damage_is_an_error_or_the_same_difference_from_both_sides() {
    let whole = handmade::image(false).bytes;
    let left = open(&whole).unwrap();
    let (mut damaged, mut differing) = (0, 0);
    for place in 96..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x41;
        let Some(right) = open(&bytes) else {
            continue;
        };
        let go_on = &mut |_| ControlFlow::Continue(());
        let first = first_difference(&left, &right, go_on).unwrap();
        assert_eq!(first, Some(place as u64));
        match (compare(&left, &right), compare(&right, &left)) {
            (Ok((one, _)), Ok((other, _))) => {
                let paths = |list: &[TreeDifference]| -> Vec<Vec<u8>> {
                    list.iter().map(|one| one.path.clone()).collect()
                };
                assert_eq!(paths(&one), paths(&other), "byte {place}");
                differing += usize::from(!one.is_empty());
            }
            (Err(DiffError::Right(_)), Err(DiffError::Left(_))) => damaged += 1,
            (one, other) => panic!("byte {place}: {one:?}, {other:?}"),
        }
    }
    assert!(damaged > 50 && differing > 50, "{damaged} {differing}");
}

#[test]
fn a_byte_of_a_file_is_found_and_the_caller_may_stop_it() {
    let whole = handmade::image(false).bytes;
    let mut bytes = whole.clone();
    // The first data block of `/dir/file` lies behind the superblock.
    bytes[96 + 10] ^= 1;
    let (left, right) = (open(&whole).unwrap(), open(&bytes).unwrap());
    let (found, _) = compare(&left, &right).unwrap();
    let [difference] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(difference.path, b"/dir/file");
    assert_eq!(difference.what, Contrast::Content(10));
    let stopped = diff(&left, &right, &ALL, &mut |_| {}, &mut |_| {
        ControlFlow::Break(())
    });
    assert!(matches!(stopped, Err(DiffError::Interrupted)));
}
