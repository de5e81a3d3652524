//! `coldpress tar`: archives of images, as GNU tar, Python and `coldpress build` read them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::run::{Stage, command, program};
use crate::skip::without_peer;
use crate::tar::tree;

/// Lines of a listing by GNU tar.
fn listing(stage: &Stage, archive: &str) -> Vec<String> {
    let mut tar = Command::new("tar");
    tar.args(["-tf", archive, "--quoting-style=escape"]);
    let text = program(tar.current_dir(stage.directory())).text();
    text.lines().map(str::to_owned).collect()
}

/// A stage with an image of [`tree`] and its length.
fn stage(flags: &[&str]) -> Stage {
    let (stage, source) = (Stage::new(), tree());
    let source = source.path().join("t");
    let args = ["-q", "build", source.to_str().unwrap(), "image"];
    stage.done(args.iter().chain(flags));
    stage
}

#[test]
fn an_image_goes_through_an_archive_and_comes_out_the_same() {
    for flags in [
        &["-c", "zstd", "-l", "1"][..],
        &["-c", "gzip", "-b", "4K", "--tails", "all"],
    ] {
        let stage = stage(flags);
        stage.done(["tar", "image", "-o", "x.tar"]);
        stage.done(["-q", "build", "x.tar", "again"].iter().chain(flags));
        let read = |name: &str| fs::read(stage.at(name)).unwrap();
        // All but where the source had holes of less than 1 MiB, which both images store as such.
        let again = stage.done(["tar", "again"]).stdout;
        assert!(read("x.tar") == again, "{flags:?}");
        let listing = |name: &str| stage.done(["ls", "-lR", name]).text();
        assert_eq!(listing("image"), listing("again"));
        // The archive tells the tree, not how its image is laid out.
        stage.done([
            "-q", "build", "image", "other", "-c", "lz4", "-b", "1M", "--tails", "none",
        ]);
        for threads in ["1", "3"] {
            let ran = stage.done(["tar", "other", "-j", threads, "--memory", "1"]);
            assert!(
                ran.stdout == read("x.tar") || flags.contains(&"4K"),
                "{flags:?}"
            );
            assert_eq!(ran.stderr, "");
        }
    }
}

#[test]
fn gnu_tar_extracts_the_tree_with_all_its_metadata() {
    if without_peer("tar") {
        return;
    }
    let stage = stage(&["-l", "1"]);
    stage.done(["tar", "image", "-o", "x.tar"]);
    fs::create_dir(stage.at("out")).unwrap();
    let mut tar = Command::new("tar");
    tar.args([
        "-xpf",
        "x.tar",
        "-C",
        "out",
        "--xattrs",
        "--xattrs-include=*",
    ]);
    let said = program(tar.current_dir(stage.directory())).stderr;
    assert_eq!(said, "");
    stage.done(["-q", "build", "out", "again", "-l", "1"]);
    let again = stage.done(["tar", "again"]).stdout;
    assert!(fs::read(stage.at("x.tar")).unwrap() == again);
    let listing = |name: &str| stage.done(["ls", "-lR", name]).text();
    assert_eq!(listing("image"), listing("again"));
}

#[test]
fn python_reads_names_sizes_links_and_holes() {
    if without_peer("python3") {
        return;
    }
    let stage = stage(&["-l", "1"]);
    stage.done(["tar", "image", "-o", "x.tar"]);
    let script = "
import tarfile
with tarfile.open('x.tar', errorlevel=2) as archive:
    for member in archive:
        data = archive.extractfile(member).read() if member.isreg() else b''
        hole = len(data) == member.size and not data.strip(b'\\0')
        print(member.name[-9:], member.type.decode(), oct(member.mode), int(member.mtime), len(data), hole)
";
    let mut python = Command::new("python3");
    let text = program(python.args(["-c", script]).current_dir(stage.directory())).text();
    for line in [
        "d/e/hard 0 0o6751 981173106 3 False",
        "d/f 1 0o6751 981173106 0 True",
        "d/e 5 0o1777 1000000000 0 True",
        "holes 0 0o644 ",
        " 1000000 True",
        " 3000000 False",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn names_follow_the_paths_and_the_root_that_are_asked_for() {
    if without_peer("tar") {
        return;
    }
    let stage = Stage::new();
    for directory in ["s/usr/bin", "s/usr/lib", "s/etc"] {
        fs::create_dir_all(stage.at(directory)).unwrap();
    }
    fs::write(stage.at("s/usr/bin/tool"), "tool").unwrap();
    fs::hard_link(stage.at("s/usr/bin/tool"), stage.at("s/usr/lib/tool")).unwrap();
    fs::write(stage.at("s/etc/passwd"), "root").unwrap();
    stage.done(["-q", "build", "s", "image"]);
    for (args, names) in [
        (
            &[][..],
            "./ etc/ etc/passwd usr/ usr/bin/ usr/bin/tool usr/lib/ usr/lib/tool",
        ),
        (&["usr"], "./ bin/ bin/tool lib/ lib/tool"),
        (&["-k", "/usr/bin"], "./ usr/ usr/bin/ usr/bin/tool"),
        (&["/usr/bin/tool"], "./ usr/ usr/bin/ usr/bin/tool"),
        (
            &["/usr/lib/", "etc"],
            "./ etc/ etc/passwd usr/ usr/lib/ usr/lib/tool",
        ),
        (&["-r", "root/fs/", "etc"], "root/fs/ root/fs/passwd"),
        (&["-r", ".", "etc"], "./ ./passwd"),
    ] {
        stage.done(["-q", "tar", "image", "-o", "x.tar"].iter().chain(args));
        assert_eq!(listing(&stage, "x.tar").join(" "), names, "{args:?}");
    }
    let with_links = stage.done(["tar", "image"]).stdout.len();
    let without = stage.done(["tar", "image", "--no-hard-links"]).stdout.len();
    assert_eq!(without, with_links + 512);
    for (args, said) in [
        (&["/usr", "/none"][..], "error: the image has no `/none`"),
        (
            &["-r", "../x"],
            "error: --root-becomes `../x` is not a relative path",
        ),
        (
            &["-r", ""],
            "error: --root-becomes `` is not a relative path",
        ),
    ] {
        let ran = stage.run(["tar", "image", "-o", "none.tar"].iter().chain(args));
        assert!(
            ran.code == Some(2) && ran.stderr.starts_with(said),
            "{ran:?}"
        );
        assert!(!stage.at("none.tar").exists());
    }
}

/// The length of a file that is nearly all holes.
const END: u64 = 9 << 30;

#[test]
fn files_with_large_holes_stay_small_and_long() {
    if without_peer("tar") {
        return;
    }
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    let file = File::create(stage.at("s/large")).unwrap();
    for at in [5 << 20, END - 3] {
        file.write_all_at(b"end", at).unwrap();
    }
    let hole = "hole".repeat(40);
    let file = File::create(stage.at("s").join(&hole)).unwrap();
    file.set_len(END + 1).unwrap();
    stage.done(["-q", "build", "s", "image", "-b", "1M", "-l", "1"]);
    stage.done(["-q", "tar", "image", "-o", "x.tar"]);
    let archive_bytes = fs::metadata(stage.at("x.tar")).unwrap().len();
    assert!(archive_bytes < 3 << 20, "{archive_bytes}");
    fs::create_dir(stage.at("out")).unwrap();
    let mut tar = Command::new("tar");
    program(
        tar.args(["-xf", "x.tar", "-C", "out"])
            .current_dir(stage.directory()),
    );
    let large = File::open(stage.at("out/large")).unwrap();
    assert_eq!(large.metadata().unwrap().len(), END);
    let mut end = [0; 6];
    large.read_exact_at(&mut end, END - 6).unwrap();
    assert_eq!(&end, b"\0\0\0end");
    large.read_exact_at(&mut end, 5 << 20).unwrap();
    assert_eq!(&end, b"end\0\0\0");
    let hole = fs::metadata(stage.at("out").join(hole)).unwrap();
    assert_eq!((hole.len(), hole.blocks()), (END + 1, 0));
    stage.done(["-q", "build", "x.tar", "again", "-b", "1M", "-l", "1"]);
    assert!(fs::read(stage.at("image")).unwrap() == fs::read(stage.at("again")).unwrap());
}

#[test]
fn names_of_any_bytes_and_length_come_out_the_same() {
    let stage = Stage::new();
    let names = [
        &b"\xff\xfe"[..],
        b"new\nline",
        b"a=b",
        &[0xe4; 255],
        &[b'x'; 255],
    ];
    let mut deep = stage.at("s");
    fs::create_dir(&deep).unwrap();
    for name in names {
        deep.push(OsStr::from_bytes(name));
        fs::create_dir(&deep).unwrap();
        fs::write(deep.join(OsStr::from_bytes(name)), name).unwrap();
        symlink(&deep, deep.join("link")).unwrap();
        fs::hard_link(deep.join(OsStr::from_bytes(name)), deep.join("zz")).unwrap();
    }
    stage.done(["-q", "build", "s", "image"]);
    stage.done(["-q", "tar", "image", "-o", "x.tar"]);
    stage.done(["-q", "build", "x.tar", "again"]);
    assert!(fs::read(stage.at("image")).unwrap() == fs::read(stage.at("again")).unwrap());
    if without_peer("tar") {
        return;
    }
    fs::create_dir(stage.at("out")).unwrap();
    let mut tar = Command::new("tar");
    let said = program(
        tar.args(["-xpf", "x.tar", "-C", "out"])
            .current_dir(stage.directory()),
    );
    assert_eq!(said.stderr, "");
    stage.done(["-q", "build", "out", "again"]);
    assert!(fs::read(stage.at("image")).unwrap() == fs::read(stage.at("again")).unwrap());
}

#[test]
fn holes_can_be_written_as_zeros() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    let file = File::create(stage.at("s/hole")).unwrap();
    file.set_len((2 << 20) + 5).unwrap();
    stage.done(["-q", "build", "s", "image"]);
    let sparse = stage.done(["tar", "image"]).stdout;
    let whole = stage.done(["tar", "image", "--no-sparse"]).stdout;
    assert!(sparse.len() < 8192, "{}", sparse.len());
    assert_eq!(whole.len(), 512 + 512 + (2 << 20) + 512 + 1024);
}

#[test]
fn sockets_are_named_and_left_out() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    for number in 0..12 {
        // Bound by a short path: that of the stage may be too long for a socket.
        let _socket = UnixListener::bind(stage.at(format!("s/{number:02}"))).unwrap();
    }
    fs::write(stage.at("s/file"), "").unwrap();
    stage.done(["-q", "build", "s", "image"]);
    let ran = stage.run(["tar", "image"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr
            .starts_with("warning: `/00` is left out: tar archives hold no sockets\n"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.ends_with(
        "`/09` is left out: tar archives hold no sockets\nwarning: 2 more things are left out\n"
    ));
    assert_eq!(ran.stdout.len(), 512 + 512 + 1024);
}

#[test]
fn xattrs_are_written_unless_left_out() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    fs::write(stage.at("s/file"), "").unwrap();
    let args = [
        "-q",
        "build",
        "s",
        "image",
        "--xattr-add",
        "user.a=text",
        "--xattr-add",
        "user.b=0x000a",
    ];
    stage.done(args);
    stage.done(["-q", "tar", "image", "-o", "x.tar"]);
    stage.done(["-q", "build", "x.tar", "again"]);
    assert!(fs::read(stage.at("image")).unwrap() == fs::read(stage.at("again")).unwrap());
    let plain = stage.done(["tar", "image", "--no-xattrs"]).stdout;
    assert_eq!(plain.len(), 512 + 512 + 1024);
}

#[test]
fn damage_ends_the_archive_and_names_the_file() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    let text: Vec<u8> = (0..40_000_u32)
        .flat_map(|number| (number / 7).to_le_bytes())
        .collect();
    fs::write(stage.at("s/file"), text).unwrap();
    stage.done(["-q", "build", "s", "image", "-l", "1", "--tails", "none"]);
    let mut bytes = fs::read(stage.at("image")).unwrap();
    let facts = stage.done(["stat", "--json", "image", "/file"]).json();
    let start = facts[0]["data"]["extent"]["start"].as_u64().unwrap();
    let at = usize::try_from(start).unwrap();
    bytes[at..at + 100].fill(0);
    fs::write(stage.at("image"), bytes).unwrap();
    let ran = stage.run(["tar", "image", "-o", "x.tar"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.starts_with(&format!(
            "error: cannot read `/file` from the image: data block at byte {start}"
        )),
        "{ran:?}"
    );
    assert!(!stage.at("x.tar").exists());
    assert_eq!(crate::run::names(stage.directory()), ["image", "s"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let stage = stage(&["-l", "1"]);
    let mut child = command()
        .args([Path::new("tar"), &stage.at("image")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
}
