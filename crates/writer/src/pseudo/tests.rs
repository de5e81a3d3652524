//! Tables for every type and error of the language.

mod files;

use proptest::prelude::*;

use files::read;

use super::collect::collect;
use super::*;

/// A system that knows one user, one group and one date.
pub(super) const LOOKUP: Lookup = Lookup {
    user: |name| (name == b"ann").then_some(1000),
    group: |name| (name == b"staff").then_some(50),
    date: |date| (date == b"1 jan 1980").then_some(315_532_800),
};

fn parsed(line: &str) -> Result<Definition, Malformed> {
    let place = SourceLine::Argument { number: 1 };
    parse::definition(line.as_bytes(), &place, Some(0), &LOOKUP)
}

fn attributes(mode: u16, uid: u32, gid: u32, time_s: Option<u32>) -> Attributes {
    Attributes {
        mode,
        uid,
        gid,
        time_s,
    }
}

#[test]
fn each_type_that_adds_is_understood() {
    let plain = attributes(0o644, 1, 2, None);
    let timed = attributes(0o644, 1, 2, Some(9));
    let link = |target: &str| Object::Symlink {
        target: target.into(),
    };
    let command = |command: &str| Object::Command {
        command: command.into(),
    };
    let (major, minor) = (5, 70_000);
    let data = Object::Data {
        file: 0,
        offset_bytes: 4,
        len_bytes: 3,
        sparse: true,
    };
    let old_data = Object::Data {
        file: 0,
        offset_bytes: 4,
        len_bytes: 3,
        sparse: false,
    };
    let cases = [
        ("a R 9 644 1 2 3 4", timed, old_data),
        ("a d 644 1 2", plain, Object::Directory),
        ("a D 9 644 1 2", timed, Object::Directory),
        (
            "a b 644 1 2 5 70000",
            plain,
            Object::BlockDevice { major, minor },
        ),
        (
            "a B 9 644 1 2 5 70000",
            timed,
            Object::BlockDevice { major, minor },
        ),
        (
            "a c 644 1 2 5 70000",
            plain,
            Object::CharDevice { major, minor },
        ),
        (
            "a C 9 644 1 2 5 70000",
            timed,
            Object::CharDevice { major, minor },
        ),
        (
            "a f 644 1 2 echo \"a  b\" ",
            plain,
            command("echo \"a  b\" "),
        ),
        ("a F 9 644 1 2 id -u", timed, command("id -u")),
        ("a s 644 1 2 to \"here\\", plain, link("to \"here\\")),
        ("a S 9 644 1 2 t", timed, link("t")),
        ("a i 644 1 2 f", plain, Object::Fifo),
        ("a i 644 1 2 s", plain, Object::Socket),
        ("a I 9 644 1 2 s \t\r", timed, Object::Socket),
        ("a R 9 644 1 2 3 4 1", timed, data),
    ];
    for (line, attributes, object) in cases {
        let action = Action::Add { attributes, object };
        assert_eq!(parsed(line).unwrap().action, action, "{line}");
    }
}

#[test]
fn each_type_that_changes_or_links_is_understood() {
    let disk = |path: &str, follow| Action::Disk {
        path: path.into(),
        follow,
    };
    let cases = [
        (
            "a m 1777 0 4294967295",
            Action::Modify(attributes(0o1777, 0, u32::MAX, None)),
        ),
        (
            "a M 4294967295 0 0 0",
            Action::Modify(attributes(0, 0, 0, Some(u32::MAX))),
        ),
        ("a l ../x\\ y", disk("../x y", false)),
        ("a h \"/x y\"", disk("/x y", true)),
        (
            "a L /b//c/",
            Action::Link {
                target: b"b/c".into(),
            },
        ),
        (
            "a x user.a=b=c ",
            Action::Xattr {
                name: b"user.a".into(),
                value: b"b=c ".into(),
            },
        ),
        (
            "a x security.x=0x00",
            Action::Xattr {
                name: b"security.x".into(),
                value: b"\0".into(),
            },
        ),
    ];
    for (line, action) in cases {
        assert_eq!(parsed(line).unwrap().action, action, "{line}");
    }
}

#[test]
fn names_may_be_quoted_or_escaped() {
    let cases: [(&str, &[u8]); 9] = [
        ("a/b d 755 0 0", b"a/b"),
        (" \t//a///b/ d 755 0 0", b"a/b"),
        ("/ d 755 0 0", b""),
        ("\"a b\"/c\" d\" d 755 0 0", b"a b/c d"),
        ("a\\ b\\\\c\\\"d d 755 0 0", b"a b\\c\"d"),
        ("\"a\\\"b\" d 755 0 0", b"a\"b"),
        ("a\\101 d 755 0 0", b"a101"),
        ("a\\\tb d 755 0 0", b"a\tb"),
        ("# d 755 0 0", b"#"),
    ];
    for (line, path) in cases {
        assert_eq!(parsed(line).unwrap().path, path, "{line}");
    }
}

#[test]
fn owners_and_times_are_numbers_or_names() {
    let cases = [
        ("a D 5 755 ann staff", attributes(0o755, 1000, 50, Some(5))),
        (
            "a D 5 755 -1 -2147483647",
            attributes(0o755, u32::MAX, 2_147_483_649, Some(5)),
        ),
        (
            "a D 1\\ jan\\ 1980 755 0 0",
            attributes(0o755, 0, 0, Some(315_532_800)),
        ),
        (
            "a D \"1 jan 1980\" 755 0 0",
            attributes(0o755, 0, 0, Some(315_532_800)),
        ),
        ("a d 0000755 00 0", attributes(0o755, 0, 0, None)),
    ];
    for (line, expected) in cases {
        let Action::Add { attributes, .. } = parsed(line).unwrap().action else {
            panic!("{line}")
        };
        assert_eq!(attributes, expected, "{line}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_column() {
    let cases = [
        ("", 1, "the end of the line", "a path of"),
        ("a", 2, "the end of the line", "a type"),
        ("a dir 755 0 0", 3, "`dir`", "a type"),
        ("a b d 755 0 0", 5, "`d`", "a mode"),
        (
            "\"a b d 755 0 0",
            1,
            "`\\\"a b d 755 0 0`",
            "a second quotation mark",
        ),
        ("../a d 755 0 0", 1, "`../a`", "a path of"),
        ("a/./b d 755 0 0", 1, "`a/./b`", "a path of"),
        ("\"\" d 755 0 0", 1, "`\\\"\\\"`", "a path of"),
        ("a\0 d 755 0 0", 1, "`a\\x00`", "a path of"),
        ("a d", 4, "the end of the line", "a mode"),
        ("a d 758 0 0", 5, "`758`", "a mode"),
        ("a d u+x 0 0", 5, "`u+x`", "a mode"),
        ("a d 10000 0 0", 5, "`10000`", "a mode"),
        ("a d 755 4294967296 0", 9, "`4294967296`", "a user"),
        ("a d 755 bob 0", 9, "`bob`", "a user"),
        ("a d 755 -x 0", 9, "`-x`", "a user"),
        ("a d 755 0 wheel", 11, "`wheel`", "a group"),
        ("a d 755 0", 10, "the end of the line", "a group"),
        ("a d 755 0 0 0", 13, "`0`", "the end of the line"),
        ("a D 4294967296 755 0 0", 5, "`4294967296`", "a time"),
        ("a D tomorrow 755 0 0", 5, "`tomorrow`", "a time"),
        ("a b 644 0 0 4096 0", 13, "`4096`", "a major number"),
        ("a c 644 0 0 5", 14, "the end of the line", "a minor number"),
        ("a c 644 0 0 5 1048576", 15, "`1048576`", "a minor number"),
        ("a i 644 0 0 p", 13, "`p`", "`f` for a named pipe"),
        ("a f 644 0 0  ", 14, "the end of the line", "a command"),
        ("a f 644 0 0 a\0b", 13, "`a\\x00b`", "text without NUL"),
        ("a s 777 0 0", 12, "the end of the line", "the target"),
        ("a R 1 644 0 0 -1 0 0", 15, "`-1`", "a length"),
        ("a R 1 644 0 0 1 x 0", 17, "`x`", "an offset"),
        ("a R 1 644 0 0 1 0 2", 19, "`2`", "1 for a file with holes"),
        ("a x user.a", 5, "`user.a`", "NAME=VALUE"),
        ("a x system.a=1", 5, "`system.a=1`", "NAME=VALUE"),
        ("a x user.=1", 5, "`user.=1`", "NAME=VALUE"),
        ("a x user.a=", 12, "the end of the line", "a value"),
        ("a x user.a=0x1", 12, "`0x1`", "a value"),
        ("a L /", 5, "`/`", "the path of an earlier definition"),
        ("a l", 4, "the end of the line", "the path of a file"),
    ];
    for (line, column, found, expected) in cases {
        let error = parsed(line).unwrap_err();
        let start = format!("definition 1, column {column}: found {found}, expected {expected}");
        assert!(error.to_string().starts_with(&start), "{line}: {error}");
    }
    let long = format!("a s 777 0 0 {}", "x".repeat(4096));
    let error = parsed(&long).unwrap_err().to_string();
    assert!(
        error.contains("xxx...`, expected a target of at most 4095"),
        "{error}"
    );
}

#[test]
fn a_default_directory_has_no_name() {
    let read = |text: &str| parse_directory(text.as_bytes(), &LOOKUP);
    assert_eq!(read("d 700 1 2").unwrap(), attributes(0o700, 1, 2, None));
    assert_eq!(
        read("D 3 700 1 2").unwrap(),
        attributes(0o700, 1, 2, Some(3))
    );
    for text in ["", "m 700 1 2", "a d 700 1 2", "d 700 1", "d 700 1 2 3"] {
        assert!(read(text).is_err(), "{text}");
    }
}

/// The paths that count with the number of the definition that does, and why others do not.
fn collected(lines: &[&str]) -> (Vec<String>, Vec<String>) {
    let definitions: Vec<Definition> = (lines.iter()).map(|line| parsed(line).unwrap()).collect();
    let entries = collect(&definitions).unwrap();
    let paths = entries.list.iter().filter_map(|entry| {
        let definition = entry.definition?;
        Some(format!("{}={definition}", entry.name.escape_ascii()))
    });
    let warnings = entries.warnings.iter().map(ToString::to_string);
    (paths.collect(), warnings.collect())
}

#[test]
fn the_first_definition_of_a_path_counts() {
    let cases: [(&[&str], &[&str], &str); 8] = [
        (&["a d 755 0 0", "a/b d 755 0 0"], &["a=0", "b=1"], ""),
        (&["a/b d 755 0 0", "a d 755 0 0"], &["a=1", "b=0"], ""),
        (&["a/b d 755 0 0", "a M 1 755 0 0"], &["a=1", "b=0"], ""),
        (&["a d 755 0 0", "a d 755 0 0"], &["a=0"], "says the same"),
        (&["a d 755 0 0", "a d 755 0 1"], &["a=0"], "path counts"),
        (
            &["a i 644 0 0 s", "a/b d 755 0 0"],
            &["a=0"],
            "something else",
        ),
        (
            &["a/b d 755 0 0", "a i 644 0 0 s"],
            &["b=0"],
            "need a directory",
        ),
        (
            &["/ d 755 0 0", "/ m 755 0 0", "/ D 1 755 0 0"],
            &["=2"],
            "root is",
        ),
    ];
    for (lines, paths, warning) in cases {
        let (found, warnings) = collected(lines);
        assert_eq!(found, paths, "{lines:?}");
        assert_eq!(warnings.is_empty(), warning.is_empty(), "{warnings:?}");
        let all = warnings.join("\n");
        assert!(all.contains(warning), "{lines:?}: {all}");
    }
}

#[test]
fn links_name_earlier_definitions() {
    let lines = ["a i 644 0 0 s", "b L a", "c L b", "d x user.a=1"];
    assert_eq!(collected(&lines).0, ["a=0", "b=0", "c=0"]);
    for lines in [
        &["b L a", "a i 644 0 0 s"][..],
        &["a d 755 0 0", "b L a"],
        &["a m 755 0 0", "b L a"],
        &["a/c i 644 0 0 s", "b L a"],
        &["a x user.a=1", "b L a"],
    ] {
        let definitions: Vec<Definition> =
            (lines.iter()).map(|line| parsed(line).unwrap()).collect();
        let error = collect(&definitions).unwrap_err().to_string();
        assert!(
            error.starts_with("definition 1: `a` cannot be linked"),
            "{error}"
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_give_a_definition_or_an_error(line: Vec<u8>) {
        let place = SourceLine::Argument { number: 1 };
        let _ = parse::definition(&line, &place, Some(0), &LOOKUP);
        let _ = parse_directory(&line, &LOOKUP);
        let _ = read(&line);
    }

    #[test]
    fn nearly_right_lines_give_definitions_or_errors(
        line in "[\"\\\\a/. ]{0,4} [dmbcfsixhlLDMBCFSIR] [0-9x=\"\\\\ .a-]{0,20}\n?.{0,5}"
    ) {
        if let Ok(pseudo) = read(line.as_bytes()) {
            let _ = collect(&pseudo.definitions);
        }
    }
}
