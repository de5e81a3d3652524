//! Recovery files of squashfs-tools.

use std::fs;

use super::{superblock, workshop};

#[test]
fn an_image_that_an_interrupted_mksquashfs_left_is_restored() {
    let workshop = workshop();
    workshop.done("mksquashfs", "SRC out -quiet");
    let before = fs::read(workshop.at("out")).unwrap();
    let found = superblock(&workshop.at("out"));
    let tables = usize::try_from(found.inode_table_start).unwrap();
    let used = usize::try_from(found.bytes_used).unwrap();
    // What mksquashfs saves before it appends.
    let header = b"Squashfs recovery file v1.0\n";
    let recovery = [header, &before[..96], &before[tables..used]].concat();
    fs::write(workshop.at("recovery"), &recovery).unwrap();
    // The magic number is taken away, then data is written over the tables.
    let mut interrupted = before.clone();
    interrupted[..4].fill(0);
    interrupted[tables..].fill(7);
    interrupted.extend([7; 9000]);
    fs::write(workshop.at("out"), &interrupted).unwrap();
    for (bytes, reason) in [
        (
            &recovery[..50],
            "it is not a recovery file, or is cut short",
        ),
        (&recovery[..130], "it is cut short"),
        (
            &b"squashfs recovery ".repeat(10),
            "it does not begin as recovery files of mksquashfs do",
        ),
    ] {
        fs::write(workshop.at("wrong"), bytes).unwrap();
        let refused = workshop.run("mksquashfs", "- out -recover wrong");
        let expected = format!("error: `out` cannot be recovered from `wrong`: {reason}\n");
        assert_eq!(refused.stderr, expected);
        assert_eq!(refused.code, Some(1), "{reason}");
        assert!(fs::read(workshop.at("out")).unwrap() == interrupted);
    }
    let text = workshop
        .done("mksquashfs", "- out -recover recovery")
        .text();
    assert_eq!(
        text,
        "Successfully wrote recovery file \"recovery\".  Exiting\n"
    );
    let after = fs::read(workshop.at("out")).unwrap();
    assert!(after[..used] == before[..used]);
    workshop.done("mksquashfs", "other out -quiet");
    let refused = workshop.run("mksquashfs", "- out -recover recovery");
    let expected = "error: `out` cannot be recovered from `recovery`: it belongs to another \
                    image, or the image has changed since: if mksquashfs finished, there is \
                    nothing to recover\n";
    assert_eq!(refused.stderr, expected);
}
