//! `coldpress defrag`, also when it is killed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::disk::{Disk, extents};
use crate::run::comes_true;

/// Bytes that no two files of a test have the same.
fn content(len: usize, seed: u8) -> Vec<u8> {
    let blocks = (0_u64..).flat_map(|block| [block ^ u64::from(seed) << 56; 64]);
    blocks.flat_map(u64::to_le_bytes).take(len).collect()
}

fn inode(path: &Path) -> u64 {
    path.symlink_metadata().unwrap().ino()
}

#[test]
fn files_are_rewritten_and_told() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let pieces = content(1 << 20, 1);
    let path = disk.in_pieces("a b\n", &pieces);
    fs::write(disk.at("whole"), "small").unwrap();
    let before = extents(&path);
    let ran = disk.done(&["defrag", "--json", "a b\n", "whole", "./whole"]);
    let root = disk.root().display();
    assert!(
        ran.stderr
            .contains(&format!("`{root}/a b\\x0a`: {before} extents, now 1\n")),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("1 extent, already good"),
        "{}",
        ran.stderr
    );
    let rows = ran.json();
    assert_eq!(rows[0]["became"], "rewritten");
    assert_eq!(
        (&rows[0]["extents_before"], &rows[0]["extents"]),
        (&before.into(), &1.into())
    );
    assert_eq!(rows[1]["became"], "whole");
    assert_eq!(fs::read(&path).unwrap(), pieces);
    assert_eq!(extents(&path), 1);
    assert_eq!(disk.names(), ["a b\n", "whole"]);
}

#[test]
fn hard_links_are_asked_for_or_searched() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let path = disk.in_pieces("file", &content(1 << 19, 2));
    fs::create_dir(disk.at("deep")).unwrap();
    fs::hard_link(&path, disk.at("deep/link")).unwrap();
    let ran = disk.run(&["defrag", "file"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr
            .contains("it has 2 names (hard links), of which 1 was given; name all of them")
            && ran.stderr.contains("hint: `--links-in DIR`"),
        "{}",
        ran.stderr
    );
    disk.done(&["defrag", "file", "--links-in", "."]);
    assert_eq!(inode(&path), inode(&disk.at("deep/link")));
    assert_eq!(extents(&path), 1);
}

#[test]
fn what_is_refused_does_not_keep_the_others_back() {
    let Some(disk) = Disk::new() else {
        return;
    };
    disk.in_pieces("file", &content(1 << 19, 3));
    std::os::unix::fs::symlink("file", disk.at("link")).unwrap();
    let ran = disk.run(&["defrag", "link", "missing", ".", "file"]);
    assert_eq!(ran.code, Some(1));
    for says in [
        "link` is left as it was: it is a symbolic link; name the file that it leads to",
        "cannot look at `missing`: No such file or directory",
        "it is a directory, not a regular file",
        "extents, now 1",
    ] {
        assert!(ran.stderr.contains(says), "{says}: {}", ran.stderr);
    }
    let ran = disk.run(&["defrag", "missing"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

/// At any moment: each name stands for a whole file, and the next run finds all as it should be.
#[test]
fn a_kill_leaves_every_name_with_a_whole_file() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let all = content(4 << 20, 4);
    let names = ["c", "a", "b"];
    for moment in 0..20 {
        let path = disk.in_pieces("c", &all);
        for name in ["a", "b"] {
            fs::hard_link(&path, disk.at(name)).unwrap();
        }
        let mut command = disk.command(&["-q", "defrag", "c", "a", "b"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        sleep(Duration::from_millis(moment * 4));
        child.kill().unwrap();
        child.wait_with_output().unwrap();
        for name in names {
            assert_eq!(fs::read(disk.at(name)).unwrap(), all, "{moment}");
        }
        // The janitor removes hidden names; a journal stays for the next run.
        let is_clean = || {
            let left = disk.names();
            left.iter()
                .all(|name| !name.starts_with('.') || name == ".c.coldpress-links")
        };
        assert!(comes_true(is_clean), "{moment}: {:?}", disk.names());
        disk.done(&["-q", "defrag", "c", "a", "b"]);
        let inodes = names.map(|name| inode(&disk.at(name)));
        assert_eq!(inodes, [inodes[0]; 3], "{moment}");
        assert_eq!(extents(&path), 1, "{moment}");
        assert_eq!(disk.names(), ["a", "b", "c"]);
        for name in names {
            assert_eq!(fs::read(disk.at(name)).unwrap(), all, "{moment}");
            fs::remove_file(disk.at(name)).unwrap();
        }
    }
}
