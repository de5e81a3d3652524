//! `coldpress extents`.

use std::fs::{self, File};

use crate::disk::Disk;
use crate::run::Stage;

/// Bytes that differ from page to page.
fn content(pages: u8) -> Vec<u8> {
    (0..pages).flat_map(|page| [page; 4096]).collect()
}

#[test]
fn files_are_listed_by_their_extents() {
    let Some(disk) = Disk::new() else {
        return;
    };
    fs::create_dir(disk.at("below")).unwrap();
    disk.in_pieces("below/a b\n", &content(80));
    fs::write(disk.at("below/whole"), content(9)).unwrap();
    File::create(disk.at("below/hole"))
        .unwrap()
        .set_len(1 << 20)
        .unwrap();
    std::os::unix::fs::symlink("/dev/zero", disk.at("below/link")).unwrap();
    let text = disk.done(&["extents", "below"]).text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with("holes  path"), "{text}");
    let ends = [
        "320 KiB       0 B  below/a b\\x0a",
        "0 B  below/whole",
        "1.00 MiB  below/hole",
    ];
    for (line, end) in lines[1..4].iter().zip(ends) {
        assert!(line.ends_with(end), "{text}");
    }
    assert!(lines[5].starts_with("3 files in "), "{text}");

    let report = disk
        .done(&["extents", "--json", "--top", "1", "below"])
        .json();
    let file = &report["files"][0];
    assert_eq!(report["files"].as_array().map(Vec::len), Some(1));
    let extents = file["extents"].as_u64().unwrap();
    assert!(
        extents > 10 && file["extents_beyond_one"] == extents - 1,
        "{file}"
    );
    assert_eq!(file["mean_extent_bytes"], 80 * 4096 / extents);
    assert_eq!(report["total"]["files"], 3);
    assert_eq!(report["total"]["extents"], extents + 1);
    assert_eq!(report["total"]["hole_bytes"], 1 << 20);
}

#[test]
fn the_way_of_a_start_is_told() {
    let Some(disk) = Disk::new() else {
        return;
    };
    fs::create_dir_all(disk.at("root/lib")).unwrap();
    disk.in_pieces("root/lib/pieces", &content(80));
    fs::write(disk.at("root/whole"), content(9)).unwrap();
    File::open(disk.at("root/whole"))
        .unwrap()
        .sync_all()
        .unwrap();
    std::os::unix::fs::symlink("/etc/passwd", disk.at("root/out")).unwrap();
    let trace = "coldpress-trace 1\n0 1 L /whole\n1 1 R 0-8 /whole\n2 1 R 0-79 /lib/pieces\n\
                 3 1 F 2 /whole\n4 1 R 0-0 /gone\n5 1 R 0-0 /out\n";
    fs::write(disk.at("trace"), trace).unwrap();
    let args = [
        "extents", "--trace", "trace", "--root", "nothing", "--root", "root",
    ];
    fs::create_dir(disk.at("nothing")).unwrap();
    let ran = disk.done(&[&args[..], &["--json"]].concat());
    assert_eq!(
        ran.stderr,
        "warning: 2 files of the trace could not be examined below any --root\n"
    );
    let report = ran.json();
    let files = report["files"].as_array().unwrap();
    let paths: Vec<_> = files
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["root/whole", "root/lib/pieces"]);
    let start = &report["start"];
    let pieces = files[1]["extents"].as_u64().unwrap();
    assert_eq!(start["read_bytes"], 89 * 4096);
    assert_eq!(start["seeks_unfragmented"], 1);
    // One to the first piece, and one to each other; or none to the first, if it lies there by
    // chance.
    let seeks = files[1]["start"]["seeks"].as_u64().unwrap();
    assert!(seeks == pieces || seeks == pieces - 1, "{report}");
    let first = files[0]["start"]["seeks"].as_u64().unwrap();
    assert_eq!(start["seeks"], first + seeks);
    assert_eq!(files[0]["start"]["access_rank"], 1);
    let text = disk.done(&args).text();
    assert!(text.contains("if each file were one extent"), "{text}");
    let ran = disk.run(&["extents", "--trace", "trace", "--root", "nothing"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr
            .contains("no file of the trace is below any --root"),
        "{}",
        ran.stderr
    );
}

#[test]
fn wrong_uses_are_told() {
    let stage = Stage::new();
    fs::write(stage.at("trace"), "no trace\n").unwrap();
    for (args, code, says) in [
        (&["extents"][..], 2, "required arguments were not provided"),
        (&["extents", "missing"], 2, "cannot read `missing`"),
        (
            &["extents", "/dev/null"],
            2,
            "`/dev/null` is neither a regular file nor a directory",
        ),
        (&["extents", "--trace", "trace"], 2, "--root <DIR>"),
        (
            &["extents", "--trace", "trace", "--root", "x"],
            2,
            "cannot use `trace`",
        ),
        (
            &["extents", "trace", "--root", "x"],
            2,
            "cannot be used with",
        ),
        (
            &["extents", "missing", "/dev/null"],
            1,
            "cannot read `missing`",
        ),
        // In memory, or not a file that lies anywhere.
        (
            &["extents", "/proc/self/status"],
            2,
            "does not report where its files lie",
        ),
    ] {
        let ran = stage.run(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}
