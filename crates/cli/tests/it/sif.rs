//! SIF containers for Apptainer.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use coldpress_image::{Sif, read_sif};

use crate::containers::image;
use crate::run::{Stage, program};
use crate::skip::{without_peer, without_root};

fn table(stage: &Stage, name: &str) -> Sif {
    let bytes = fs::read(stage.at(name)).unwrap();
    read_sif(&bytes).unwrap().expect("it is a SIF container")
}

fn cat(stage: &Stage, path: &str) -> String {
    let ran = stage.done(["cat", "app.sif", path, "--offset", "auto"]);
    ran.text()
}

#[test]
fn a_container_image_becomes_what_apptainer_build_makes_of_it() {
    let stage = Stage::new();
    image(&stage);
    stage.done(["-q", "build", "oci:layout", "app.sif", "--verify"]);
    let Sif {
        header,
        descriptors,
        damage,
    } = table(&stage, "app.sif");
    assert_eq!(damage, None);
    assert_eq!(header.architecture.name(), "amd64");
    assert_eq!(&header.launch[..31], b"#!/usr/bin/env run-singularity\n");
    let mode = fs::metadata(stage.at("app.sif"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o111, (mode & 0o444) >> 2);
    let names = descriptors
        .iter()
        .map(|it| str::from_utf8(&it.name).unwrap());
    let expected = ["", "inspect-metadata.json", "oci-config.json", ""];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    let bytes = fs::read(stage.at("app.sif")).unwrap();
    let part = |index: usize| {
        let start = usize::try_from(descriptors[index].start).unwrap();
        &bytes[start..][..usize::try_from(descriptors[index].size_bytes).unwrap()]
    };
    assert_eq!(part(0), b"bootstrap: oci\nfrom: layout\n");
    let inspected: serde_json::Value = serde_json::from_slice(part(1)).unwrap();
    let attributes = &inspected["data"]["attributes"];
    assert_eq!(attributes["labels"]["org.label-schema.build-arch"], "amd64");
    let config: serde_json::Value = serde_json::from_slice(part(2)).unwrap();
    assert_eq!(config["Entrypoint"][0], "/bin/tool");
    assert!(part(3).starts_with(b"hsqs"));
    // What the layers have, and what is added.
    assert_eq!(cat(&stage, "/etc/a"), "22");
    let runscript = cat(&stage, "/.singularity.d/runscript");
    assert_eq!(attributes["runscript"], *runscript);
    assert!(runscript.contains("exec '/bin/tool' \"$@\""));
    let environment = cat(&stage, "/.singularity.d/env/10-docker2singularity.sh");
    assert!(environment.contains("A='1'"));
    assert_eq!(cat(&stage, "/singularity"), runscript);
    let listed = ["ls", "-R", "--json", "app.sif", "--offset", "auto"];
    let listed = stage.done(listed).json();
    let is_of_root = |row: &serde_json::Value| row["uid"] == 0 && row["gid"] == 0;
    assert!(listed.as_array().unwrap().iter().all(is_of_root));
    let info = stage.done(["info", "app.sif", "--offset", "auto"]).text();
    assert!(info.contains("gzip"), "{info}");
    stage.done(["check", "app.sif", "--offset", "auto"]);
}

#[test]
fn the_same_source_makes_the_same_container() {
    let stage = Stage::new();
    image(&stage);
    for (name, threads) in [("one.sif", "1"), ("two.sif", "2")] {
        stage.done(["-q", "build", "oci:layout", name, "--threads", threads]);
    }
    let [one, two] = ["one.sif", "two.sif"].map(|name| fs::read(stage.at(name)).unwrap());
    assert!(one == two);
    // Another content is another container.
    stage.done([
        "-q",
        "build",
        "oci:layout",
        "other.sif",
        "--exclude",
        "etc/a",
    ]);
    let ids = ["one.sif", "other.sif"].map(|name| table(&stage, name).header.id);
    assert_ne!(ids[0], ids[1]);
    // Unchanged blocks are copied from a container too.
    let reuse = ["build", "oci:layout", "two.sif", "--reuse", "one.sif"];
    let again = stage.done(reuse);
    assert!(again.stderr.contains("copied"), "{}", again.stderr);
    assert!(fs::read(stage.at("two.sif")).unwrap() == one);
}

#[test]
fn a_directory_keeps_what_it_has_of_a_container() {
    let stage = Stage::new();
    for (path, text) in [
        ("root/.singularity.d/runscript", "mine"),
        ("root/.singularity.d/env/90-environment.sh", "E=1"),
        ("root/etc/hosts", "1 host"),
    ] {
        fs::create_dir_all(stage.at(path).parent().unwrap()).unwrap();
        fs::write(stage.at(path), text).unwrap();
    }
    symlink("var/home", stage.at("root/home")).unwrap();
    fs::set_permissions(stage.at("root"), fs::Permissions::from_mode(0o711)).unwrap();
    let build = ["-q", "build", "root", "app.sif", "-c", "zstd"];
    stage.done(build);
    assert_eq!(cat(&stage, "/singularity"), "mine");
    assert_eq!(cat(&stage, "/environment"), "E=1");
    assert_eq!(cat(&stage, "/etc/hosts"), "1 host");
    assert_eq!(cat(&stage, "/etc/resolv.conf"), "");
    assert!(cat(&stage, "/.run").starts_with("#!/bin/sh\n"));
    let stat = |path: &str| {
        let stat = ["stat", "app.sif", path, "--offset", "auto", "--json"];
        stage.done(stat).text()
    };
    assert!(stat("/").contains("0711"), "{}", stat("/"));
    assert!(stat("/home").contains("var/home"), "{}", stat("/home"));
    assert!(stat("/tmp").contains("1777"), "{}", stat("/tmp"));
    let info = stage.done(["info", "app.sif", "--offset", "auto"]).text();
    assert!(info.contains("zstd"), "{info}");
    // An archive of the directory is the same system.
    let tar = Command::new("tar")
        .args(["-C", "root", "-cf", "root.tar", "."])
        .current_dir(stage.directory())
        .status();
    assert!(tar.unwrap().success());
    let build = [
        "-q",
        "build",
        "root.tar",
        "tar.sif",
        "--preset",
        "apptainer",
    ];
    stage.done(build);
    stage.done(["cat", "tar.sif", "/.run", "--offset", "auto"]);
    let kinds = table(&stage, "tar.sif").descriptors;
    assert!(kinds.len() == 1 && kinds[0].partition().is_some());
}

#[test]
fn a_container_says_itself_where_its_image_is() {
    let stage = Stage::new();
    fs::create_dir(stage.at("root")).unwrap();
    for flag in [
        &["--offset", "4096"][..],
        &["--no-padding"],
        &["--verity", "append"],
    ] {
        let ran = stage.run([&["build", "root", "app.sif"], flag].concat());
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("leave --"), "{}", ran.stderr);
        assert!(!stage.at("app.sif").exists());
    }
}

#[test]
fn info_prints_what_is_in_a_container_and_what_cannot_be_true() {
    let stage = Stage::new();
    image(&stage);
    stage.done(["-q", "build", "oci:layout", "app.sif"]);
    let info = ["info", "app.sif", "--offset", "auto"];
    let text = stage.done(info).text();
    for expected in [
        "SIF, amd64, id ",
        "definition",
        "oci-config.json",
        "system  ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let json = stage.done([&info[..], &["--json"]].concat()).json();
    let objects = json["container"]["objects"].as_array().unwrap();
    assert_eq!(objects.len(), 4);
    assert_eq!(objects[3]["start"], 36_864);
    // The image is there nevertheless.
    let mut bytes = fs::read(stage.at("app.sif")).unwrap();
    bytes[88] = 47;
    fs::write(stage.at("app.sif"), bytes).unwrap();
    let ran = stage.run(info);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("the SIF header at byte 104 states"),
        "{}",
        ran.stderr
    );
    stage.done(["ls", "app.sif", "--offset", "auto"]);
}

#[test]
fn siftool_reads_what_is_written() {
    if without_peer("siftool") {
        return;
    }
    let stage = Stage::new();
    image(&stage);
    stage.done(["-q", "build", "oci:layout", "app.sif"]);
    let siftool = |args: &[&str]| {
        let mut siftool = Command::new("siftool");
        program(siftool.args(args).current_dir(stage.directory()))
    };
    let id = table(&stage, "app.sif").header.uuid();
    let header = siftool(&["header", "app.sif"]).text();
    for expected in ["run-singularity", "amd64", &id, "Descriptors Free:     44"] {
        assert!(header.contains(expected), "{expected}: {header}");
    }
    let list = siftool(&["list", "app.sif"]).text();
    assert!(list.contains("FS (Squashfs/*System/amd64)"), "{list}");
    let definition = siftool(&["dump", "1", "app.sif"]).text();
    assert_eq!(definition, "bootstrap: oci\nfrom: layout\n");
    fs::write(
        stage.at("dumped.sqfs"),
        siftool(&["dump", "4", "app.sif"]).stdout,
    )
    .unwrap();
    stage.done(["check", "dumped.sqfs"]);
    // It adds to what is there, and what it wrote is read.
    fs::write(stage.at("more"), "more").unwrap();
    siftool(&["add", "--datatype", "7", "app.sif", "more"]);
    let changed = table(&stage, "app.sif");
    assert_eq!((changed.damage, changed.descriptors.len()), (None, 5));
}

#[test]
fn skopeo_makes_an_image_of_a_container() {
    if without_root()
        || ["skopeo", "fakeroot", "unsquashfs"]
            .map(without_peer)
            .contains(&true)
    {
        return;
    }
    let stage = Stage::new();
    image(&stage);
    stage.done(["-q", "build", "oci:layout", "app.sif"]);
    let copy = [
        "copy",
        "-q",
        "--insecure-policy",
        "sif:app.sif",
        "oci:copied:app",
    ];
    program(
        Command::new("skopeo")
            .args(copy)
            .current_dir(stage.directory()),
    );
    stage.done(["-q", "build", "oci:copied:app", "copied.sqfs"]);
    let bytes = fs::read(stage.at("app.sif")).unwrap();
    let start = table(&stage, "app.sif").descriptors[3].start;
    let system = &bytes[usize::try_from(start).unwrap()..];
    fs::write(stage.at("system.sqfs"), system).unwrap();
    let same = stage.run(["diff", "system.sqfs", "copied.sqfs", "--tree-only"]);
    assert_eq!(same.code, Some(0), "{}{}", same.text(), same.stderr);
}
