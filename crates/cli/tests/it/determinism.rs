//! Same tree, same options, same bytes.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::run::{command, done};

/// Files of many lengths that compress differently, written by a small generator.
fn tree(root: &Path) -> PathBuf {
    let source = root.join("source");
    let mut state: u32 = 1;
    for directory in ["a", "b", "b/c"] {
        fs::create_dir_all(source.join(directory)).unwrap();
        for index in 0..60 {
            let mut content = vec![0_u8; index * index * 17];
            for (at, byte) in content.iter_mut().enumerate() {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte = if at % 3 == 0 {
                    state.to_le_bytes()[3]
                } else {
                    b'x'
                };
            }
            fs::write(source.join(directory).join(format!("{index}")), content).unwrap();
        }
    }
    fs::hard_link(source.join("a/7"), source.join("b/seven")).unwrap();
    symlink("../a/8", source.join("b/eight")).unwrap();
    fs::set_permissions(source.join("a/9"), fs::Permissions::from_mode(0o4711)).unwrap();
    source
}

#[test]
fn the_number_of_threads_does_not_change_the_image() {
    let root = tempfile::tempdir().unwrap();
    let source = tree(root.path());
    for compressor in ["gzip", "lzo", "lz4", "xz", "zstd", "none"] {
        let images = ["1", "2", "7"].map(|threads| {
            let image = root.path().join(format!("{compressor}-{threads}"));
            let args = [
                "-q", "build", "-b", "16K", "--tails", "all", "-c", compressor, "-j", threads,
            ];
            done(
                args.map(Path::new)
                    .into_iter()
                    .chain([source.as_path(), &image]),
            );
            fs::read(image).unwrap()
        });
        assert!(
            images.iter().all(|image| *image == images[0]),
            "{compressor}"
        );
    }
}

#[test]
fn umask_time_zone_directory_and_clock_do_not_change_the_image() {
    let root = tempfile::tempdir().unwrap();
    let source = tree(root.path());
    let binary = env!("CARGO_BIN_EXE_coldpress");
    let build = |name: &str, zone: &str, script: &str| {
        let image = root.path().join(name);
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", script, "sh", binary])
            .arg(&source)
            .arg(&image);
        shell.env("TZ", zone).env_remove("SOURCE_DATE_EPOCH");
        shell.env("COLDPRESS_HISTORY", "off");
        assert!(shell.status().unwrap().success());
        fs::read(image).unwrap()
    };
    let first = build("first", "UTC", r#"umask 022; "$1" -q build "$2" "$3""#);
    // A second later by the clock, which the superblock counts in.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let script = r#"umask 077; cd / && exec "$1" -q build "$2" "$3""#;
    assert!(first == build("second", "Asia/Kathmandu", script));
}

#[test]
fn a_copy_made_in_another_order_gives_the_same_image() {
    let root = tempfile::tempdir().unwrap();
    let source = tree(root.path());
    let copy = root.path().join("copy");
    fs::create_dir(&copy).unwrap();
    // Last names first: another order of readdir and of inode numbers.
    for name in ["b", "a"] {
        let script = r#"cp -a "$1/$3" "$2/""#;
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", script, "sh"])
            .arg(&source)
            .arg(&copy)
            .arg(name);
        assert!(shell.status().unwrap().success());
    }
    // Two calls of cp cannot know that a name in one tree links to the other.
    fs::remove_file(copy.join("b/seven")).unwrap();
    fs::hard_link(copy.join("a/7"), copy.join("b/seven")).unwrap();
    let images = [&source, &copy].map(|directory| {
        let image = directory.with_extension("sqfs");
        let mut build = command();
        // Linking has changed the time of `b`, and creating names that of the root.
        build.env("SOURCE_DATE_EPOCH", "1000000000");
        build.args(["-q", "build"]).arg(directory).arg(&image);
        assert!(build.status().unwrap().success());
        fs::read(image).unwrap()
    });
    assert!(images[0] == images[1]);
}
