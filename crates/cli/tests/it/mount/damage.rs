//! Damaged and hostile images, mounted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use coldpress_nasty::{Packing, Structure, Tables, defects, sample};
use rustix::process::{Pid, Signal, kill_process};

use super::stage::{MountStage, large};
use crate::run::Session;
use crate::skip;

/// `EIO`.
const EIO: Option<i32> = Some(5);
/// Paths that are visited of a hostile image, which may have no last one.
const VISITS: usize = 500;

#[test]
fn damage_is_an_error_of_the_file_and_told_once() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::empty();
    let image = Tables::new(&sample(Packing::gzip(true))).write();
    let at = image.start_of(Structure::Data);
    fs::write(stage.at("image"), image.with(at, &[0xff; 8])).unwrap();
    let child = stage.stay(["-q"]);
    let file = File::open(stage.mounted("dir/file")).unwrap();
    let mut page = [0; 4096];
    for _ in 0..3 {
        assert_eq!(file.read_at(&mut page, 0).unwrap_err().raw_os_error(), EIO);
    }
    assert_eq!(file.read_at(&mut page, 4096).unwrap(), 4096);
    assert_eq!(fs::read(stage.mounted("tail")).unwrap().len(), 50);
    drop(file);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let ran = Session::end(child);
    assert_eq!(ran.code, Some(0));
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let beginning = format!("error: `/dir/file` (inode 3): data block at byte {at}: ");
    assert!(
        lines.len() == 1 && lines[0].starts_with(&beginning),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_image_that_becomes_shorter_is_an_error_of_what_is_read_then() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let guard = stage.mount([""; 0]);
    assert_eq!(
        fs::read(stage.mounted("directory/file")).unwrap(),
        b"content\n"
    );
    let image = File::options().write(true).open(stage.at("image")).unwrap();
    image.set_len(100).unwrap();
    let mut bytes = Vec::new();
    let read = File::open(stage.mounted("large"))
        .unwrap()
        .read_to_end(&mut bytes);
    assert_eq!(read.unwrap_err().raw_os_error(), EIO);
    // What was read is kept, and the mount answers.
    assert_eq!(
        fs::read(stage.mounted("directory/file")).unwrap(),
        b"content\n"
    );
    assert!(!stage.mounted("none").exists());
    drop(guard);
}

#[test]
fn an_image_that_is_replaced_stays_mounted_as_it_was() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let guard = stage.mount([""; 0]);
    fs::write(stage.at("new"), "no image").unwrap();
    fs::rename(stage.at("new"), stage.at("image")).unwrap();
    assert!(fs::read(stage.mounted("large")).unwrap() == large());
    drop(guard);
}

/// Looks at everything; whatever is answered, there is an answer.
fn explore(root: &Path) {
    let mut pending = vec![root.to_path_buf()];
    let mut visited = BTreeSet::new();
    while let Some(path) = pending.pop() {
        if visited.len() > VISITS || !visited.insert(path.clone()) {
            continue;
        }
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let _ = fs::read_link(&path);
        let _ = rustix::fs::llistxattr(&path, &mut [0_u8; 4096]);
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().take(100);
            pending.extend(entries.flatten().map(|entry| entry.path()));
        }
        // Opening a pipe would wait for another end.
        if metadata.is_file()
            && let Ok(file) = File::open(&path)
        {
            for start in [0, metadata.len() / 2, metadata.len().saturating_sub(10)] {
                let _ = file.read_at(&mut [0; 5000], start.min(i64::MAX as u64));
            }
        }
    }
}

#[test]
fn hostile_images_are_mounted_and_looked_at_without_harm() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::empty();
    let cases = [
        defects::loops(),
        defects::names(),
        defects::one_name_twice(),
        defects::inode_numbers(),
        defects::file_sizes(),
        defects::modes_and_types(),
        defects::targets(),
        defects::tail_ends(),
        defects::xattr_pairs(),
    ];
    for case in cases.into_iter().flatten() {
        fs::write(stage.at("image"), &case.bytes).unwrap();
        let ran = stage.session.run(["mount", "image", "at"]);
        if ran.code == Some(0) {
            explore(&stage.at("at"));
            let ran = stage.unmount();
            assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{}", case.what);
        } else {
            assert_eq!(ran.code, Some(2), "{}", case.what);
            assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
        }
    }
}
