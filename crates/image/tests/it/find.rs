//! Images are found inside other files, and only whole ones.

use coldpress_image::{Image, Offset, find_images};

use crate::handmade;

const HAYSTACK_BYTES: usize = 3 << 20;

/// An image at this byte of a file of zeros, with `behind` bytes behind it.
fn hidden(start: usize, behind: usize) -> (Vec<u8>, usize) {
    let image = handmade::image(true).bytes;
    let mut bytes = vec![0; start];
    bytes.extend_from_slice(&image);
    bytes.resize(bytes.len() + behind, 0);
    (bytes, image.len())
}

#[test]
fn an_image_is_found_at_any_byte() {
    // At the beginning, at odd places, and across the 1 MiB that are read at once.
    for start in [0, 1, 4096, (1 << 20) - 2, (1 << 20) - 1, 1 << 20, 2_345_678] {
        let (bytes, _) = hidden(start, 0);
        assert_eq!(find_images(&bytes).unwrap(), [start as u64]);
        let inner = Offset {
            inner: bytes,
            start: start as u64,
        };
        assert!(
            Image::new(Box::new(inner))
                .unwrap()
                .find(b"/dir/file")
                .unwrap()
                .is_some()
        );
    }
}

#[test]
fn images_behind_each_other_are_all_found_and_those_inside_are_not() {
    let (mut bytes, len) = hidden(100, 0);
    let inner = bytes[100..].to_vec();
    bytes.extend_from_slice(&inner);
    assert_eq!(find_images(&bytes).unwrap(), [100, 100 + len as u64]);
    // A file of an image that is stored as it is may be an image.
    let superblock = inner[..96].to_vec();
    bytes[100 + 200..100 + 296].copy_from_slice(&superblock);
    assert_eq!(find_images(&bytes).unwrap(), [100, 100 + len as u64]);
}

#[test]
fn what_only_looks_like_an_image_is_none() {
    let (whole, _) = hidden(50, 0);
    let mut wrong_version = whole.clone();
    wrong_version[50 + 28] = 3;
    let mut magic_only = vec![0; HAYSTACK_BYTES];
    for at in (0..HAYSTACK_BYTES - 4).step_by(4) {
        magic_only[at..at + 4].copy_from_slice(b"hsqs");
    }
    // What is cut is the image, not the padding behind it.
    let image = Image::new(Box::new(whole[50..].to_vec())).unwrap();
    let used = usize::try_from(image.superblock().bytes_used).unwrap();
    let cut = whole[..50 + used - 1].to_vec();
    let end_of_file = [&[0; 10][..], b"hsqs"].concat();
    for bytes in [wrong_version, magic_only, cut, end_of_file, Vec::new()] {
        assert_eq!(find_images(&bytes).unwrap(), []);
    }
}

#[test]
fn an_image_behind_a_large_program_is_found_by_its_header() {
    const PROGRAM_BYTES: usize = (64 << 20) + 4096;
    let (mut bytes, _) = hidden(PROGRAM_BYTES, 0);
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[40..48].copy_from_slice(&(PROGRAM_BYTES as u64 - 640).to_le_bytes());
    bytes[58..62].copy_from_slice(&[64, 0, 10, 0]);
    assert_eq!(find_images(&bytes).unwrap(), [PROGRAM_BYTES as u64]);
    bytes[0] = 0;
    assert_eq!(find_images(&bytes).unwrap(), []);
}
