//! How far the kernel reads ahead in mounted images.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::run::{Stage, detach, done};
use crate::skip;

/// An image of blocks of 128K, mounted at `mnt` until the end of a test.
struct Mounted {
    stage: Stage,
}

impl Mounted {
    fn new() -> Self {
        let stage = Stage::new();
        fs::create_dir_all(stage.at("source")).unwrap();
        fs::create_dir_all(stage.at("mnt")).unwrap();
        fs::write(stage.at("source/file"), vec![b'x'; 300_000]).unwrap();
        stage.done(["-q", "build", "source", "image"]);
        let mounted = Command::new("mount")
            .args(["-o", "loop,ro"])
            .args([stage.at("image"), stage.at("mnt")])
            .status();
        assert!(mounted.unwrap().success());
        Self { stage }
    }

    /// What the kernel says, in bytes.
    fn readahead_bytes(&self) -> u64 {
        let json = self.stage.done(["readahead", "--json", "mnt"]).json();
        json[0]["readahead_bytes"].as_u64().unwrap()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        detach(&self.stage.at("mnt"));
    }
}

#[test]
fn a_value_set_after_the_mount_holds() {
    if skip::without_root() || skip::without_kernel() {
        return;
    }
    let mounted = Mounted::new();
    assert!(
        mounted.readahead_bytes() >= 4 * 128 * 1024,
        "SquashFS raises it to four blocks"
    );
    for (target, size, bytes) in [
        ("image", "16K", 16 << 10),
        ("mnt", "0", 0),
        ("mnt/file", "1M", 1 << 20),
    ] {
        let ran = mounted.stage.run(["readahead", target, "--set", size]);
        if target == "mnt/file" {
            // A file is an image.
            assert_eq!(ran.code, Some(2), "{}", ran.stderr);
            continue;
        }
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        fs::read(mounted.stage.at("mnt/file")).unwrap();
        assert_eq!(mounted.readahead_bytes(), bytes, "{target} {size}");
    }
    let all = done(["readahead", "--json"]).json();
    let image = mounted.stage.at("image").canonicalize().unwrap();
    let all = all.as_array().unwrap();
    assert!(
        all.iter()
            .any(|row| row["image"] == image.to_str().unwrap())
    );
}

#[test]
fn what_sets_it_on_boot_names_the_target() {
    let stage = Stage::new();
    let text = |target: &str, more: &[&str]| {
        stage.run([&["readahead", target, "--set", "16K"], more].concat())
    };
    let rule = text("/srv/app.sqfs", &["--udev"]).text();
    assert!(
        rule.contains("ATTR{loop/backing_file}==\"/srv/app.sqfs\""),
        "{rule}"
    );
    assert!(rule.contains("ATTR{queue/read_ahead_kb}=\"16\""), "{rule}");
    let unit = text("/mnt/a b%", &["--systemd"]).text();
    assert!(
        unit.contains("RequiresMountsFor=\"/mnt/a b%%\"\n"),
        "{unit}"
    );
    assert!(
        unit.contains(" -q readahead \"/mnt/a b%%\" --set 16K\n"),
        "{unit}"
    );
    for name in ["/srv/*.sqfs", "/srv/a b", "/srv/\"", "/srv/ä"] {
        let ran = text(name, &["--udev"]);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.text());
    }
}

#[test]
fn the_script_of_an_initramfs_sets_it_for_squashfs_only() {
    let stage = Stage::new();
    let mounts = "36 35 7:3 / /root ro,relatime shared:1 - squashfs /dev/loop3 ro\n\
                  37 35 8:1 / / rw - ext4 /dev/sda1 rw\n";
    fs::write(stage.at("mountinfo"), mounts).unwrap();
    for device in ["7:3", "8:1"] {
        fs::create_dir_all(stage.at("bdi").join(device)).unwrap();
    }
    let script = stage
        .done(["readahead", "--initramfs", "--set", "0"])
        .text();
    let [mountinfo, bdi] = ["mountinfo", "bdi"].map(|name| stage.at(name).display().to_string());
    let script = script.replace("/proc/self/mountinfo", &mountinfo);
    let script = script.replace("/sys/class/bdi", &bdi);
    let run = |argument: &str| {
        let ran = Command::new("sh")
            .args(["-c", &script, "script", argument])
            .output()
            .unwrap();
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
    };
    let set = |device: &str| -> PathBuf { stage.at("bdi").join(device).join("read_ahead_kb") };
    run("prereqs");
    assert!(!set("7:3").exists());
    run("");
    assert_eq!(fs::read_to_string(set("7:3")).unwrap(), "0\n");
    assert!(!set("8:1").exists());
}
