//! `bench build`: what it measures, and what it does about tools that are missing or fail.

mod ended;
mod wrong;

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{Ran, Stage, command, names, program};
use crate::skip;

const PEERS: [&str; 4] = ["mksquashfs", "unsquashfs", "gensquashfs", "rdsquashfs"];

/// Makes a tree with a bit of everything that all users may make. Its name is what a program could
/// misread.
fn source(parent: &Path) -> PathBuf {
    let source = parent.join("-x {root} source");
    fs::create_dir_all(source.join("a/empty")).unwrap();
    let mut state: u64 = 7;
    for number in 0..40 {
        // Words of 64, which no compressor finds at once.
        let words = (0..number * 100).map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            format!("{:x} ", (state >> 58) * 7919)
        });
        fs::write(
            source.join(format!("a/{number}")),
            words.collect::<String>(),
        )
        .unwrap();
    }
    fs::write(source.join("a b\n\u{ef}"), "odd").unwrap();
    fs::write(source.join("nothing"), "").unwrap();
    fs::hard_link(source.join("a/39"), source.join("same")).unwrap();
    symlink("a/39", source.join("link")).unwrap();
    source
}

/// The binary in a stage, with a history of its own.
fn bench(stage: &Stage) -> Command {
    let mut command = command();
    command
        .current_dir(stage.directory())
        .env("COLDPRESS_HISTORY", stage.at("history.sqlite"))
        .args(["bench", "build", "--threads", "2"]);
    command
}

/// A directory in memory, if there is one: what is measured does not matter, and the disk may be
/// busy.
fn work() -> TempDir {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() {
        memory.to_owned()
    } else {
        env::temp_dir()
    };
    tempfile::tempdir_in(parent).unwrap()
}

fn run(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The study that was written as samples.
fn samples(path: &Path) -> Value {
    let text = fs::read(path).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["studies"][0].take()
}

/// A program in a directory, which becomes the only one of PATH with the tools of the system behind
/// it.
fn fake(stage: &Stage, name: &str, script: &str) -> String {
    let directory = stage.at("bin");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", directory.display())
}

/// unsquashfs 4.5 takes the lz4 images of gensquashfs 1.2 for damaged, so it has no part in this.
const UNPACKERS: &str = "coldpress,rdsquashfs";

#[test]
fn all_tools_make_what_they_were_asked_for() {
    if PEERS.into_iter().any(skip::without_peer) {
        return;
    }
    let stage = Stage::new();
    let source = source(stage.directory());
    let work = work();
    fs::create_dir(stage.at("kept")).unwrap();
    let lists = "--compressors gzip,lzo,lz4,xz,zstd,none --levels default,1,3 --block-sizes 64K --runs 1 --seed 7 \
                 --unpack-threads 1 --keep kept --samples samples.json --json";
    let mut bench = bench(&stage);
    bench
        .args(lists.split_whitespace())
        .args(["--unpackers", UNPACKERS, "--work-dir"])
        .arg(work.path());
    let ran = run(bench.arg("--").arg(&source));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(names(work.path()), [""; 0]);
    let json = ran.json();
    let summary = &json["summary"];
    let builds = summary["builds"].as_array().unwrap();
    // Three tools: gzip, lzo and zstd three levels each, lz4 default; coldpress two levels of lz4
    // more, it and gensquashfs two of xz; all of them xz default, and none but with gensquashfs.
    assert_eq!(builds.len(), 27 + 3 + 2 + 4 + 3 + 2);
    assert_eq!(
        summary["unpacks"].as_array().unwrap().len(),
        2 * builds.len()
    );
    let content_bytes: f64 = json["study"]["facts"]["content_bytes"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    for build in builds {
        let of = |figure: &str| build[figure].as_f64().unwrap();
        assert!(
            build["build_s"]["median"].as_f64().unwrap() > 0.0,
            "{build}"
        );
        assert!(of("unpack_s") > 0.0 && of("used_cores") > 0.0, "{build}");
        let percent = 100.0 * of("size_bytes") / content_bytes;
        assert!((of("size_percent") - percent).abs() < 1e-9, "{build}");
        // A program is not smaller, and none of them needs as much for so little.
        assert!((1e6..1e9).contains(&of("peak_memory_bytes")), "{build}");
    }
    assert!(builds.iter().any(|build| build["is_on_front"] == true));
    assert_eq!(
        summary["left_out"],
        serde_json::json!([
            "none has no level 1",
            "none has no level 3",
            "mksquashfs has no level 1 of lz4",
            "mksquashfs has no level 3 of lz4",
            "mksquashfs has no level 1 of xz",
            "mksquashfs has no level 3 of xz",
            "gensquashfs has no level 1 of lz4",
            "gensquashfs has no level 3 of lz4",
            "gensquashfs compresses always",
        ])
    );
    check_images(&stage, builds.len());
    check_sizes(builds);
    let study = samples(&stage.at("samples.json"));
    assert_eq!(study["state"], "done");
    assert_eq!(study["facts"]["seed"], "7");
    assert!(
        study["facts"]["mksquashfs_version"]
            .as_str()
            .unwrap()
            .contains("mksquashfs")
    );
    assert_eq!(study["runs"].as_array().unwrap().len(), 3 * builds.len());
}

/// Each kept image says the compressor and block size of its name.
fn check_images(stage: &Stage, count: usize) {
    let images = names(&stage.at("kept"));
    assert_eq!(images.len(), count);
    for image in images {
        let ran = program(
            Command::new("unsquashfs")
                .arg("-s")
                .arg(stage.at("kept").join(&image)),
        );
        let said = ran.text();
        assert!(said.contains("Block size 65536"), "{image}: {said}");
        let compressor = image.split('-').nth(1).unwrap();
        // Where nothing is compressed, the superblock names one all the same.
        let named = said.contains(&format!("Compression {compressor}"));
        assert!(named || compressor == "none", "{image}: {said}");
        assert!(said.contains("exportable via NFS"), "{image}: {said}");
    }
}

/// Levels arrive: of the same tool and compressor, the default is smaller than the lowest.
fn check_sizes(builds: &[Value]) {
    let size = |name: &str| {
        let build = builds
            .iter()
            .find(|build| build["name"] == format!("{name} 64K j2"));
        build.map(|build| build["size_bytes"].as_f64().unwrap())
    };
    for tool in ["coldpress", "mksquashfs", "gensquashfs"] {
        for (low, default) in [("gzip-1", "gzip-9"), ("zstd-1", "zstd-15")] {
            let [low, default] =
                [low, default].map(|level| size(&format!("{tool} {level}")).unwrap());
            assert!(default < low, "{tool}: {default} of the default, {low}");
        }
        let compressed = size(&format!("{tool} zstd-1")).unwrap();
        let stored = size(&format!("{tool} none"));
        assert!(
            stored.is_none_or(|stored| stored > 2.0 * compressed),
            "{tool}"
        );
    }
}

#[test]
fn all_unpackers_unpack_what_all_tools_made() {
    if PEERS.into_iter().any(skip::without_peer) {
        return;
    }
    let (stage, work) = (Stage::new(), work());
    let source = source(stage.directory());
    let mut bench = bench(&stage);
    bench.args(
        "--compressors gzip,xz --block-sizes 64K --runs 1 --unpack-threads 1,2 --json".split(' '),
    );
    let ran = run(bench
        .arg("--work-dir")
        .arg(work.path())
        .arg("--")
        .arg(&source));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let unpacks = ran.json()["summary"]["unpacks"].take();
    let unpacks = unpacks.as_array().unwrap();
    assert_eq!(unpacks.len(), 2 * 3 * 5);
    for unpack in unpacks {
        assert!(
            unpack["unpack_s"]["median"].as_f64().unwrap() > 0.0,
            "{unpack}"
        );
    }
}

#[test]
fn tables_fit_a_terminal_and_a_seed_is_an_order() {
    let stage = Stage::new();
    let source = source(stage.directory());
    let work = work();
    let order = |seed: &str| {
        let args = "--tools coldpress --unpackers coldpress --unpack-threads 1,2 --block-sizes 64K,128K,1M --runs 2 \
                    --samples samples.json --report report.html --no-store --seed";
        let mut bench = bench(&stage);
        bench
            .args(args.split_whitespace())
            .arg(seed)
            .arg("--work-dir")
            .arg(work.path());
        let ran = run(bench.arg("--").arg(&source));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let text = ran.text();
        // The legend is broken where there is a terminal.
        let mut tables = text.lines().filter(|line| !line.starts_with('*'));
        assert!(tables.all(|line| line.len() <= 100), "{text}");
        assert!(text.contains("* coldpress zstd-15"), "{text}");
        let html = fs::read_to_string(stage.at("report.html")).unwrap();
        assert!(html.contains("coldpress j2 of coldpress zstd-15 64K"));
        assert!(text.contains("coldpress  coldpress\n"), "{text}");
        let runs = samples(&stage.at("samples.json"))["runs"].take();
        let runs = runs.as_array().unwrap().iter();
        runs.map(|run| run["contestant"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(order("1"), order("1"));
    assert_ne!(order("1"), order("2"));
    // Nor did the coldpress that was measured keep anything.
    for verb in ["history", "timings"] {
        let mut list = command();
        list.arg(verb)
            .env("COLDPRESS_HISTORY", stage.at("history.sqlite"));
        let listed = run(&mut list).text();
        assert!(
            !listed.contains("bench build") && !listed.contains("Extract"),
            "{listed}"
        );
    }
}
