//! Packs are written, read back and refused.

use std::io::{Cursor, Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_codec::Settings;
use coldpress_format::{Body, Compressor, PACK_PAGE_BYTES, pack_start};
use coldpress_image::{Image, StartPack, walk};
use coldpress_pack::{Error, PackOptions, PackSummary, write_pack};
use coldpress_trace::{FileAccess, PageRun, WorkingSet};

/// All pages of all files but the first of each, the last file first.
fn working_set(image: &Image) -> WorkingSet {
    let mut files = Vec::new();
    walk(image, &mut |visited| {
        if let Body::File(file) = &visited.inode.body
            && file.size_bytes > PACK_PAGE_BYTES
        {
            files.push((visited.path.to_vec(), file.size_bytes));
        }
        Ok(())
    })
    .unwrap();
    files.reverse();
    let access = |((path, size_bytes), rank): ((Vec<u8>, u64), u64)| FileAccess {
        path,
        first_rank: rank,
        pages: vec![PageRun {
            first_page: 1,
            // More than there are: a recording of an older file.
            last_page: size_bytes.div_ceil(PACK_PAGE_BYTES) + 3,
            rank,
            certain: true,
        }],
    };
    WorkingSet {
        files: files.into_iter().zip(0..).map(access).collect(),
        ..WorkingSet::default()
    }
}

fn options(limit_bytes: u64, threads: usize) -> PackOptions {
    PackOptions {
        settings: Settings::new(Compressor::Zstd, None).unwrap(),
        limit_bytes,
        threads: NonZeroUsize::new(threads).unwrap(),
    }
}

/// An image with a pack.
fn packed(bytes: &[u8], options: &PackOptions) -> Result<(Vec<u8>, PackSummary), Error> {
    let image = open(bytes);
    let mut out = Cursor::new(bytes.to_vec());
    let start = pack_start(image.superblock().bytes_used);
    out.seek(SeekFrom::Start(start)).unwrap();
    let set = working_set(&image);
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let summary = write_pack(&image, &set, options, &mut out, go_on)?;
    Ok((out.into_inner(), summary))
}

fn open(bytes: &[u8]) -> Image {
    Image::new(Box::new(bytes.to_vec())).unwrap()
}

fn sample() -> Vec<u8> {
    coldpress_nasty::image(true).bytes
}

/// Compares every page of a pack with the image; returns how many there are.
fn compared(image: &Image, pack: &StartPack) -> Result<u64, coldpress_image::Error> {
    let (mut stored, mut content) = (Vec::new(), Vec::new());
    let mut pages = 0;
    for (run, (piece, offset)) in pack.runs() {
        pack.read_piece(image, piece, &mut stored, &mut content)?;
        let file = &pack.files()[run.file as usize];
        let (_, inode) = image.find(&file.path).unwrap().unwrap();
        let Body::File(found) = &inode.body else {
            panic!("{file:?}");
        };
        assert_eq!(file.digest, image.content_digest(found));
        let mut expected = vec![0; usize::try_from(pack.run_bytes(run)).unwrap()];
        let start = run.first_page * PACK_PAGE_BYTES;
        assert_eq!(image.read_at(found, start, &mut expected)?, expected.len());
        assert_eq!(content[offset as usize..][..expected.len()], expected);
        pages += u64::from(run.page_count);
    }
    Ok(pages)
}

#[test]
fn a_pack_holds_the_pages_of_the_image_for_any_number_of_threads() {
    let (bytes, summary) = packed(&sample(), &options(1 << 20, 1)).unwrap();
    let image = open(&bytes);
    let pack = image.start_pack().unwrap().expect("a pack");
    assert_eq!(compared(&image, &pack).unwrap(), summary.pages);
    assert_eq!(summary.pages, summary.touched_pages);
    assert!(summary.pages > 2, "{summary:?}");
    assert_eq!(pack.start() + summary.size_bytes, bytes.len() as u64);
    assert_eq!(bytes[..sample().len()], sample()[..]);
    for threads in [2, 7] {
        assert_eq!(
            packed(&sample(), &options(1 << 20, threads)).unwrap().0,
            bytes
        );
    }
}

#[test]
fn a_limit_is_kept_or_said_to_be_too_small() {
    let whole = packed(&sample(), &options(1 << 20, 1)).unwrap().1;
    let mut packs = 0;
    for limit_bytes in (0..whole.size_bytes).step_by(5) {
        match packed(&sample(), &options(limit_bytes, 1)) {
            Ok((bytes, summary)) => {
                assert!(summary.size_bytes <= limit_bytes, "{limit_bytes}");
                assert!(summary.pages < whole.pages, "{limit_bytes}");
                let image = open(&bytes);
                let pack = image.start_pack().unwrap().expect("a pack");
                assert_eq!(compared(&image, &pack).unwrap(), summary.pages);
                packs += 1;
            }
            Err(Error::TooSmall { .. }) => {}
            Err(error) => panic!("{limit_bytes}: {error}"),
        }
    }
    assert!(packs > 0);
}

#[test]
fn nothing_touched_is_no_pack() {
    let bytes = sample();
    let image = open(&bytes);
    let set = WorkingSet::default();
    let mut out = Cursor::new(Vec::new());
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let written = write_pack(&image, &set, &options(99, 1), &mut out, go_on);
    assert!(matches!(written, Err(Error::NothingTouched)));
    let stop = &mut |_, _| ControlFlow::Break(());
    let set = working_set(&image);
    let written = write_pack(&image, &set, &options(9999, 1), &mut out, stop);
    assert!(matches!(written, Err(Error::Interrupted)), "{written:?}");
}

#[test]
fn every_changed_or_missing_byte_of_a_pack_is_noticed() {
    let (bytes, _) = packed(&sample(), &options(1 << 20, 1)).unwrap();
    let start = usize::try_from(open(&bytes).start_pack().unwrap().unwrap().start()).unwrap();
    for at in start..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        let image = open(&changed);
        match image.start_pack() {
            // Its first bytes are something else.
            Ok(None) => assert!(at < start + 8, "byte {at}"),
            Ok(Some(pack)) => assert!(compared(&image, &pack).is_err(), "byte {at}"),
            Err(error) => assert!(
                error.to_string().starts_with("start pack at byte "),
                "{error}"
            ),
        }
        if at > start + 8 {
            assert!(open(&bytes[..at]).start_pack().is_err(), "{at} bytes");
        }
    }
    assert!(open(&sample()).start_pack().unwrap().is_none());
}

#[test]
fn the_pack_of_another_image_is_refused() {
    let (mut bytes, _) = packed(&sample(), &options(1 << 20, 1)).unwrap();
    // The modification time.
    bytes[8] ^= 1;
    let error = open(&bytes).start_pack().unwrap_err().to_string();
    assert!(
        error.contains("image to which the start pack belongs"),
        "{error}"
    );
}
