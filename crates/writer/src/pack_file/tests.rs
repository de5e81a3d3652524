//! Tables for every type and error of the language.

use proptest::prelude::*;

use super::*;

fn parsed(line: &str) -> Result<PackEntry, String> {
    let parsed = PackFile::parse(line.as_bytes(), Path::new("x"), "/".into());
    parsed
        .map(|pack| pack.entries[0].clone())
        .map_err(|error| error.to_string())
}

fn add(mode: u16, uid: u32, gid: u32, object: PackObject) -> PackAction {
    PackAction::Add {
        mode,
        uid,
        gid,
        object,
    }
}

fn file(location: &str) -> PackObject {
    let location = (!location.is_empty()).then(|| location.into());
    PackObject::File { location }
}

fn slink(target: &str) -> PackObject {
    PackObject::Symlink {
        target: target.into(),
    }
}

#[test]
fn each_type_is_understood() {
    let (major, minor) = (5, 1);
    let cases = [
        (
            "dir /a/b 0755 1 2",
            "a/b",
            add(0o755, 1, 2, PackObject::Directory),
        ),
        (
            " dir / 0 0 4294967295 # root",
            "",
            add(0, 0, u32::MAX, PackObject::Directory),
        ),
        ("file a 644 0 0", "a", add(0o644, 0, 0, file(""))),
        ("file /a 644 0 0  x y ", "a", add(0o644, 0, 0, file("x y "))),
        (
            "file /a 644 0 0 \"x \\\"y\"",
            "a",
            add(0o644, 0, 0, file("x \"y")),
        ),
        ("file /a 644 0 0 x\r", "a", add(0o644, 0, 0, file("x"))),
        (
            "slink /a 0777 0 0 ../to here",
            "a",
            add(0o777, 0, 0, slink("../to here")),
        ),
        (
            "nod /a 600 0 0 C 5 1",
            "a",
            add(0o600, 0, 0, PackObject::CharDevice { major, minor }),
        ),
        (
            "nod /a 600 0 0 b 5 1",
            "a",
            add(0o600, 0, 0, PackObject::BlockDevice { major, minor }),
        ),
        ("pipe /a 600 0 0", "a", add(0o600, 0, 0, PackObject::Fifo)),
        (
            "sock\t/a\t600\t0\t0",
            "a",
            add(0o600, 0, 0, PackObject::Socket),
        ),
        (
            "link /a 0 0 0 //b/./c",
            "a",
            PackAction::Link {
                target: b"b/c".into(),
            },
        ),
        (
            "pipe \"/a b\\\\\\\"\\c\" 1 2 3",
            "a b\\\"\\c",
            add(1, 2, 3, PackObject::Fifo),
        ),
        ("pipe ./a//b/. 1 2 3", "a/b", add(1, 2, 3, PackObject::Fifo)),
    ];
    for (line, path, action) in cases {
        let entry = parsed(line).unwrap();
        assert_eq!(
            (entry.path.as_slice(), entry.action),
            (path.as_bytes(), action),
            "{line}"
        );
    }
}

#[test]
fn globs_have_options() {
    let plain = PackGlob {
        mode: None,
        uid: None,
        gid: None,
        types: Vec::new(),
        one_file_system: false,
        keep_time: false,
        recursive: true,
        pattern: None,
        location: None,
    };
    let cases = [
        ("glob / * * *", plain.clone()),
        (
            "glob /a 755 1 2 -type d -type F -xdev -keeptime -nonrecursive -name '* x' some where",
            PackGlob {
                mode: Some(0o755),
                uid: Some(1),
                gid: Some(2),
                types: b"df".into(),
                one_file_system: true,
                keep_time: true,
                recursive: false,
                pattern: Some(PackPattern::Name(b"* x".into())),
                location: Some("some where".into()),
            },
        ),
        (
            "glob / * * 3 -mount -keep-time -name a -path \"b/*\" -- -c",
            PackGlob {
                gid: Some(3),
                one_file_system: true,
                keep_time: true,
                pattern: Some(PackPattern::Path(b"b/*".into())),
                location: Some("-c".into()),
                ..plain
            },
        ),
    ];
    for (line, glob) in cases {
        assert_eq!(
            parsed(line).unwrap().action,
            PackAction::Glob(glob),
            "{line}"
        );
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let cases = [
        (
            "\n# c\nfifo /a 1 2 3",
            "`x` line 3, column 1: found `fifo`, expected dir, file",
        ),
        (
            "dir",
            "`x` line 1, column 4: found the end of the line, expected a path",
        ),
        (
            "dir ../a 1 2 3",
            "`x` line 1, column 5: found `../a`, expected a path",
        ),
        (
            "file / 1 2 3",
            "`x` line 1, column 6: found `/`, expected a path other",
        ),
        (
            "dir \"/a",
            "`x` line 1, column 5: found `\\\"/a`, expected a second",
        ),
        (
            "dir \"/a\"b 1 2 3",
            "`x` line 1, column 5: found `\\\"/a\\\"b 1 2 3`, expected a sec",
        ),
        (
            "dir /a 8 2 3",
            "`x` line 1, column 8: found `8`, expected a mode",
        ),
        (
            "dir /a * 2 3",
            "`x` line 1, column 8: found `*`, expected a mode",
        ),
        (
            "dir /a 7 root 3",
            "`x` line 1, column 10: found `root`, expected a number",
        ),
        (
            "dir /a 7 1",
            "`x` line 1, column 11: found the end of the line, expected a num",
        ),
        (
            "dir /a 7 1 2 x",
            "`x` line 1, column 14: found `x`, expected the end",
        ),
        (
            "slink /a 7 1 2",
            "`x` line 1, column 15: found the end of the line, expected a t",
        ),
        (
            "link /a 7 1 2 /",
            "`x` line 1, column 15: found `/`, expected the path",
        ),
    ];
    assert_told(&cases);
}

#[test]
fn what_is_wrong_of_devices_and_globs_is_told_with_its_place() {
    let cases = [
        (
            "nod /a 7 1 2 x 1 2",
            "`x` line 1, column 14: found `x`, expected `b`",
        ),
        (
            "nod /a 7 1 2 c 4096 2",
            "`x` line 1, column 16: found `4096`, expected a major",
        ),
        (
            "nod /a 7 1 2 c 4 2 1",
            "`x` line 1, column 20: found `1`, expected the end",
        ),
        (
            "glob /a * * * -type x",
            "`x` line 1, column 21: found `x`, expected a type",
        ),
        (
            "glob /a * * * -name",
            "`x` line 1, column 20: found the end of the line, expe",
        ),
        (
            "glob /a * * * -o",
            "`x` line 1, column 15: found `-o`, expected -type",
        ),
        (
            "glob /a * x *",
            "`x` line 1, column 11: found `x`, expected a number",
        ),
        (
            "dir /a\0 1 2 3",
            "`x` line 1, column 1: found `dir /a\\x00 1 2 3`, expected a",
        ),
    ];
    assert_told(&cases);
}

fn assert_told(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        let error = parsed(line).unwrap_err();
        assert!(error.starts_with(expected), "{line}: {error}");
    }
}

proptest! {
    #[test]
    fn any_bytes_give_entries_or_an_error(bytes: Vec<u8>) {
        let _ = PackFile::parse(&bytes, Path::new("x"), "/".into());
    }

    #[test]
    fn nearly_right_lines_give_entries_or_errors(
        line in "(dir|file|slink|link|nod|pipe|sock|glob) [\"/a\\\\ .]{0,6} [0-9* ]{0,8} [-a-z\"' *]{0,20}"
    ) {
        let _ = PackFile::parse(line.as_bytes(), Path::new("x"), "/".into());
    }
}
