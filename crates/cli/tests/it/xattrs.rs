//! Extended attributes: what is read of them, and in which order they lie.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::{Stage, unmount};
use crate::skip::{without_fuse, without_peer};

/// Builds an image of a file `f` with xattrs.
fn built(names: &[&str]) -> Stage {
    let stage = Stage::new();
    let mut definitions = "/ d 755 0 0\nf i 644 0 0 f\n".to_owned();
    for name in names {
        writeln!(definitions, "/ x {name}=value of {name}").unwrap();
    }
    fs::write(stage.at("definitions"), definitions).unwrap();
    let line = "-q build - image --pseudo-file definitions --store inodes,ids,xattrs";
    stage.done(line.split(' '));
    stage
}

#[test]
fn xattrs_that_are_not_printed_are_not_read() {
    let stage = built(&["user.x"]);
    let mut bytes = fs::read(stage.at("image")).unwrap();
    let name = b"value of user.x";
    let at = bytes.windows(name.len()).position(|found| found == name);
    let at = at.unwrap();
    // The size of the value, which stands before it.
    bytes[at - 1] = 0xff;
    fs::write(stage.at("image"), bytes).unwrap();
    for line in ["ls -l image", "ls -R image", "find image", "tree image"] {
        let ran = stage.run(line.split(' '));
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
    }
    for line in [
        "stat image /",
        "find image --json",
        "-q tar image -o archive",
    ] {
        let ran = stage.run(line.split(' '));
        assert_ne!(ran.code, Some(0), "{line}");
        assert!(ran.stderr.contains("xattr"), "{line}: {}", ran.stderr);
    }
}

#[test]
fn pairs_lie_by_the_lengths_of_their_names() {
    let stage = built(&[
        "user.a.very.long.name",
        "user.zz",
        "trusted.middle",
        "security.b",
        "user.bb",
    ]);
    let bytes = fs::read(stage.at("image")).unwrap();
    let place = |name: &str| {
        let value = format!("value of {name}");
        let found = bytes
            .windows(value.len())
            .position(|it| it == value.as_bytes());
        found.unwrap()
    };
    let order = [
        "security.b",
        "user.bb",
        "user.zz",
        "trusted.middle",
        "user.a.very.long.name",
    ];
    assert!(order.map(place).is_sorted());
}

/// A version of 2022 overran its buffer when a longer name stood before the one that was asked for.
#[test]
fn squashfuse_finds_long_names() {
    if without_fuse() || without_peer("squashfuse") {
        return;
    }
    let long = |first: char, len: usize| format!("user.{}", first.to_string().repeat(len));
    let names = [long('a', 200), long('b', 150), long('c', 80), long('d', 3)];
    let stage = built(&names.each_ref().map(String::as_str));
    fs::create_dir(stage.at("at")).unwrap();
    let mounted = Command::new("squashfuse")
        .args(["image", "at"])
        .current_dir(stage.directory())
        .status()
        .unwrap();
    assert!(mounted.success());
    // It is the allocator that finds out, now or later.
    let found: Vec<_> = (0..20)
        .flat_map(|_| names.iter().rev().map(|name| value(&stage.at("at"), name)))
        .collect();
    let expected = names.iter().rev().map(|name| format!("value of {name}"));
    let expected = (0..20).flat_map(|_| expected.clone()).map(Ok);
    assert_eq!(found, expected.collect::<Vec<_>>());
    unmount(&stage.at("at"));
}

fn value(path: &Path, name: &str) -> Result<String, rustix::io::Errno> {
    let mut value = vec![0; 4096];
    let len = rustix::fs::lgetxattr(path, name, &mut value)?;
    value.truncate(len);
    Ok(String::from_utf8(value).unwrap())
}
