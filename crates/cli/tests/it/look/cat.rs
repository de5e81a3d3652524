//! `coldpress cat`.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use super::{noise, stage, with};
use crate::run::Stage;

#[test]
fn cat_prints_ranges_of_files() {
    let stage = stage();
    stage.done([
        "-q", "build", "image", "packed", "--tails", "all", "-b", "4K",
    ]);
    for file in ["usr/bin/tool", "sparse", "empty"] {
        let content = fs::read(stage.at("s").join(file)).unwrap();
        for (skip, length) in [
            (0, usize::MAX),
            (0, 0),
            (1, 7),
            (131_071, 2),
            (131_072, 131_072),
            (131_000, 140_000),
            (262_144, usize::MAX),
            (299_999, 5),
            (300_000, 5),
            (399_990, 40),
            (usize::MAX, 1),
        ] {
            let start = skip.min(content.len());
            let end = start.saturating_add(length).min(content.len());
            let (skip, length) = (skip.to_string(), length.to_string());
            for (image, threads) in [("image", "1"), ("image", "3"), ("packed", "2")] {
                let args = ["cat", image, file, "--skip", &skip, "--length", &length];
                let ran = stage.done(args.into_iter().chain(["-j", threads]));
                assert!(
                    ran.stdout == content[start..end],
                    "{image} {file} {skip} {length}"
                );
            }
        }
    }
}

#[test]
fn cat_prints_large_files_whole_in_little_memory() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    let mut content = noise(5_000_000, 3);
    content[1_000_000..3_000_000].fill(0);
    fs::write(stage.at("s/large"), &content).unwrap();
    fs::write(stage.at("s/small"), &content[..70]).unwrap();
    for flags in [
        &["-b", "4K"][..],
        &["-b", "1M", "--tails", "all"],
        &["-c", "xz", "-l", "0"],
    ] {
        stage.done(["-q", "build", "s", "image"].iter().chain(flags));
        let expected = [&content[..], &content[..70], &content[..]].concat();
        for memory in ["1", "64M"] {
            let args = ["large", "small", "large", "-j", "4", "--memory", memory];
            let ran = with(&stage, "cat", &args);
            assert!(
                ran.code == Some(0) && ran.stdout == expected,
                "{flags:?} {}",
                ran.stderr
            );
        }
        fs::remove_file(stage.at("image")).unwrap();
    }
}

#[test]
fn cat_prints_what_stands_before_damage() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    let text: Vec<u8> = (0..300_000_u32)
        .flat_map(|number| (number / 7).to_le_bytes())
        .collect();
    fs::write(stage.at("s/file"), &text).unwrap();
    stage.done(["-q", "build", "s", "image", "-l", "1", "--tails", "none"]);
    let facts = with(&stage, "stat", &["--json", "--blocks", "/file"]).json();
    let start = facts[0]["data"]["blocks"][5]["start"].as_u64().unwrap();
    let file = File::options().write(true).open(stage.at("image")).unwrap();
    file.write_all_at(&[0; 64], start).unwrap();
    let ran = with(&stage, "cat", &["/file", "-j", "2"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout == text[..4 * 131_072], "{}", ran.stdout.len());
    let said = format!("error: cannot print `/file`: data block at byte {start}");
    assert!(ran.stderr.starts_with(&said), "{}", ran.stderr);
}
