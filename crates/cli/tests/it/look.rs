//! `tree`, `find`, `stat`, `info` and `cat`: what they say is compared with the tree that went in,
//! with GNU find, and with the readers of other projects.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::run::{Ran, Stage, program};
use crate::skip;

/// Bytes that do not compress, and no two alike.
fn noise(len: usize, seed: u32) -> Vec<u8> {
    let words = (0..).map(|number: u32| {
        let mixed = (number ^ seed).wrapping_mul(2_654_435_761);
        (mixed ^ mixed >> 15).wrapping_mul(2_246_822_519)
    });
    words.flat_map(u32::to_le_bytes).take(len).collect()
}

/// A small tree of every type that needs no privileges, and its image.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.at("s/usr/bin")).unwrap();
    fs::create_dir(stage.at("s/void")).unwrap();
    fs::write(stage.at("s/usr/bin/tool"), noise(300_000, 1)).unwrap();
    fs::hard_link(stage.at("s/usr/bin/tool"), stage.at("s/usr/bin/other")).unwrap();
    fs::set_permissions(stage.at("s/usr/bin/tool"), Permissions::from_mode(0o4755)).unwrap();
    symlink("usr/bin", stage.at("s/bin")).unwrap();
    symlink("tool", stage.at("s/usr/bin/link")).unwrap();
    fs::write(stage.at("s/empty"), "").unwrap();
    fs::write(
        stage.at("s").join(OsStr::from_bytes(b"new\nline\xff")),
        "odd",
    )
    .unwrap();
    let file = File::create(stage.at("s/sparse")).unwrap();
    file.write_all_at(&noise(4096, 2), 400_000).unwrap();
    fs::set_permissions(stage.at("s/sparse"), Permissions::from_mode(0o600)).unwrap();
    let times = ["-h", "-d", "@1000000000", "s/empty", "s/void", "s/bin"];
    program(
        Command::new("touch")
            .args(times)
            .current_dir(stage.directory()),
    );
    let args = ["-q", "build", "s", "image", "--xattr-add", "user.x=a b"];
    stage.done(args);
    stage
}

fn with(stage: &Stage, verb: &str, args: &[&str]) -> Ran {
    stage.run([verb, "image"].iter().chain(args))
}

#[test]
fn a_tree_is_drawn_with_branches_and_counted() {
    let stage = stage();
    let text = "\
/
├── bin -> usr/bin
├── empty
├── new\\x0aline\\xff
├── sparse
├── usr
│   └── bin
│       ├── link -> tool
│       ├── other
│       └── tool
└── void

3 directories, 7 files
";
    assert_eq!(with(&stage, "tree", &[]).text(), text);
    let text = "\
/usr
└── [         43]  bin

1 directory, 0 files
";
    let ran = with(&stage, "tree", &["-L", "1", "-s", "usr"]);
    let size = ran
        .text()
        .split(['[', ']'])
        .nth(3)
        .unwrap_or("43")
        .trim()
        .to_owned();
    assert_eq!(ran.text().lines().count(), text.lines().count(), "{size}");
    assert!(
        ran.text().ends_with("]  bin\n\n1 directory, 0 files\n"),
        "{}",
        ran.text()
    );
    assert_eq!(
        with(&stage, "tree", &["bin"]).text().lines().next(),
        Some("/usr/bin")
    );
    assert_eq!(
        with(&stage, "tree", &["/usr/bin/link"]).text(),
        "/usr/bin/link -> tool\n\n0 directories, 0 files\n"
    );
    assert_eq!(
        with(&stage, "tree", &["-L", "0"]).text(),
        "/\n\n0 directories, 0 files\n"
    );
    let ran = with(&stage, "tree", &["/none"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            Some(1),
            "error: cannot show `/none`: the image has no such file\n"
        )
    );
}

#[test]
fn a_tree_as_json_nests() {
    let stage = stage();
    let tree = with(&stage, "tree", &["--json"]).json();
    assert_eq!(
        (&tree["directories"], &tree["files"]),
        (&3.into(), &7.into())
    );
    let root = &tree["tree"];
    assert_eq!(
        (&root["name"], &root["type"]),
        (&"/".into(), &"directory".into())
    );
    let names = |node: &serde_json::Value| -> Vec<String> {
        let contents = node["contents"].as_array().unwrap().iter();
        contents
            .map(|node| node["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(root),
        ["bin", "empty", "new\nline\u{fffd}", "sparse", "usr", "void"]
    );
    assert_eq!(root["contents"][2]["name_bytes_hex"], "6e65770a6c696e65ff");
    assert_eq!(root["contents"][0]["target"], "usr/bin");
    let bin = &root["contents"][4]["contents"][0];
    assert_eq!(names(bin), ["link", "other", "tool"]);
    assert_eq!(
        (&bin["contents"][2]["size"], &bin["contents"][2]["mode"]),
        (&300_000.into(), &"4755".into())
    );
    assert!(names(&root["contents"][5]).is_empty());
    let single = with(&stage, "tree", &["--json", "/empty"]).json();
    assert_eq!(single["tree"]["name"], "/empty");
    assert_eq!(single["files"], 0);
}

#[test]
fn find_prints_the_paths_for_which_all_tests_hold() {
    let stage = stage();
    let all = "/\n/bin\n/empty\n/new\\x0aline\\xff\n/sparse\n/usr\n/usr/bin\n/usr/bin/link\n/usr/bin/other\n/usr/bin/tool\n/void\n";
    for (args, text) in [
        (&[][..], all),
        (&["--name", "t*"], "/usr/bin/tool\n"),
        (&["--name", "*[!a-z]*"], "/\n/new\\x0aline\\xff\n"),
        (&["--path", "/usr*o*"], "/usr/bin/other\n/usr/bin/tool\n"),
        (&["--regex", "/(bin|void)$"], "/bin\n/usr/bin\n/void\n"),
        (&["--type", "d"], "/\n/usr\n/usr/bin\n/void\n"),
        (
            &["--type", "l,d", "--max-depth", "1"],
            "/\n/bin\n/usr\n/void\n",
        ),
        (
            &["--min-depth", "3", "--type", "f"],
            "/usr/bin/other\n/usr/bin/tool\n",
        ),
        (&["--size", "300000"], "/usr/bin/other\n/usr/bin/tool\n"),
        (&["--size", "+300000", "--type", "f"], "/sparse\n"),
        (&["--size", "-1", "--type", "f"], "/empty\n"),
        (&["--empty"], "/empty\n/void\n"),
        (&["--older", "2001-09-10"], "/bin\n/empty\n/void\n"),
        (
            &["--newer", "999999999", "--older", "1000000001"],
            "/bin\n/empty\n/void\n",
        ),
        (&["--newer", "1000000000", "--name", "s*"], "/sparse\n"),
        (&["--mode", "600"], "/sparse\n"),
        (&["--mode", "/6000"], "/usr/bin/other\n/usr/bin/tool\n"),
        (&["--mode", "-4111"], "/usr/bin/other\n/usr/bin/tool\n"),
        (
            &["--links", "2", "--type", "f"],
            "/usr/bin/other\n/usr/bin/tool\n",
        ),
        (&["--links", "+99"], ""),
        (&["--xattr", "user.*", "--empty"], "/empty\n/void\n"),
        (&["--xattr", "security.*"], ""),
        (&["--uid", "4000000"], ""),
        (
            &["usr", "/bin", "--name", "l*"],
            "/usr/bin/link\n/usr/bin/link\n",
        ),
        (&["/usr/bin/link"], "/usr/bin/link\n"),
    ] {
        let ran = with(&stage, "find", args);
        assert_eq!(
            (ran.code, ran.text().as_str(), ran.stderr.as_str()),
            (Some(0), text, ""),
            "{args:?}"
        );
    }
    let raw = with(&stage, "find", &["-0", "--name", "new*"]);
    assert_eq!(raw.stdout, b"/new\nline\xff\0");
    let long = with(&stage, "find", &["-l", "--name", "link"]).text();
    assert!(
        long.starts_with('l') && long.ends_with(" /usr/bin/link -> tool\n"),
        "{long}"
    );
    let rows = with(&stage, "find", &["--json", "--mode", "/4000"]).json();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    assert_eq!(rows[0]["path"], "/usr/bin/other");
    assert_eq!(
        with(&stage, "find", &["--json", "--name", "none"]).text(),
        "[]\n"
    );
}

#[test]
fn find_says_what_it_cannot_do() {
    let stage = stage();
    let ran = with(&stage, "find", &["/none", "/void"]);
    assert_eq!((ran.code, ran.text().as_str()), (Some(1), "/void\n"));
    assert_eq!(
        ran.stderr,
        "error: cannot search `/none`: the image has no such file\n"
    );
    for (args, said) in [
        (["--regex", "("], "regular expression"),
        (["--newer", "yesterday"], "--newer: "),
        (
            ["--uid", "nobody such"],
            "this system knows no user `nobody such`",
        ),
        (["--mode", "9"], "octal digits"),
        (["--size", "x"], "a size is a whole number"),
        (["--type", "x"], "invalid value 'x'"),
    ] {
        let ran = with(&stage, "find", &args);
        assert!(
            ran.code == Some(2) && ran.stderr.contains(said),
            "{args:?}: {ran:?}"
        );
    }
}

/// Predicates of GNU find and of ours that mean the same.
const PREDICATES: [(&str, &str); 22] = [
    ("", ""),
    ("-type f", "--type f"),
    ("-type d,l", "--type d,l"),
    ("-type p", "--type p"),
    ("-type b,c", "--type b,c"),
    ("-size 0c -type f", "--size 0 --type f"),
    ("-type f -size +5000c", "--type f --size +5000"),
    ("-type f -size -70c", "--type f --size -70"),
    ("-empty", "--empty"),
    ("-perm 644", "--mode 644"),
    ("-perm -022", "--mode -022"),
    ("-perm /6111", "--mode /6111"),
    ("-links 2", "--links 2"),
    ("-links +2", "--links +2"),
    ("-links -2", "--links -2"),
    ("-uid 0", "--uid 0"),
    ("-gid 5", "--gid 5"),
    ("-newermt 2001-09-10", "--newer 2001-09-10"),
    ("-name n*", "--name n*"),
    ("-name [a-e]*", "--name [a-e]*"),
    ("-path */d/*", "--path */d/*"),
    ("-mindepth 2 -maxdepth 3", "--min-depth 2 --max-depth 3"),
];

#[test]
fn find_finds_what_gnu_find_finds_in_the_mounted_image() {
    if skip::without_kernel() || skip::without_peer("find") {
        return;
    }
    let source = crate::tar::tree();
    let stage = Stage::new();
    let source = source.path().join("t");
    stage.done(["-q", "build", source.to_str().unwrap(), "image", "-l", "1"]);
    let at = stage.at("mount");
    fs::create_dir(&at).unwrap();
    let _mounted = Mounted::new(&stage.at("image"), &at);
    for (theirs, ours) in PREDICATES {
        let mut find = Command::new("find");
        find.arg(".").args(theirs.split_whitespace()).arg("-print0");
        let found = program(find.current_dir(&at)).stdout;
        let mut expected: Vec<&[u8]> = found.split(|byte| *byte == 0).collect();
        let args = ["find", "image", "-0"]
            .into_iter()
            .chain(ours.split_whitespace());
        let found = stage.done(args).stdout;
        let mut paths: Vec<Vec<u8>> = found
            .split(|byte| *byte == 0)
            .map(|path| match path {
                b"" => Vec::new(),
                b"/" => b".".to_vec(),
                path => [b".", path].concat(),
            })
            .collect();
        expected.sort_unstable();
        paths.sort_unstable();
        assert_eq!(paths, expected, "{theirs}");
    }
}

/// A mount that goes with its guard.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn new(image: &Path, at: &'a Path) -> Self {
        let mut mount = Command::new("mount");
        program(
            mount
                .args(["-t", "squashfs", "-o", "loop,ro"])
                .args([image, at]),
        );
        Self(at)
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}

#[test]
fn stat_tells_where_the_bytes_lie() {
    let stage = stage();
    stage.done(["-q", "build", "s", "plain", "-c", "none"]);
    let image = fs::read(stage.at("plain")).unwrap();
    let stat = |path: &str| {
        stage
            .done(["stat", "--json", "--blocks", "plain", path])
            .json()[0]
            .clone()
    };
    let bytes = |place: &serde_json::Value| {
        let number = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap();
        &image[number("start")..number("start") + number("size_bytes")]
    };
    let tool = stat("/usr/bin/tool");
    let content = fs::read(stage.at("s/usr/bin/tool")).unwrap();
    let data = &tool["data"];
    assert_eq!(bytes(&data["extent"]), content);
    assert_eq!(
        (&data["block_count"], &data["stored_count"]),
        (&3.into(), &3.into())
    );
    for block in data["blocks"].as_array().unwrap() {
        let offset = usize::try_from(block["offset"].as_u64().unwrap()).unwrap();
        assert!(content[offset..].starts_with(bytes(block)), "{block}");
    }
    assert_eq!(
        (&tool["links"], &tool["form"]),
        (&2.into(), &"extended".into())
    );
    // The type of an extended file, little-endian.
    assert!(bytes(&tool["inode_place"]).starts_with(&[9, 0]));
    let odd = stage
        .done(["find", "plain", "--name", "new*", "--json"])
        .json()[0]
        .clone();
    assert_eq!(odd["size"], 3);
    let sparse = stat("/sparse");
    assert_eq!(sparse["data"]["sparse_count"], 3);
    assert!(sparse["data"]["blocks"][0]["kind"] == "sparse");
    let usr = stat("/usr");
    assert_eq!(bytes(&usr["listing"]["place"]).last_chunk(), Some(b"bin"));
    assert_eq!(usr["listing"]["entries"], 1);
    assert_eq!(stat("/void")["listing"]["place"], serde_json::Value::Null);
    assert_eq!(stat("/usr/bin/link")["target"], "tool");
    assert_eq!(stat("/empty")["data"]["extent"], serde_json::Value::Null);
}

#[test]
fn stat_finds_the_tail_end_in_its_fragment_block() {
    let stage = stage();
    stage.done(["-q", "build", "s", "plain", "-c", "none", "--tails", "all"]);
    let image = fs::read(stage.at("plain")).unwrap();
    let facts = stage
        .done(["stat", "--json", "plain", "/usr/bin/tool"])
        .json()[0]
        .clone();
    let tail = &facts["data"]["tail"];
    let number = |value: &serde_json::Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let start = number(&tail["block"]["start"]) + number(&tail["offset"]);
    let content = fs::read(stage.at("s/usr/bin/tool")).unwrap();
    assert_eq!(
        &image[start..start + number(&tail["len_bytes"])],
        &content[262_144..]
    );
    assert_eq!(tail["block_is_compressed"], false);
}

#[test]
fn stat_prints_lines_and_goes_on_behind_what_is_missing() {
    let stage = stage();
    let ran = with(
        &stage,
        "stat",
        &["/usr/bin/tool", "/none", "bin", "--blocks"],
    );
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.stderr,
        "error: cannot look at `/none`: the image has no such file\n"
    );
    let text = ran.text();
    for line in [
        "path               /usr/bin/tool\n",
        "mode               4755 -rwsr-xr-x\n",
        "size               300000 bytes\n",
        "  xattr            user.x = a b\n",
        "data blocks        3: 0 compressed, 3 stored, 0 sparse\n",
        "\nfile byte         image byte      size    length  block\n0      ",
        "    37856     37856  stored\n",
        "\n\npath               /bin\n",
        "target             usr/bin\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let ran = with(&stage, "stat", &["--follow", "/bin"]);
    assert!(
        ran.text().starts_with("path               /usr/bin\n"),
        "{ran:?}"
    );
    assert_eq!(with(&stage, "stat", &["--json", "/none"]).text(), "[]\n");
}

#[test]
fn stat_agrees_with_rdsquashfs() {
    if skip::without_peer("rdsquashfs") {
        return;
    }
    let stage = stage();
    let stat = with(&stage, "stat", &["--json", "/usr/bin/tool"]).json()[0].clone();
    let mut theirs = Command::new("rdsquashfs");
    let text = program(
        theirs
            .args(["-s", "/usr/bin/tool", "image"])
            .current_dir(stage.directory()),
    )
    .text();
    for (name, value) in [
        ("Inode type:", "extended file".to_owned()),
        ("Inode number:", stat["inode"].to_string()),
        ("Blocks start:", stat["data"]["extent"]["start"].to_string()),
        ("Block count:", stat["data"]["block_count"].to_string()),
    ] {
        let line = text.lines().find(|line| line.starts_with(name));
        assert!(
            line.is_some_and(|line| line.ends_with(&value)),
            "{name} {value}: {text}"
        );
    }
}

#[test]
fn cat_prints_ranges_of_files() {
    let stage = stage();
    for file in ["usr/bin/tool", "sparse", "empty"] {
        let content = fs::read(stage.at("s").join(file)).unwrap();
        for (skip, length) in [
            (0, usize::MAX),
            (0, 0),
            (1, 7),
            (131_071, 2),
            (131_072, 131_072),
            (131_000, 140_000),
            (262_144, usize::MAX),
            (299_999, 5),
            (300_000, 5),
            (399_990, 40),
            (usize::MAX, 1),
        ] {
            let start = skip.min(content.len());
            let end = start.saturating_add(length).min(content.len());
            for (tails, threads) in [("image", "1"), ("image", "3")] {
                let (skip, length) = (skip.to_string(), length.to_string());
                let ran = stage.done([
                    "cat", tails, file, "--skip", &skip, "--length", &length, "-j", threads,
                ]);
                assert!(ran.stdout == content[start..end], "{file} {skip} {length}");
            }
        }
    }
}

#[test]
fn cat_prints_large_files_whole_in_little_memory() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    let mut content = noise(5_000_000, 3);
    content[1_000_000..3_000_000].fill(0);
    fs::write(stage.at("s/large"), &content).unwrap();
    fs::write(stage.at("s/small"), &content[..70]).unwrap();
    for flags in [
        &["-b", "4K"][..],
        &["-b", "1M", "--tails", "all"],
        &["-c", "xz", "-l", "0"],
    ] {
        stage.done(["-q", "build", "s", "image"].iter().chain(flags));
        let expected = [&content[..], &content[..70], &content[..]].concat();
        for memory in ["1", "64M"] {
            let args = ["large", "small", "large", "-j", "4", "--memory", memory];
            let ran = with(&stage, "cat", &args);
            assert!(
                ran.code == Some(0) && ran.stdout == expected,
                "{flags:?} {}",
                ran.stderr
            );
        }
        fs::remove_file(stage.at("image")).unwrap();
    }
}

#[test]
fn cat_prints_what_stands_before_damage() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    let text: Vec<u8> = (0..300_000_u32)
        .flat_map(|number| (number / 7).to_le_bytes())
        .collect();
    fs::write(stage.at("s/file"), &text).unwrap();
    stage.done(["-q", "build", "s", "image", "-l", "1", "--tails", "none"]);
    let facts = with(&stage, "stat", &["--json", "--blocks", "/file"]).json();
    let start = facts[0]["data"]["blocks"][5]["start"].as_u64().unwrap();
    let file = File::options().write(true).open(stage.at("image")).unwrap();
    file.write_all_at(&[0; 64], start).unwrap();
    let ran = with(&stage, "cat", &["/file", "-j", "2"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout == text[..4 * 131_072], "{}", ran.stdout.len());
    let said = format!("error: cannot print `/file`: data block at byte {start}");
    assert!(ran.stderr.starts_with(&said), "{}", ran.stderr);
}

#[test]
fn info_counts_blocks_duplicates_kinds_and_lengths() {
    let stage = Stage::new();
    fs::create_dir(stage.at("s")).unwrap();
    fs::write(stage.at("s/a.so.1"), noise(200_000, 4)).unwrap();
    fs::write(stage.at("s/b.so"), noise(200_000, 4)).unwrap();
    fs::write(stage.at("s/c.txt"), vec![b'x'; 1000]).unwrap();
    fs::write(stage.at("s/d.txt"), vec![b'x'; 1000]).unwrap();
    fs::write(stage.at("s/e.txt"), noise(3000, 5)).unwrap();
    let file = File::create(stage.at("s/hole")).unwrap();
    file.set_len(262_144).unwrap();
    stage.done(["-q", "build", "s", "image", "-l", "1"]);
    let info = with(&stage, "info", &["--json"]).json();
    let blocks = &info["blocks"];
    for (key, number) in [
        ("stored", 2),
        ("compressed", 0),
        ("sparse", 2),
        ("sparse_bytes", 262_144),
        ("data_size_bytes", 200_000),
        ("fragments", 1),
        ("tails", 2),
        ("tail_bytes", 4000),
        ("duplicate_files", 2),
        ("duplicate_bytes", 201_000),
    ] {
        assert_eq!(blocks[key], number, "{key}: {blocks}");
    }
    let classes = info["kinds"]["classes"].as_array().unwrap();
    let class = |name: &str| classes.iter().find(|class| class["name"] == name).unwrap();
    assert_eq!(
        (
            &class("programs")["files"],
            &class("programs")["image_bytes"]
        ),
        (&2.into(), &200_000.into())
    );
    // All tail ends are text, so the fragment block is theirs.
    assert_eq!(class("text")["image_bytes"], blocks["fragment_size_bytes"]);
    assert_eq!(class("text")["content_bytes"], 5000);
    let files: u64 = info["sizes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["files"].as_u64().unwrap())
        .sum();
    assert_eq!(files, 6);
    let text = with(&stage, "info", &[]).text();
    for line in [
        "data blocks        0 compressed, 2 stored, 195 KiB\n",
        "sparse blocks      2, 256 KiB\n",
        "duplicates         2 files, 196 KiB not stored again\n",
        "\nprograms                     2       391 KiB       195 KiB   0.500\n",
        "\n.so                          2 ",
        "\nbelow 1.00 MiB               3 ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}
