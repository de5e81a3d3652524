//! What of a tree goes into an image, and with what metadata: mksquashfs and git are the judges.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use crate::run::{coldpress, command, done, program};
use crate::skip;

/// Names, chosen so that patterns match some of them.
const NAMES: [&str; 12] = [
    "a", "b", "ab", "abc", ".a", "a.gz", "b.gz", "data.gz", "Test", "test", "x[y", "a b",
];

/// Numbers that look random: the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// Fills a directory.
    fn fill(&mut self, directory: &Path, depth: usize) {
        for _ in 0..2 + self.below(6) {
            let path = directory.join(self.of(&NAMES));
            if path.exists() {
                continue;
            }
            if depth > 0 && self.below(2) == 0 {
                fs::create_dir(&path).unwrap();
                self.fill(&path, depth - 1);
            } else {
                fs::write(&path, "content").unwrap();
            }
        }
    }

    /// A component of a pattern.
    fn component(&mut self, flavor: Flavor) -> &'static str {
        self.of(match flavor {
            Flavor::Path => &NAMES,
            Flavor::Wildcards => &[
                "a",
                "*",
                "?",
                "*.gz",
                "[Tt]est",
                "!(*data*).gz",
                "@(a|b)",
                "+(a|b)",
                ".*",
                "*b*",
                "[!a]*",
                "*(a|bc)",
                "a?(bc)",
                "x[y",
                "x\\[y",
                "[[:upper:]]*",
                "a b",
                "!(a)",
            ],
            Flavor::Regex => &[
                "a",
                "^a$",
                "\\.gz$",
                "^[Tt]est$",
                "b+",
                "^.{1,2}$",
                "^(a|b)",
                "[[:upper:]]",
                "^\\.",
                "[.]gz",
                "a?b",
                "^[^a]*$",
                "x\\[y",
            ],
        })
    }

    fn pattern(&mut self, flavor: Flavor) -> String {
        // mksquashfs 4.5.1 takes `... a/b` for `... a`.
        if flavor != Flavor::Path && self.below(4) == 0 {
            return format!("... {}", self.component(flavor));
        }
        let components = 1 + self.below(3);
        let components: Vec<_> = (0..components).map(|_| self.component(flavor)).collect();
        components.join("/")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavor {
    Path,
    Wildcards,
    Regex,
}

/// All paths of an image.
fn paths(image: &Path) -> String {
    done([Path::new("ls"), Path::new("-R"), image]).text()
}

#[test]
fn mksquashfs_excludes_the_same_in_each_of_its_dialects() {
    if skip::without_peer("mksquashfs") {
        return;
    }
    let mut random = Random(7);
    let mut excluding = 0;
    for round in 0..45 {
        let flavor = [Flavor::Path, Flavor::Wildcards, Flavor::Regex][round % 3];
        let (flag, how) = match flavor {
            Flavor::Path => (None, "path"),
            Flavor::Wildcards => (Some("-wildcards"), "wildcards"),
            Flavor::Regex => (Some("-regex"), "regex"),
        };
        let work = tempfile::tempdir().unwrap();
        let at = |name: &str| work.path().join(name);
        let sources: Vec<_> = (0..=round % 2).map(|n| at(["one", "two"][n])).collect();
        for source in &sources {
            fs::create_dir(source).unwrap();
            random.fill(source, 3);
        }
        let lists: usize = 1 + random.below(3);
        let mut patterns: Vec<_> = (0..lists).map(|_| random.pattern(flavor)).collect();
        if sources.len() > 1 && flavor != Flavor::Path {
            patterns = patterns
                .iter()
                .map(|it| anchored(it, &mut random))
                .collect();
        }
        let list = format!("# a comment\n\n{}\n", patterns.join("\n  "));
        fs::write(at("list"), list).unwrap();
        let mut peer = Command::new("mksquashfs");
        peer.args(&sources).arg(at("theirs")).args(flag);
        peer.args(["-quiet", "-no-progress", "-ef"]).arg(at("list"));
        program(&mut peer);
        let mut ours = vec![PathBuf::from("-q"), "build".into()];
        ours.extend(sources.iter().cloned());
        ours.extend([at("ours"), "--exclude-syntax".into(), how.into()]);
        ours.extend(["--exclude-from".into(), at("list")]);
        done(ours);
        let found = paths(&at("ours"));
        assert_eq!(found, paths(&at("theirs")), "{flavor:?} {patterns:?}");
        let whole: Vec<_> = [PathBuf::from("-q"), "build".into()].into();
        let whole = whole.into_iter().chain(sources.iter().cloned());
        done(whole.chain([at("whole")]));
        excluding += usize::from(found != paths(&at("whole")));
    }
    assert!(excluding > 20, "only {excluding} lists excluded anything");
}

/// The pattern below the name of a source.
fn anchored(pattern: &str, random: &mut Random) -> String {
    if pattern.starts_with("... ") {
        return pattern.to_owned();
    }
    format!("{}/{pattern}", random.of(&["one", "two", "t"]))
}

#[test]
fn ignore_files_leave_the_files_that_git_leaves() {
    if skip::without_peer("git") {
        return;
    }
    let mut random = Random(11);
    for _ in 0..12 {
        let work = tempfile::tempdir().unwrap();
        let tree = work.path().join("tree");
        fs::create_dir(&tree).unwrap();
        random.fill(&tree, 3);
        let below: Vec<_> = fs::read_dir(&tree)
            .unwrap()
            .map(|it| it.unwrap().path())
            .collect();
        let mut places: Vec<_> = below.into_iter().filter(|path| path.is_dir()).collect();
        places.sort();
        places.truncate(1);
        places.push(tree.clone());
        for place in &places {
            let line = |_| {
                random.of(&[
                    "a", "/a", "b/", "*.gz", "!data.gz", "test/**", "**/b", "Test/a", "!ab", "?",
                    "[!a]*", "a\\ b", "abc ", "#a", "/*/b", "a/**/b", "x\\[y", "x[y", "/**/ab",
                ])
            };
            let text: Vec<_> = (0..4).map(line).collect();
            fs::write(place.join(".gitignore"), text.join("\n")).unwrap();
        }
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.arg("-C").arg(&tree).args(args);
            git.env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_SYSTEM", "/dev/null");
            program(&mut git).text()
        };
        git(&["init", "-q"]);
        let expected = git(&["ls-files", "-z", "--others", "--exclude-standard"]);
        let mut expected: Vec<_> = expected
            .split_terminator('\0')
            .map(|it| format!("/{it}"))
            .collect();
        expected.sort();
        let image = work.path().join("image");
        let mut build = vec![
            PathBuf::from("-q"),
            "build".into(),
            tree.clone(),
            image.clone(),
        ];
        build.extend(["--ignore-file", ".gitignore", "--exclude", "/.git"].map(PathBuf::from));
        done(build);
        let mut found = files(&image, work.path());
        found.sort();
        let texts = places
            .iter()
            .map(|it| fs::read_to_string(it.join(".gitignore")).unwrap());
        assert_eq!(
            found,
            expected,
            "{places:?} {:?}",
            texts.collect::<Vec<_>>()
        );
    }
}

/// The paths of an image that are no directories.
fn files(image: &Path, work: &Path) -> Vec<String> {
    let extracted = work.join("extracted");
    done([Path::new("-q"), Path::new("extract"), image, &extracted]);
    let listed = paths(image);
    let is_file = |path: &&str| !extracted.join(&path[1..]).is_dir();
    let listed = listed.lines().map(|path| {
        if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        }
    });
    listed.filter(|path| is_file(&path.as_str())).collect()
}

#[test]
fn mksquashfs_gives_the_same_owners_modes_and_times() {
    if skip::without_peer("mksquashfs") || skip::without_peer("unsquashfs") {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let at = |name: &str| work.path().join(name);
    fs::create_dir_all(at("tree/d")).unwrap();
    fs::write(at("tree/d/f"), "content").unwrap();
    for (path, time_s) in [("tree/d/f", 200), ("tree/d", 300), ("tree", 100)] {
        let time = UNIX_EPOCH + Duration::from_secs(time_s);
        File::open(at(path)).unwrap().set_modified(time).unwrap();
    }
    let cases: &[(&[&str], &[&str], Option<&str>)] = &[
        (&["-all-root"], &["--all-root"], None),
        (
            &["-force-uid", "7", "-force-gid", "daemon"],
            &["--uid", "7", "--gid", "daemon"],
            None,
        ),
        (
            &["-force-uid", "7", "-root-uid", "9", "-root-gid", "1"],
            &["--uid", "7", "--root-uid", "9", "--root-gid", "1"],
            None,
        ),
        (&["-root-mode", "1751"], &["--root-mode", "1751"], None),
        (&["-root-time", "55"], &["--root-time", "55"], None),
        (&["-all-time", "55"], &["--inode-time", "55"], None),
        (
            &["-all-time", "55", "-root-time", "66"],
            &["--inode-time", "55", "--root-time", "66"],
            None,
        ),
        (
            &["-all-time", "981173106"],
            &["--inode-time", "2001-02-03 04:05:06"],
            None,
        ),
        (&[], &[], Some("250")),
        (&["-root-time", "400"], &["--root-time", "400"], Some("250")),
        (&["-root-time", "40"], &["--root-time", "40"], Some("250")),
    ];
    for (theirs, ours, epoch) in cases {
        let mut peer = Command::new("mksquashfs");
        peer.arg(at("tree")).arg(at("theirs"));
        peer.args(["-quiet", "-no-progress", "-noappend"])
            .args(*theirs);
        let mut own = command();
        own.args(["-q", "build"])
            .arg(at("tree"))
            .arg(at("ours"))
            .args(*ours);
        for run in [&mut peer, &mut own] {
            run.env("TZ", "UTC").env_remove("SOURCE_DATE_EPOCH");
            run.envs(epoch.map(|epoch| ("SOURCE_DATE_EPOCH", epoch)));
            program(run);
        }
        let listed = |image: &str| {
            let mut list = Command::new("unsquashfs");
            program(list.arg("-lln").arg(at(image)).env("TZ", "UTC")).text()
        };
        assert_eq!(listed("ours"), listed("theirs"), "{ours:?} {epoch:?}");
    }
}

#[test]
fn the_time_of_the_image_can_be_said_once() {
    let work = tempfile::tempdir().unwrap();
    let at = |name: &str| work.path().join(name);
    fs::create_dir(at("tree")).unwrap();
    let build = |args: &[&str], epoch: Option<&str>| {
        let mut build = command();
        build
            .args(["-q", "build"])
            .arg(at("tree"))
            .arg(at("image"))
            .args(args);
        build.env_remove("SOURCE_DATE_EPOCH");
        build.envs(epoch.map(|epoch| ("SOURCE_DATE_EPOCH", epoch)));
        let output = build.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let image_time_s = || {
        let bytes = fs::read(at("image")).unwrap();
        u32::from_le_bytes(bytes[8..12].try_into().unwrap())
    };
    assert_eq!(build(&["--image-time", "@77"], None).0, Some(0));
    assert_eq!(image_time_s(), 77);
    assert_eq!(build(&["--image-time", "inode"], Some("88")).0, Some(0));
    assert_eq!(image_time_s(), 88);
    assert_eq!(
        build(&["--image-time", "inode", "--inode-time", "99"], None).0,
        Some(0)
    );
    assert_eq!(image_time_s(), 99);
    for flag in ["--image-time", "--inode-time"] {
        let (code, said) = build(&[flag, "88"], Some("88"));
        assert_eq!(code, Some(2));
        assert!(said.contains("SOURCE_DATE_EPOCH `88` is wrong"), "{said}");
    }
}

#[test]
fn other_file_systems_are_entered_left_empty_or_out() {
    if skip::without_root() || skip::without_peer("unshare") {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let at = |name: &str| work.path().join(name);
    fs::create_dir_all(at("tree/mount")).unwrap();
    fs::write(at("tree/file"), "").unwrap();
    fs::write(at("tree/bound"), "").unwrap();
    let binary = command().get_program().to_owned();
    for (flag, expected) in [
        ("-q", "/bound\n/file\n/mount\n/mount/inside\n"),
        ("--one-file-system", "/file\n/mount\n"),
        ("--one-file-system=leave", "/file\n"),
    ] {
        let script = "mount -t tmpfs none \"$1/tree/mount\" && echo > \"$1/tree/mount/inside\" && \
                      mount --bind \"$1/tree/mount/inside\" \"$1/tree/bound\" && \
                      \"$2\" -q build \"$1/tree\" \"$1/image\" \"$3\"";
        // A flag given twice is refused.
        let script = script.replace("-q build", if flag == "-q" { "build" } else { "-q build" });
        let mut unshare = Command::new("unshare");
        unshare
            .args(["-m", "sh", "-c", &script, "sh"])
            .arg(work.path());
        program(unshare.arg(&binary).arg(flag));
        assert_eq!(paths(&at("image")), expected, "{flag}");
    }
}

#[test]
fn wrong_values_are_told_before_anything_is_read() {
    // The image is created first, so that a wrong place is told at once.
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("image");
    for (args, said) in [
        (
            &["--file-mode", "u+y"][..],
            "mode `u+y` is wrong: permissions are",
        ),
        (
            &["--inode-time", "now"],
            "time `now` is wrong: give seconds since 1970",
        ),
        (
            &["--xattr-add", "user.x"],
            "xattr `user.x` is wrong: it must be `name=value`",
        ),
        (&["--xattr-exclude", "("], "regular expression `(` is wrong"),
        (
            &["--uid", "nobody-of-this-name"],
            "is neither a number nor in `/etc/passwd`",
        ),
        (&["--exclude-from", "/nowhere"], "cannot read `/nowhere`"),
        (
            &["--exclude-syntax", "wildcards", "--exclude", "/a"],
            "pattern `/a` is wrong",
        ),
        (
            &["--exclude-syntax", "path", "--exclude", "/nowhere"],
            "cannot exclude `/nowhere`",
        ),
        (
            &["--selinux", "/dev/null", "--all-root", "--uid", "1"],
            "cannot be used with",
        ),
    ] {
        let ran = coldpress(
            ["build", "/nowhere/source", image.to_str().unwrap()]
                .iter()
                .chain(args),
        );
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}
