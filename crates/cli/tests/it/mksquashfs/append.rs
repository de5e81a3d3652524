//! Appending to an image that is there: trees, names, and what becomes of the old bytes.
//!
//! Trees are those of the installed mksquashfs after the same command lines, as its unsquashfs
//! unpacks them.

mod failures;
mod foreign;
mod killed;
mod recover;

use std::fs;
use std::path::Path;

use coldpress_format::Superblock;

use super::tools::{Workshop, ran};
use super::tree;
use crate::fuse::manifest::Manifest;
use crate::run::done;
use crate::skip;

const QUIET: &str = "-quiet -no-progress -no-recovery -mkfs-time 1";

/// `SRC`, `other` with some of its names and contents, and `.empty`.
fn workshop() -> Workshop {
    let workshop = Workshop::new();
    tree::write(&workshop.at("SRC"));
    fs::create_dir_all(workshop.at("other/bin")).unwrap();
    fs::create_dir_all(workshop.at("more/bin")).unwrap();
    fs::copy(workshop.at("SRC/bin/app"), workshop.at("other/same")).unwrap();
    workshop.file("other/bin/tool", "another tool");
    workshop.file("other/empty", "not empty");
    workshop.file("more/bin/third", "a third");
    workshop.file(".empty", "");
    workshop
}

fn superblock(image: &Path) -> Superblock {
    Superblock::parse(&fs::read(image).unwrap()).unwrap()
}

/// What unsquashfs unpacks of an image.
fn unpacked(workshop: &Workshop, image: &str) -> Manifest {
    let mut command = workshop.peer("unsquashfs");
    let directory = format!("{image}.d");
    let ran = ran(command.args(["-no-progress", "-d", &directory, image]));
    assert_eq!(ran.code, Some(0), "{image}: {}", ran.stderr);
    let manifest = Manifest::of(&workshop.at(&directory));
    fs::remove_dir_all(workshop.at(&directory)).unwrap();
    manifest
}

/// Demands the same tree of both programs after each of some command lines for the image `OUT`;
/// `'` keeps words together. All times are 1 unless a line says otherwise: some would be those of
/// the moment.
fn same(lines: &[&str]) {
    if skip::without_peer("unsquashfs") || skip::without_peer("mksquashfs") {
        return;
    }
    let workshop = workshop();
    for line in lines {
        for image in ["ours", "theirs"] {
            let is_ours = image == "ours";
            let mut command = if is_ours {
                workshop.command("mksquashfs")
            } else {
                workshop.peer("mksquashfs")
            };
            let times = if line.contains("-all-time") {
                ""
            } else {
                "-all-time 1"
            };
            let line = format!("{line} {QUIET} {times}").replace("OUT", image);
            for (index, words) in line.split('\'').enumerate() {
                if index % 2 == 1 {
                    command.arg(words);
                } else {
                    command.args(words.split_whitespace());
                }
            }
            let ran = ran(&mut command);
            assert_eq!(ran.code, Some(0), "{image} {line}: {}", ran.stderr);
        }
        let theirs = unpacked(&workshop, "theirs");
        theirs.demand(&unpacked(&workshop, "ours"), line);
    }
    done([Path::new("check"), &workshop.at("ours")]);
}

#[test]
fn a_directory_is_added_to_the_root_and_gets_other_names() {
    same(&[
        "SRC OUT -comp zstd",
        "other OUT",
        "more OUT -force-uid 7 -comp xz -b 4K -all-time 77",
        "other OUT -e other/same -root-mode 711 -force-file-mode 600",
        "SRC OUT -no-xattrs -no-hardlinks -all-time 78",
    ]);
}

#[test]
fn several_sources_and_kept_directories_get_other_names() {
    same(&[
        "SRC other OUT -b 64K -no-fragments",
        "SRC more OUT",
        "other OUT -keep-as-directory",
        "SRC/bin/app more/bin OUT -keep-as-directory",
    ]);
}

#[test]
fn the_old_root_becomes_a_directory() {
    same(&[
        "SRC OUT -always-use-fragments",
        "other OUT -root-becomes old",
        "more OUT -keep-as-directory -root-becomes more",
        ".empty OUT -root-becomes older",
        "SRC OUT",
    ]);
}

/// `guix pack --format=squashfs`.
#[test]
fn guix_packs() {
    let every = "-no-xattrs -force-uid 0 -force-gid 0";
    let lines = [
        format!("SRC/bin SRC/usr SRC/etc OUT -no-duplicates -comp gzip {every}"),
        format!(".empty OUT -root-becomes store {every}"),
        format!(".empty OUT -root-becomes gnu {every}"),
        format!(
            ".empty OUT -p '/bin s 777 0 0 gnu/store/bin' -p '/.singularity.d d 555 0 0' -p \
             '/.singularity.d/env d 555 0 0' -p \
             '/.singularity.d/env/90-environment.sh s 777 0 0 ../../gnu/store/etc' -p \
             '/.singularity.d/actions d 555 0 0' -p '/proc d 555 0 0' -p '/sys d 555 0 0' -p \
             '/dev d 555 0 0' -p '/home d 555 0 0' {every}"
        ),
    ];
    same(&lines.each_ref().map(String::as_str));
}

#[test]
fn a_source_of_definitions_alone_is_added() {
    same(&[
        "SRC OUT -no-exports",
        "- OUT -p '/ d 755 3 4' -p '/new d 700 1 2' -p '/new/f f 600 1 2 echo new'",
        "- OUT -root-becomes below -p '/ d 711 0 0' -p '/top c 666 0 0 1 3'",
    ]);
}

#[test]
fn names_that_are_taken_get_numbers_and_are_told() {
    let workshop = workshop();
    fs::create_dir(workshop.at("old")).unwrap();
    fs::create_dir(workshop.at("new")).unwrap();
    workshop.file("old/a", "1");
    workshop.file("old/a_1", "2");
    workshop.file("new/a", "3");
    workshop.file("new/a_2", "4");
    workshop.file("new/b", "5");
    workshop.done("mksquashfs", "old out -quiet");
    let told = workshop.done("mksquashfs", "new out -quiet -exit-on-error");
    let expected = "warning: `a` is stored as `a_3`: the image has something of its own name\n";
    assert_eq!(told.stderr, expected);
    let told = workshop.done("mksquashfs", "new/a old/a out -quiet");
    let expected = "warning: `new/a` is stored as `a_4`: its own name is taken\n\
                    warning: `old/a` is stored as `a_5`: its own name is taken\n";
    assert_eq!(told.stderr, expected);
    let names = done([Path::new("ls"), &workshop.at("out")]).text();
    assert_eq!(names, "a\na_1\na_2\na_3\na_4\na_5\nb\n");
}

#[test]
fn names_that_are_meant_as_they_are_are_refused() {
    let workshop = workshop();
    workshop.done("mksquashfs", "SRC out -quiet");
    let before = fs::read(workshop.at("out")).unwrap();
    for (words, expected) in [
        (
            vec!["other", "out", "-no-strip", "-p", "/etc/x d 755 0 0"],
            "error: definition 1: `etc/x` is, or lies below, something in the root directory of \
             the image that is appended to, which definitions cannot change\n",
        ),
        (
            vec!["SRC/bin", "out", "-no-strip", "-root-becomes", "SRC"],
            "error: the source `SRC` has a name that the image has in its root directory; rename \
             it, or give the old root directory a name of its own\n",
        ),
        (
            vec!["other", "out", "-root-becomes", "a/b"],
            "error: `-root-becomes a/b`: must be one name without `/`, of 256 bytes at most\n",
        ),
    ] {
        let ran = ran(workshop.command("mksquashfs").args(words));
        assert_eq!(ran.code, Some(1), "{expected}");
        assert_eq!(ran.stderr, expected);
    }
    assert_eq!(fs::read(workshop.at("out")).unwrap(), before);
}

#[test]
fn old_bytes_stay_and_equal_files_share_their_data() {
    let workshop = workshop();
    workshop.done("mksquashfs", "SRC out -quiet -mkfs-time 1");
    let before = fs::read(workshop.at("out")).unwrap();
    let old = superblock(&workshop.at("out"));
    fs::copy(workshop.at("out"), workshop.at("again")).unwrap();
    let line = "-quiet -mkfs-time 1 -processors";
    workshop.done("mksquashfs", &format!("SRC out {line} 1"));
    let after = fs::read(workshop.at("out")).unwrap();
    let used = usize::try_from(old.bytes_used).unwrap();
    assert_eq!(before[96..used], after[96..used]);
    // All data is there already: only tables are added.
    let tables = superblock(&workshop.at("out")).inode_table_start;
    assert_eq!(tables, old.bytes_used.next_multiple_of(4096));
    workshop.done("mksquashfs", &format!("SRC again {line} 4"));
    assert!(fs::read(workshop.at("again")).unwrap() == after);
}

#[test]
fn a_mount_of_the_old_image_goes_on() {
    if skip::without_kernel() {
        return;
    }
    let workshop = workshop();
    fs::create_dir(workshop.at("at")).unwrap();
    workshop.done("mksquashfs", "SRC out -quiet -comp gzip");
    let script = "mount -o loop,ro out at || exit 9
                  ./mksquashfs other out -quiet || exit 8
                  diff -r --no-dereference SRC at";
    let mut unshare = workshop.peer("unshare");
    let ran = ran(unshare.args(["-m", "sh", "-c", script]));
    assert_eq!(ran.code, Some(0), "{} {}", ran.text(), ran.stderr);
}

#[test]
fn what_is_printed_begins_with_the_words_of_mksquashfs() {
    let workshop = workshop();
    workshop.done("mksquashfs", "SRC out -comp xz -noI -no-fragments -quiet");
    let text = workshop.done("mksquashfs", "other out -info").text();
    for line in [
        "Found a valid exportable SQUASHFS superblock on out.",
        "\tCompression used xz",
        "\tInodes are uncompressed",
        "\tData is compressed",
        "\tFragments are not present in the filesystem",
        "\tAlways-use-fragments option is not specified",
        "\tDuplicates are removed",
        "\tXattrs are stored",
        "Appending to existing 4.0 filesystem on out, block size 131072",
        "All -b, -noI, -noD, -noF, -noX, -noId, -no-duplicates, -no-fragments,",
        "If appending is not wanted, please re-run with -noappend specified!",
        "file /same, uncompressed size 300000 bytes DUPLICATE",
        "Exportable Squashfs 4.0 filesystem, xz compressed, data block size 131072",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
    }
    assert!(!text.contains("file /etc/conf,"), "{text}");
    assert_eq!(
        workshop
            .done("mksquashfs", "other out -quiet -no-progress")
            .text(),
        ""
    );
}
