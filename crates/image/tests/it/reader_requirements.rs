//! What images of mksquashfs ask for is what it was told to use.

use std::fs;

use coldpress_format::Compressor;
use coldpress_image::{Image, ReaderRequirements};

use crate::source_tree::text;
use crate::tools::{have, mksquashfs};

/// Calls of one function, as x86 has them: by distance, so that only the filter makes them alike.
fn calls(count: u32) -> Vec<u8> {
    let call = |number: u32| {
        let distance = 0x0010_0000_u32.wrapping_sub(number * 5).to_le_bytes();
        [&[0xe8][..], &distance].concat()
    };
    (0..count).flat_map(call).collect()
}

#[test]
fn filters_windows_and_targets_are_those_of_the_writer() {
    if !have("mksquashfs", "peers") {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let source = work.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("calls"), calls(100_000)).unwrap();
    fs::write(source.join("text"), text(1, 300_000)).unwrap();
    // Of files smaller than a block the tail ends share one.
    fs::write(source.join("small"), text(2, 100)).unwrap();
    std::os::unix::fs::symlink("t".repeat(1000), source.join("link")).unwrap();
    let of = |arguments: &[&str]| {
        let image = work.path().join("image");
        mksquashfs(&source, &image, arguments);
        ReaderRequirements::of(&Image::open(&image).unwrap()).unwrap()
    };

    let plain = of(&["-comp", "xz", "-b", "128K"]);
    assert_eq!(plain.compressor, Compressor::Xz);
    assert!(plain.xz_filters.is_empty() && plain.has_fragments);
    assert_eq!(
        (plain.window_bytes, plain.window_bytes_max()),
        (128 << 10, 128 << 10)
    );
    assert_eq!(plain.xz_checks.iter().collect::<Vec<_>>(), [&1]);
    assert_eq!(plain.longest_target, (1000, b"/link".to_vec()));

    let small = of(&[
        "-comp",
        "xz",
        "-b",
        "256K",
        "-Xdict-size",
        "32K",
        "-no-fragments",
    ]);
    assert_eq!(
        (small.window_bytes, small.window_bytes_max()),
        (32 << 10, 32 << 10)
    );
    assert!(!small.has_fragments);

    let filtered = of(&["-comp", "xz", "-Xbcj", "x86"]);
    assert_eq!(filtered.xz_filters.iter().collect::<Vec<_>>(), [&4]);
    let zstd = of(&["-comp", "zstd", "-b", "1M"]);
    assert!(zstd.window_bytes > 128 << 10 && zstd.window_bytes <= zstd.window_bytes_max());
    assert_eq!(of(&["-comp", "gzip"]).window_bytes, 0);
}
