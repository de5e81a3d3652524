//! Lines that are no lines of a profile, and profiles that cannot be lines.

use std::collections::BTreeMap;
use std::io;

use super::*;
use crate::event::Access;
use crate::header::Header;
use crate::path_text::LINE_BYTES_MAX;
use crate::profile::FileIdentity;

#[test]
fn every_broken_line_is_reported_with_its_number_and_what_belongs_there() {
    let cases: &[(&str, &str)] = &[
        ("", "line 1: found ``, expected `coldpress-profile 1`"),
        ("coldpress-trace 1\n", "line 1: found `coldpress-trace 1`"),
        ("coldpress-profile 1\n", "line 2: second line is ``"),
        ("coldpress-profile 1\nL /\n", "line 2: second line is `L /`"),
        (
            "coldpress-profile 1\n# recordings: 2",
            "line 2: has no newline",
        ),
        (
            "coldpress-profile 1\n# recordings: 0\n",
            "second line is `# recordings: 0`",
        ),
        (
            "coldpress-profile 1\n# recordings: 4294967296\n",
            "from 1 to 4294967295",
        ),
        (
            "coldpress-profile 1\n# recordings: 02\n",
            "recordings is `02`",
        ),
    ];
    let below: &[(&str, &str)] = &[
        ("\n", "line 3: kind is ``, expected R, L, D or file"),
        ("L /", "line 3: has no newline"),
        ("M 1 /\n", "kind is `M`"),
        ("L usr\n", "path, byte 0 of the text: a path begins with"),
        ("L * /\n", "count is ``, expected a number from 1 to"),
        ("L *0 /\n", "count is `0`"),
        ("L *6 /\n", "count is `6`"),
        ("D *01 /\n", "count is `01`"),
        ("R /\n", "path, byte 0"),
        ("R  /\n", "pages is ``"),
        ("R 1, /\n", "pages is ``, expected PAGE or FIRST-LAST"),
        ("R 1? ?\n", "path, byte 0"),
        ("R 1?? /\n", "pages is `1?`"),
        ("R 1*2? /\n", "count is `2?`"),
        ("R 3-2 /\n", "pages are 3-2, expected first not above last"),
        ("R 4503599627370496 /\n", "both below 4503599627370496"),
        (
            "R 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 /\n",
            "more than 16 runs",
        ),
        ("file /\n", "size is `/`"),
        ("file 1 /\n", "hash is `/`"),
        ("file 1 00 /\n", "hash is `00`"),
        (
            "file 1 000102030405060708090a0b0c0d0e0F /\n",
            "digits in lower case",
        ),
        ("file 1 - a\n", "path, byte 0"),
        ("file 1 - /b\nfile 1 - /a\n", "line 4: a path not above"),
        ("file 1 - /b\nfile 1 - /b\n", "line 4: a path not above"),
        ("file 1 - /b\nL /\n", "line 4: a step after a file line"),
        ("L /\n# a: b\n", "line 4: a header line after other lines"),
        (
            "file 1 - /b\n# a: b\n",
            "line 4: a header line after other lines",
        ),
        ("# A: b\n", "line 3: key is `A`"),
    ];
    let begun = |rest| format!("coldpress-profile 1\n# recordings: 5\n{rest}");
    let cases = cases
        .iter()
        .map(|&(text, message)| (text.to_owned(), message));
    let below = below.iter().map(|&(rest, message)| (begun(rest), message));
    for (text, message) in cases.chain(below) {
        let error = Profile::parse(text.as_bytes())
            .expect_err(message)
            .to_string();
        assert!(error.contains(message), "{error}\nlacks {message}");
    }
}

fn step(access: Access, recordings: u32, path: &[u8]) -> Profile {
    Profile {
        recordings: 2,
        steps: vec![Step {
            access,
            recordings,
            path: path.to_vec(),
        }],
        ..Profile::default()
    }
}

#[test]
fn a_profile_that_could_not_be_read_back_is_not_written() {
    let (first_page, last_page) = (2, 1);
    let field = |key: &str| Profile {
        recordings: 1,
        header: Header {
            fields: vec![(key.to_owned(), String::new())],
        },
        ..Profile::default()
    };
    let file = FileIdentity {
        size_bytes: 0,
        hash: None,
    };
    let files = BTreeMap::from([(b"a".to_vec(), file)]);
    let cases = [
        (
            Profile::default(),
            "line 2: second line is `# recordings: 0`",
        ),
        (field("a: b"), "line 3: key is `a: b`"),
        (step(Access::Lookup, 1, b"a"), "line 3: path, byte 0"),
        (step(Access::Lookup, 0, b"/"), "count is `0`"),
        (step(Access::List, 3, b"/"), "count is `3`"),
        (
            step(
                Access::Read {
                    first_page,
                    last_page,
                },
                2,
                b"/",
            ),
            "pages are 2-1",
        ),
        (
            step(Access::Lookup, 2, &vec![b'/'; LINE_BYTES_MAX]),
            "has 65538 bytes",
        ),
        (
            Profile {
                recordings: 1,
                files,
                ..Profile::default()
            },
            "line 3: path, byte 0",
        ),
    ];
    for (profile, message) in cases {
        let error = profile.write(&mut Vec::new()).expect_err(message);
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        let error = error.to_string();
        assert!(error.contains(message), "{error}\nlacks {message}");
    }
}

#[test]
fn long_runs_of_steps_take_several_lines() {
    let at = |page: u64| Step {
        access: Access::Read {
            first_page: page * 2,
            last_page: page * 2,
        },
        recordings: 1,
        path: b"/a".to_vec(),
    };
    let profile = Profile {
        recordings: 1,
        steps: (0..20).map(at).collect(),
        ..Profile::default()
    };
    let mut text = Vec::new();
    profile.write(&mut text).expect("it can be read");
    let lines = "R 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30 /a\nR 32,34,36,38 /a\n";
    assert!(text.ends_with(lines.as_bytes()), "{}", text.escape_ascii());
    assert_eq!(Profile::parse(&text), Ok(profile));
}
