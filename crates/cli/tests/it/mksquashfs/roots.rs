//! Several sources, the root directory that none of them has, and what has no time of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::tools::{Workshop, input, ran};

/// `a/f1`, `b/f2`, which is the same file, and `c/other`; all times are 1,000,000,000.
fn workshop() -> Workshop {
    let workshop = Workshop::new();
    for directory in ["a", "b", "c"] {
        fs::create_dir(workshop.at(directory)).unwrap();
        let mode = fs::Permissions::from_mode(0o750);
        fs::set_permissions(workshop.at(directory), mode).unwrap();
    }
    workshop.file("a/f1", "content");
    fs::hard_link(workshop.at("a/f1"), workshop.at("b/f2")).unwrap();
    workshop.file("c/other", "other");
    let times = fs::FileTimes::new().set_modified(
        std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000),
    );
    for path in ["a/f1", "c/other", "a", "b", "c"] {
        let file = fs::File::open(workshop.at(path)).unwrap();
        file.set_times(times).unwrap();
    }
    workshop
}

/// Field by field, the line of the root directory in a listing of our own.
fn root(workshop: &Workshop, image: &str) -> Vec<String> {
    let listing = workshop.done("unsquashfs", &format!("-UTC -lln {image}"));
    let text = listing.text();
    let line = text.lines().find(|line| line.ends_with(" squashfs-root"));
    let fields = line.expect("every image has a root").split_whitespace();
    fields.map(str::to_owned).collect()
}

fn inode_count(workshop: &Workshop, image: &str) -> u32 {
    let bytes = fs::read(workshop.at(image)).unwrap();
    u32::from_le_bytes(bytes[4..8].try_into().unwrap())
}

#[test]
fn hard_links_between_sources_stay_links() {
    let workshop = workshop();
    for (line, inodes) in [
        ("a b c out", 6),
        ("a b c out -no-strip", 6),
        ("a/f1 b/f2 out", 2),
        ("a b c out -no-hardlinks", 7),
    ] {
        workshop.done("mksquashfs", &format!("{line} -noappend -quiet"));
        assert_eq!(inode_count(&workshop, "out"), inodes, "{line}");
    }
}

#[test]
fn symbolic_modes_change_a_root_that_is_open_to_all() {
    let workshop = workshop();
    for (line, mode) in [
        ("a b out", "drwxrwxrwx"),
        ("a b out -root-mode o-w", "drwxrwxr-x"),
        ("a out -keep-as-directory -force-dir-mode u+w", "drwxrwxrwx"),
        (
            "a out -keep-as-directory -force-dir-mode go-rx",
            "drwx-w--w-",
        ),
        ("a out -root-mode o+x", "drwxr-x--x"),
        // Nothing is stored of the directory whose metadata the root could take, or there is none.
        ("a out -no-strip -wildcards -e *", "drwxrwxrwx"),
        ("a/f1 /etc/hostname out -no-strip", "drwxrwxrwx"),
    ] {
        workshop.done("mksquashfs", &format!("{line} -noappend -quiet"));
        assert_eq!(root(&workshop, "out")[0], mode, "{line}");
    }
}

#[test]
fn a_tar_stream_says_nothing_of_the_root() {
    let workshop = workshop();
    let tar = workshop.at("stream.tar");
    let mut command = workshop.peer("tar");
    command
        .args(["-c", "--owner=7", "--group=8", "-C", "a", "-f"])
        .arg(&tar)
        .arg(".");
    if crate::skip::without_peer("tar") {
        return;
    }
    assert_eq!(ran(&mut command).code, Some(0));
    for (tool, line, mode) in [
        ("mksquashfs", "- out -tar -noappend -quiet", "drwxrwxrwx"),
        (
            "sqfstar",
            "-force -quiet -default-mode u=rwx out",
            "drwxrwxrwx",
        ),
        (
            "sqfstar",
            "-force -quiet -default-mode 700 out",
            "drwx------",
        ),
        (
            "sqfstar",
            "-force -quiet -force-dir-mode go-w out",
            "drwxr-xr-x",
        ),
    ] {
        let mut command = workshop.command(tool);
        command.args(line.split(' ')).stdin(input(&tar));
        assert_eq!(ran(&mut command).code, Some(0), "{tool} {line}");
        let found = root(&workshop, "out");
        assert_eq!(found[0], mode, "{tool} {line}");
        let caller = format!(
            "{}/{}",
            rustix::process::getuid().as_raw(),
            rustix::process::getgid().as_raw()
        );
        assert_eq!(found[1], caller, "{tool} {line}");
    }
}

#[test]
fn an_empty_root_has_the_time_of_its_making() {
    let workshop = workshop();
    let exclude = "-keep-as-directory -noappend -quiet";
    workshop.done("mksquashfs", &format!("a out {exclude} -wildcards -e *"));
    let found = root(&workshop, "out");
    assert!(found[3].as_str() > "2020-01-01", "{found:?}");
    workshop.done(
        "mksquashfs",
        &format!("a out {exclude} -repro -wildcards -e *"),
    );
    assert_eq!(root(&workshop, "out")[3], "1970-01-01");
}

#[test]
fn definitions_without_a_time_get_the_newest() {
    let workshop = workshop();
    for options in ["-repro", "-mkfs-time inode", "-all-time inode -mkfs-time 5"] {
        let line = format!("a out -noappend -quiet {options} -p");
        let mut command = workshop.command("mksquashfs");
        command.args(line.split(' ')).arg("/dev d 755 0 0");
        assert_eq!(ran(&mut command).code, Some(0), "{options}");
        let listing = workshop.done("unsquashfs", "-UTC -lln out").text();
        let line = listing.lines().find(|line| line.ends_with("/dev")).unwrap();
        assert!(line.contains(" 2001-09-09 01:46 "), "{options}: {line}");
    }
}
