//! `coldpress profile`: recordings merged, and found again in the next release.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use coldpress_image::{Image, walk};

use crate::run::Stage;

/// BLAKE3 of `abc`, the first half.
const HASH_ABC: &str = "6437b3ac38465133ffb63b75273a8db5";

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Bytes that no other length has, and that do not compress.
fn noise(len: usize) -> Vec<u8> {
    let mut seed = len as u64;
    let bytes = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed.to_le_bytes()[7]
    });
    bytes.take(len).collect()
}

/// The files of a release, without `/usr`.
fn release(stage: &Stage, name: &str, python: &str, openssl: &str) {
    let at = |path: &str| stage.at(name).join("usr").join(path);
    write(&at("bin/python3"), &noise(300_000));
    write(&at("share/zoneinfo/UTC"), b"abc");
    let library = at("lib").join(python);
    for (module, len) in [
        ("os.py", 7000),
        ("json/__init__.py", 500),
        ("cold.py", 6000),
    ] {
        write(&library.join(module), &noise(len));
    }
    write(&at("lib").join(openssl), &noise(200_000));
}

/// A recorded start of the first release.
const START: &str = "coldpress-trace 1\n\
    # kernel: 6.18\n\
    0 1 L /\n\
    0 1 R 0-1 /usr/bin/python3\n\
    1 1 F 70 /usr/bin/python3\n\
    1 1 M 60-73 /usr/bin/python3\n\
    2 1 R 0-0 /usr/lib/libssl.so.3.0.11\n\
    3 1 D /usr/lib/python3.11\n\
    4 1 R 0-0 /usr/lib/python3.11/json/__init__.py\n\
    5 1 R 0-1 /usr/lib/python3.11/os.py\n\
    6 1 R 0-0 /usr/share/zoneinfo/UTC\n";

/// The first release, its recording three times, once without the time zone, and the profile.
fn stage() -> Stage {
    let stage = Stage::new();
    release(&stage, "old", "python3.11", "libssl.so.3.0.11");
    let lines = START.split_inclusive('\n');
    let without: String = lines.filter(|line| !line.contains("zoneinfo")).collect();
    for (name, text) in [
        ("a.trace", START),
        ("b.trace", START),
        ("c.trace", &without),
    ] {
        fs::write(stage.at(name), text).unwrap();
    }
    stage.done([
        "-q", "profile", "merge", "a.trace", "b.trace", "c.trace", "--source", "old", "-o",
        "profile",
    ]);
    stage
}

#[test]
fn recordings_become_a_profile_that_knows_their_files() {
    let stage = stage();
    let text = fs::read_to_string(stage.at("profile")).unwrap();
    let (steps, files) = text.split_at(text.find("\nfile ").unwrap() + 1);
    let expected = "coldpress-profile 1\n\
                    # recordings: 3\n\
                    # kernel: 6.18\n\
                    L /\n\
                    R 0-1,70,60-73? /usr/bin/python3\n\
                    R 0 /usr/lib/libssl.so.3.0.11\n\
                    D /usr/lib/python3.11\n\
                    R 0 /usr/lib/python3.11/json/__init__.py\n\
                    R 0-1 /usr/lib/python3.11/os.py\n\
                    R 0*2 /usr/share/zoneinfo/UTC\n";
    assert_eq!(steps, expected);
    assert_eq!(files.lines().count(), 5);
    let last = format!("file 3 {HASH_ABC} /usr/share/zoneinfo/UTC\n");
    assert!(files.ends_with(&last), "{files}");
    // A profile goes on where it ended, into its own place.
    let ran = stage.done(["profile", "merge", "profile", "a.trace", "-o", "profile"]);
    let said = "profile: 4 recordings: 5 files read, 7 lookups, 5 directories searched\n";
    assert_eq!(ran.stderr, said);
    let text = fs::read_to_string(stage.at("profile")).unwrap();
    assert!(text.contains("\nR 0*3 /usr/share/zoneinfo/UTC\n"), "{text}");
    assert!(text.ends_with(&last), "{text}");
}

#[test]
fn what_the_source_of_a_profile_lacks_is_told() {
    let stage = stage();
    fs::remove_file(stage.at("old/usr/share/zoneinfo/UTC")).unwrap();
    let merge = [
        "profile", "merge", "a.trace", "--source", "old", "-o", "other",
    ];
    let ran = stage.done([&["-q"][..], &merge].concat());
    assert_eq!(
        ran.stderr,
        "warning: the source does not have 1 file of the profile\n"
    );
    let ran = stage.run([
        "profile",
        "merge",
        "a.trace",
        "--source",
        "old",
        "-o",
        "old/profile",
    ]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("would lie inside the source `old`"),
        "{}",
        ran.stderr
    );
}

/// The regular files of an image in the order of their data.
fn data_order(image: &Path) -> Vec<String> {
    let image = Image::open(image).unwrap();
    let (mut blocks, mut tails) = (Vec::new(), Vec::new());
    walk(&image, &mut |visited| {
        if let Some(file) = visited.file(&image)? {
            let path = String::from_utf8(visited.path.to_vec()).unwrap();
            match &file.tail {
                Some(tail) if file.blocks.is_empty() => {
                    tails.push((tail.fragment, tail.offset, path));
                }
                _ => blocks.push((file.start, path)),
            }
        }
        Ok(())
    })
    .unwrap();
    blocks.sort();
    tails.sort();
    let paths = blocks.into_iter().map(|(_, path)| path);
    paths
        .chain(tails.into_iter().map(|(_, _, path)| path))
        .collect()
}

#[test]
fn an_image_of_a_profile_is_that_of_its_plan_also_of_the_next_release() {
    let stage = stage();
    release(&stage, "new", "python3.12", "libssl.so.3.5.1");
    for (source, python, openssl) in [
        ("old", "python3.11", "libssl.so.3.0.11"),
        ("new", "python3.12", "libssl.so.3.5.1"),
    ] {
        stage.done(["-q", "build", source, "by-profile", "--profile", "profile"]);
        stage.done([
            "-q", "profile", "plan", "profile", "--source", source, "-o", "plan",
        ]);
        stage.done(["-q", "build", source, "by-plan", "--plan", "plan"]);
        let [by_profile, by_plan] = ["by-profile", "by-plan"].map(|image| stage.at(image));
        assert!(fs::read(&by_profile).unwrap() == fs::read(by_plan).unwrap());
        let library = format!("/usr/lib/{python}");
        let expected = [
            "/usr/bin/python3",
            &format!("/usr/lib/{openssl}"),
            &format!("{library}/json/__init__.py"),
            &format!("{library}/os.py"),
            "/usr/share/zoneinfo/UTC",
            &format!("{library}/cold.py"),
        ];
        assert_eq!(data_order(&by_profile), expected);
    }
    // A trace is a profile, and the image of it is one of its profile.
    stage.done(["-q", "build", "old", "by-trace", "--profile", "a.trace"]);
    stage.done(["-q", "profile", "merge", "a.trace", "-o", "one"]);
    stage.done(["-q", "build", "old", "by-one", "--profile", "one"]);
    let [by_trace, by_one] = ["by-trace", "by-one"].map(|image| fs::read(stage.at(image)).unwrap());
    assert!(by_trace == by_one);
}

#[test]
fn what_not_enough_recordings_touched_is_left_out() {
    let stage = stage();
    for (share, is_named) in [("0.6", true), ("0.7", false)] {
        let limits = ["--min-share", share, "-o", "plan"];
        let plan = ["-q", "profile", "plan", "profile", "--source", "old"];
        stage.done([&plan[..], &limits].concat());
        let plan = fs::read_to_string(stage.at("plan")).unwrap();
        assert_eq!(plan.contains("zoneinfo"), is_named, "{plan}");
        assert!(plan.contains("/usr/lib/python3.11/os.py"));
    }
}

#[test]
fn staleness_is_told_and_can_fail() {
    let stage = stage();
    release(&stage, "new", "python3.12", "libssl.so.3.5.1");
    let at = |path: &str| stage.at("new/usr").join(path);
    // Renamed beyond recognition, but for its content; shorter; gone.
    fs::rename(at("share/zoneinfo/UTC"), at("share/time")).unwrap();
    fs::write(at("bin/python3"), noise(270_000)).unwrap();
    fs::remove_file(at("lib/python3.12/os.py")).unwrap();
    let check = ["profile", "check", "profile", "new"];
    let ran = stage.done(check);
    let expected = "paths        7: 2 by path, 3 by name, 1 by content, 1 stale (14.3 %)\n\
                    bytes        84.0 KiB touched, 40.0 KiB stale (47.6 %)\n\
                    resized      1 file\n\
                    staleness    47.6 %\n\
                    \n\
                    found elsewhere:\n  \
                    /usr/lib/libssl.so.3.0.11: /usr/lib/libssl.so.3.5.1 (by name, 1 path)\n  \
                    /usr/lib/python3.11: /usr/lib/python3.12 (by name, 2 paths)\n  \
                    /usr/share/zoneinfo/UTC: /usr/share/time (by content, 1 path)\n\
                    \n\
                    stale:\n  \
                    /usr/bin/python3: shorter now, 32.0 KiB\n  \
                    /usr/lib/python3.11/os.py: not found, 8.00 KiB\n";
    assert_eq!((ran.text().as_str(), ran.stderr.as_str()), (expected, ""));

    let ran = stage.run([&check[..], &["--fail-stale", "47"]].concat());
    assert_eq!(ran.code, Some(1));
    let why = "`profile` is too old: 14.3 % of its paths and 47.6 % of its bytes are stale, at most 47 % may be";
    assert_eq!(ran.stderr, format!("error: {why}; record again\n"));
    let ran = stage.done([&check[..], &["--fail-stale", "48", "--json"]].concat());
    let json = ran.json();
    assert_eq!(json["found_by_name"], 3);
    assert_eq!(json["stale"][1]["path"], "/usr/lib/python3.11/os.py");
    assert_eq!(json["stale"][1]["stale_bytes"], 8192);
    assert_eq!(json["moved"][1]["to"], "/usr/lib/python3.12");
    assert_eq!(
        (&json["too_stale"], &json["recordings"]),
        (&false.into(), &3.into())
    );

    // An image is as good a source as its directory.
    let build = [
        "build",
        "new",
        "image",
        "--profile",
        "profile",
        "--fail-stale",
        "47",
    ];
    let ran = stage.run(build);
    assert_eq!(ran.code, Some(2));
    let hint = "\nhint: record again, or allow more with --fail-stale\n";
    assert_eq!(ran.stderr, format!("error: {why}\n{hint}"));
    assert!(!stage.at("image").exists());
    let ran = stage.done(["-q", "build", "new", "image", "--profile", "profile"]);
    let warning = "warning: 47.6 % of the profile is stale: the source lacks all or a part of \
                   `/usr/bin/python3`, `/usr/lib/python3.11/os.py`\n";
    assert_eq!(ran.stderr, warning);
    assert_eq!(
        stage.done(["profile", "check", "profile", "image"]).text(),
        expected
    );
}

#[test]
fn a_profile_is_shown_by_bytes() {
    let stage = stage();
    let text = stage.done(["profile", "show", "profile"]).text();
    let expected = "recordings   3\n\
                    kernel       6.18\n\
                    files        5\n\
                    bytes        32.0 KiB, and maybe 52.0 KiB\n\
                    lookups      7\n\
                    directories  5\n";
    let (head, rows) = text.split_once("\n\n").unwrap();
    assert_eq!(format!("{head}\n"), expected);
    let rows: Vec<_> = rows.lines().collect();
    assert_eq!(rows[0], "     read      maybe  recordings  file");
    assert_eq!(
        rows[1],
        " 12.0 KiB   52.0 KiB      3 of 3  /usr/bin/python3"
    );
    assert_eq!(
        rows[2],
        " 8.00 KiB        0 B      3 of 3  /usr/lib/python3.11/os.py"
    );
    assert_eq!(
        rows[5],
        " 4.00 KiB        0 B      2 of 3  /usr/share/zoneinfo/UTC"
    );
    assert_eq!(rows.len(), 6);
    let json = stage.done(["profile", "show", "profile", "--json"]).json();
    assert_eq!(json["files"][4]["hash"], HASH_ABC);
    assert_eq!(json["files"][4]["size_bytes"], 3);
    assert_eq!(json["header"][0][1], "6.18");
    let json = stage.done(["profile", "show", "a.trace", "--json"]).json();
    assert_eq!(
        (&json["recordings"], &json["files"][0]["hash"]),
        (&1.into(), &().into())
    );
}

#[test]
fn names_of_any_bytes_are_matched_and_escaped() {
    let stage = Stage::new();
    let source = stage.at("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join(OsStr::from_bytes(b"new\nline\xff-2")), "odd").unwrap();
    let text = "coldpress-profile 1\n# recordings: 1\nL /\nR 0 /new\\nline\\xff-1\nL /\\x1b[2J\n";
    fs::write(stage.at("profile"), text).unwrap();
    let ran = stage.done(["profile", "check", "profile", "source"]);
    let moved = "  /new\\x0aline\\xff-1: /new\\x0aline\\xff-2 (by name, 1 path)\n";
    assert!(ran.text().contains(moved), "{}", ran.text());
    assert!(
        ran.text().ends_with("  /\\x1b[2J: not found, 0 B\n"),
        "{}",
        ran.text()
    );
}
