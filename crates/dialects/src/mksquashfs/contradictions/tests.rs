//! Command lines that contradict themselves.

use coldpress_report::failure::sentence;

use super::*;
use crate::Tool;
use crate::mksquashfs::parse::parse;

fn request(line: &str) -> Request {
    let words: Vec<_> = line.split_whitespace().map(Into::into).collect();
    parse(Tool::Mksquashfs, &words).unwrap()
}

#[test]
fn options_that_exclude_each_other_are_named() {
    for (line, expected) in [
        (
            "- o -tar -cpiostyle",
            "only one of `-tar`, `-cpiostyle` and `-pf -` can read standard input",
        ),
        (
            "- o -tar -pf -",
            "only one of `-tar`, `-cpiostyle` and `-pf -` can read standard input",
        ),
        (
            "s o -tar",
            "`-tar` reads standard input, but sources are given too",
        ),
        (
            "s o -cpiostyle0",
            "`-cpiostyle` reads standard input, but sources are given too",
        ),
        (
            "- o -tar -max-depth 2",
            "`-max-depth` cannot be used with tar streams",
        ),
        (
            "- o -tar -sort list",
            "`-sort` cannot be used with tar streams",
        ),
        (
            "- o -tar -e a",
            "with tar streams, `-e` and `-ef` need `-wildcards` or `-regex`",
        ),
        ("- o", "the source is `-`, but there is nothing to read"),
        (
            "s o -percentage -no-progress",
            "`-no-progress` and `-percentage` contradict each other",
        ),
        (
            "s o -progress -no-progress",
            "`-no-progress` and `-progress` contradict each other",
        ),
        (
            "s o -xattrs-exclude a -no-xattrs",
            "`-no-xattrs` contradicts `-xattrs-exclude`, `-xattrs-include` and `-xattrs-add`",
        ),
        (
            "s o -Xwindow-size 9 -comp xz",
            "compressor xz has no option `-Xwindow-size`",
        ),
    ] {
        let error = check(&request(line)).unwrap_err();
        assert_eq!(sentence(&error), expected, "{line}");
    }
    for line in [
        "s o",
        "- o -tar -wildcards -e a",
        "s o -pf -",
        "- o -pf file",
        "- o -cpiostyle -cpiostyle",
        "s o -no-xattrs -xattrs-exclude a",
        "s o -quiet -percentage",
    ] {
        check(&request(line)).unwrap();
    }
}

#[test]
fn times_are_settled_as_mksquashfs_does() {
    let at = |seconds| Some(Time::At(seconds));
    for (line, epoch_s, image, inodes, root) in [
        ("s o", None, None, None, None),
        ("s o -mkfs-time 5 -mkfs-time 6", None, at(6), None, None),
        ("s o -repro", None, Some(Time::Newest), None, None),
        (
            "s o -repro -mkfs-time inode",
            None,
            Some(Time::Newest),
            None,
            None,
        ),
        ("s o -repro-time 7", None, at(7), at(7), None),
        ("s o -repro-time 7 -mkfs-time 7", None, at(7), at(7), None),
        ("s o", Some(9), at(9), None, None),
        ("s o -mkfs-time inode", Some(9), at(9), None, None),
        (
            "s o -root-time 3 -all-time inode",
            Some(9),
            at(9),
            Some(Time::Newest),
            at(3),
        ),
    ] {
        let expected = SettledTimes {
            image,
            inodes,
            root,
            latest_s: epoch_s,
        };
        let settled = SettledTimes::new(&request(line).times, epoch_s).unwrap();
        assert_eq!(settled, expected, "{line}");
    }
}

#[test]
fn times_that_contradict_each_other_are_refused() {
    for (line, epoch_s) in [
        ("s o -mkfs-time 5", Some(9)),
        ("s o -inode-time 5", Some(9)),
        ("s o -repro-time 5", Some(9)),
        ("s o -mkfs-time 5 -mkfs-time inode", None),
        ("s o -root-time inode -root-time 5", None),
        ("s o -repro -mkfs-time 5", None),
        ("s o -repro -repro-time 5", None),
        ("s o -repro-time 5 -inode-time inode", None),
        ("s o -repro-time 5 -mkfs-time 6", None),
    ] {
        let settled = SettledTimes::new(&request(line).times, epoch_s);
        assert!(settled.is_err(), "{line}");
    }
}
