//! What goes into an image, from trees on disk.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use coldpress_layout::NodeId;
use coldpress_writer::{
    Exclusions, Input, Matching, Rules, Selection, Source, SourceOptions, gather,
};

/// A directory with these files; paths that end with a slash are directories.
fn tree(paths: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for path in paths {
        let place = directory.path().join(path);
        if path.ends_with('/') {
            fs::create_dir_all(place).unwrap();
        } else {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, path).unwrap();
        }
    }
    directory
}

/// The paths that a selection leaves, in order; directories end with a slash.
fn select(inputs: &[Input], selection: Selection) -> Vec<String> {
    let options = SourceOptions {
        selection,
        ..SourceOptions::default()
    };
    let source = gather(inputs, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(source.warnings, []);
    let mut paths = Vec::new();
    walk(&source, NodeId::ROOT, "", &mut paths);
    paths
}

fn walk(source: &Source, directory: NodeId, above: &str, paths: &mut Vec<String>) {
    for (name, node) in source.tree.entries(directory) {
        let path = format!("{above}{}", String::from_utf8_lossy(name));
        if source.tree.is_directory(*node) {
            paths.push(format!("{path}/"));
            walk(source, *node, &format!("{path}/"), paths);
        } else {
            paths.push(path);
        }
    }
}

fn directory(tree: &tempfile::TempDir) -> [Input; 1] {
    [Input::Directory(tree.path().to_path_buf())]
}

fn rules(text: &str) -> Rules {
    let mut rules = Rules::default();
    rules.add_file(text.as_bytes()).unwrap();
    rules
}

#[test]
fn patterns_leave_out_and_keep_as_documented() {
    let tree = tree(&[
        "a.o",
        "src/a.c",
        "src/a.o",
        "src/keep.o",
        "doc/x/copyright",
        "doc/x/readme",
        "doc/y/readme",
        "empty/",
    ]);
    let all = [
        "a.o",
        "doc/",
        "doc/x/",
        "doc/x/copyright",
        "doc/x/readme",
        "doc/y/",
        "doc/y/readme",
        "empty/",
        "src/",
        "src/a.c",
        "src/a.o",
        "src/keep.o",
    ];
    // Excluded, included, gone.
    let cases: &[(&str, &str, &[&str])] = &[
        ("", "", &[]),
        ("*.o", "", &["a.o", "src/a.o", "src/keep.o"]),
        ("*.o\n!keep.o", "", &["a.o", "src/a.o"]),
        ("*.o", "keep.o", &["a.o", "src/a.o"]),
        ("/*.o", "", &["a.o"]),
        (
            "/doc",
            "",
            &[
                "doc/",
                "doc/x/",
                "doc/x/copyright",
                "doc/x/readme",
                "doc/y/",
                "doc/y/readme",
            ],
        ),
        (
            "/doc",
            "copyright",
            &["doc/x/readme", "doc/y/", "doc/y/readme"],
        ),
        ("/doc", "/doc/x", &["doc/y/", "doc/y/readme"]),
        ("/doc", "/doc/x/", &["doc/y/", "doc/y/readme"]),
        (
            "/doc\nreadme",
            "/doc/x",
            &["doc/x/readme", "doc/y/", "doc/y/readme"],
        ),
        (
            "/doc",
            "/doc/z",
            &[
                "doc/",
                "doc/x/",
                "doc/x/copyright",
                "doc/x/readme",
                "doc/y/",
                "doc/y/readme",
            ],
        ),
        (
            "*",
            "/src/**",
            &[
                "a.o",
                "doc/",
                "doc/x/",
                "doc/x/copyright",
                "doc/x/readme",
                "doc/y/",
                "doc/y/readme",
                "empty/",
            ],
        ),
    ];
    for &(exclude, include, gone) in cases {
        let selection = Selection {
            exclude: rules(exclude),
            include: rules(include),
            ..Selection::default()
        };
        let expected: Vec<_> = all.iter().filter(|path| !gone.contains(path)).collect();
        let found = select(&directory(&tree), selection);
        assert_eq!(
            found.iter().collect::<Vec<_>>(),
            expected,
            "{exclude:?} {include:?}"
        );
    }
}

#[test]
fn ignore_files_hold_for_their_directory_and_below() {
    let tree = tree(&["a/x", "a/y", "a/b/x", "a/b/y", "x", "z/x"]);
    fs::write(tree.path().join(".ignore"), "/x\n").unwrap();
    fs::write(tree.path().join("a/.ignore"), "x\n!/y\n").unwrap();
    fs::write(tree.path().join("a/b/.ignore"), "!x\n").unwrap();
    let selection = |exclude| Selection {
        exclude: rules(exclude),
        ignore_files: vec![b".ignore".to_vec()],
        ..Selection::default()
    };
    assert_eq!(
        select(&directory(&tree), selection("")),
        [
            ".ignore",
            "a/",
            "a/.ignore",
            "a/b/",
            "a/b/.ignore",
            "a/b/x",
            "a/b/y",
            "a/y",
            "z/",
            "z/x"
        ]
    );
    // What is asked for beats what lies in the tree.
    assert_eq!(
        select(&directory(&tree), selection("y\n.ignore\nb\n!/x")),
        ["a/", "x", "z/", "z/x"]
    );
}

#[test]
fn depth_is_counted_from_the_root_of_the_image() {
    let tree = tree(&["a/b/c", "a/d", "e"]);
    let entry = [Input::Entry {
        path: tree.path().to_path_buf(),
        name: b"top".to_vec(),
    }];
    for (max_depth, expected) in [
        (0, &[][..]),
        (1, &["a/", "e"]),
        (2, &["a/", "a/b/", "a/d", "e"]),
        (3, &["a/", "a/b/", "a/b/c", "a/d", "e"]),
    ] {
        let selection = || Selection {
            max_depth: Some(max_depth),
            ..Selection::default()
        };
        assert_eq!(select(&directory(&tree), selection()), expected);
        if max_depth == 2 {
            assert_eq!(select(&entry, selection()), ["top/", "top/a/", "top/e"]);
        }
    }
}

#[test]
fn excluded_paths_take_their_other_names_along() {
    let tree = tree(&["a/f", "b/g", "c"]);
    fs::hard_link(tree.path().join("a/f"), tree.path().join("b/f")).unwrap();
    let sources = [tree.path().to_path_buf()];
    let absolute = tree.path().join("c");
    let paths = [
        b"a/f".to_vec(),
        absolute.into_os_string().into_encoded_bytes(),
    ];
    let (exclusions, failures) = Exclusions::by_path(&sources, &paths);
    assert!(failures.is_empty());
    let selection = Selection {
        exclusions,
        ..Selection::default()
    };
    assert_eq!(select(&directory(&tree), selection), ["a/", "b/", "b/g"]);
    let (exclusions, failures) = Exclusions::by_path(&sources, &["/nowhere/at/all", "nowhere"]);
    assert!(exclusions.is_empty());
    let failed: Vec<_> = failures.iter().map(|(path, _)| path.as_path()).collect();
    assert_eq!(failed, [Path::new("/nowhere/at/all")]);
}

#[test]
fn several_sources_are_matched_with_their_names_in_the_image() {
    let tree = tree(&["one/a/b", "two/a/b", "two/c"]);
    let input = |name: &str| Input::Entry {
        path: tree.path().join(name),
        name: name.as_bytes().to_vec(),
    };
    let inputs = [input("one"), input("two")];
    for (patterns, expected) in [
        (
            &["one/a"][..],
            &["one/", "two/", "two/a/", "two/a/b", "two/c"][..],
        ),
        (
            &["a"],
            &[
                "one/", "one/a/", "one/a/b", "two/", "two/a/", "two/a/b", "two/c",
            ],
        ),
        (&["... b", "two/c"], &["one/", "one/a/", "two/", "two/a/"]),
        (&["two"], &["one/", "one/a/", "one/a/b"]),
    ] {
        let exclusions = Exclusions::by_pattern(patterns, Matching::Wildcards).unwrap();
        let selection = Selection {
            exclusions,
            ..Selection::default()
        };
        assert_eq!(select(&inputs, selection), expected, "{patterns:?}");
    }
}

#[test]
fn nothing_is_told_of_what_is_excluded() {
    let tree = tree(&["fine", "old"]);
    // A time that the format does not hold is a warning otherwise.
    let old = UNIX_EPOCH - Duration::from_secs(1000);
    let file = File::open(tree.path().join("old")).unwrap();
    file.set_modified(old).unwrap();
    let selection = Selection {
        exclude: rules("old"),
        ..Selection::default()
    };
    assert_eq!(select(&directory(&tree), selection), ["fine"]);
}
