//! `coldpress predict` beside real cold starts: the same reads, the same bytes.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::record_fuse::record;
use crate::run::{Session, Stage, coldpress};
use crate::skip;

const DIRECTORIES: usize = 12;
const SMALL_COUNT: usize = 30;
const LARGE_BYTES: usize = 3_000_000;

/// Bytes of which a half compresses.
fn content(seed: usize, len_bytes: usize) -> Vec<u8> {
    let mut state = seed as u64 * 2 + 1;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33).to_le_bytes()[0] & 0x0f
    };
    std::iter::repeat_with(next).take(len_bytes).collect()
}

/// Many small files in several directories, and a large one.
fn write_source(source: &Path) {
    fs::create_dir(source).unwrap();
    for directory in 0..DIRECTORIES {
        let path = source.join(format!("directory-{directory:02}"));
        fs::create_dir(&path).unwrap();
        for file in 0..SMALL_COUNT {
            let name = path.join(format!("a-file-with-a-name-of-some-length-{file:03}"));
            fs::write(name, content(directory * 100 + file, 9_000 + file * 1000)).unwrap();
        }
    }
    fs::write(source.join("large"), content(9999, LARGE_BYTES)).unwrap();
}

/// Reads every fifth small file, the middle of the large one, and then all of it.
fn script() -> String {
    let files = (0..DIRECTORIES).flat_map(|directory| {
        let name = move |file| {
            format!("{{root}}/directory-{directory:02}/a-file-with-a-name-of-some-length-{file:03}")
        };
        (directory % 5..SMALL_COUNT).step_by(5).map(name)
    });
    let files: Vec<String> = files.collect();
    format!(
        "cat {} >/dev/null && dd if={{root}}/large of=/dev/null bs=4096 skip=300 count=1 status=none && \
         cat {{root}}/large >/dev/null",
        files.join(" ")
    )
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[track_caller]
fn near(predicted: &Value, measured: &Value) {
    let (predicted, measured) = (number(predicted), number(measured));
    let error = (predicted / measured - 1.0).abs();
    assert!(error <= 0.05, "{predicted} were predicted, {measured} are");
}

#[test]
fn reads_and_bytes_are_those_of_a_real_start() {
    if skip::without_recording() {
        return;
    }
    let session = Session::new();
    write_source(&session.at("source"));
    let script = script();
    let start = ["--", "/bin/sh", "-c", &script];
    session.done([&["-q", "record", "source", "-o", "trace"][..], &start].concat());
    for (block_size, tails) in [("16K", "all"), ("128K", "small"), ("1M", "small")] {
        session.done([
            "-q", "build", "source", "image", "-b", block_size, "--tails", tails,
        ]);
        let explain = [&["-q", "explain", "image", "--json"][..], &start].concat();
        let measured = session.done(explain).json();
        let predict = ["-q", "predict", "image", "--trace", "trace", "--json"];
        let predicted = session.done(predict).json();
        let totals = &measured["totals"];
        near(&predicted["reads"], &totals["device_reads"]);
        near(&predicted["read_bytes"], &totals["device_bytes"]);
        near(&predicted["metadata_bytes"], &totals["metadata_bytes"]);
        near(&predicted["page_cache_bytes"], &totals["cached_bytes"]);
        assert!(number(&predicted["time_s"]) > 0.0);
        fs::remove_file(session.at("image")).unwrap();
    }
}

/// Directories with long listings, in each of which two names are searched that are not there, when
/// the kernel no longer keeps its listing.
#[test]
fn listings_are_read_again_for_names_that_are_not_there() {
    if skip::without_recording() {
        return;
    }
    let session = Session::new();
    let directories = 0..30;
    for directory in directories.clone() {
        let path = session
            .at("source")
            .join(format!("directory-{directory:02}"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..60 {
            fs::write(path.join(format!("{file:02}{}", "-long".repeat(14))), b"").unwrap();
        }
    }
    let searches = [1, 2].map(|turn| {
        let names = directories
            .clone()
            .map(|directory| format!("test -e {{root}}/directory-{directory:02}/none-{turn}"));
        names.collect::<Vec<_>>().join("; ")
    });
    let script = format!("{}; true", searches.join("; "));
    let start = ["--", "/bin/sh", "-c", &script];
    session.done([&["-q", "build", "source", "image"][..]].concat());
    let explain = [&["-q", "explain", "image", "--json"][..], &start].concat();
    let measured = session.done(explain).json();
    for recorder in ["kernel", "fuse"] {
        record(&session, recorder, &start[1..]);
        let predicted = session
            .done(["-q", "predict", "image", "--trace", "trace", "--json"])
            .json();
        near(&predicted["reads"], &measured["totals"]["device_reads"]);
        near(
            &predicted["metadata_bytes"],
            &measured["totals"]["metadata_bytes"],
        );
        fs::remove_file(session.at("trace")).unwrap();
    }
}

/// A stage with an image of two files, and a trace that reads them and one that is not there.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    fs::write(stage.at("source").join("one"), content(1, 300_000)).unwrap();
    fs::write(stage.at("source").join("two \n"), content(2, 5_000)).unwrap();
    let trace = "coldpress-trace 1\n# wall-us: 50000\n0 1 L /one\n10 1 R 0-0 /one\n20 1 F 60 /one\n\
                 30 2 R 0-1 /two \\n\n40 1 L /three\n";
    fs::write(stage.at("trace"), trace).unwrap();
    let ran = stage.run(["-q", "build", "source", "image"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    stage
}

#[test]
fn a_prediction_tells_reads_time_and_causes() {
    let stage = stage();
    let ran = stage.run([
        "predict", "image", "--trace", "trace", "--warm", "0.5", "--device", "usb2",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for part in [
        "device usb2",
        "limit",
        "the program itself",
        "of metadata",
        "waiting for data",
    ] {
        assert!(ran.text().contains(part), "{}", ran.text());
    }
    assert!(
        ran.stderr
            .contains("1 path that the image does not have: `/three`"),
        "{}",
        ran.stderr
    );
    let json = |reader: &str| {
        let words = [
            "-q", "predict", "image", "--trace", "trace", "--json", "--reader", reader,
        ];
        stage.run(words).json()
    };
    let kernel = json("kernel");
    assert_eq!(kernel["missing"], serde_json::json!(["/three"]));
    // Three blocks, and the block that both tail ends share.
    let blocks = number(&kernel["reads"]) - number(&kernel["metadata_reads"]);
    assert!((3.0..=4.0).contains(&blocks), "{kernel:#}");
    assert!(number(&kernel["by_cause"]["compute_s"]) > 0.0, "{kernel:#}");
    for reader in ["fuse", "erofs", "unpacked"] {
        let other = json(reader);
        assert!(
            number(&other["page_cache_bytes"]) <= number(&kernel["page_cache_bytes"]),
            "{other:#}"
        );
    }
    assert!(number(&json("unpacked")["decompressed_bytes"]).abs() < 1.0);
    assert!(number(&json("fuse")["by_cause"]["request_s"]) > 0.0);
}

#[test]
fn what_the_program_takes_itself_is_the_same_for_every_image() {
    let stage = stage();
    let told_s = |image: &str, trace: &str| {
        let words = ["-q", "predict", image, "--trace", trace, "--json"];
        number(&stage.run(words).json()["warm_s"])
    };
    let itself_s = told_s("image", "trace");
    assert!((0.001..0.05).contains(&itself_s), "{itself_s}");
    for (image, options) in [("small", ["-b", "4K"]), ("stored", ["-c", "none"])] {
        stage.done([&["-q", "build", "source", image][..], &options].concat());
        assert_eq!(told_s(image, "trace").to_bits(), itself_s.to_bits());
    }
    // But it depends on what was recorded from, and by whom; what was in memory took nothing.
    let text = fs::read_to_string(stage.at("trace")).unwrap();
    let with = |header: &str| {
        let text = text.replacen('\n', &format!("\n# {header}\n"), 1);
        fs::write(stage.at("other"), text).unwrap();
        told_s("image", "other")
    };
    for header in ["block-size: 1048576", "recorder: fuse: requests"] {
        assert!((with(header) - itself_s).abs() > 1e-6, "{header}");
    }
    assert!((with("cold: no: caches were as they were") - 0.05).abs() < 1e-12);
}

#[test]
fn a_profile_has_no_time_of_its_own() {
    let stage = stage();
    let merged = stage.run(["-q", "profile", "merge", "trace", "-o", "profile"]);
    assert_eq!(merged.code, Some(0), "{}", merged.stderr);
    let ran = stage.run(["-q", "predict", "image", "--profile", "profile", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = ran.json();
    assert_eq!(told["warm_s"], Value::Null);
    assert!(number(&told["reads"]) > 3.0, "{told:#}");
    let ran = stage.run(["-q", "predict", "image", "--profile", "profile"]);
    assert!(ran.text().contains("`--warm` states it"), "{}", ran.text());
}

#[test]
fn what_cannot_be_predicted_is_refused() {
    let stage = stage();
    fs::write(stage.at("garbage"), b"coldpress-trace 7\n").unwrap();
    for (words, part) in [
        (&["predict", "image"][..], "--trace"),
        (&["predict", "image", "--trace", "none"], "none"),
        (&["predict", "image", "--trace", "garbage"], "garbage"),
        (&["predict", "trace", "--trace", "trace"], "trace"),
        (
            &["predict", "image", "--trace", "trace", "--device", "floppy"],
            "floppy",
        ),
        (
            &["predict", "image", "--trace", "trace", "--warm=-1"],
            "number of seconds",
        ),
        (
            &["predict", "image", "--trace", "trace", "--min-share", "1"],
            "--min-share",
        ),
    ] {
        let ran = stage.run(words);
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{words:?}: {}", ran.stderr);
    }
    assert_eq!(coldpress(["predict"]).code, Some(2));
}
