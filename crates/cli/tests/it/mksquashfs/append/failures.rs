//! Appending that fails leaves the file as it was.

use std::fs::{self, File};
use std::process::Command;

use rustix::fs::{FlockOperation, flock};

use super::workshop;
use crate::skip;

#[test]
fn two_do_not_append_at_once() {
    let workshop = workshop();
    workshop.done("mksquashfs", "SRC out -quiet");
    let before = fs::read(workshop.at("out")).unwrap();
    let other = File::open(workshop.at("out")).unwrap();
    flock(&other, FlockOperation::LockExclusive).unwrap();
    let refused = workshop.run("mksquashfs", "other out -quiet");
    let expected = "error: another process appends to `out`; wait until that is done\n";
    assert_eq!((refused.code, refused.stderr.as_str()), (Some(1), expected));
    assert_eq!(fs::read(workshop.at("out")).unwrap(), before);
    drop(other);
    workshop.done("mksquashfs", "other out -quiet");
}

#[test]
fn a_disk_that_becomes_full_leaves_the_old_image() {
    if skip::without_root() {
        return;
    }
    let workshop = workshop();
    let noise: Vec<u8> = (0_u32..500_000)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    fs::create_dir(workshop.at("large")).unwrap();
    fs::create_dir(workshop.at("small")).unwrap();
    fs::write(workshop.at("large/file"), noise).unwrap();
    let script = "mount -t tmpfs -o size=800k tmpfs small || exit 9
                  ./mksquashfs SRC small/out -quiet && cp small/out before || exit 8
                  ./mksquashfs large small/out -quiet; status=$?
                  cmp small/out before || exit 7
                  ./mksquashfs other small/out -quiet || exit 6
                  exit $status";
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", script])
        .current_dir(workshop.at(""))
        .env("COLDPRESS_HISTORY", "off")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("No space left on device"), "{stderr}");
}

#[test]
fn sources_that_are_not_there_leave_the_old_image() {
    let workshop = workshop();
    workshop.done("mksquashfs", "SRC out -quiet");
    let before = fs::read(workshop.at("out")).unwrap();
    let ran = workshop.run("mksquashfs", "nowhere out -quiet");
    assert_eq!(ran.code, Some(1));
    let ran = workshop.run("mksquashfs", "- out -tar -quiet");
    let expected = "error: `out` exists, and tar streams are not appended\n\n\
                    hint: add -noappend to replace it\n";
    assert_eq!(ran.stderr, expected);
    assert_eq!(fs::read(workshop.at("out")).unwrap(), before);
}
