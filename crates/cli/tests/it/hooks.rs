//! `coldpress hooks`: what an initrd gets, and which bytes of an image its program reads.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::run::Session;

/// A session with an image of a tree in which a profile names one file of two.
fn session() -> Session {
    let session = Session::beside_others();
    fs::create_dir(session.at("tree")).unwrap();
    fs::write(session.at("tree/hot"), vec![1_u8; 300_000]).unwrap();
    fs::write(session.at("tree/cold"), vec![2_u8; 300_000]).unwrap();
    fs::write(
        session.at("start.trace"),
        "coldpress-trace 1\n0 0 R 0-70 /hot\n",
    )
    .unwrap();
    fs::write(session.at("helper"), "program").unwrap();
    session.done(["-q", "build", "tree", "tree.sqfs", "--store", "data"]);
    session
}

fn hooks<'a>(kind: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["hooks", kind, "tree.sqfs", "--profile", "start.trace"];
    words.extend(["--helper", "helper"]);
    words.extend_from_slice(more);
    words
}

#[test]
fn the_list_has_the_blocks_of_the_profile_and_names_the_image() {
    let session = session();
    session.done(hooks(
        "live-boot",
        &["-o", "root", "--max-read", "1M", "--bandwidth", "2M"],
    ));
    let list = fs::read_to_string(session.at("root/usr/lib/coldpress/extents")).unwrap();
    let lines: Vec<&str> = list.lines().collect();
    let image = fs::read(session.at("tree.sqfs")).unwrap();
    let mut superblock = String::new();
    for byte in &image[..96] {
        write!(superblock, "{byte:02x}").unwrap();
    }
    assert_eq!(lines[0], "coldpress-extents 1");
    assert!(lines[1].ends_with(&superblock), "{}", lines[1]);
    assert_eq!(lines[2], "limits 1048576 60 2097152");
    let bytes: Vec<u8> = lines[3..]
        .iter()
        .flat_map(|line| {
            let (start, len) = line.split_once(' ').unwrap();
            let start = start.parse::<usize>().unwrap();
            image[start..start + len.parse::<usize>().unwrap()].to_vec()
        })
        .collect();
    assert!(bytes.len() >= 262_144 && bytes.iter().all(|byte| *byte == 1));
    let script = "root/etc/initramfs-tools/scripts/live-realpremount/coldpress";
    let mode = fs::metadata(session.at(script))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn every_kind_writes_its_files_and_only_live_boot_takes_an_initrd() {
    let session = session();
    for (kind, file) in [
        (
            "casper",
            "etc/initramfs-tools/scripts/casper-bottom/90coldpress",
        ),
        (
            "dracut",
            "usr/lib/dracut/modules.d/90coldpress/module-setup.sh",
        ),
        ("mkinitcpio", "usr/lib/initcpio/hooks/coldpress"),
        (
            "systemd",
            "usr/lib/systemd/system/coldpress-prefetch.service",
        ),
    ] {
        session.done(hooks(kind, &["-o", "root", "--at", "/the/image"]));
        assert!(session.at("root").join(file).exists(), "{kind}");
        let refused = session.run(hooks(kind, &["--add-to", "helper", "-o", "new"]));
        assert_eq!(refused.code, Some(2), "{kind}: {}", refused.stderr);
    }
    session.done(hooks("live-boot", &["--add-to", "helper", "-o", "new"]));
    let new = fs::read(session.at("new")).unwrap();
    assert!(new.starts_with(b"program") && new[512..].starts_with(b"070701"));
}

#[test]
fn a_profile_of_another_tree_is_refused() {
    let session = session();
    fs::write(
        session.at("start.trace"),
        "coldpress-trace 1\n0 0 R 0-0 /other\n",
    )
    .unwrap();
    let ran = session.run(hooks("systemd", &["-o", "root"]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(!session.at("root").exists());
}
