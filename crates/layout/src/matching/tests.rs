//! What releases do to paths.

use coldpress_trace::PAGE_SIZE_BYTES as PAGE;

use super::*;
use crate::tree::tests::tree;

/// A profile of two recordings.
fn profile(lines: &[&str]) -> Profile {
    let text = format!(
        "coldpress-profile 1\n# recordings: 2\n{}\n",
        lines.join("\n")
    );
    Profile::parse(text.as_bytes()).expect("it is a profile")
}

/// What of the paths became, and of the steps. All files of the tree have the hash of their name's
/// last byte, those without a name cannot be read.
fn found(files: &[(&str, u64)], lines: &[&str]) -> (Vec<String>, Vec<String>) {
    let tree = tree(files);
    let paths = tree.paths();
    let mut hashed = std::collections::BTreeSet::new();
    let matching = match_profile(&tree, &profile(lines), &mut |node| {
        assert!(hashed.insert(node), "each file is hashed once");
        Some([*paths[node.index()].last()?; 16])
    });
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("ASCII");
    let told = matching.paths.iter().filter_map(|matched| {
        let path = text(&matched.path);
        let stale = match matched.stale_pages {
            0 => String::new(),
            pages => format!(" -{pages}"),
        };
        match &matched.found {
            Some((How::Path, there)) => {
                assert_eq!(*there, matched.path);
                (!stale.is_empty()).then(|| format!("{path}{stale}"))
            }
            Some((how, there)) => Some(format!("{path} {how:?} {}{stale}", text(there))),
            None => Some(format!("{path} gone{stale}")),
        }
    });
    let mut written = Vec::new();
    matching
        .profile
        .write(&mut written)
        .expect("it can be read");
    let steps = text(&written);
    let steps = steps.lines().skip(2).map(str::to_owned);
    (told.collect(), steps.collect())
}

/// What, the tree, the profile, what is not found by path alone.
type Case<'a> = (&'a str, &'a [(&'a str, u64)], &'a [&'a str], &'a [&'a str]);

fn check(cases: &[Case<'_>]) {
    for (what, files, lines, expected) in cases {
        assert_eq!(found(files, lines).0, *expected, "{what}");
    }
}

#[test]
fn other_versions_stand_for_those_that_are_gone() {
    check(&[
        (
            "the same tree",
            &[("/usr/", 0), ("/usr/a", 9)],
            &["L /usr", "R 0 /usr/a"],
            &[],
        ),
        (
            "a library, its link among the candidates",
            &[("/l/", 0), ("/l/libz.so.1/", 0), ("/l/libz.so.1.3.1", 9)],
            &["R 0 /l/libz.so.1.2.13"],
            &["/l/libz.so.1.2.13 Name /l/libz.so.1.3.1"],
        ),
        (
            "a directory and what is below it",
            &[
                ("/l/", 0),
                ("/l/python3/", 0),
                ("/l/python3.12/", 0),
                ("/l/python3.12/json/", 0),
                ("/l/python3.12/json/__pycache__/", 0),
                ("/l/python3.12/json/__pycache__/a.cpython-312.pyc", 9),
                ("/l/python3.12/os.py", 9),
            ],
            &[
                "L /l/python3.11",
                "R 0 /l/python3.11/json/__pycache__/a.cpython-311.pyc",
                "R 0 /l/python3.11/os.py",
                "L /l/python3.11/asyncore.py",
            ],
            &[
                "/l/python3.11 Name /l/python3.12",
                "/l/python3.11/asyncore.py gone",
                "/l/python3.11/json/__pycache__/a.cpython-311.pyc Name \
                 /l/python3.12/json/__pycache__/a.cpython-312.pyc",
                "/l/python3.11/os.py Name /l/python3.12/os.py",
            ],
        ),
        (
            "two versions of a library: which one, nobody knows",
            &[
                ("/l/", 0),
                ("/l/libicu.so.72.1", 9),
                ("/l/libicu.so.74.2", 9),
            ],
            &["R 0-1 /l/libicu.so.70.0"],
            &["/l/libicu.so.70.0 gone -2"],
        ),
        (
            "two versions of a library, one of which stands for itself",
            &[
                ("/l/", 0),
                ("/l/libicu.so.72.1", 9),
                ("/l/libicu.so.74.2", 9),
            ],
            &["R 0 /l/libicu.so.70.0", "R 0 /l/libicu.so.72.1"],
            &["/l/libicu.so.70.0 Name /l/libicu.so.74.2"],
        ),
        (
            "two versions that become one: the first",
            &[("/l/", 0), ("/l/a-3", 9)],
            &["R 0 /l/a-1", "R 0 /l/a-2"],
            &["/l/a-1 Name /l/a-3", "/l/a-2 gone -1"],
        ),
    ]);
}

#[test]
fn what_moved_is_found_in_a_directory_of_the_same_name() {
    let package = |root: &str| ["", "/x", "/y"].map(|name| format!("{root}{name}/__init__.py"));
    let [here, x, y] = package("/srv/app");
    let moved = [
        ("/srv/", 0),
        ("/srv/app/", 0),
        (here.as_str(), 9),
        ("/srv/app/x/", 0),
        (x.as_str(), 9),
        ("/srv/app/y/", 0),
        (y.as_str(), 9),
    ];
    check(&[
        (
            "a moved tree",
            &moved,
            &[
                "L /opt/app",
                "R 0 /opt/app/__init__.py",
                "R 0 /opt/app/y/__init__.py",
                "R 0 /opt/app/x/__init__.py",
            ],
            &[
                "/opt/app gone",
                "/opt/app/__init__.py Name /srv/app/__init__.py",
                "/opt/app/x/__init__.py Name /srv/app/x/__init__.py",
                "/opt/app/y/__init__.py Name /srv/app/y/__init__.py",
            ],
        ),
        (
            "a package that is gone has no other one's files",
            &moved,
            &["R 0 /srv/app/z/__init__.py"],
            &["/srv/app/z/__init__.py gone -1"],
        ),
        (
            "the nearest of several",
            &[
                ("/usr/", 0),
                ("/usr/lib/", 0),
                ("/usr/lib/x86/", 0),
                ("/usr/lib/x86/libc.so.6", 9),
                ("/usr/lib/x86/a/", 0),
                ("/usr/lib/x86/a/x86/", 0),
                ("/usr/lib/x86/a/x86/libc.so.6", 9),
                ("/lib/", 0),
            ],
            &["R 0 /lib/x86/libc.so.6"],
            &["/lib/x86/libc.so.6 Name /usr/lib/x86/libc.so.6"],
        ),
        (
            "of two equally near none",
            &[
                ("/a/", 0),
                ("/a/d/", 0),
                ("/a/d/f", 9),
                ("/b/", 0),
                ("/b/d/", 0),
                ("/b/d/f", 9),
            ],
            &["R 0 /c/d/f"],
            &["/c/d/f gone -1"],
        ),
        (
            "a directory is no file",
            &[("/a/", 0), ("/a/d/", 0), ("/a/d/f/", 0)],
            &["R 0 /c/d/f", "R 0 /a/d"],
            &["/a/d gone -1", "/c/d/f gone -1"],
        ),
    ]);
}

#[test]
fn content_is_the_last_resort() {
    let hash = |byte: char| format!("{:02x}", u32::from(byte)).repeat(16);
    let (s, t) = (hash('s'), hash('t'));
    let known = [
        format!("file 9 {s} /gone1"),
        format!("file 9 {s} /gone2"),
        format!("file 9 {t} /gone3"),
        "file 9 - /gone4".to_owned(),
        format!("file 7 {s} /gone5"),
    ];
    let mut lines = vec![
        "R 0 /gone1",
        "R 0 /gone2",
        "R 0 /gone3",
        "R 0 /gone4",
        "R 0 /gone5",
    ];
    lines.extend(known.iter().map(String::as_str));
    check(&[
        (
            "the nearest of the same content, each once",
            &[("/d/", 0), ("/d/1s", 9), ("/2s", 9), ("/s", 8), ("/d/u", 9)],
            &lines,
            &[
                "/gone1 Content /2s",
                "/gone2 Content /d/1s",
                "/gone3 gone -1",
                "/gone4 gone -1",
                "/gone5 gone -1",
            ],
        ),
        (
            "what stands for itself is not looked at",
            &[("/gone4", 9), ("/t", 9)],
            &lines,
            &[
                "/gone1 gone -1",
                "/gone2 gone -1",
                "/gone3 Content /t",
                "/gone5 gone -1",
            ],
        ),
    ]);
}

#[test]
fn pages_behind_the_end_are_cut_off() {
    let files = [("/a", 2 * PAGE + 1), ("/b-2", 5), ("/empty", 0)];
    let lines = [
        "R 0,2-5?*1,9 /a",
        "L /b-1",
        "R 0-1 /b-1",
        "L *1 /c",
        "R 0 /empty",
        "D /d",
        "file 9 - /a",
    ];
    let (told, steps) = found(&files, &lines);
    let expected = [
        "/a -4",
        "/b-1 Name /b-2 -1",
        "/c gone",
        "/d gone",
        "/empty -1",
    ];
    assert_eq!(told, expected);
    assert_eq!(steps, ["R 0,2?*1 /a", "L /b-2", "R 0 /b-2", "L /empty"]);
}

#[test]
fn staleness_is_the_worse_share_of_paths_and_bytes() {
    let tree = tree(&[("/a", 3 * PAGE), ("/b", 1)]);
    let lines = [
        "L /b",
        "R 0-2,3? /a",
        "L /c",
        "L /b/x",
        "R 0-15 /z",
        "file 7 - /a",
    ];
    let matching = match_profile(&tree, &profile(&lines), &mut |_| None);
    let staleness = matching.staleness();
    let expected = Staleness {
        paths: 5,
        stale_paths: 4,
        bytes: 20 * PAGE,
        stale_bytes: 17 * PAGE,
    };
    assert_eq!(staleness, expected);
    assert!((staleness.percent() - 85.0).abs() < 1e-9);
    let stale: Vec<_> = matching
        .stale()
        .iter()
        .map(|it| it.path.as_slice())
        .collect();
    // `/b` is a file now, and something was in it.
    assert_eq!(stale, [&b"/z"[..], b"/a", b"/b", b"/b/x", b"/c"]);
    let resized: Vec<_> = matching.paths.iter().map(|it| it.is_resized).collect();
    assert_eq!(resized, [true, false, false, false, false]);
    let none = match_profile(&tree, &Profile::default(), &mut |_| None);
    assert!(none.staleness().percent().abs() < 1e-9);
}

#[test]
fn names_that_all_look_alike_take_no_time() {
    let directories: Vec<_> = (0..1500)
        .map(|number| format!("/{number:04}a/d/"))
        .collect();
    let names: Vec<_> = directories.iter().map(|path| format!("{path}f")).collect();
    let parents: Vec<_> = directories
        .iter()
        .map(|path| path.replace("d/", ""))
        .collect();
    let all = parents.iter().chain(&directories).chain(&names);
    let files: Vec<_> = all.map(|path| (path.as_str(), 0)).collect();
    let lines: Vec<_> = (0..1500)
        .map(|number| format!("L /x/{number}/d/f"))
        .collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    assert_eq!(found(&files, &lines).0.len(), 1500);
}

#[test]
fn what_cannot_be_both_is_a_file() {
    let files = [("/a", 0), ("/d/", 0)];
    let (told, steps) = found(&files, &["D /a", "R 0 /a", "R 0 /d", "D /d"]);
    assert_eq!(told, ["/a -1", "/d gone -1"]);
    assert_eq!(steps, ["L /a"]);
}
