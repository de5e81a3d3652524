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
            "error: no SquashFS 4.0 image begins in the first 64 MiB of `nothing`, nor behind the \
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

#[cfg(not(feature = "http"))]
#[test]
fn a_url_is_refused_by_name_unless_it_is_a_file() {
    let stage = stage();
    let ran = stage.run(["ls", "http://localhost/image"]);
    let sentence = "error: cannot open the image: this coldpress was built without URLs\n\n\
                    hint: fetch the image first, or build coldpress with `--features https`\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), sentence));
    fs::create_dir_all(stage.at("http:/localhost")).unwrap();
    fs::copy(stage.at("image"), stage.at("http:/localhost/image")).unwrap();
    stage.done(["ls", "http://localhost/image"]);
}
