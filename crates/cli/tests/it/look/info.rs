//! What `coldpress info` counts.

use std::fs::{self, File};

use super::{noise, with};
use crate::run::Stage;

#[test]
fn info_counts_blocks_duplicates_kinds_and_lengths() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    fs::write(stage.at("s/a.so.1"), noise(200_000, 4)).unwrap();
    fs::write(stage.at("s/b.so"), noise(200_000, 4)).unwrap();
    fs::write(stage.at("s/c.txt"), vec![b'x'; 1000]).unwrap();
    fs::write(stage.at("s/d.txt"), vec![b'x'; 1000]).unwrap();
    fs::write(stage.at("s/e.txt"), noise(3000, 5)).unwrap();
    let file = File::create(stage.at("s/hole")).unwrap();
    file.set_len(262_144).unwrap();
    stage.done(["-q", "build", "s", "image", "-l", "1"]);
    let info = with(&stage, "info", &["--json"]).json();
    let blocks = &info["blocks"];
    for (key, number) in [
        ("stored", 2),
        ("compressed", 0),
        ("sparse", 2),
        ("sparse_bytes", 262_144),
        ("data_size_bytes", 200_000),
        ("fragments", 1),
        ("tails", 2),
        ("tail_bytes", 4000),
        ("duplicate_files", 2),
        ("duplicate_bytes", 201_000),
    ] {
        assert_eq!(blocks[key], number, "{key}: {blocks}");
    }
    let classes = info["kinds"]["classes"].as_array().unwrap();
    let class = |name: &str| classes.iter().find(|class| class["name"] == name).unwrap();
    assert_eq!(
        (
            &class("programs")["files"],
            &class("programs")["image_bytes"]
        ),
        (&2.into(), &200_000.into())
    );
    // All tail ends are text, so the fragment block is theirs.
    assert_eq!(class("text")["image_bytes"], blocks["fragment_size_bytes"]);
    assert_eq!(class("text")["content_bytes"], 5000);
    let files: u64 = info["sizes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["files"].as_u64().unwrap())
        .sum();
    assert_eq!(files, 6);
    let text = with(&stage, "info", &[]).text();
    for line in [
        "data blocks        0 compressed, 2 stored, 195 KiB\n",
        "sparse blocks      2, 256 KiB\n",
        "duplicates         2 files, 196 KiB not stored again\n",
        "\nprograms                     2       391 KiB       195 KiB   0.500\n",
        "\n.so                          2 ",
        "\nbelow 1.00 MiB               3 ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}
