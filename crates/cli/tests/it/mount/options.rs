//! Flags and the options of squashfuse.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::stage::MountStage;
use crate::skip;

#[test]
fn a_directory_of_the_image_becomes_the_root() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    std::os::unix::fs::symlink("directory", stage.at("source/link")).unwrap();
    stage.session.done(["-q", "build", "source", "image"]);
    for args in [
        ["--subdir", "directory"],
        ["--subdir", "/link/"],
        ["-o", "ro,subdir=/directory"],
    ] {
        let _guard = stage.mount(args);
        assert_eq!(fs::read(stage.mounted("file")).unwrap(), b"content\n");
        assert!(!stage.mounted("large").exists());
    }
}

#[test]
fn everything_belongs_to_whom_one_says() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let _guard = stage.mount(["-o", "uid=1234,gid=5678"]);
    for path in ["", "large", "directory/file"] {
        let metadata = fs::metadata(stage.mounted(path)).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (1234, 5678), "{path}");
    }
}

#[test]
fn an_image_behind_something_else_is_mounted_from_where_it_begins() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let mut bytes = vec![b'x'; 70_001];
    bytes.extend(fs::read(stage.at("image")).unwrap());
    fs::write(stage.at("image"), bytes).unwrap();
    for args in [
        ["--offset", "70001"],
        ["--offset", "auto"],
        ["-o", "offset=70001"],
        ["-o", "offset=auto"],
    ] {
        let _guard = stage.mount(args);
        assert_eq!(
            fs::read(stage.mounted("directory/file")).unwrap(),
            b"content\n"
        );
    }
}

#[test]
fn the_table_of_mounts_names_the_image_whatever_its_name() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let name = "an image,suid\\,allow_other";
    fs::rename(stage.at("image"), stage.at(name)).unwrap();
    stage.session.done(["mount", name, "at"]);
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    stage.unmount();
    let line = table.lines().find(|line| line.contains("an\\040image"));
    let line = line.expect("the image stands in the table");
    assert!(
        line.contains("an\\040image,suid\\134,allow_other"),
        "{line}"
    );
    for word in [" ro,nosuid,nodev", "fuse.coldpress"] {
        assert!(line.contains(word), "{word}: {line}");
    }
}

#[test]
fn what_cannot_be_mounted_is_told_and_nothing_is() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    fs::write(stage.at("text"), "no image").unwrap();
    for (args, sentence) in [
        (
            &["none", "at"][..],
            "error: cannot open `none`: No such file",
        ),
        (&["text", "at"], "error: `text` is not a SquashFS image"),
        (
            &["image", "none"],
            "error: cannot mount on `none`: No such file",
        ),
        (&["image", "text"], "error: `text` is not a directory"),
        (
            &["image", "at", "--subdir", "nowhere"],
            "error: the image has no `/nowhere`",
        ),
        (
            &["image", "at", "--subdir", "large"],
            "error: `/large` is not a directory of the image",
        ),
        (
            &["image", "at", "--subdir", "directory", "-o", "subdir=/"],
            "error: the directory that becomes the root is given twice",
        ),
        (
            &["image", "at", "--offset", "0", "-o", "offset=0"],
            "error: the offset is given twice",
        ),
        (
            &["image", "at", "-o", "ro,suid"],
            "error: invalid value 'suid' for '-o <OPTIONS>'",
        ),
    ] {
        for foreground in [&[][..], &["-f"][..]] {
            let ran = stage
                .session
                .run([&["mount"][..], args, foreground].concat());
            assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
            assert!(ran.stderr.starts_with(sentence), "{args:?}: {}", ran.stderr);
            assert!(!stage.is_mounted());
        }
    }
}
