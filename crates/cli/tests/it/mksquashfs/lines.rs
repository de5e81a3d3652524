//! The command lines of the projects that call mksquashfs, as their sources have them.
//!
//! `SRC` and `OUT` stand for what the project names; each line begins with its sources.

use super::tools::Workshop;
use super::tree;
use crate::skip;

/// A project and its command line.
struct Line {
    project: &'static str,
    words: &'static str,
    /// What mksquashfs 4.5.1 is called with, if it does not know all of it.
    peer: Option<&'static str>,
    /// `SOURCE_DATE_EPOCH`, if the project sets it.
    epoch_s: Option<&'static str>,
}

const fn line(project: &'static str, words: &'static str) -> Line {
    Line {
        project,
        words,
        peer: None,
        epoch_s: None,
    }
}

impl Line {
    /// With the line that 4.5.1 understands for the same.
    const fn peer(self, line: &'static str) -> Self {
        Self {
            peer: Some(line),
            ..self
        }
    }

    const fn epoch(self, epoch_s: &'static str) -> Self {
        Self {
            epoch_s: Some(epoch_s),
            ..self
        }
    }
}

const STORES: [Line; 9] = [
    line(
        "snapd, an application",
        "SRC OUT -noappend -comp xz -no-fragments -no-progress -all-root -no-xattrs",
    ),
    line(
        "snapd, an application with excludes",
        "SRC OUT -noappend -comp xz -no-fragments -no-progress -wildcards -ef wild -all-root \
         -no-xattrs",
    ),
    line(
        "snapd, a base",
        "SRC OUT -noappend -comp xz -no-fragments -no-progress -xattrs",
    ),
    line(
        "snapcraft, lzo",
        "SRC OUT -noappend -comp lzo -no-fragments -no-progress -all-root -no-xattrs",
    ),
    line(
        "appimagetool",
        "SRC OUT -offset 188392 -comp zstd -root-owned -noappend -b 128K -mkfs-time 0",
    ),
    line(
        "appimagetool with .appimageignore",
        "SRC OUT -offset 188392 -comp zstd -root-owned -noappend -b 128K -wildcards -ef wild",
    )
    .epoch("1650000000"),
    line(
        "go-appimage",
        "SRC OUT -offset 188392 -fstime 1700000000 -comp zstd -root-owned -noappend -b 1M",
    ),
    line(
        "electron-builder",
        "SRC OUT -offset 196608 -all-root -noappend -no-progress -quiet -no-xattrs -no-fragments \
         -comp xz -Xdict-size 100% -b 1048576",
    ),
    line(
        "electron-builder, snap",
        "SRC OUT -no-progress -quiet -noappend -comp lzo -no-xattrs -no-fragments -all-root",
    ),
];

const CONTAINERS: [Line; 9] = [
    line(
        "enroot",
        "SRC OUT -all-root -processors 2 -comp lzo -noD -exit-on-error",
    ),
    line(
        "enroot with SOURCE_DATE_EPOCH",
        "SRC OUT -mkfs-time 1600000000 -all-time 1600000000 -all-root -no-progress -processors 2 \
         -comp lzo -noD -exit-on-error",
    ),
    line(
        "enroot, uncompressed",
        "SRC OUT -all-root -no-progress -processors 2 -noI -noD -noF -noX -no-duplicates",
    ),
    line(
        "pyxis",
        "SRC OUT -all-root -processors 2 -comp zstd -Xcompression-level 3 -b 1M",
    ),
    line(
        "Apptainer",
        "SRC OUT -noappend -mem 512M -processors 2 -comp gzip -quiet -percentage -all-root",
    )
    .peer("SRC OUT -noappend -mem 512M -processors 2 -comp gzip -quiet -all-root"),
    line("Sarus", "SRC OUT"),
    line(
        "podman-hpc",
        "SRC OUT -comp lz4 -xattrs-exclude security.capability",
    )
    .peer("SRC OUT -comp lz4"),
    line(
        "Charliecloud",
        "SRC OUT -b 65536 -noappend -all-root -pf pseudo -e proc dev/null etc/conf.d",
    ),
    line(
        "Flatcar",
        "SRC OUT -all-root -noappend -xattrs-exclude ^btrfs.",
    )
    .peer("SRC OUT -all-root -noappend")
    .epoch("1650000000"),
];

const LIVE: [Line; 13] = [
    line("Debian live-build", "SRC OUT -no-progress -comp xz"),
    line(
        "Debian live-build with everything",
        "SRC OUT -no-progress -info -sort sort -comp xz -wildcards -ef wild",
    ),
    line(
        "Tails",
        "SRC OUT -comp zstd -Xcompression-level 22 -b 1024K -no-exports -sort sort -ef paths",
    ),
    line(
        "Tails, before",
        "SRC OUT -comp xz -Xbcj x86 -b 1024K -Xdict-size 1024K -no-exports -ef paths",
    ),
    line(
        "Ubuntu livecd-rootfs",
        "SRC OUT -no-progress -xattrs -comp xz -ef paths",
    ),
    line(
        "grml-live",
        "SRC OUT -noappend -b 1m -comp xz -no-xattrs -wildcards -ef wild -one-file-system",
    )
    .peer("SRC OUT -noappend -b 1m -comp xz -no-xattrs -wildcards -ef wild"),
    line(
        "archiso",
        "SRC OUT -noappend -comp xz -Xbcj x86 -b 1M -Xdict-size 1M",
    ),
    line("lorax", "SRC OUT -comp xz -Xbcj x86"),
    line("kiwi", "SRC OUT -noappend -b 1M -comp xz -Xbcj x86"),
    line(
        "kiwi, uncompressed",
        "SRC OUT -noappend -b 1M -noI -noD -noF -noX",
    ),
    line(
        "NixOS",
        "SRC/bin SRC/usr OUT -no-hardlinks -keep-as-directory -all-root -b 1048576 -comp zstd \
         -Xcompression-level 19 -processors 2",
    ),
    line(
        "VyOS",
        "SRC OUT -comp xz -Xbcj x86 -b 256k -always-use-fragments -no-recovery",
    ),
    line("Batocera", "SRC OUT -comp zstd"),
];

const FIRMWARE: [Line; 11] = [
    line(
        "Buildroot",
        "SRC OUT -noappend -processors 2 -b 128K -comp gzip",
    ),
    line(
        "Buildroot, no padding, gzip",
        "SRC OUT -noappend -processors 2 -b 4K -nopad -comp gzip -Xcompression-level 9",
    ),
    line(
        "Buildroot, lzo",
        "SRC OUT -noappend -processors 2 -b 128K -comp lzo -Xcompression-level 9",
    ),
    line(
        "Buildroot, lz4",
        "SRC OUT -noappend -processors 2 -b 128K -comp lz4 -Xhc",
    ),
    line(
        "Buildroot, zstd",
        "SRC OUT -noappend -processors 2 -b 128K -comp zstd -Xcompression-level 22",
    ),
    line("Yocto", "SRC OUT -noappend -comp xz").epoch("1650000000"),
    line(
        "OpenWrt",
        "SRC OUT -nopad -noappend -root-owned -comp xz -Xpreset 9 -Xe -Xlc 0 -Xlp 2 -Xpb 2 \
         -Xbcj arm -b 256k -processors 1",
    )
    .peer("SRC OUT -nopad -noappend -root-owned -comp xz -Xbcj arm -b 256k -processors 1"),
    line(
        "LibreELEC, gzip",
        "SRC OUT -noappend -comp gzip -Xcompression-level 9 -b 262144",
    ),
    line(
        "LibreELEC, lzo",
        "SRC OUT -noappend -comp lzo -Xcompression-level 9 -b 524288",
    ),
    line(
        "LibreELEC, zstd",
        "SRC OUT -noappend -comp zstd -Xcompression-level 19 -b 1048576",
    ),
    line(
        "Nerves",
        "SRC OUT -pf pseudo -sort sort -noappend -no-recovery -no-progress",
    ),
];

/// What the lines name beside the tree.
fn workshop() -> Workshop {
    let workshop = Workshop::new();
    tree::write(&workshop.at("SRC"));
    workshop.file("wild", "usr/lib/*.a\n... same\n");
    workshop.file("paths", "usr/lib/lib.a\netc/conf.d\n");
    workshop.file("sort", "usr/lib/lib.so 10\netc -5\n");
    workshop.file(
        "pseudo",
        "/dev/null c 666 0 0 1 3\nnew d 755 0 0\netc/conf m 600 0 0\n",
    );
    workshop
}

/// Writes an image with either, and compares what unsquashfs finds in them.
fn compare(workshop: &Workshop, line: &Line) {
    let offset = line
        .words
        .split_whitespace()
        .skip_while(|word| *word != "-offset");
    let offset_bytes = offset
        .clone()
        .nth(1)
        .map_or(0, |text| text.parse().unwrap());
    let context = line.project;
    let run = |command: &mut std::process::Command, line: &Line, text: &str, image: &str| {
        let words = text.split_whitespace();
        command.args(words.map(|word| if word == "OUT" { image } else { word }));
        if let Some(epoch_s) = line.epoch_s {
            command.env("SOURCE_DATE_EPOCH", epoch_s);
        }
        let ran = super::tools::ran(command);
        assert_eq!(ran.code, Some(0), "{context}: {}", ran.stderr);
    };
    run(
        &mut workshop.command("mksquashfs"),
        line,
        line.words,
        "ours",
    );
    let ours = workshop.listing("ours", offset_bytes);
    if !skip::without_peer("mksquashfs") {
        let text = line.peer.unwrap_or(line.words);
        run(&mut workshop.peer("mksquashfs"), line, text, "theirs");
        let theirs = workshop.listing("theirs", offset_bytes);
        assert_eq!(
            comparable(&ours, line),
            comparable(&theirs, line),
            "{context}"
        );
        std::fs::remove_file(workshop.at("theirs")).unwrap();
    }
    std::fs::remove_file(workshop.at("ours")).unwrap();
}

/// Listings without the times that mksquashfs takes from the clock: of a root directory that no
/// source has, and of what definitions add.
fn comparable(listing: &str, line: &Line) -> String {
    let is_of_now = |listed: &&str| {
        let is_root = listed.ends_with(" squashfs-root") && line.words.starts_with("SRC/");
        let is_added = ["/dev/null", "/new"]
            .iter()
            .any(|name| listed.ends_with(name));
        is_root || is_added && line.words.contains("-pf pseudo")
    };
    let lines = listing.lines().map(|listed| {
        if !is_of_now(&listed) {
            return listed.to_owned();
        }
        // Mode, owners, size or numbers; then date and hour; and the name.
        let fields: Vec<&str> = listed.split_whitespace().collect();
        let (before, name) = (&fields[..fields.len() - 3], fields[fields.len() - 1]);
        let sizes = if name == "squashfs-root" {
            2
        } else {
            before.len()
        };
        [&before[..sizes], &[name]].concat().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn compare_all(lines: &[Line]) {
    if skip::without_peer("unsquashfs") {
        return;
    }
    let workshop = workshop();
    for line in lines {
        compare(&workshop, line);
    }
}

#[test]
fn command_lines_of_stores_write_the_same_tree() {
    compare_all(&STORES);
}

#[test]
fn command_lines_of_containers_write_the_same_tree() {
    compare_all(&CONTAINERS);
}

#[test]
fn command_lines_of_live_systems_write_the_same_tree() {
    compare_all(&LIVE);
}

#[test]
fn command_lines_of_firmware_write_the_same_tree() {
    compare_all(&FIRMWARE);
}
