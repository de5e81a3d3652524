//! Container images that are started.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use coldpress_writer::Digest;

use crate::containers::{put, tar};
use crate::run::Stage;
use crate::skip::{without_peer, without_recording};

/// An image whose command is a shell that reads a file in its working directory, if there is one.
fn runnable(stage: &Stage) -> bool {
    if without_peer("busybox") {
        return false;
    }
    let busybox = ["/bin/busybox", "/usr/bin/busybox"];
    let busybox = busybox.into_iter().find(|path| Path::new(path).exists());
    let directories = ["bin", "proc", "dev", "tmp", "srv"].map(|name| stage.at("root").join(name));
    for directory in directories {
        fs::create_dir_all(directory).unwrap();
    }
    fs::copy(busybox.unwrap(), stage.at("root/bin/busybox")).unwrap();
    symlink("busybox", stage.at("root/bin/sh")).unwrap();
    fs::write(stage.at("root/srv/words"), "a few words\n").unwrap();
    let layer = tar(&stage.at("root"));
    let script = "set -e; read line < words; test \\\"$line\\\" = 'a few words'; test $GREET = hi";
    let config = format!(
        r#"{{"os":"linux","architecture":"amd64","config":{{"Env":["GREET=hi"],
            "Entrypoint":["/bin/sh","-c"],"Cmd":["{script}"],"WorkingDir":"/srv"}},
            "rootfs":{{"type":"layers","diff_ids":["{}"]}}}}"#,
        Digest::sha256_of(&layer)
    );
    let layer = put(stage, "application/vnd.oci.image.layer.v1.tar", &layer);
    let config_type = "application/vnd.oci.image.config.v1+json";
    let config = put(stage, config_type, config.as_bytes());
    let manifest = format!(r#"{{"config":{config},"layers":[{layer}]}}"#);
    let manifest_type = "application/vnd.oci.image.manifest.v1+json";
    let manifest = put(stage, manifest_type, manifest.as_bytes());
    let index = format!(r#"{{"manifests":[{manifest}]}}"#);
    fs::write(stage.at("layout/index.json"), index).unwrap();
    true
}

#[test]
fn an_image_that_names_its_command_is_started_by_it() {
    if without_recording() {
        return;
    }
    let stage = Stage::new();
    if !runnable(&stage) {
        return;
    }
    stage.done(["-q", "record", "oci:layout", "-o", "own.trace"]);
    let script = "read line < words; test $GREET = hi";
    let asked = [
        "-q",
        "record",
        "oci:layout",
        "-o",
        "asked.trace",
        "--chroot",
        "--",
    ];
    stage.done(asked.into_iter().chain(["sh", "-c", script]));
    for trace in ["own.trace", "asked.trace"] {
        let trace = fs::read_to_string(stage.at(trace)).unwrap();
        assert!(trace.contains(" R 0-0 /srv/words"), "{trace}");
    }
    // On a slow disk, and with a program that takes no time, so that the order pays however long
    // the recorded start took on this machine.
    let tuned = "-q tune oci:layout --fast --default-speeds --device usb2 --warm 0.001 \
                 --plan-out plan --chroot --";
    stage.done(tuned.split(' ').chain(["sh", "-c", script]));
    let plan = fs::read_to_string(stage.at("plan")).unwrap();
    assert!(plan.contains("/srv/words"), "{plan}");
    let pressed = [
        "-q",
        "press",
        "oci:layout",
        "-o",
        "app.sqfs",
        "--runs",
        "1",
        "--json",
    ];
    let report = stage.done(pressed).json();
    if !without_peer("mksquashfs") {
        assert_eq!(report["study"]["contestants"][0]["name"], "mksquashfs");
    }
    let same = stage.run(["diff", "app.sqfs", "root", "--no-times"]);
    assert_eq!(same.code, Some(0), "{}{}", same.text(), same.stderr);
    // A directory has no command of its own.
    let ran = stage.run(["record", "root", "-o", "trace"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("there is no command to start"),
        "{}",
        ran.stderr
    );
}
