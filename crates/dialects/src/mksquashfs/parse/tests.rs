//! Command lines as users type them.

use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::Tails;
use coldpress_report::failure::sentence;

use std::path::Path;

use super::*;
use crate::mksquashfs::request::{Boundary, Definitions, Info, Input, Patterns, Print, Time};

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn parsed(line: &str) -> Request {
    parse(Tool::Mksquashfs, &words(line)).unwrap()
}

fn star(line: &str) -> Request {
    parse(Tool::Sqfstar, &words(line)).unwrap()
}

#[test]
fn defaults_are_those_of_the_tools() {
    let request = parsed("rootfs image");
    assert_eq!(request.compression.compressor(), Compressor::Gzip);
    assert_eq!(request.block_size, BlockSize::DEFAULT);
    assert_eq!(request.tails(), Tails::Small);
    assert!(request.exportable && request.duplicates && request.hard_links && request.pad);
    assert!(request.xattrs.stored && !request.replace);
    let request = star("image");
    assert_eq!(request.tails(), Tails::All);
    assert_eq!(request.patterns, Patterns::Wildcards);
    assert!(!request.exportable && request.is_tar());
}

#[test]
fn sources_come_first_and_the_destination_is_the_last_of_them() {
    let request = parsed("one two three -noappend");
    assert_eq!(request.sources, [Path::new("one"), Path::new("two")]);
    assert_eq!(request.destination, Path::new("three"));
    assert!(request.replace);
    let request = parsed("- out -tar -no-tailends");
    assert!(request.sources.is_empty() && request.is_tar());
    assert_eq!(request.tails(), Tails::Small);
    let request = star("-comp xz -force out one two");
    assert_eq!(request.destination, Path::new("out"));
    let excludes = ["one", "two"].map(|path| Excludes::One(path.into()));
    assert_eq!(request.excludes, excludes);
    assert!(request.replace);
}

#[test]
fn everything_behind_e_is_a_path() {
    let request = parsed("a b -wildcards -ef list -e c -comp xz -noappend");
    let mut excludes = vec![Excludes::File("list".into())];
    excludes.extend(["c", "-comp", "xz", "-noappend"].map(|path| Excludes::One(path.into())));
    assert_eq!(request.excludes, excludes);
    assert_eq!(request.patterns, Patterns::Wildcards);
    assert_eq!(request.compression.compressor(), Compressor::Gzip);
    assert!(!request.replace);
}

#[test]
fn options_of_a_compressor_may_stand_before_it() {
    let request = parsed("a b -Xdict-size 100% -b 1m -comp xz -Xbcj x86,arm");
    assert_eq!(request.compression.compressor(), Compressor::Xz);
    assert_eq!(request.compression.text("-Xdict-size"), Some("100%"));
    assert_eq!(request.compression.text("-Xbcj"), Some("x86,arm"));
    assert_eq!(request.block_size, BlockSize::MAX);
    request.compression.check().unwrap();
    let request = parsed("a b -Xcompression-level 3 -Xcompression-level -7 -comp zstd");
    let level = request.compression.number("-Xcompression-level");
    assert_eq!(level.unwrap(), Some(-7));
    let error = parsed("a b -Xhc").compression.check().unwrap_err();
    assert_eq!(sentence(&error), "compressor gzip has no option `-Xhc`");
}

#[test]
fn other_names_of_an_option_mean_the_same() {
    let request = parsed(
        "a b -root-owned -always-use-fragments -noDataCompression -fstime 5 -all-time inode -o 4K",
    );
    assert_eq!((request.owners.uid, request.owners.gid), (Some(0), Some(0)));
    assert_eq!(request.tails(), Tails::All);
    assert!(request.uncompressed.data && !request.uncompressed.inodes);
    assert_eq!(request.times.mkfs, [Time::At(5)]);
    assert_eq!(request.times.inodes, [Time::Newest]);
    assert_eq!(request.offset_bytes, 4096);
}

#[test]
fn meanings_are_kept_in_the_order_of_the_line() {
    let request = parsed(
        "- b -p one -pf two -p three -pf - -one-file-system-x -one-file-system -info-file log \
         -default-uid 4 -root-uid 5",
    );
    let definitions = [
        Definitions::Line("one".into()),
        Definitions::File("two".into()),
        Definitions::Line("three".into()),
        Definitions::File("-".into()),
    ];
    assert_eq!(request.pseudo, definitions);
    assert_eq!(request.input, [Input::Definitions]);
    assert_eq!(request.boundary, Boundary::Absent);
    assert_eq!(request.talk.info, Info::File("log".into()));
    assert_eq!(
        (request.tar.uid, request.owners.root_uid),
        (Some(4), Some(5))
    );
}

#[test]
fn options_without_effect_are_accepted_with_their_values() {
    let request =
        parsed("a b -no-recovery -recovery-path /tmp -small-readers 4 -reproducible -b 4K");
    assert_eq!(request.block_size, BlockSize::MIN);
}

#[test]
fn help_and_version_need_no_paths() {
    for (line, print) in [
        ("-help", Print::Help),
        ("a b --help", Print::Help),
        ("a b -comp xz -Xhelp -version", Print::CompressorInUse),
        ("--version", Print::Version),
        ("-ho time", Print::Options("time".to_owned())),
        ("-hs list", Print::Sections("list".to_owned())),
        ("a -help-comp all", Print::Compressor("all".to_owned())),
        ("-mem-default", Print::MemoryDefault),
    ] {
        assert_eq!(parsed(line).print, Some(print.clone()), "{line}");
        assert_eq!(
            star(line.trim_start_matches("a b").trim_start_matches('a')).print,
            Some(print)
        );
    }
}

#[test]
fn what_cannot_be_obeyed_is_refused_by_name() {
    for (line, expected) in [
        ("", "no source and no destination are given"),
        ("a", "no destination is given"),
        (
            "a b --usage",
            "`--usage` is not an option of mksquashfs 4.7",
        ),
        (
            "a b -noappen",
            "`-noappen` is not an option of mksquashfs 4.7",
        ),
        ("a b -force", "`-force` is not an option of mksquashfs 4.7"),
        (
            "a b -noappend c",
            "`c` comes after options, where mksquashfs takes no paths",
        ),
        ("a b -e", "`-e` needs at least one path"),
        ("a b -b", "`-b` needs a value: `-b SIZE`"),
        (
            "a b -b 100K",
            "`-b 100K`: must be a power of two from 4K to 1M",
        ),
        (
            "a b -comp lzma",
            "`-comp lzma`: must be gzip, lzo, lz4, xz or zstd",
        ),
        (
            "a b -comp xz -comp gzip",
            "`-comp xz` and `-comp gzip` contradict each other",
        ),
        (
            "a b -processors 0",
            "`-processors 0`: must be a whole number, 1 or more",
        ),
        (
            "a b -limit 0%",
            "`-limit 0%`: must be a percentage from 1 to 100",
        ),
        (
            "a b -root-becomes ..",
            "`-root-becomes ..`: must be one name without `/`, of 256 bytes at most",
        ),
        (
            "a - -stream",
            "`-stream` is not supported: an image with the superblock at its end cannot be \
             mounted; write to a file",
        ),
    ] {
        let error = parse(Tool::Mksquashfs, &words(line)).unwrap_err();
        assert_eq!(sentence(&error), expected, "{line}");
    }
    let error = parse(Tool::Sqfstar, &words("-noappend out")).unwrap_err();
    let expected = "`-noappend` is not an option of sqfstar 4.7";
    assert_eq!(sentence(&error), expected);
}
