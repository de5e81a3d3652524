//! Images for the tools that run containers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::containers::{image, serve};
use crate::run::{Ran, Stage, command};

/// Runs coldpress in a stage, with variables.
fn with(stage: &Stage, variables: &[(&str, &str)], words: &[&str]) -> Ran {
    let mut command = command();
    command.args(words).current_dir(stage.directory());
    command.envs(variables.iter().copied());
    Ran::of(command.output().unwrap())
}

#[test]
fn an_image_for_enroot_has_what_enroot_adds() {
    let stage = Stage::new();
    image(&stage);
    stage.done([
        "-q",
        "build",
        "oci:layout",
        "image.sqfs",
        "--preset",
        "enroot",
    ]);
    let cat = |path: &str| stage.done(["cat", "image.sqfs", path]).text();
    assert_eq!(cat("/etc/environment"), "A=1\n");
    assert!(cat("/etc/rc").starts_with("# enroot-provenance: oci:layout\n"));
    assert!(cat("/etc/rc").contains("exec '/bin/tool' \"$@\""));
    let listed = stage.done(["ls", "-R", "--json", "image.sqfs"]).json();
    let is_of_root = |row: &serde_json::Value| row["uid"] == 0 && row["gid"] == 0;
    assert!(listed.as_array().unwrap().iter().all(is_of_root));
    let ran = stage.run(["build", "merged", "image.sqfs", "--preset", "enroot"]);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn options_of_a_site_hold_for_images_of_enroot() {
    let stage = Stage::new();
    image(&stage);
    fs::create_dir(stage.at("conf")).unwrap();
    let conf = stage.at("conf");
    let conf = ("ENROOT_SYSCONF_PATH", conf.to_str().unwrap());
    let set = ("ENROOT_SQUASH_OPTIONS", "-comp gzip -b 64K -noD");
    let words = ["build", "--preset", "enroot", "oci:layout", "image.sqfs"];
    let build = |variables: &[(&str, &str)], more: &[&str]| {
        let ran = with(&stage, variables, &[&words, more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let info = stage.done(["info", "--json", "image.sqfs"]).json();
        let superblock = &info["superblock"];
        let found = (
            superblock["compressor"].clone(),
            superblock["block_size"].clone(),
        );
        (found, ran.stderr)
    };
    let zstd = || ("zstd".into(), 131_072.into());
    assert_eq!(build(&[conf], &[]).0, zstd());
    let (found, told) = build(&[conf, set], &[]);
    assert_eq!(found, ("gzip".into(), 65_536.into()));
    let line = "options of mksquashfs from the environment: -comp gzip -b 64K -noD";
    assert!(told.contains(line), "{told}");
    // What the command line says counts more.
    assert_eq!(build(&[conf, set], &["-c", "zstd"]).0, zstd());
    let text = "# of the site\nENROOT_SQUASH_OPTIONS -comp xz\n";
    fs::write(stage.at("conf/enroot.conf"), text).unwrap();
    let (found, told) = build(&[conf], &[]);
    assert_eq!(found, ("xz".into(), 131_072.into()));
    assert!(told.contains("conf/enroot.conf: -comp xz"), "{told}");
    assert_eq!(build(&[conf, set], &[]).0.0, "gzip");

    let sort = [conf, ("ENROOT_SQUASH_OPTIONS", "-sort list")];
    let ran = with(&stage, &sort, &words);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("`-sort` is not an option"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_image_for_charliecloud_has_places_to_mount_at() {
    let stage = Stage::new();
    image(&stage);
    let words = "-q build --preset charliecloud oci:layout image.sqfs";
    stage.done(words.split(' '));
    stage.done("-q build oci:layout plain.sqfs".split(' '));
    let text = |path: &str| stage.done(["cat", "image.sqfs", path]).text();
    assert_eq!(text("/ch/environment"), "A=1\n");
    let metadata: serde_json::Value = serde_json::from_str(&text("/ch/metadata.json")).unwrap();
    assert_eq!(metadata["env"]["A"], "1");
    let files = stage.done(["find", "image.sqfs"]).text();
    for path in [
        "/dev",
        "/proc",
        "/sys",
        "/mnt/9",
        "/etc/hosts",
        "/etc/resolv.conf",
    ] {
        assert!(files.lines().any(|line| line == path), "{path}: {files}");
    }
    // What the image has stays as it is.
    let differences = stage.run(["diff", "plain.sqfs", "image.sqfs"]).text();
    let lost = |line: &&str| line.contains("only in FIRST") || line.starts_with('-');
    assert_eq!(differences.lines().find(lost), None, "{differences}");
    assert_eq!(text("/etc/a"), "22");
}

#[test]
fn pyxis_gets_one_image_for_all_jobs() {
    let stage = Stage::new();
    image(&stage);
    let uri = format!("docker://{}#app:1", serve(&stage));
    let program = stage.at("pyxis-importer");
    symlink(env!("CARGO_BIN_EXE_coldpress"), &program).unwrap();
    let cache = stage.at("cache");
    let call = |options: &str, words: &[&str]| {
        let mut importer = Command::new(&program);
        importer
            .args(words)
            .current_dir(stage.directory())
            .env("COLDPRESS_HISTORY", "off")
            .env("NO_PROXY", "127.0.0.1")
            .env("COLDPRESS_BLOB_CACHE", &cache)
            .env("ENROOT_SYSCONF_PATH", stage.directory())
            .env("ENROOT_SQUASH_OPTIONS", options);
        importer
    };
    let get = |options: &str| {
        let output = call(options, &["get", &uri]).output().unwrap();
        let ran = Ran::of(output);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.text()
    };
    let jobs = [(); 3].map(|()| call("", &["get", &uri]).stdout(Stdio::piped()).spawn());
    let paths = jobs.map(|job| Ran::of(job.unwrap().wait_with_output().unwrap()).text());
    assert!(paths[0] == paths[1] && paths[1] == paths[2], "{paths:?}");
    let path = Path::new(paths[0].trim_end());
    assert!(path.is_absolute() && paths[0].lines().count() == 1);
    let first = fs::metadata(path).unwrap();
    assert_eq!(
        stage
            .done(["cat", path.to_str().unwrap(), "/etc/environment"])
            .text(),
        "A=1\n"
    );
    // The same job again builds nothing; other options give another image.
    assert_eq!(get(""), paths[0]);
    let again = fs::metadata(path).unwrap();
    assert_eq!(first.created().ok(), again.created().ok());
    let other = get("-comp gzip");
    assert_ne!(other, paths[0]);

    for _ in 0..2 {
        let ran = Ran::of(call("", &["release"]).output().unwrap());
        assert_eq!((ran.code, ran.text().as_str()), (Some(0), ""));
    }
    assert!(path.exists());
    let cache = ("COLDPRESS_BLOB_CACHE", cache.to_str().unwrap());
    let listed = with(&stage, &[cache], &["cache", "ls", "--json"]).json();
    let images = listed.as_array().unwrap().iter();
    assert_eq!(images.filter(|row| row["image"].is_string()).count(), 2);
    let pruned = with(&stage, &[cache], &["cache", "prune"]);
    assert!(pruned.stderr.contains(" and 2 images"), "{}", pruned.stderr);
    assert!(!path.exists());

    let missing = call("", &["get", &uri.replace("app:1", "app:2")])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(missing.stdout.is_empty());
    let no_uri = call("", &["get", "/tmp"]).output().unwrap();
    assert_eq!(no_uri.status.code(), Some(2));
}
