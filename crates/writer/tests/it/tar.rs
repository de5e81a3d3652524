use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use coldpress_format::Compressor;
use coldpress_layout::{Kind, Plan};
use coldpress_writer::{
    Error, Input, Source, SourceOptions, TarDefaults, TarInput, TarOrigin, Warning, gather,
};

use crate::trees::{build_while, built, differences, options};

/// Archives byte by byte.
pub(crate) mod archive;
/// Compressed archives.
pub(crate) mod compressed;
/// Archives that lie about themselves.
mod hostile;

use archive::{Archive, pax};

/// Reads an archive in a file of its own.
fn source(archive: &[u8]) -> Result<Source, Error> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.tar");
    fs::write(&path, archive).unwrap();
    source_of(&path, false)
}

fn source_of(path: &Path, ignore_zeros: bool) -> Result<Source, Error> {
    let input = TarInput {
        origin: TarOrigin::File(path.to_path_buf()),
        spool_directory: path.parent().unwrap().to_path_buf(),
        ignore_zeros,
        defaults: TarDefaults {
            mode: 0o700,
            uid: 7,
            gid: 8,
        },
    };
    let options = SourceOptions::default();
    gather(&[Input::Tar(input)], &options, &mut |_| {
        ControlFlow::Continue(())
    })
}

/// Every path with what is there, but for the content.
pub(crate) fn listing(source: &Source) -> Vec<String> {
    let mut lines = Vec::new();
    let mut pending = vec![(coldpress_layout::NodeId::ROOT, String::new())];
    while let Some((node, path)) = pending.pop() {
        let found = &source.tree[node];
        let kind = match &found.kind {
            Kind::Directory { .. } => "d".to_owned(),
            Kind::File { size_bytes } => format!("f{size_bytes}"),
            Kind::Symlink { target } => format!("l{}", target.escape_ascii()),
            Kind::CharDevice { major, minor } => format!("c{major},{minor}"),
            Kind::BlockDevice { major, minor } => format!("b{major},{minor}"),
            Kind::Fifo => "p".to_owned(),
            Kind::Socket => "s".to_owned(),
        };
        let (mode, uid, gid, time) = (found.mode, found.uid, found.gid, found.mtime_s);
        lines.push(format!("{path}/ {kind} {mode:o} {uid}:{gid} {time}"));
        for (name, child) in source.tree.entries(node) {
            pending.push((*child, format!("{path}/{}", name.escape_ascii())));
        }
    }
    lines.sort();
    lines
}

#[test]
fn an_archive_becomes_the_tree_that_tar_would_extract() {
    let archive = Archive::default()
        .file("./late/f", b"first")
        .link("hard", b'1', "later")
        .file("later", b"content")
        .link("again", b'1', "./later")
        .file("f", b"old")
        .link("keeps", b'1', "f")
        .file("/f", b"newer")
        .link("symlink", b'2', "no/where")
        .entry("v7dir/", b'0', 0, b"")
        .entry("late", b'5', 0, b"")
        .entry("contiguous", b'7', 3, b"abc")
        .device("null", b'3', 1, 3)
        .device("disk", b'4', 259, 70_000)
        .entry("pipe", b'6', 0, b"")
        .link("dangling", b'1', "missing")
        .entry("what", b'Q', 600, &[7; 600])
        .entry("./", b'5', 0, b"")
        .end();
    let source = source(&archive).unwrap();
    let expected = [
        "/ d 644 1:2 9",
        "/again/ f7 644 1:2 9",
        "/contiguous/ f3 644 1:2 9",
        "/disk/ b259,70000 644 1:2 9",
        "/f/ f5 644 1:2 9",
        "/hard/ f7 644 1:2 9",
        "/keeps/ f3 644 1:2 9",
        "/late/ d 644 1:2 9",
        "/late/f/ f5 644 1:2 9",
        "/later/ f7 644 1:2 9",
        "/null/ c1,3 644 1:2 9",
        "/pipe/ p 644 1:2 9",
        "/symlink/ lno/where 644 1:2 9",
        "/v7dir/ d 644 1:2 9",
    ];
    assert_eq!(listing(&source), expected);
    let entries = source.tree.entries(coldpress_layout::NodeId::ROOT);
    let node = |name: &str| entries.iter().find(|it| it.0 == name.as_bytes()).unwrap().1;
    assert!(node("hard") == node("later") && node("again") == node("later"));
    let warnings: Vec<String> = source.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("`what` is of the unknown type `Q`"));
    assert!(warnings[1].contains("`dangling` is a hard link to `missing`"));
    let image = built(&source, &Plan::default(), &options(None, 4096));
    assert_eq!(differences(&image, &source), Vec::<String>::new());
}

#[test]
fn hard_links_wait_for_each_other_and_loops_are_left_out() {
    let archive = Archive::default()
        .link("a", b'1', "b")
        .link("b", b'1', "c/d")
        .link("x", b'1', "y")
        .link("y", b'1', "x")
        .link("self", b'1', "self")
        .file("c/d", b"1")
        .link("directory", b'1', "c")
        .end();
    let source = source(&archive).unwrap();
    let expected = [
        "/ d 700 7:8 9",
        "/a/ f1 644 1:2 9",
        "/b/ f1 644 1:2 9",
        "/c/ d 700 7:8 9",
        "/c/d/ f1 644 1:2 9",
    ];
    assert_eq!(listing(&source), expected);
    assert_eq!(source.warnings.len(), 4, "{:?}", source.warnings);
}

#[test]
fn extended_headers_replace_fields() {
    let long = format!("{}/{}", "d".repeat(200), "n".repeat(250));
    let archive = Archive::default()
        .entry(
            "global",
            b'g',
            0,
            &pax(&[("mtime", "77.9"), ("uid", "4000000000")]),
        )
        .entry(
            "x",
            b'x',
            0,
            &pax(&[
                ("path", &long),
                ("size", "3"),
                ("gid", "70000"),
                ("SCHILY.xattr.user.a", "\u{1}\n=\n"),
                ("LIBARCHIVE.xattr.security.%62", "AAE="),
                ("SCHILY.xattr.system.posix_acl_access", "x"),
            ]),
        )
        .entry("short", b'0', 0, b"abc")
        .entry("L", b'L', 0, format!("{}\0", "l".repeat(256)).as_bytes())
        .entry("K", b'K', 0, format!("{}\0", "t".repeat(4095)).as_bytes())
        .link("short", b'2', "short")
        .end();
    let source = source(&archive).unwrap();
    let (long, name) = (format!("/{long}/ f3 644"), "l".repeat(256));
    let expected = [
        "/ d 700 7:8 77".to_owned(),
        format!("/{}/ d 700 7:8 77", "d".repeat(200)),
        format!("{long} 4000000000:70000 77"),
        format!("/{name}/ l{} 644 4000000000:2 77", "t".repeat(4095)),
    ];
    assert_eq!(listing(&source), expected);
    let xattrs = source.tree.nodes.iter().find(|it| !it.xattrs.is_empty());
    let expected = [
        (&b"security.b"[..], &b"\0\x01"[..]),
        (b"user.a", b"\x01\n=\n"),
    ]
    .map(|(name, value)| (name.to_vec(), value.to_vec()));
    assert_eq!(*xattrs.unwrap().xattrs, expected);
    assert!(matches!(
        source.warnings.as_slice(),
        [Warning::Xattr { .. }]
    ));
}

/// The xattrs of a file with an extended header of these records.
fn xattrs(records: &[(&str, &str)]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let archive = Archive::default()
        .entry("x", b'x', 0, &pax(records))
        .entry("f", b'0', 0, b"")
        .end();
    let source = source(&archive).unwrap();
    let file = source.tree.find(b"/f").unwrap();
    source.tree[file].xattrs.to_vec()
}

#[test]
fn a_xattr_whose_name_libarchive_escapes_is_stored_once() {
    let keys = [
        ("LIBARCHIVE.xattr.user.sp%20ace", "AQI="),
        ("SCHILY.xattr.user.sp%20ace", "\u{1}\u{2}"),
        ("SCHILY.xattr.user.plain%20", "1"),
    ];
    // Whichever key comes first.
    for order in [[0, 1, 2], [1, 2, 0]] {
        let expected = [
            (&b"user.plain%20"[..], &b"1"[..]),
            (b"user.sp ace", b"\x01\x02"),
        ]
        .map(|(name, value)| (name.to_vec(), value.to_vec()));
        assert_eq!(xattrs(&order.map(|at| keys[at])), expected, "{order:?}");
    }
}

#[test]
fn a_xattr_that_is_named_like_another_one_escaped_is_not_lost() {
    // As bsdtar writes `user.sp ace` and `user.sp%20ace`.
    let keys = [
        ("LIBARCHIVE.xattr.user.sp%20ace", "AQ=="),
        ("SCHILY.xattr.user.sp%20ace", "\u{1}"),
        ("LIBARCHIVE.xattr.user.sp%2520ace", "Ag=="),
        ("SCHILY.xattr.user.sp%2520ace", "\u{2}"),
    ];
    for order in [[0, 1, 2, 3], [2, 3, 0, 1], [3, 2, 1, 0], [1, 3, 0, 2]] {
        let expected = [
            (&b"user.sp ace"[..], &b"\x01"[..]),
            (b"user.sp%20ace", b"\x02"),
        ]
        .map(|(name, value)| (name.to_vec(), value.to_vec()));
        assert_eq!(xattrs(&order.map(|at| keys[at])), expected, "{order:?}");
    }
}

#[test]
fn sparse_files_of_every_format_keep_their_holes() {
    let data = [&[1; 512][..], &[2; 100]].concat();
    let mut gnu = archive::header("s", b'S', 612);
    gnu[257..265].copy_from_slice(b"ustar  \0");
    archive::octal(&mut gnu[386..398], 4096);
    archive::octal(&mut gnu[398..410], 512);
    gnu[482] = 1;
    archive::octal(&mut gnu[483..495], 1 << 20);
    archive::set_checksum(&mut gnu);
    let mut more = [0; 512];
    archive::octal(&mut more[..12], 500_000);
    archive::octal(&mut more[12..24], 100);
    archive::octal(&mut more[24..36], 1 << 20);
    archive::octal(&mut more[36..48], 0);
    let sparse = |records: &[(&str, &str)], data: &[u8]| {
        let archive = Archive::default().entry("x", b'x', 0, &pax(records));
        archive.entry("s", b'0', data.len() as u64, data).end()
    };
    let mut with_map = b"2\n4096\n512\n500000\n100\n".to_vec();
    with_map.resize(512, 0);
    with_map.extend(&data);
    let size = "1048576";
    for (format, bytes) in [
        (
            "gnu",
            Archive::default().raw(&gnu).raw(&more).data(&data).end(),
        ),
        (
            "0.0",
            sparse(
                &[
                    ("GNU.sparse.size", size),
                    ("GNU.sparse.numblocks", "2"),
                    ("GNU.sparse.offset", "4096"),
                    ("GNU.sparse.numbytes", "512"),
                    ("GNU.sparse.offset", "500000"),
                    ("GNU.sparse.numbytes", "100"),
                ],
                &data,
            ),
        ),
        (
            "0.1",
            sparse(
                &[
                    ("GNU.sparse.size", size),
                    ("GNU.sparse.map", "4096,512,500000,100"),
                ],
                &data,
            ),
        ),
        (
            "1.0",
            sparse(
                &[
                    ("GNU.sparse.major", "1"),
                    ("GNU.sparse.minor", "0"),
                    ("GNU.sparse.name", "s"),
                    ("GNU.sparse.realsize", size),
                ],
                &with_map,
            ),
        ),
    ] {
        let source = source(&bytes).unwrap();
        assert_eq!(listing(&source)[1], "/s/ f1048576 644 1:2 9", "{format}");
        let image = built(&source, &Plan::default(), &options(None, 4096));
        assert_eq!(differences(&image, &source), Vec::<String>::new());
        let image = coldpress_image::Image::new(Box::new(image)).unwrap();
        let mut content = vec![0; 1 << 20];
        content[4096..4608].fill(1);
        content[500_000..500_100].fill(2);
        assert!(archive::content(&image, b"s") == content, "{format}");
    }
}

#[test]
fn joined_archives_are_read_if_zeros_are_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.tar");
    let (a, b) = (Archive::default().file("a", b"1"), Archive::default());
    fs::write(&path, [a.end(), b.file("b", b"2").end()].concat()).unwrap();
    let names = |ignore| listing(&source_of(&path, ignore).unwrap()).len();
    assert_eq!((names(false), names(true)), (2, 3));
}

#[test]
fn an_archive_that_changes_while_it_is_packed_makes_no_image() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.tar");
    let archive = Archive::default().file("a", &[1; 10_000]).file("b", b"2");
    fs::write(&path, archive.end()).unwrap();
    let source = source_of(&path, false).unwrap();
    let options = options(Some(Compressor::Gzip), 4096);
    let changed = build_while(&source, &Plan::default(), &options, &mut |_| {
        fs::write(&path, "something else").unwrap();
        ControlFlow::Continue(())
    });
    assert!(
        matches!(changed, Err(Error::StoreChanged { .. })),
        "{changed:?}"
    );
}
