use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Instant;

use coldpress_trace::{Access, Event};

use super::super::directory_index::DirectoryIndex;
use super::*;

/// A directory with links of every kind, which is the root of whoever walks.
fn write(root: &Path) {
    for directory in ["usr/lib", "usr/bin", "home/a b"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join("usr/lib/libc.so"), "x").unwrap();
    fs::write(root.join("usr/bin/sh"), "x").unwrap();
    symlink("usr/lib", root.join("lib")).unwrap();
    symlink("/usr/bin", root.join("bin")).unwrap();
    symlink("../../bin/sh", root.join("home/a b/shell")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("/nowhere", root.join("broken")).unwrap();
}

fn open_place(path: &Path) -> OwnedFd {
    openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// What is noted of a walk, and whether it has an end.
fn walked(root: &Path, from: &str, path: &str, is_followed: bool) -> (Vec<String>, bool) {
    let mut notes = Notes::new(DirectoryIndex::new(root).unwrap());
    notes.begin(&[]);
    let start = Start {
        root: open_place(root),
        directory: (!from.is_empty()).then(|| open_place(&root.join(from))),
    };
    let moment = Moment {
        thread: 1,
        at: Instant::now(),
    };
    let end = walk(&start, path.as_bytes(), is_followed, moment, &mut notes);
    let events = notes.end().unwrap().events;
    (events.iter().map(spelled).collect(), end.is_some())
}

fn spelled(event: &Event) -> String {
    let kind = match event.access {
        Access::Lookup => 'L',
        Access::List => 'D',
        _ => '?',
    };
    format!("{kind} {}", String::from_utf8_lossy(&event.path))
}

#[test]
fn everything_on_the_way_is_noted_once_in_order() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let cases: [(&str, &str, bool, &[&str], bool); 12] = [
        ("", "/", true, &[], true),
        (
            "",
            "/usr//./bin/",
            true,
            &["D /", "L /usr", "D /usr", "L /usr/bin"],
            true,
        ),
        (
            "",
            "/lib/libc.so",
            true,
            &[
                "D /",
                "L /lib",
                "L /usr",
                "D /usr",
                "L /usr/lib",
                "D /usr/lib",
                "L /usr/lib/libc.so",
            ],
            true,
        ),
        ("", "/lib", false, &["D /", "L /lib"], true),
        (
            "",
            "/lib/",
            false,
            &["D /", "L /lib", "L /usr", "D /usr", "L /usr/lib"],
            true,
        ),
        // A name that is not there is searched, and the walk ends.
        ("", "/usr/none/x", true, &["D /", "L /usr", "D /usr"], false),
        ("", "/broken", true, &["D /", "L /broken"], false),
        ("", "/loop", true, &["D /", "L /loop"], false),
        (
            "",
            "/usr/bin/sh/x",
            true,
            &[
                "D /",
                "L /usr",
                "D /usr",
                "L /usr/bin",
                "D /usr/bin",
                "L /usr/bin/sh",
            ],
            false,
        ),
        // Nothing is above the root.
        ("", "/../../usr", true, &["D /", "L /usr"], true),
        ("usr/lib", "../bin", true, &["D /usr", "L /usr/bin"], true),
        (
            "home",
            "a b/shell",
            true,
            &[
                "D /home",
                "L /home/a b",
                "D /home/a b",
                "L /home/a b/shell",
                "D /",
                "L /bin",
                "L /usr",
                "D /usr",
                "L /usr/bin",
                "D /usr/bin",
                "L /usr/bin/sh",
            ],
            true,
        ),
    ];
    for (from, path, is_followed, expected, has_end) in cases {
        let (noted, found) = walked(directory.path(), from, path, is_followed);
        assert_eq!(noted, expected, "{path} from {from}");
        assert_eq!(found, has_end, "{path} from {from}");
    }
}

#[test]
fn what_is_outside_is_walked_without_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("inside");
    fs::create_dir_all(inside.join("below/there")).unwrap();
    fs::write(inside.join("file"), "x").unwrap();
    symlink("inside", directory.path().join("link")).unwrap();
    let mut notes = Notes::new(DirectoryIndex::new(&inside).unwrap());
    notes.begin(&["/file", "/none", "/below/none", "/below/there"]);
    let start = Start {
        root: open_place(directory.path()),
        directory: None,
    };
    let moment = Moment {
        thread: 1,
        at: Instant::now(),
    };
    let path = b"/link/../link/file";
    assert!(walk(&start, path, true, moment, &mut notes).is_some());
    let events = notes.end().unwrap().events;
    let spelled: Vec<String> = events.iter().map(spelled).collect();
    assert_eq!(spelled, ["L /file", "L /below", "L /below/there", "D /"]);
}

#[test]
fn nothing_is_believed_that_stands_below_proc() {
    let directory = tempfile::tempdir().unwrap();
    let mut notes = Notes::new(DirectoryIndex::new(directory.path()).unwrap());
    let start = Start {
        root: open_place(Path::new("/")),
        directory: None,
    };
    let moment = Moment {
        thread: 1,
        at: Instant::now(),
    };
    for path in ["/proc/self/root/etc", "/proc/self/exe"] {
        assert!(walk(&start, path.as_bytes(), true, moment, &mut notes).is_none());
    }
}
