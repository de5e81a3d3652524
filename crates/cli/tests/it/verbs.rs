//! Every verb on a small tree that needs no privileges.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::run::{Ran, coldpress, command, done, names};

struct Stage {
    root: tempfile::TempDir,
}

impl Stage {
    /// A tree and its image.
    fn new() -> Self {
        let stage = Self {
            root: tempfile::tempdir().unwrap(),
        };
        let source = stage.at("source");
        fs::create_dir_all(source.join("usr/bin")).unwrap();
        fs::write(source.join("usr/bin/tool"), vec![b'x'; 300_000]).unwrap();
        fs::set_permissions(source.join("usr/bin/tool"), Permissions::from_mode(0o755)).unwrap();
        fs::hard_link(source.join("usr/bin/tool"), source.join("usr/bin/other")).unwrap();
        symlink("usr/bin", source.join("bin")).unwrap();
        symlink("tool", source.join("usr/bin/link")).unwrap();
        symlink("/loop", source.join("loop")).unwrap();
        fs::write(source.join("empty"), "").unwrap();
        fs::write(source.join(OsStr::from_bytes(b"new\nline\xff")), "odd").unwrap();
        done([Path::new("-q"), Path::new("build"), &source, &stage.image()]);
        stage
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn image(&self) -> PathBuf {
        self.at("image")
    }

    /// Runs a verb on the image with more arguments.
    fn run(&self, verb: &str, more: &[&str]) -> Ran {
        let image = self.image();
        let args = [OsStr::new(verb), image.as_os_str()].into_iter();
        coldpress(args.chain(more.iter().map(OsStr::new)))
    }
}

#[test]
fn ls_lists_names_paths_and_what_links_lead_to() {
    let stage = Stage::new();
    for (args, text) in [
        (&[][..], "bin\nempty\nloop\nnew\\x0aline\\xff\nusr\n"),
        (&["/usr"], "bin\n"),
        (&["bin"], "link\nother\ntool\n"),
        (&["bin/tool"], "tool\n"),
        (&["usr/bin/link"], "link\n"),
        (&["/usr", "/empty"], "/usr/bin\n/empty\n"),
        (
            &["-R", "usr"],
            "/usr/bin\n/usr/bin/link\n/usr/bin/other\n/usr/bin/tool\n",
        ),
    ] {
        let ran = stage.run("ls", args);
        assert_eq!(
            (ran.code, ran.text().as_str(), ran.stderr.as_str()),
            (Some(0), text, "")
        );
    }
    let ran = stage.run("ls", &["/nowhere", "/usr", "/empty/below", "/loop/x"]);
    assert_eq!((ran.code, ran.text().as_str()), (Some(1), "/usr/bin\n"));
    let no = |path: &str| format!("error: cannot list `{path}`: the image has no such file\n");
    assert_eq!(
        ran.stderr,
        no("/nowhere") + &no("/empty/below") + &no("/loop/x")
    );
}

#[test]
fn long_lines_show_mode_links_owner_size_time_and_target() {
    let stage = Stage::new();
    let source = stage.at("source/usr/bin/tool");
    let metadata = fs::metadata(source).unwrap();
    let text = stage.run("ls", &["-l", "usr/bin/tool"]).text();
    let words: Vec<&str> = text.split_whitespace().collect();
    let (uid, gid) = (metadata.uid().to_string(), metadata.gid().to_string());
    assert_eq!(
        words[..5],
        ["-rwxr-xr-x", "2", &uid, &gid, "300000"],
        "{text}"
    );
    assert!(
        words[5].starts_with("20") && words[5].ends_with('Z'),
        "{text}"
    );
    assert!(
        stage
            .run("ls", &["-l", "usr/bin/link"])
            .text()
            .ends_with(" link -> tool\n")
    );
}

#[test]
fn ls_as_json_has_every_file_once_with_its_bytes() {
    let stage = Stage::new();
    let rows = stage.run("ls", &["-R", "--json"]).json();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 9);
    let find = |path: &str| rows.iter().find(|row| row["path"] == path).unwrap();
    let tool = find("/usr/bin/tool");
    assert_eq!(tool["type"], "file");
    assert_eq!(tool["mode"], "0755");
    assert_eq!(tool["size"], 300_000);
    assert_eq!(tool["links"], 2);
    assert_eq!(tool["inode"], find("/usr/bin/other")["inode"]);
    assert_eq!(find("/bin")["target"], "usr/bin");
    let odd = find("/new\nline\u{fffd}");
    assert_eq!(odd["path_bytes_hex"], "2f6e65770a6c696e65ff");
    assert_eq!(stage.run("ls", &["--json", "/nowhere"]).text(), "[]\n");
}

#[test]
fn cat_prints_files_through_links_and_tells_what_it_cannot() {
    let stage = Stage::new();
    let ran = stage.run("cat", &["/bin/link", "empty"]);
    assert_eq!((ran.code, ran.stdout), (Some(0), vec![b'x'; 300_000]));
    let ran = stage.run("cat", &["/usr", "/bin/tool", "/loop", "/none"]);
    assert_eq!((ran.code, ran.stdout.len()), (Some(1), 300_000));
    assert_eq!(
        ran.stderr,
        "error: cannot print `/usr`: it is a directory\n\
         error: cannot print `/loop`: the image has no such file\n\
         error: cannot print `/none`: the image has no such file\n"
    );
}

#[test]
fn info_names_every_field_and_its_parts_fill_the_image() {
    let stage = Stage::new();
    let info = stage.run("info", &["--json"]).json();
    let superblock = &info["superblock"];
    assert_eq!(superblock["compressor"], "zstd");
    assert_eq!(superblock["block_size"], 131_072);
    assert_eq!(superblock["inode_count"], 9);
    assert_eq!(info["counts"]["files"], 3);
    assert_eq!(info["counts"]["hard_links"], 1);
    assert_eq!(info["counts"]["content_bytes"], 300_003);
    let parts = info["parts"].as_array().unwrap();
    let mut end = 0;
    for part in parts {
        assert_eq!(part["start"], end, "{part}");
        end += part["size_bytes"].as_u64().unwrap();
    }
    assert_eq!(end, fs::metadata(stage.image()).unwrap().len());
    let text = stage.run("info", &[]).text();
    for line in [
        "compressor         zstd, default options\n",
        "inodes             9\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn check_finds_a_flipped_byte_and_ends_with_1() {
    let stage = Stage::new();
    let sound = stage.run("check", &["--json"]);
    assert_eq!(
        (sound.code, sound.json()["sound"].as_bool()),
        (Some(0), Some(true))
    );
    let mut bytes = fs::read(stage.image()).unwrap();
    // In the first data block, behind a tail end of 3 bytes and the magic of the frame.
    bytes[96 + 8] ^= 0xff;
    bytes[96 + 9] ^= 0xff;
    fs::write(stage.image(), bytes).unwrap();
    let damaged = stage.run("check", &[]);
    assert_eq!(damaged.code, Some(1), "{damaged:?}");
    assert!(
        damaged.text().contains("data block at byte "),
        "{damaged:?}"
    );
    let damaged = stage.run("check", &["--json"]).json();
    assert_eq!(damaged["sound"], false);
    assert!(!damaged["problems"].as_array().unwrap().is_empty());
}

#[test]
fn check_finds_that_an_image_was_cut_short() {
    let stage = Stage::new();
    let bytes = fs::read(stage.image()).unwrap();
    fs::write(stage.image(), &bytes[..200]).unwrap();
    let ran = stage.run("check", &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.text().starts_with("superblock at byte 0: needs "),
        "{ran:?}"
    );
}

#[test]
fn extract_restores_the_tree_or_the_paths_asked_for() {
    let stage = Stage::new();
    let out = stage.at("out");
    let ran = stage.run("extract", &[out.to_str().unwrap(), "--json"]);
    assert_eq!(
        (ran.code, ran.json()["files"].as_u64()),
        (Some(0), Some(3)),
        "{ran:?}"
    );
    let both = ["tool", "other"].map(|name| fs::metadata(out.join("usr/bin").join(name)).unwrap());
    assert_eq!(both[0].ino(), both[1].ino());
    assert_eq!(both[0].mode(), 0o100_755);
    assert_eq!(
        fs::read_link(out.join("bin")).unwrap(),
        Path::new("usr/bin")
    );
    assert_eq!(
        fs::read(out.join(OsStr::from_bytes(b"new\nline\xff"))).unwrap(),
        b"odd"
    );

    let part = stage.at("part");
    assert_eq!(
        stage
            .run("extract", &[part.to_str().unwrap(), "empty"])
            .code,
        Some(0)
    );
    let names: Vec<_> = fs::read_dir(&part)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["empty"]);
    // What is there stays unless asked otherwise.
    assert_eq!(
        stage
            .run("extract", &[part.to_str().unwrap(), "empty"])
            .code,
        Some(2)
    );
    assert_eq!(
        stage
            .run("extract", &["-f", part.to_str().unwrap(), "empty"])
            .code,
        Some(0)
    );
}

#[test]
fn build_tells_what_it_built_and_what_the_plan_names_in_vain() {
    let stage = Stage::new();
    let plan = stage.at("plan");
    let vain: String = ["0", "1", "2", "3", "4"]
        .map(|name| format!("/vain-{name}\n"))
        .concat();
    fs::write(
        &plan,
        format!("coldpress-plan 1\n[inodes]\n/usr/bin/tool\n{vain}"),
    )
    .unwrap();
    let [source, image] = [stage.at("source"), stage.at("planned")];
    let flags = ["build", "--json", "--verify", "--plan"].map(Path::new);
    let ran = done(flags.into_iter().chain([plan.as_path(), &source, &image]));
    let report = ran.json();
    assert_eq!(report["inodes"], 9);
    assert_eq!(report["content_bytes"], 300_003);
    assert_eq!(report["verified"], true);
    assert_eq!(
        report["image_bytes"].as_u64(),
        Some(fs::metadata(&image).unwrap().len())
    );
    let line = "warning: the plan names 5 paths that the source does not have: \
                `/vain-0`, `/vain-1`, `/vain-2` and 2 more\n";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
    assert_ne!(fs::read(&image).unwrap(), fs::read(stage.image()).unwrap());
}

#[test]
fn what_cannot_be_stored_is_named_and_ends_with_1() {
    let stage = Stage::new();
    let early = stage.at("source/early");
    fs::write(&early, "").unwrap();
    let year_1969 = std::time::UNIX_EPOCH - std::time::Duration::from_hours(1);
    fs::File::options()
        .write(true)
        .open(&early)
        .unwrap()
        .set_modified(year_1969)
        .unwrap();
    let ran = coldpress([Path::new("build"), &stage.at("source"), &stage.image()]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("source/early`: modification time -3600 s"),
        "{}",
        ran.stderr
    );
    let last = "warning: 1 thing could not be stored as found; the rest is in the image";
    assert_eq!(ran.stderr.lines().last(), Some(last));
    assert_eq!(stage.run("cat", &["/early"]).code, Some(0));
}

#[test]
fn source_date_epoch_lowers_times_and_dates_the_image() {
    let stage = Stage::new();
    let mut build = command();
    build
        .env("SOURCE_DATE_EPOCH", "86400")
        .args(["-q", "build"]);
    assert!(
        build
            .arg(stage.at("source"))
            .arg(stage.image())
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(
        stage.run("info", &["--json"]).json()["superblock"]["modification_time"],
        86_400
    );
    let rows = stage.run("ls", &["-R", "--json"]).json();
    assert!(
        rows.as_array()
            .unwrap()
            .iter()
            .all(|row| row["mtime"] == 86_400)
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let stage = Stage::new();
    let mut cat = command();
    // More than a pipe holds.
    cat.arg("cat").arg(stage.image()).args(["bin/tool"; 20]);
    let mut child = cat
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
}

#[test]
fn quiet_says_nothing_and_a_summary_goes_to_standard_error() {
    let stage = Stage::new();
    let build = |flag: Option<&str>| {
        let args = flag.into_iter().chain(["build"]).map(PathBuf::from);
        done(args.chain([stage.at("source"), stage.image()]))
    };
    let loud = build(None);
    assert_eq!(loud.stdout, b"");
    assert!(loud.stderr.contains("; 9 inodes; "), "{}", loud.stderr);
    assert_eq!(
        loud.stderr.lines().count(),
        1,
        "no progress where there is no terminal"
    );
    assert_eq!(build(Some("-q")).stderr, "");
}

#[test]
fn manual_pages_and_completions_cover_every_verb() {
    let root = tempfile::tempdir().unwrap();
    done([Path::new("-q"), Path::new("man"), root.path()]);
    // Each page names those of the verbs below it, from that of the program on.
    let mut pages = vec![("coldpress".to_owned(), Vec::new())];
    let mut next = 0;
    while let Some((name, verbs)) = pages.get(next).cloned() {
        next += 1;
        let path = root.path().join(format!("{name}.1"));
        let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let page = page.replace("\\-", "-");
        let below = page.lines().filter_map(|line| line.strip_suffix("(1)"));
        pages.extend(below.map(|below| {
            let verb = below.strip_prefix(&format!("{name}-")).unwrap();
            let verbs = verbs.iter().cloned().chain([verb.to_owned()]);
            (below.to_owned(), verbs.collect::<Vec<_>>())
        }));
        let help = done(verbs.iter().map(String::as_str).chain(["--help"])).text();
        // The others are helped in the words of other programs.
        if !help.contains("Usage: coldpress ") {
            continue;
        }
        let flags = help.lines().map(str::trim_start);
        let flags = flags
            .filter(|line| line.starts_with('-'))
            .flat_map(|line| line.split([' ', ',', '=', '[']))
            .filter(|word| word.len() > 2 && word.starts_with("--"));
        for flag in flags {
            assert!(page.contains(flag), "{flag} {name}");
        }
    }
    for verb in crate::help::VERBS {
        let name = format!("coldpress-{verb}");
        let is_there = pages.iter().any(|(page, _)| *page == name);
        assert!(is_there || ["man", "completions"].contains(verb), "{verb}");
    }
    let mut expected: Vec<String> = pages.iter().map(|(name, _)| format!("{name}.1")).collect();
    expected.sort();
    assert_eq!(names(root.path()), expected);
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            done(["completions", shell]).text().contains("extract"),
            "{shell}"
        );
    }
}

#[test]
fn an_access_list_is_noted_and_ends_with_0() {
    let stage = Stage::new();
    // rwx for the owner, rw- for user 7, r-x for the group and as the mask, --x for others.
    let acl =
        b"\x02\0\0\0\x01\0\x07\0\xff\xff\xff\xff\x02\0\x06\0\x07\0\0\0\x04\0\x05\0\xff\xff\xff\xff\
        \x10\0\x05\0\xff\xff\xff\xff\x20\0\x01\0\xff\xff\xff\xff";
    let file = stage.at("source/empty");
    let name = "system.posix_acl_access";
    let set = rustix::fs::setxattr(&file, name, acl, rustix::fs::XattrFlags::empty());
    if set == Err(rustix::io::Errno::OPNOTSUPP) {
        return;
    }
    set.unwrap();
    let note = format!(
        "note: `{}`: xattr `system.posix_acl_access` is left out: SquashFS holds only user., \
         trusted. and security.\n",
        file.display()
    );
    let (source, image) = (stage.at("source"), stage.image());
    let build = |words: &[&str]| {
        let words = words.iter().map(Path::new);
        coldpress(words.chain([source.as_path(), &image]))
    };
    let ran = build(&["build", "--exit-on-error"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);
    let ran = build(&["-q", "build"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let report = build(&["build", "--json"]).json();
    assert_eq!(report["warnings"].as_array().unwrap().len(), 0);
    assert_eq!(report["notes"].as_array().unwrap().len(), 1);
}
