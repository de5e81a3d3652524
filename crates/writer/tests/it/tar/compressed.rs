use std::fs;
use std::io::Write as _;

use coldpress_layout::Plan;
use coldpress_writer::{Error, is_tar};

use super::archive::Archive;
use super::{source, source_of};
use crate::trees::{built, content, differences, options};

fn archive() -> Vec<u8> {
    let archive = Archive::default().file("random", &content(1, 300_000));
    let archive = archive.file("zeros", &content(0, 200_000));
    archive.file("text", &content(2, 70_000)).end()
}

/// The archive compressed in each way, in two members.
pub(crate) fn compressed(plain: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let (left, right) = plain.split_at(plain.len() / 2);
    let each = |compress: &dyn Fn(&[u8]) -> Vec<u8>| [compress(left), compress(right)].concat();
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let bzip2 = |bytes: &[u8]| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let xz = |bytes: &[u8]| {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| {
        let mut output = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
        zstd_safe::compress(&mut output, bytes, 1).unwrap();
        output
    };
    let lz4 = |bytes: &[u8]| {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    vec![
        ("gzip", each(&gzip)),
        ("bzip2", each(&bzip2)),
        ("xz", each(&xz)),
        ("zstd", each(&zstd)),
        ("lz4", each(&lz4)),
    ]
}

#[test]
fn compressed_archives_make_the_same_image() {
    let plain = archive();
    let image = |archive: &[u8]| {
        let source = source(archive).unwrap();
        let image = built(&source, &Plan::default(), &options(None, 4096));
        assert_eq!(differences(&image, &source), Vec::<String>::new());
        image
    };
    let expected = image(&plain);
    for (name, archive) in compressed(&plain) {
        assert!(image(&archive) == expected, "{name}");
    }
}

#[test]
fn compressed_archives_that_end_early_or_are_damaged_are_errors() {
    for (name, archive) in compressed(&archive()) {
        for len in [
            archive.len() - 1,
            archive.len() / 2 - 1,
            archive.len() / 3,
            12,
        ] {
            let cut = source(&archive[..len]);
            assert!(
                matches!(cut, Err(Error::Source { .. })),
                "{name} {len}: {cut:?}"
            );
        }
        let mut damaged = archive.clone();
        damaged[archive.len() / 3] ^= 0x55;
        // These frames have no checksum here, so that the length may still be right.
        let found = source(&damaged);
        assert!(
            found.is_err() || ["lz4", "zstd"].contains(&name),
            "{name}: {found:?}"
        );
        let mut trailed = archive.clone();
        trailed.extend(b"something else behind it");
        let found = source(&trailed);
        assert!(found.is_err(), "{name}: {found:?}");
    }
}

#[test]
fn archives_are_known_by_their_content() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let is = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        is_tar(&path).ok()
    };
    let plain = archive();
    assert_eq!(is(&plain), Some(true));
    for (name, archive) in compressed(&plain) {
        assert_eq!(is(&archive), Some(true), "{name}");
        assert_eq!(is(&archive[..12]), None, "{name}");
    }
    for (name, other) in compressed(&[b'x'; 2000]) {
        assert_eq!(is(&other), Some(false), "{name}");
    }
    for (name, short) in compressed(b"hello") {
        assert_eq!(is(&short), Some(false), "{name}");
    }
    for other in [&b""[..], b"hello", &[0; 2000], &[b'x'; 2000], &plain[512..]] {
        assert_eq!(is(other), Some(false));
    }
}

#[test]
fn a_spool_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing/x.tar.gz");
    let missing = source_of(&path, false).unwrap_err();
    assert!(
        matches!(missing, Error::Source { action: "open", .. }),
        "{missing}"
    );
}
