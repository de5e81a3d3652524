//! Damage, a full disk, Ctrl-C, and callers who may not do everything.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::run::{Stage, comes_true, command};
use crate::skip;

/// `nobody`, who owns nothing.
const NOBODY: u32 = 65_534;

/// Bytes that do not compress, different for each seed.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A stage with `image` of these many files `f-NUMBER` of equal length, and their content.
fn stage(count: u64, len: usize) -> Stage {
    let stage = Stage::new();
    fs::create_dir(stage.at("tree")).unwrap();
    for number in 0..count {
        let file = stage.at("tree").join(format!("f-{number}"));
        fs::write(file, noise(number, len)).unwrap();
    }
    stage.done([
        "build", "-q", "--tails", "none", "-b", "4K", "tree", "image",
    ]);
    stage
}

/// Checks that all files are whole; returns how many there are.
fn count_whole(directory: &Path, len: usize) -> usize {
    let entries = fs::read_dir(directory).unwrap();
    let check = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let number = name.strip_prefix("f-").unwrap().parse().unwrap();
        assert_eq!(fs::read(&path).unwrap(), noise(number, len), "{name}");
    };
    entries.map(check).count()
}

#[test]
fn damage_ends_an_extraction_or_is_left_out() {
    let stage = stage(5, 20_000);
    let text = "some text that becomes shorter ".repeat(2000);
    for name in ["tree/g", "tree/h"] {
        fs::write(stage.at(name), format!("{name} {text}")).unwrap();
    }
    stage.done([
        "build", "-q", "--tails", "none", "-c", "gzip", "tree", "gzip",
    ]);
    let mut image = fs::read(stage.at("gzip")).unwrap();
    // Behind the superblock and the noise, which is stored as it is, come `g` and `h`.
    let behind_noise = 96 + 5 * 20_000;
    image[behind_noise + 8..behind_noise + 40].fill(0xff);
    fs::write(stage.at("gzip"), &image).unwrap();

    let ran = stage.run(["extract", "gzip", "stopped"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("--keep-going"), "{}", ran.stderr);
    let ran = stage.run(["extract", "gzip", "rest", "--keep-going", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(report["left_out_count"].as_u64(), Some(1), "{report}");
    assert_eq!(report["files"].as_u64(), Some(6));
    let sentence = report["left_out"][0].as_str().unwrap();
    assert!(sentence.contains("cannot read `/"), "{sentence}");
    assert_eq!(fs::read_dir(stage.at("rest")).unwrap().count(), 6);
}

#[test]
fn a_full_disk_ends_an_extraction_and_leaves_whole_files() {
    const LEN: usize = 100_000;
    if skip::without_root() {
        return;
    }
    let stage = stage(40, LEN);
    fs::create_dir(stage.at("small")).unwrap();
    let script = "mount -t tmpfs -o size=1M tmpfs small && \
                  $COLDPRESS extract image small/out --keep-going; echo $? > code; \
                  cp -r small/out left";
    let mut run = Command::new("unshare");
    run.args(["--mount", "sh", "-c", script]);
    run.env("COLDPRESS", env!("CARGO_BIN_EXE_coldpress"));
    run.env("COLDPRESS_HISTORY", "off");
    let output = run.current_dir(stage.directory()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        fs::read_to_string(stage.at("code")).unwrap(),
        "2\n",
        "{stderr}"
    );
    assert!(stderr.contains("No space left on device"), "{stderr}");
    let whole = count_whole(&stage.at("left"), LEN);
    assert!((1..11).contains(&whole), "{whole}");
}

#[test]
fn ctrl_c_ends_an_extraction_and_leaves_whole_files() {
    const LEN: usize = 9_000;
    const COUNT: usize = 4_000;
    let stage = stage(COUNT as u64, LEN);
    let out = stage.at("out");
    let mut extract = command();
    extract.args(["extract", "-q", "image", "out", "-j", "1"]);
    let mut child = extract.current_dir(stage.directory()).spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let files = || fs::read_dir(&out).map_or(0, Iterator::count);
    while files() == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    kill_process(pid, Signal::STOP).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    kill_process(pid, Signal::CONT).unwrap();
    assert!(comes_true(|| child.try_wait().unwrap().is_some()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let whole = count_whole(&out, LEN);
    assert!((1..COUNT).contains(&whole), "{whole}");
}

#[test]
fn who_is_not_root_is_told_what_is_lacking() {
    if skip::without_root() {
        return;
    }
    let stage = Stage::new();
    fs::create_dir(stage.at("tree")).unwrap();
    fs::write(stage.at("tree/tool"), "tool").unwrap();
    fs::set_permissions(stage.at("tree/tool"), PermissionsExt::from_mode(0o6755)).unwrap();
    stage.done([
        "build",
        "-q",
        "tree",
        "image",
        "--pseudo",
        "null c 0666 0 0 1 3",
        "--pseudo",
        "pipe i 0640 7 7 f",
        "--xattr-add",
        "trusted.secret=1",
    ]);
    let everyone = PermissionsExt::from_mode(0o777);
    fs::set_permissions(stage.directory(), everyone).unwrap();
    // The place where it was built may be closed to others.
    fs::copy(env!("CARGO_BIN_EXE_coldpress"), stage.at("coldpress")).unwrap();
    let mut run = Command::new(stage.at("coldpress"));
    run.env("COLDPRESS_HISTORY", "off");
    run.args(["extract", "image", "out", "--keep-going"])
        .uid(NOBODY)
        .gid(NOBODY);
    let output = run.current_dir(stage.directory()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    for sentence in [
        "`out/null`: device not restored: Operation not permitted",
        "`out/tool`: extended attribute `trusted.secret` not restored",
        "`out/tool`: set-id bits not restored",
    ] {
        assert!(stderr.contains(sentence), "{sentence}: {stderr}");
    }
    let tool = stage.at("out/tool").metadata().unwrap();
    assert_eq!((tool.mode() & 0o7777, tool.uid()), (0o755, NOBODY));
    assert_eq!(fs::read(stage.at("out/tool")).unwrap(), b"tool");
    let pipe = stage.at("out/pipe").metadata().unwrap();
    assert_eq!(pipe.mode() & 0o7777, 0o640);
    assert!(!stage.at("out/null").exists());
}

#[test]
fn user_xattrs_need_no_privilege_and_what_cannot_be_set_is_counted() {
    if skip::without_root() {
        return;
    }
    let stage = Stage::new();
    fs::create_dir(stage.at("tree")).unwrap();
    fs::write(stage.at("tree/file"), "file").unwrap();
    // Nobody may write to what is extracted.
    let flags = "--file-mode 0444 --dir-mode 0555 --xattr-add user.own=1";
    let mut args = vec!["build", "-q", "tree", "image"];
    args.extend(flags.split(' '));
    args.extend(["--pseudo", "file x trusted.root=1"]);
    stage.done(args);
    let everyone = PermissionsExt::from_mode(0o777);
    fs::set_permissions(stage.directory(), everyone).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_coldpress"), stage.at("coldpress")).unwrap();
    let lacking =
        ["`@/file`: extended attribute `trusted.root` not restored: Operation not permitted"];
    for (out, user, lacking) in [("nobodys", NOBODY, &lacking[..]), ("roots", 0, &[])] {
        let mut run = Command::new(stage.at("coldpress"));
        run.args(["extract", "-q", "image", out, "--json"])
            .uid(user)
            .gid(user);
        let output = run.current_dir(stage.directory()).output().unwrap();
        let code = i32::from(!lacking.is_empty());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut sentences: Vec<_> = report["not_restored"].as_array().unwrap().iter().collect();
        sentences.sort_by_key(|sentence| sentence.as_str());
        let lacking: Vec<String> = lacking.iter().map(|it| it.replace('@', out)).collect();
        assert_eq!(sentences, lacking.iter().collect::<Vec<_>>());
        assert_eq!(report["not_restored_count"], lacking.len());
        for path in [stage.at(out), stage.at(out).join("file")] {
            let mut value = [0; 8];
            let len = rustix::fs::getxattr(&path, "user.own", &mut value).unwrap();
            assert_eq!(value[..len], *b"1", "{}", path.display());
        }
    }
}
