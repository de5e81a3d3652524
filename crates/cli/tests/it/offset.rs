//! Images that lie inside other files.

use std::fs;
use std::path::Path;

use crate::run::Stage;

/// Bytes in front of the image, which end in the middle of a sector.
const FRONT_BYTES: usize = 70_001;

/// An image, and a file that holds it behind something else.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.at("source/directory")).unwrap();
    fs::write(stage.at("source/directory/file"), "content\n").unwrap();
    stage.done(["-q", "build", "source", "image"]);
    let image = fs::read(stage.at("image")).unwrap();
    let mut bytes = vec![b'x'; FRONT_BYTES];
    bytes.extend_from_slice(&image);
    fs::write(stage.at("app"), bytes).unwrap();
    stage
}

#[test]
fn every_verb_that_reads_takes_an_offset() {
    let stage = stage();
    let offset = FRONT_BYTES.to_string();
    for place in [offset.as_str(), "auto"] {
        for (verb, more) in [
            ("ls", &["-R"][..]),
            ("cat", &["/directory/file"]),
            ("check", &["--quiet"]),
        ] {
            let inside = stage.done([&[verb, "--offset", place, "app"], more].concat());
            let alone = stage.done([&[verb, "image"], more].concat());
            assert_eq!(inside.text(), alone.text(), "{verb} {place}");
        }
        let info = |file: &str, more: &[&str]| {
            let ran = stage.done([&["info", "--json", file], more].concat());
            let mut json = ran.json();
            json["image"] = serde_json::Value::Null;
            json
        };
        assert_eq!(info("app", &["--offset", place]), info("image", &[]));
        let out = format!("out-{place}");
        stage.done(["-q", "extract", "--offset", place, "app", &out]);
        let file = stage.at(Path::new(&out).join("directory/file"));
        assert_eq!(fs::read(file).unwrap(), b"content\n");
    }
    // Of an image alone, too.
    let ran = stage.done(["ls", "--offset", "auto", "image"]);
    assert_eq!(ran.text(), "directory\n");
}

#[test]
fn what_is_not_at_the_place_is_told() {
    let stage = stage();
    fs::write(stage.at("nothing"), vec![0; 10_000]).unwrap();
    for (args, sentence) in [
        (
            &["ls", "app"][..],
            "error: `app` is not a SquashFS image: it does not begin with `hsqs`\n\n\
             hint: a SquashFS image begins at byte 70001 of it; verbs that read an image take \
             `--offset auto`\n",
        ),
        (
            &["ls", "app", "--offset", "70000"],
            "error: `app` is not a SquashFS image: it does not begin with `hsqs` at byte 70000\n\n\
             hint: a SquashFS image begins at byte 70001 of it; verbs that read an image take \
             `--offset auto`\n",
        ),
        (
            &["info", "nothing", "--offset", "auto"],
            "error: no SquashFS 4.0 image begins in the first 64 MiB of `nothing`, or after the \
             program there\n",
        ),
        (
            &["check", "image", "--offset", "18446744073709551615"],
            "error: `image` is not a SquashFS image: it has 0 bytes from byte \
             18446744073709551615 on, the first structure alone takes 96\n\n\
             hint: a SquashFS image begins at byte 0 of it; verbs that read an image take \
             `--offset auto`\n",
        ),
    ] {
        let ran = stage.run(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), sentence));
    }
}

#[test]
fn a_container_without_an_image_is_not_searched() {
    let stage = stage();
    let mut bytes = fs::read(stage.at("app")).unwrap();
    bytes[32..45].copy_from_slice(b"SIF_MAGIC\x0001\0");
    fs::write(stage.at("sif"), bytes).unwrap();
    let ran = stage.run(["ls", "sif", "--offset", "auto"]);
    let sentence = "error: the SIF container `sif` has no partition of SquashFS 4.0: the SIF header \
                    at byte 88 states 8680820740569200760 descriptors at byte \
                    8680820740569200760, but only 0 are there or read\n\n\
                    hint: those of ext3 and encrypted ones cannot be read; `--offset BYTES` names any \
                    other place\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), sentence));
    stage.done(["ls", "sif", "--offset", "70001"]);
}

#[test]
fn images_are_compared_without_what_lies_around_them() {
    let stage = stage();
    let mut bytes = fs::read(stage.at("app")).unwrap();
    bytes.extend_from_slice(b"a signature");
    fs::write(stage.at("signed"), bytes).unwrap();
    stage.done(["-q", "build", "source", "other", "--compressor", "gzip"]);
    for (args, code, said) in [
        (
            &[
                "app",
                "signed",
                "--offset",
                "auto",
                "--second-offset",
                "70001",
            ][..],
            0,
            "app and signed: no difference\n",
        ),
        (
            &["image", "signed", "--second-offset", "auto"],
            0,
            "image and signed: no difference\n",
        ),
        (
            &["signed", "source", "--offset", "auto"],
            0,
            "signed and source: no difference\n",
        ),
        (
            &["source", "signed", "--second-offset", "auto"],
            0,
            "source and signed: no difference\n",
        ),
        (
            &["signed", "other", "--offset", "auto", "--superblock"],
            1,
            "signed and other: superblocks differ in compressor, bytes used\n",
        ),
        (
            &[
                "signed",
                "source",
                "--offset",
                "auto",
                "--second-offset",
                "1",
            ],
            2,
            "error: a directory has no offset at which an image begins\n",
        ),
    ] {
        let ran = stage.run([&["diff"], args].concat());
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (Some(code), said),
            "{args:?}"
        );
    }
    let resquash = |offset: &str| stage.run(["-q", "resquash", "signed", "--offset", offset]);
    for offset in ["auto", "70001"] {
        let ran = resquash(offset);
        assert_eq!(ran.code, Some(0), "{}{}", ran.text(), ran.stderr);
    }
    assert_eq!(resquash("70000").code, Some(2));
    let identify = stage.done(["-q", "identify", "--json", "signed", "--offset", "auto"]);
    let mut found = identify.json();
    found["image"] = "image".into();
    let alone = stage.done(["-q", "identify", "--json", "image"]).json();
    assert_eq!(found, alone);
}

#[cfg(not(feature = "http"))]
#[test]
fn a_url_is_refused_by_name() {
    let stage = stage();
    let ran = stage.run(["ls", "http://localhost/image"]);
    let sentence = "error: cannot open the image: this coldpress was built without URLs\n\n\
                    hint: fetch the image first, or build coldpress with `--features https`\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), sentence));
}

#[test]
fn a_file_that_is_called_as_a_url_is_a_file() {
    let stage = stage();
    fs::create_dir_all(stage.at("http:/localhost")).unwrap();
    fs::copy(stage.at("image"), stage.at("http:/localhost/image")).unwrap();
    stage.done(["ls", "http://localhost/image"]);
}
