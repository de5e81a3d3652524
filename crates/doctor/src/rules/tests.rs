use coldpress_format::{BlockSize, CompressorOptions};
use coldpress_image::Image;

use super::super::targets;
use super::super::trial::image;
use super::*;

fn requirements(compressor: Compressor) -> ReaderRequirements {
    let made = image::make(compressor, None).unwrap();
    ReaderRequirements::of(&Image::new(Box::new(made.bytes)).unwrap()).unwrap()
}

fn reader(target: &str) -> Reader {
    targets::find(target).unwrap().reader()
}

/// What is found about an image that was changed so.
fn found(
    target: &str,
    compressor: Compressor,
    change: impl FnOnce(&mut ReaderRequirements),
) -> Vec<(Verdict, &'static str)> {
    let mut requirements = requirements(compressor);
    change(&mut requirements);
    let subject = Subject {
        requirements: &requirements,
        size_bytes: requirements.bytes_used.next_multiple_of(4096),
        has_hash_tree: false,
        snap: None,
        resquashed: None,
    };
    let findings = judge(subject, &reader(target)).into_iter();
    findings
        .map(|finding| (finding.verdict, finding.about))
        .collect()
}

#[test]
fn an_image_that_asks_for_nothing_special_is_read() {
    for compressor in super::super::reader::COMPRESSORS {
        assert_eq!(found("debian-12", compressor, |_| {}), [], "{compressor}");
    }
    assert_eq!(found("openwrt", Compressor::Xz, |_| {}), []);
    assert_eq!(found("appimage", Compressor::Zstd, |_| {}), []);
}

#[test]
fn each_rule_is_broken_by_its_image() {
    use Compressor::{Gzip, Lz4, Lzma, Xz, Zstd};
    use Verdict::{No, Partly, Unknown};
    let debian = "debian-12";
    let small = |requirements: &mut ReaderRequirements| requirements.block_size = BlockSize::MIN;
    for (found, expected) in [
        (found("openwrt", Zstd, |_| {}), vec![(No, "compressor")]),
        (found("enroot", Lz4, |_| {}), vec![(Unknown, "compressor")]),
        (
            found(debian, Gzip, |requirements| requirements.compressor = Lzma),
            vec![(No, "compressor")],
        ),
        (
            found(debian, Xz, |requirements| {
                requirements.xz_filters.insert(7);
            }),
            vec![(No, "xz filters")],
        ),
        (
            found("ubuntu-24.04", Xz, |requirements| {
                requirements.xz_filters.insert(4);
            }),
            vec![(Unknown, "xz filters")],
        ),
        (
            found(debian, Xz, |requirements| {
                requirements.xz_filters.insert(3);
            }),
            vec![(Unknown, "xz filters")],
        ),
        (
            found("openwrt", Xz, |requirements| requirements.has_xattrs = true),
            vec![(Partly, "xattrs")],
        ),
        (found("enroot", Gzip, small), vec![(Unknown, "block size")]),
        (
            found(debian, Xz, |requirements| {
                requirements.window_bytes = (64 << 10) + 1;
            }),
            vec![(No, "xz dictionary")],
        ),
        (
            found(debian, Xz, |requirements| {
                let (dictionary_size, filters) = (32 << 10, 0);
                requirements.options = Some(CompressorOptions::Xz {
                    dictionary_size,
                    filters,
                });
            }),
            vec![(No, "xz dictionary")],
        ),
        (
            found(debian, Zstd, |requirements| {
                requirements.window_bytes = 1 << 20;
            }),
            vec![(No, "zstd window")],
        ),
        (
            found(debian, Xz, |requirements| {
                requirements.xz_checks.insert(4);
            }),
            vec![(No, "xz checksum")],
        ),
        (
            found(debian, Gzip, |requirements| {
                requirements.longest_target = (4096, b"/l".to_vec());
            }),
            vec![(Partly, "symlink")],
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn blocks_are_no_smaller_than_pages() {
    let mut reader = reader("debian-12");
    let requirements = requirements(Compressor::Gzip);
    let subject = Subject {
        requirements: &requirements,
        size_bytes: 1 << 20,
        has_hash_tree: false,
        snap: None,
        resquashed: None,
    };
    for (page_bytes, verdict) in [
        (4 << 10, Verdict::Yes),
        (64 << 10, Verdict::Yes),
        (128 << 10, Verdict::No),
    ] {
        reader.page_bytes = Some(page_bytes);
        assert_eq!(
            super::verdict(&judge(subject, &reader)),
            verdict,
            "{page_bytes}"
        );
    }
}

#[test]
fn a_loop_device_shows_whole_sectors() {
    let mut requirements = requirements(Compressor::Gzip);
    requirements.bytes_used = 1000;
    let reader = reader("debian-12");
    for (size_bytes, verdict) in [
        (1000, Verdict::No),
        (1023, Verdict::No),
        (1024, Verdict::Yes),
    ] {
        let subject = Subject {
            requirements: &requirements,
            size_bytes,
            has_hash_tree: false,
            snap: None,
            resquashed: None,
        };
        assert_eq!(
            super::verdict(&judge(subject, &reader)),
            verdict,
            "{size_bytes}"
        );
    }
}

#[test]
fn a_hash_tree_is_lost_on_a_kernel_without_dm_verity() {
    let requirements = requirements(Compressor::Gzip);
    let subject = Subject {
        requirements: &requirements,
        size_bytes: 65_536,
        has_hash_tree: true,
        snap: None,
        resquashed: None,
    };
    for (dm_verity, expected) in [
        (Known::Yes, vec![]),
        (Known::Unknown, vec![]),
        (Known::No, vec![(Verdict::Partly, "hash tree")]),
    ] {
        let reader = Reader {
            dm_verity,
            ..reader("debian-12")
        };
        let found = judge(subject, &reader).into_iter();
        let found: Vec<_> = found
            .map(|finding| (finding.verdict, finding.about))
            .collect();
        assert_eq!(found, expected);
    }
}
