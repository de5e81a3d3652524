//! `coldpress build --only-recorded`: an image of what a start needs, and of nothing else.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use coldpress_image::{Image, walk};

use crate::press::source;
use crate::run::{Session, Stage};
use crate::skip;

/// A recorded start.
const START: &str = r"coldpress-trace 1
0 1 L /
0 1 R 0-0 /bin/tool
1 1 L /lib/tool.so
1 1 M 0-15 /lib/tool.so.1
2 1 L /etc/asked for
3 1 D /etc/listed
4 1 L /caf\xe9\n/x
5 1 R 0-0 /gone
";

/// A tree, a recording of it, and much that it does not need.
fn stage() -> Stage {
    let stage = Stage::new();
    let file = |name: &[u8], content: &[u8]| {
        let path = stage.at("tree").join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    file(b"bin/tool", b"tool\n");
    file(b"bin/unused", b"unused\n");
    file(b"lib/tool.so.1", &b"library\n".repeat(30_000));
    // Of the same bytes as something that goes.
    file(b"lib/a-copy", &b"library\n".repeat(30_000));
    file(b"etc/asked for", b"not empty\n");
    file(b"etc/listed/one", b"");
    file(b"caf\xe9\n/x", b"odd\n");
    file(b"share/doc/tool/README", b"read it\n");
    file(b"share/doc/other/README", b"or this\n");
    let at = |name: &str| stage.at("tree").join(name);
    fs::create_dir(at("sbin")).unwrap();
    fs::hard_link(at("bin/tool"), at("sbin/same")).unwrap();
    symlink("tool.so.1", at("lib/tool.so")).unwrap();
    symlink("lib", at("lib64")).unwrap();
    fs::create_dir(at("empty")).unwrap();
    fs::write(stage.at("start.trace"), START).unwrap();
    stage
}

/// Builds from the recording.
const BUILD: [&str; 7] = [
    "build",
    "tree",
    "image",
    "--profile",
    "start.trace",
    "--only-recorded",
    "--verify",
];

/// What the recording names, all names of its files, and the directories above.
const RECORDED: [&str; 13] = [
    "/",
    "/bin",
    "/bin/tool",
    r"/caf\xe9\n",
    r"/caf\xe9\n/x",
    "/etc",
    "/etc/asked for",
    "/etc/listed",
    "/lib",
    "/lib/tool.so",
    "/lib/tool.so.1",
    "/sbin",
    "/sbin/same",
];

/// All paths of an image, in its order.
fn paths(image: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    walk(&Image::open(image).unwrap(), &mut |visited| {
        paths.push(visited.path.escape_ascii().to_string());
        Ok(())
    })
    .unwrap();
    paths.sort();
    paths
}

#[test]
fn an_image_has_what_was_recorded_and_nothing_else() {
    let stage = stage();
    let ran = stage.done(BUILD);
    assert_eq!(paths(&stage.at("image")), RECORDED);
    for told in [
        "12 of 23 inodes stay, because a start needs them\n",
        "the source lacks all or a part of `/gone`",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    // Files are whole, also those that were only looked up, and whose duplicate is gone.
    for (path, content) in [
        ("/lib/tool.so.1", "library\n".repeat(30_000)),
        ("/etc/asked for", "not empty\n".to_owned()),
        ("/sbin/same", "tool\n".to_owned()),
    ] {
        assert_eq!(stage.done(["cat", "image", path]).text(), content, "{path}");
    }
    // An image of everything is cut down to the same one.
    let whole = fs::read(stage.at("image")).unwrap();
    stage.done("-q build tree whole".split(' '));
    stage.done("-q build whole image --profile start.trace --only-recorded".split(' '));
    assert_eq!(fs::read(stage.at("image")).unwrap(), whole);
}

#[test]
fn what_is_included_stays_beside_what_was_recorded() {
    let stage = stage();
    let more = [
        "--include",
        "/share/doc/tool",
        "--include",
        "/empty",
        "--exclude",
        "/sbin",
    ];
    stage.done([&["-q"], &BUILD[..], &more].concat());
    let mut expected = RECORDED.to_vec();
    expected.retain(|path| !path.starts_with("/sbin"));
    expected.extend([
        "/empty",
        "/share",
        "/share/doc",
        "/share/doc/tool",
        "/share/doc/tool/README",
    ]);
    expected.sort_unstable();
    assert_eq!(paths(&stage.at("image")), expected);
}

#[test]
fn the_release_that_follows_is_cut_down_alike() {
    let stage = stage();
    fs::rename(
        stage.at("tree/lib/tool.so.1"),
        stage.at("tree/lib/tool.so.2.0"),
    )
    .unwrap();
    stage.done([&["-q"], &BUILD[..]].concat());
    let paths = paths(&stage.at("image"));
    assert!(paths.contains(&"/lib/tool.so.2.0".to_owned()), "{paths:?}");
    fs::remove_file(stage.at("image")).unwrap();
    let ran = stage.run([&BUILD[..], &["--fail-stale", "5"]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is too old"), "{}", ran.stderr);
    assert!(!stage.at("image").exists());
}

#[test]
fn without_a_profile_nothing_is_left_out() {
    let stage = stage();
    for (args, named) in [
        ("build tree image --only-recorded", "--profile"),
        (
            "build tree image --only-recorded --plan start.trace",
            "--plan",
        ),
    ] {
        let ran = stage.run(args.split(' '));
        assert_eq!(ran.code, Some(2), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(named), "{args}: {}", ran.stderr);
    }
}

#[test]
fn an_image_of_only_what_was_recorded_starts() {
    if skip::without_measuring() {
        return;
    }
    let session = Session::new();
    source::write_root(&session.at("root"));
    fs::write(session.at("root/unused"), "unused\n").unwrap();
    let script = "read -r line < /words && test \"$line\" = 'a few words' && test ! -e /unused-either && test -d /proc/self";
    let command = ["--chroot", "--", "/bin/sh", "-c", script];
    for recorder in ["kernel", "opens"] {
        let record = [
            "-q",
            "record",
            "root",
            "-o",
            "trace",
            "--recorder",
            recorder,
        ];
        session.done([&record[..], &command].concat());
        let build = "-q build root only --profile trace --only-recorded";
        session.done(build.split(' '));
        let left = paths(&session.at("only"));
        assert!(left.contains(&"/words".to_owned()), "{recorder}: {left:?}");
        assert!(
            !left.contains(&"/unused".to_owned()),
            "{recorder}: {left:?}"
        );
        session.done([&["-q", "explain", "only", "--json"][..], &command].concat());
    }
}
