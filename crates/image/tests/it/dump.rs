//! That a dump accounts for every byte, also of what is damaged.

use std::fs;
use std::ops::ControlFlow;
use std::process::Command;

use coldpress_image::{DumpArea, DumpOptions, DumpRange, Error, dump};

use crate::handmade;
use crate::source_tree;
use crate::tools::{have, have_root, mksquashfs};

fn dumped(bytes: &[u8], options: &DumpOptions) -> Result<Vec<DumpRange>, Error> {
    let mut ranges = Vec::new();
    let mut take = |range| {
        ranges.push(range);
        ControlFlow::Continue(())
    };
    let poll = &mut || ControlFlow::Continue(());
    dump(Box::new(bytes.to_vec()), options, &mut take, poll)?;
    Ok(ranges)
}

/// The ranges of everything, which cover the file, and whose records cover their content.
fn tiles(bytes: &[u8], what: &str) -> Vec<DumpRange> {
    let ranges = dumped(bytes, &DumpOptions::default()).unwrap();
    let mut end = 0;
    for range in &ranges {
        let range_end = range.start + range.len_bytes;
        assert!(range.len_bytes > 0, "{what}: {range:?}");
        assert!(range.start <= end, "{what}: nothing at {end}: {range:?}");
        let overlap = end.min(range_end) - range.start;
        assert_eq!(range.overlap_bytes, overlap, "{what}: {range:?}");
        end = end.max(range_end);
        records_cover(range, what);
    }
    assert_eq!(end, bytes.len() as u64, "{what}");
    ranges
}

fn records_cover(range: &DumpRange, what: &str) {
    let Some((_, content_bytes)) = range.content.filter(|_| range.damage.is_none()) else {
        return;
    };
    if range.records.is_empty() {
        assert!(
            matches!(range.what, "data block" | "metadata block inside another"),
            "{what}: {range:?}"
        );
        return;
    }
    let mut end = 0;
    for record in &range.records {
        let record_end = record.offset + record.len_bytes;
        assert!(
            record.offset <= end,
            "{what}: nothing at {end} of {range:?}"
        );
        let overlap = end.min(record_end).saturating_sub(record.offset);
        assert_eq!(
            record.overlap_bytes, overlap,
            "{what}: {record:?} of {range:?}"
        );
        end = end.max(record_end);
        for field in &record.fields {
            let field_end = field.offset + field.len_bytes;
            assert!(
                field_end <= record.len_bytes + record.more_bytes,
                "{what}: {record:?}"
            );
        }
    }
    // Tail ends may reach over the end of a damaged fragment block.
    let is_covered =
        end == content_bytes || (range.what == "fragment block" && end > content_bytes);
    assert!(is_covered, "{what}: {end} of {range:?}");
}

#[test]
fn a_dump_of_a_sound_image_has_no_byte_that_nothing_refers_to() {
    for compressed in [false, true] {
        let ranges = tiles(&handmade::image(compressed).bytes, "handmade");
        let unreferenced: Vec<_> = ranges
            .iter()
            .filter(|range| {
                range.what == "unreferenced"
                    || range
                        .records
                        .iter()
                        .any(|record| record.what == "unreferenced")
            })
            .collect();
        assert!(unreferenced.is_empty(), "{unreferenced:#?}");
        assert!(
            ranges
                .iter()
                .all(|range| range.damage.is_none() && range.overlap_bytes == 0)
        );
        let areas = |area| ranges.iter().filter(|range| range.area == area).count();
        for area in DumpArea::ALL {
            // Only crate `pack` writes one.
            let expected = ![DumpArea::CompressorOptions, DumpArea::StartPack].contains(&area);
            assert_eq!(areas(area) > 0, expected, "{area:?}");
        }
    }
}

#[test]
fn a_dump_of_paths_has_what_belongs_to_them() {
    let bytes = handmade::image(false).bytes;
    let options = DumpOptions {
        areas: Vec::new(),
        paths: vec![b"/dir/file".to_vec()],
    };
    let ranges = dumped(&bytes, &options).unwrap();
    let told: Vec<_> = ranges
        .iter()
        .map(|range| {
            let records = range.records.iter().map(|record| record.what);
            (range.area.name(), range.what, records.collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("data-area", "data block", vec![]),
            ("data-area", "data block", vec![]),
            ("data-area", "fragment block", vec!["tail end"]),
            ("inode-table", "metadata block", vec!["inode"]),
            ("directory-table", "metadata block", vec!["listing entry"]),
            (
                "fragment-table",
                "metadata block",
                vec!["fragment table entry"]
            ),
            ("export-table", "metadata block", vec!["export table entry"]),
        ]
    );
    let only = |area| DumpOptions {
        areas: vec![area],
        paths: vec![b"/dir".to_vec()],
    };
    let inodes = dumped(&bytes, &only(DumpArea::InodeTable)).unwrap();
    let paths = inodes.iter().flat_map(|range| &range.records);
    let paths: Vec<_> = paths.filter_map(|record| record.path.clone()).collect();
    assert_eq!(paths, [&b"/dir"[..], b"/dir/file", b"/dir/sub"]);
    let none = DumpOptions {
        areas: Vec::new(),
        paths: vec![b"/none".to_vec()],
    };
    assert!(matches!(dumped(&bytes, &none), Err(Error::NotFound { .. })));
}

#[test]
fn no_byte_of_a_damaged_image_is_left_out() {
    for compressed in [false, true] {
        let sound = handmade::image(compressed);
        let used = usize::try_from(sound.superblock.bytes_used).unwrap();
        let tables = usize::try_from(sound.superblock.inode_table_start).unwrap();
        for place in (4..96).chain(tables..used) {
            for value in [
                0,
                0xff,
                sound.bytes[place] ^ 0x80,
                sound.bytes[place].wrapping_add(1),
            ] {
                let mut bytes = sound.bytes.clone();
                bytes[place] = value;
                if let Err(error) = dumped(&bytes, &DumpOptions::default()) {
                    // A compressor that cannot be read, if it is one at all.
                    assert!(matches!(error, Error::Codec(_)), "{place} {value}: {error}");
                    continue;
                }
                tiles(&bytes, &format!("{compressed} {place} {value}"));
            }
        }
        for len in (96..sound.bytes.len()).step_by(97) {
            tiles(&sound.bytes[..len], &format!("{compressed} cut to {len}"));
        }
    }
}

#[test]
fn no_byte_of_the_images_of_others_is_left_out() {
    if !have("mksquashfs", "peers") || !have("gensquashfs", "peers") || !have_root() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let (source, image) = (scratch.path().join("source"), scratch.path().join("image"));
    fs::create_dir(&source).unwrap();
    source_tree::make(&source);
    for arguments in [
        &["-b", "4K", "-comp", "zstd"][..],
        &["-noI", "-noD", "-noF", "-noX", "-noId"],
        &["-comp", "lz4", "-no-fragments", "-no-exports"],
        &["-comp", "xz", "-always-use-fragments", "-nopad"],
    ] {
        mksquashfs(&source, &image, arguments);
        tiles(&fs::read(&image).unwrap(), &format!("{arguments:?}"));
    }
    for arguments in [&["-c", "gzip", "-T"][..], &["-c", "zstd", "-e", "-x"]] {
        let made = Command::new("gensquashfs")
            .args(["-f", "-q", "-D"])
            .args([&source, &image])
            .args(arguments)
            .status()
            .unwrap();
        assert!(made.success());
        tiles(&fs::read(&image).unwrap(), &format!("{arguments:?}"));
    }
}
