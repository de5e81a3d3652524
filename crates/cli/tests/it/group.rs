//! Cold tail ends that share blocks with what is similar.

use std::fs;
use std::path::Path;

use coldpress_format::Body;
use coldpress_image::Image;
use serde_json::Value;

use crate::run::{Stage, done};

/// Two directories with files of twenty kinds that no compressor makes smaller; those of a kind are
/// almost the same and have one extension.
fn make_kinds(root: &Path) {
    let mut state: u32 = 1;
    for directory in ["a", "b"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for kind in 0..20 {
        let mut bytes = vec![0; 3000];
        for byte in &mut bytes {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = state.to_le_bytes()[3];
        }
        for directory in ["a", "b"] {
            bytes.extend(directory.as_bytes());
            fs::write(root.join(directory).join(format!("{kind}.k{kind}")), &bytes).unwrap();
        }
    }
}

/// Builds an image, checks it, and tells the bytes of its data area.
fn stored_bytes(stage: &Stage, image: &str, flags: &[&str]) -> u64 {
    let args = [
        "-q", "build", "source", image, "-b", "16K", "--verify", "--json",
    ];
    let ran = stage.run(args.iter().chain(flags));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.json()["data_stored_bytes"].as_u64().unwrap()
}

#[test]
fn what_is_similar_shares_blocks_whatever_the_number_of_threads() {
    let stage = Stage::new();
    make_kinds(&stage.at("source"));
    let ungrouped = stored_bytes(&stage, "none", &["--group", "none"]);
    assert_eq!(stored_bytes(&stage, "default", &[]), ungrouped);
    for group in ["extension", "similar"] {
        let bytes = stored_bytes(&stage, group, &["--group", group, "-j", "1"]);
        assert!(bytes < ungrouped * 3 / 4, "{group}: {bytes} of {ungrouped}");
        let again = format!("{group}-again");
        stored_bytes(&stage, &again, &["--group", group, "-j", "5"]);
        let images = [group, &again].map(|image| fs::read(stage.at(image)).unwrap());
        assert!(images[0] == images[1], "{group}");
        done([Path::new("check"), &stage.at(group)]);
    }
}

#[test]
fn files_of_a_plan_are_not_grouped() {
    let stage = Stage::new();
    make_kinds(&stage.at("source"));
    let plan = "coldpress-plan 1\n[data]\nfragment\n /b/3.k3\n /a/0.k0\n";
    fs::write(stage.at("plan"), plan).unwrap();
    stored_bytes(&stage, "image", &["--plan", "plan", "--group", "similar"]);
    let image = Image::new(Box::new(fs::read(stage.at("image")).unwrap())).unwrap();
    let tail = |path: &str| match image.find(path.as_bytes()).unwrap().unwrap().1.body {
        Body::File(file) => file.tail.unwrap(),
        body => panic!("{body:?}"),
    };
    let (first, second) = (tail("/b/3.k3"), tail("/a/0.k0"));
    assert_eq!((first.fragment, first.offset), (0, 0));
    assert_eq!((second.fragment, second.offset), (0, 3002));
    // What it does not name is.
    assert_eq!(tail("/a/7.k7").fragment, tail("/b/7.k7").fragment);
}

#[test]
fn tune_predicts_what_grouping_saves_and_tells_how_it_is_built() {
    let stage = Stage::new();
    make_kinds(&stage.at("source"));
    let tuned = |more: &str| {
        let words = "-q tune source --default-speeds --json -c zstd -b 16K --fast".split(' ');
        stage.done(words.chain(more.split_whitespace())).json()
    };
    let size = |told: &Value, name: &str| {
        let images = told["images"].as_array().unwrap();
        let image = images.iter().find(|image| image["name"] == name);
        let image = image.unwrap_or_else(|| panic!("{name}: {told}"));
        image["predicted_size_bytes"].as_u64().unwrap()
    };
    let (plain, grouped) = (tuned(""), tuned("--group similar"));
    let ungrouped = size(&plain, "zstd 15, 16K");
    let predicted = size(&grouped, "zstd 15, 16K, similar tails grouped");
    assert!(predicted < ungrouped * 3 / 4, "{predicted} of {ungrouped}");
    // What is in no fragment block, and what other tools make, is not grouped.
    for name in ["zstd 15, 16K, no fragments", "gzip 9, 128K"] {
        assert_eq!(size(&grouped, name), size(&plain, name), "{name}");
    }
    let line = grouped["build"].as_str().unwrap();
    assert!(line.ends_with("-b 16K --group similar"), "{line}");
    let words = line.split(' ').skip(1);
    stage.done(words.map(|word| if word == "IMAGE" { "image" } else { word }));
    let built = fs::metadata(stage.at("image")).unwrap().len();
    // A small image is padded to 4 KiB.
    assert!(
        built.abs_diff(predicted) <= 4096,
        "{built} bytes, {predicted} predicted"
    );
}

#[test]
fn another_way_of_grouping_is_refused() {
    let stage = Stage::new();
    make_kinds(&stage.at("source"));
    let ran = stage.run(["build", "source", "image", "--group", "size"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("extension"), "{}", ran.stderr);
    assert!(!stage.at("image").exists());
}
