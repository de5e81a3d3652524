//! Recordings of other tools in, lists for them out; with the tools themselves where they are
//! there.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use coldpress_image::{Image, walk};
use coldpress_trace::{Access, Trace};

use crate::plan::data_order;
use crate::run::{Ran, Stage, command, done, program};
use crate::skip;

/// The trace in a file.
fn trace(path: &Path) -> Trace {
    Trace::parse(&fs::read(path).unwrap()).unwrap()
}

/// The paths of events of one kind, each once, in their order.
fn paths(trace: &Trace, is_of_kind: fn(&Access) -> bool) -> Vec<String> {
    let mut paths = Vec::new();
    for event in trace
        .events
        .iter()
        .filter(|event| is_of_kind(&event.access))
    {
        let path = String::from_utf8(event.path.clone()).unwrap();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The events without times and processes.
fn events(trace: &Trace) -> Vec<String> {
    let event = |event: &coldpress_trace::Event| {
        let path = String::from_utf8_lossy(&event.path);
        match event.access {
            Access::Lookup => format!("L {path}"),
            Access::List => format!("D {path}"),
            access => format!("{:?} {path}", access.pages().unwrap()),
        }
    };
    trace.events.iter().map(event).collect()
}

/// A tree with a link, and what a program of it would be.
fn with_tree() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.at("tree/usr/lib/plugins")).unwrap();
    fs::write(stage.at("tree/usr/lib/config"), vec![b'c'; 5000]).unwrap();
    fs::write(stage.at("tree/usr/lib/a b"), "content").unwrap();
    fs::write(stage.at("tree/usr/lib/plugins/one"), "one").unwrap();
    symlink("usr/lib", stage.at("tree/lib")).unwrap();
    stage
}

const SCRIPT: &str =
    "cd \"$0\" && cat lib/config 'lib/a b' >/dev/null; ls lib/plugins lib/none >/dev/null 2>&1; :";

/// Records the script with strace, and names what it wrote.
fn strace(stage: &Stage, flags: &[&str]) -> Vec<String> {
    let tree = fs::canonicalize(stage.at("tree")).unwrap();
    let recordings = stage.at("recordings");
    let _ = fs::remove_dir_all(&recordings);
    fs::create_dir(&recordings).unwrap();
    let mut command = Command::new("strace");
    command.args(flags).arg("-o").arg(recordings.join("out"));
    command.args(["sh", "-c", SCRIPT]).arg(tree);
    command.env("LC_ALL", "C");
    program(&mut command);
    let names = crate::run::names(&recordings).into_iter();
    names.map(|name| format!("recordings/{name}")).collect()
}

#[test]
fn a_recording_of_strace_tells_what_a_program_opened_read_and_listed() {
    if skip::without_peer("strace") {
        return;
    }
    let stage = with_tree();
    let tree = fs::canonicalize(stage.at("tree")).unwrap();
    for flags in [
        &["-f"][..],
        &["-f", "-ttt"],
        &["-f", "-tt", "-y"],
        &["-f", "-t", "-yy", "-i", "-T"],
        &["-f", "-r", "-s", "0"],
        &["-ff", "-ttt"],
        &["-ff", "-tt", "-y"],
    ] {
        let files = strace(&stage, flags);
        assert_eq!(files.len() > 1, flags.contains(&"-ff"), "{files:?}");
        let options = ["--image", "tree", "-o", "trace", "--strip"].map(OsStr::new);
        let words = ["profile", "import"].map(OsStr::new).into_iter();
        let words = words.chain(files.iter().map(OsStr::new)).chain(options);
        let ran = stage.done(words.chain([tree.as_os_str()]));
        assert!(ran.stderr.contains(": read as strace\n"), "{}", ran.stderr);
        assert!(ran.stderr.contains("left out: "), "{}", ran.stderr);
        let trace = trace(&stage.at("trace"));
        assert_eq!(trace.header.find("recorder"), Some("import of strace"));
        let read = paths(&trace, |access| access.pages().is_some());
        assert_eq!(read, ["/usr/lib/config", "/usr/lib/a b"], "{flags:?}");
        let certain = |access: &Access| access.pages() == Some((0, 1)) && access.is_certain();
        assert!(
            trace.events.iter().any(|event| certain(&event.access)),
            "{flags:?}"
        );
        let listed = paths(&trace, |access| matches!(access, Access::List));
        assert_eq!(listed, ["/usr/lib", "/usr/lib/plugins"], "{flags:?}");
        let looked_up = paths(&trace, |access| matches!(access, Access::Lookup));
        let expected = [
            "/",
            "/lib",
            "/usr/lib/config",
            "/usr/lib/a b",
            "/usr/lib/plugins",
        ];
        for path in expected {
            assert!(
                looked_up.iter().any(|found| found == path),
                "{flags:?}: {path}"
            );
        }
    }
}

/// A trace that reads files one after the other.
fn write_trace(stage: &Stage, files: &[&str]) {
    let mut text = "coldpress-trace 1\n".to_owned();
    for file in files {
        text.push_str("0 1 L ");
        text.push_str(file);
        text.push_str("\n0 1 R 0-80 ");
        text.push_str(file);
        text.push('\n');
    }
    fs::write(stage.at("trace"), text).unwrap();
}

/// Files with blocks and a file that is all tail for each, no two alike.
fn with_large_files() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.at("tree/dir")).unwrap();
    for (name, seed) in ["a", "b", "c", "dir/x", "dir/y", "sp ace"]
        .iter()
        .zip(1_u64..)
    {
        for (small, size) in [("", 300_000), (".s", 100)] {
            let mut random = seed * 2 + u64::from(small.is_empty());
            let bytes = std::iter::repeat_with(|| {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                random.to_le_bytes()[7]
            });
            let path = stage.at("tree").join(format!("{name}{small}"));
            fs::write(path, bytes.take(size).collect::<Vec<_>>()).unwrap();
        }
    }
    stage
}

const ORDER: [&str; 6] = ["/dir/y", "/b.s", "/sp ace", "/a", "/sp ace.s", "/gone"];

#[test]
fn an_exported_sort_file_makes_the_tool_write_in_the_order_of_the_trace() {
    let stage = with_large_files();
    write_trace(&stage, &ORDER);
    for (format, source) in [
        ("mksquashfs", false),
        ("mksquashfs", true),
        ("gensquashfs", false),
        ("gensquashfs", true),
    ] {
        if skip::without_peer(format) {
            continue;
        }
        let words = [
            "-q", "profile", "export", "trace", "--format", format, "-o", "sort",
        ];
        let source: &[&str] = if source { &["--source", "tree"] } else { &[] };
        stage.done(words.iter().chain(source));
        let mut command = Command::new(format);
        command.current_dir(stage.directory());
        if format == "mksquashfs" {
            command.args(["tree", "image", "-noappend", "-quiet", "-sort", "sort"]);
        } else {
            command.args(["-D", "tree", "-S", "sort", "-q", "-f", "image"]);
        }
        program(&mut command);
        let [blocks, tails] = data_order(&stage.at("image"));
        assert_eq!(
            blocks[..3],
            ["/dir/y", "/sp ace", "/a"],
            "{format} {source:?}"
        );
        assert_eq!(tails[..2], ["/b.s", "/sp ace.s"], "{format} {source:?}");
    }
}

#[test]
fn sort_files_come_back_as_they_went() {
    let stage = with_large_files();
    write_trace(&stage, &ORDER);
    for format in ["mksquashfs", "gensquashfs"] {
        stage.done([
            "profile", "export", "trace", "--format", format, "-o", "sort",
        ]);
        let ran = stage.done(["profile", "import", "sort", "-o", "again"]);
        let expected = format!("`sort`: read as {format}\n");
        assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
        let order = paths(&trace(&stage.at("again")), |access| {
            access.pages().is_some()
        });
        assert_eq!(order, ORDER, "{format}");
        let ran = stage.done(["-q", "profile", "export", "again", "--format", "list"]);
        assert_eq!(ran.text(), ORDER.map(|path| format!("{path}\n")).concat());
    }
}

#[test]
fn a_list_of_tails_is_read_by_priority_and_patterns_are_named() {
    let stage = Stage::new();
    let tails = format!(
        "{:<68} 32766\n{:<68} 32767\nusr/share/a\\ b 12\n{:<68} x\n",
        "bin/dash", "lib/live/config/0001-sane-clock", "etc/wrong"
    );
    fs::write(stage.at("squashfs.sort"), tails).unwrap();
    let ran = stage.run(["profile", "import", "squashfs.sort", "-o", "trace"]);
    assert_eq!(ran.code, Some(1));
    let wrong = "warning: `squashfs.sort`, line 4: `etc/wrong";
    assert!(ran.stderr.contains(wrong), "{}", ran.stderr);
    let order = paths(&trace(&stage.at("trace")), |access| {
        access.pages().is_some()
    });
    assert_eq!(
        order,
        [
            "/lib/live/config/0001-sane-clock",
            "/bin/dash",
            "/usr/share/a b"
        ]
    );
    fs::write(stage.at("gen"), "-5 [glob] usr/*\n-7 /bin/sh\n").unwrap();
    let ran = stage.run(["profile", "import", "gen", "--format", "gensquashfs"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("line 1: `-5 [glob] usr/*`: a pattern"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.text().ends_with("0 0 L /bin/sh\n0 0 M 0-0 /bin/sh\n"),
        "{}",
        ran.text()
    );
}

#[test]
fn an_image_tells_where_links_lead_and_how_long_files_are() {
    let stage = with_tree();
    done([
        Path::new("-q"),
        Path::new("build"),
        &stage.at("tree"),
        &stage.at("image"),
    ]);
    fs::write(stage.at("list"), "/lib/config\nlib/plugins\n/gone\n").unwrap();
    for image in ["image", "tree"] {
        stage.done([
            "-q", "profile", "import", "list", "--image", image, "-o", "trace",
        ]);
        let expected = [
            "L /lib",
            "L /usr/lib/config",
            "(0, 1) /usr/lib/config",
            "L /lib",
            "L /usr/lib/plugins",
            "L /gone",
            "(0, 0) /gone",
        ];
        assert_eq!(events(&trace(&stage.at("trace"))), expected, "{image}");
    }
}

#[test]
fn inode_numbers_are_those_of_the_image_that_was_mounted() {
    let stage = with_tree();
    done([
        Path::new("-q"),
        Path::new("build"),
        &stage.at("tree"),
        &stage.at("image"),
    ]);
    let image = Image::open(&stage.at("image")).unwrap();
    let mut inode = 0;
    walk(&image, &mut |visited| {
        if visited.path == b"/usr/lib/config" {
            inode = visited.inode.number;
        }
        Ok(())
    })
    .unwrap();
    let event = |device: &str, inode| {
        format!(
            "a 1 [000] 1.000001: filemap:mm_filemap_fault: dev={device} ino={inode:x} ofs=4096\n"
        )
    };
    let import = |text: String, more: &[&str]| {
        fs::write(stage.at("events"), text).unwrap();
        let words = ["profile", "import", "events"];
        stage.run(words.iter().chain(more))
    };
    let ran = import(
        event("7:0", inode) + &event("254:1", inode),
        &["--image", "image"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.text().ends_with("\n0 1 F 1 /usr/lib/config\n"),
        "{}",
        ran.text()
    );
    assert!(
        ran.stderr.contains("left out: 1 access elsewhere\n"),
        "{}",
        ran.stderr
    );
    let ran = import(event("7:0", inode), &[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--image app.sqsh"), "{}", ran.stderr);
    let two = event("7:0", inode) + &event("7:1", inode);
    let ran = import(two.clone(), &["--image", "image"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("was mounted, one of 7:0, 7:1"),
        "{}",
        ran.stderr
    );
    let ran = import(two, &["--image", "image", "--recorded-device", "7:1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = import(event("7:0", 999), &["--image", "image"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("no inode of this number"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_relative_prefix_is_below_the_current_directory() {
    let stage = Stage::new();
    let here = fs::canonicalize(stage.directory()).unwrap();
    fs::write(
        stage.at("list"),
        format!("{}/tree/a\n/tree/b\n", here.display()),
    )
    .unwrap();
    let ran = stage.done(["profile", "import", "list", "--strip", "./tree"]);
    assert!(
        ran.text().ends_with("\n0 0 L /a\n0 0 M 0-0 /a\n"),
        "{}",
        ran.text()
    );
    let said =
        "left out: 1 access elsewhere\nimported 2 events of list: data of 1 file, 1 lookup, ";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

/// What is imported, the flags, exit status, a piece of what is said.
type Wrong<'a> = (&'a str, &'a [&'a str], i32, &'a str);

#[test]
fn what_cannot_be_imported_is_told() {
    let stage = Stage::new();
    fs::write(stage.at("image"), "no image").unwrap();
    let strace = "stat(\"/a/b\", {}) = 0\nhello\nworld\nagain\nand again\n";
    let cases: &[Wrong<'_>] = &[
        (
            "hello\n",
            &[],
            2,
            "`in` does not look like any known recording",
        ),
        (
            "hello\n",
            &[],
            2,
            "hint: state its format, for example `--format list`",
        ),
        ("", &[], 2, "`in` does not look like any known recording"),
        (
            "hello\n",
            &["--format", "list"],
            0,
            "imported 2 events of list",
        ),
        (
            "hello\n",
            &["--format", "strace"],
            2,
            "warning: `in`, line 1: `hello`: not a line of strace",
        ),
        (
            "hello\n",
            &["--format", "strace"],
            2,
            "error: `in` records no access",
        ),
        (
            strace,
            &["--format", "strace"],
            1,
            "line 4: `again`: not a line of strace\nwarning: 1 more line was",
        ),
        ("/a/b\n", &["--strip", "/c"], 2, "no path is below `/c`"),
        ("/a/b\n", &["--strip", "/a/"], 0, "read as list"),
        (
            "/a/b\n",
            &["--image", "image"],
            2,
            "`image` is not a SquashFS image",
        ),
        ("/a/b\n", &["-o", "in"], 2, "`in` is a source itself"),
        (
            "{\"Runs\":[",
            &[],
            2,
            "etrace, line 1, column 9: the JSON ends too early",
        ),
        (
            "coldpress-trace 1\n0 0 L /\n",
            &[],
            2,
            "is a file of coldpress itself",
        ),
        (
            "/a\n",
            &["--recorded-device", "x"],
            2,
            "a device is two numbers",
        ),
        ("/a\n", &["missing"], 2, "cannot read `missing`"),
    ];
    for (text, flags, code, said) in cases {
        fs::write(stage.at("in"), text).unwrap();
        let ran = stage.run(["profile", "import", "in"].iter().chain(*flags));
        assert_eq!(ran.code, Some(*code), "{text} {flags:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
}

#[test]
fn what_is_no_profile_cannot_be_exported() {
    let stage = Stage::new();
    fs::write(stage.at("in"), "/a\n").unwrap();
    let ran = stage.run(["profile", "export", "in", "--format", "list"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("cannot use `in`: profile line 1"),
        "{}",
        ran.stderr
    );
}

#[test]
fn lists_are_written_as_tools_read_them_and_what_they_cannot_say_is_told() {
    let stage = with_large_files();
    write_trace(&stage, &["/dir/x", "/new\\nline", "/a"]);
    let export = |format: &str, more: &[&str]| -> Ran {
        let words = ["profile", "export", "trace", "--format", format];
        stage.run(words.iter().chain(more))
    };
    let ran = export("dwarfs", &[]);
    assert_eq!((ran.code, ran.text().as_str()), (Some(1), "dir/x\na\n"));
    let said = "warning: the format cannot spell 1 file: `/new\\x0aline`\n";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
    let ran = export("list0", &["--source", "tree"]);
    assert_eq!((ran.code, ran.text().as_str()), (Some(0), "/dir/x\0/a\0"));
    let said = "left out: 1 file that the source does not have\n";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = export("nydus", &["--source", "tree"]);
    assert_eq!(ran.json()["files"][1]["ranges"][0][1], 81 * 4096);
    let ran = export("estargz", &["--source", "tree"]);
    assert_eq!(ran.text(), "{\"path\":\"dir/x\"}\n{\"path\":\"a\"}\n");
    stage.done(["-q", "profile", "merge", "trace", "-o", "merged"]);
    let words = [
        "-q",
        "profile",
        "export",
        "merged",
        "--format",
        "list0",
        "--min-share",
        "1",
    ];
    assert_eq!(stage.done(words).text(), "/dir/x\0/new\nline\0/a\0");
    let ran = export("list", &["-o", "trace"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

#[test]
fn a_recording_comes_through_a_pipe_and_nobody_need_read_the_trace() {
    let mut child = command()
        .args(["profile", "import", "-", "--format", "list"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all("/usr/bin/a\n".repeat(10_000).as_bytes())
        .unwrap();
    drop(stdin);
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn long_help_of_import_and_export_is_as_reviewed() {
    for verb in ["import", "export"] {
        let text = done(["profile", verb, "--help"]).text();
        assert!(
            text.contains(&format!("  coldpress profile {verb} ")),
            "{verb}"
        );
        insta::assert_snapshot!(format!("profile_{verb}_long"), text);
    }
}
