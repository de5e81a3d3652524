//! Command lines as users type them.

use std::path::Path;

use coldpress_host::memory::Limit;
use coldpress_report::failure::sentence;

use super::*;
use crate::unsquashfs::request::{Filter, Patterns, Print};

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn parsed(line: &str) -> Request {
    parse(Tool::Unsquashfs, &words(line)).unwrap()
}

#[test]
fn defaults_are_those_of_the_tools() {
    let request = parsed("image");
    assert_eq!(request.image, Path::new("image"));
    assert_eq!(request.destination, Path::new("squashfs-root"));
    assert_eq!(request.patterns(), Patterns::Wildcards);
    assert!(request.paths.is_empty() && request.xattrs.restored);
    assert!(!request.force && !request.cat && request.shows_bar());
    let request = parse(Tool::Sqfscat, &words("image file")).unwrap();
    assert!(request.cat && !request.shows_bar());
}

#[test]
fn everything_behind_the_image_is_a_path() {
    let request = parsed("-n -d out image a -ls -d b");
    assert_eq!(request.paths, ["a", "-ls", "-d", "b"]);
    assert!(!request.listing.only && request.talk.no_progress);
    assert_eq!(request.destination, Path::new("out"));
}

#[test]
fn short_forms_mean_the_same() {
    let request = parsed(
        "-f -max 3 -e take -excf leave -ex a ... ; -L -no-wild -all 5 -li -full -q -p 2 -o 4K \
         -no -ig -mem-percent 10 image",
    );
    assert!(request.force && request.follows && request.listing.info && request.listing.long);
    assert!(request.listing.seconds && request.talk.quiet && request.errors.ignore);
    assert_eq!((request.max_depth, request.time_s), (Some(3), Some(5)));
    let filters = [
        Filter::ExtractFile("take".into()),
        Filter::ExcludeFile("leave".into()),
        Filter::Exclude("a".into()),
        Filter::Exclude("...".into()),
    ];
    assert_eq!(request.filters, filters);
    assert_eq!(request.patterns(), Patterns::Names);
    assert_eq!(request.offset_bytes, 4096);
    assert_eq!(request.memory, Some(Limit::Percent(10)));
    assert!(!request.xattrs.restored);
}

#[test]
fn listings_add_up() {
    let request = parsed("-ll -ls -lc image");
    assert!(request.listing.only && request.listing.long && request.listing.concise);
    let request = parsed("-lln image");
    assert!(request.listing.only && request.listing.numeric && !request.shows_bar());
    assert!(!parsed("-percentage image").shows_bar());
    assert!(!parsed("-pf - image").shows_bar() && parsed("-pf out image").shows_bar());
}

#[test]
fn the_last_word_on_attributes_counts() {
    let request = parsed("-no-xattrs -u image");
    assert!(request.xattrs.restored);
    assert_eq!(request.xattrs.include.as_deref(), Some("^user."));
    let request = parsed("-xattrs-exclude a -xattrs-exclude b -no image");
    assert_eq!(request.xattrs.exclude.as_deref(), Some("b"));
    assert!(!request.xattrs.restored);
}

#[test]
fn help_and_version_need_no_image() {
    for (line, print) in [
        ("-help", Print::Help),
        ("-ls -ha", Print::Help),
        ("-v", Print::Version),
        ("--version -h", Print::Version),
        ("-ho time", Print::Options("time".to_owned())),
        ("-hs list", Print::Sections("list".to_owned())),
        ("-mem-default", Print::MemoryDefault),
    ] {
        assert_eq!(parsed(line).print, Some(print), "{line}");
    }
}

#[test]
fn what_cannot_be_obeyed_is_refused_by_name() {
    for (line, expected) in [
        ("", "no image is given"),
        ("-ls", "no image is given"),
        ("--help", "`--help` is not an option of unsquashfs 4.7"),
        ("-lsx image", "`-lsx` is not an option of unsquashfs 4.7"),
        ("- image", "`-` is not an option of unsquashfs 4.7"),
        ("-d", "`-d` needs a value: `-d DIRECTORY`"),
        ("-ex a image", "the values of `-ex` do not end with `;`"),
        ("-ex ; image", "`-ex` needs at least one value"),
        ("-p 0 image", "`-p 0`: must be a whole number, 1 or more"),
        (
            "-force-file-mode u+q image",
            "cannot use `-force-file-mode`: mode `u+q`",
        ),
        (
            "-st -ig image",
            "`-strict-errors` and `-ignore-errors` contradict each other",
        ),
        (
            "-ls -pf x image",
            "`-pf` and the options that list contradict each other",
        ),
        (
            "-r -no-wild image",
            "`-no-wildcards` and `-regex` contradict each other",
        ),
    ] {
        let error = parse(Tool::Unsquashfs, &words(line)).unwrap_err();
        let sentence = sentence(&error);
        assert!(sentence.starts_with(expected), "{line}: {sentence}");
    }
    for (line, expected) in [
        ("image", "no files are given"),
        ("-ls image a", "`-ls` is not an option of sqfscat 4.7"),
    ] {
        let error = parse(Tool::Sqfscat, &words(line)).unwrap_err();
        assert_eq!(sentence(&error), expected, "{line}");
    }
    let empty = [OsString::from("image"), OsString::new()];
    let error = parse(Tool::Unsquashfs, &empty).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a path is empty; `/` is the root directory"
    );
    let empty = ["-d", "", "image"].map(OsString::from);
    assert!(parse(Tool::Unsquashfs, &empty).is_err());
}
