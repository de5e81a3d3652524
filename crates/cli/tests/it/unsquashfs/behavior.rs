//! What happens where it depends on what is there, and what becomes of errors.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::bench::workshop;
use super::lines::state;
use crate::mksquashfs::tools::{Workshop, ran};
use crate::skip;

#[test]
fn an_extraction_is_summed_up() {
    let workshop = Workshop::new();
    fs::create_dir_all(workshop.at("tree/a")).unwrap();
    fs::write(workshop.at("tree/a/one"), vec![1; 5000]).unwrap();
    fs::hard_link(workshop.at("tree/a/one"), workshop.at("tree/two")).unwrap();
    workshop.done("mksquashfs", "tree image -quiet -b 4096");
    let text = workshop.done("unsquashfs", "-n -p 1 image").text();
    let expected = "Parallel unsquashfs: Using 1 processor\n2 inodes (2 blocks) to write\n\n\n\
                    created 1 file\ncreated 2 directories\ncreated 0 symlinks\ncreated 0 devices\n\
                    created 0 fifos\ncreated 0 sockets\ncreated 1 hardlink\n";
    assert_eq!(text, expected);
    assert_eq!(
        workshop.done("unsquashfs", "-q -n -d quiet image").text(),
        ""
    );
    let percents = workshop
        .done("unsquashfs", "-q -percentage -d percent image")
        .text();
    let lines = percents.strip_suffix("\n\n").unwrap().lines();
    let percents: Vec<u32> = lines.map(|line| line.parse().unwrap()).collect();
    assert!(
        percents.is_sorted() && percents.last() == Some(&100),
        "{percents:?}"
    );
    let named = workshop
        .done("unsquashfs", "-info -q -d named image a")
        .text();
    assert_eq!(named, "named\nnamed/a\nnamed/a/one\n");
}

#[test]
fn what_is_in_the_way_is_replaced_only_by_force() {
    let workshop = workshop();
    fs::create_dir_all(workshop.at("out/bin")).unwrap();
    fs::write(workshop.at("out/other"), "stays").unwrap();
    fs::write(workshop.at("out/empty"), "in the way").unwrap();
    let ran = workshop.run("unsquashfs", "-n -d out image");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("hint: add -force"), "{}", ran.stderr);
    assert!(!workshop.at("out/etc").exists());
    // Beside what is there it needs no force.
    workshop.done("unsquashfs", "-n -d out image etc");
    workshop.done("unsquashfs", "-n -f -d out image");
    assert_eq!(fs::read(workshop.at("out/empty")).unwrap(), b"");
    assert_eq!(fs::read(workshop.at("out/other")).unwrap(), b"stays");
    fs::remove_file(workshop.at("out/other")).unwrap();
    workshop.done("unsquashfs", "-n -d anew image");
    let [out, anew] = ["out", "anew"].map(|directory| state(&workshop, directory));
    // The root directory has changed since.
    let below = |state: &str| state.split_once('\n').unwrap().1.to_owned();
    assert_eq!(below(&out), below(&anew));
}

#[test]
fn a_path_that_is_not_there_is_told() {
    let workshop = workshop();
    let ran = workshop.run("unsquashfs", "-n image nothing");
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stderr.contains("warning: no matches for `/nothing`"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        fs::read_dir(workshop.at("squashfs-root")).unwrap().count(),
        0
    );
    let ran = workshop.run("unsquashfs", "-match -n -d other image bin nothing");
    assert_eq!(ran.code, Some(1));
    assert!(!workshop.at("other").exists());
    // Nothing that is to be left out is missed, and links are followed.
    for words in [
        "-ls -match -ex nothing ; image",
        "-ls -match -excludes image nothing",
    ] {
        assert_eq!(workshop.run("unsquashfs", words).code, Some(0), "{words}");
    }
    let ran = workshop.run("unsquashfs", "-ls -match image b*");
    assert_eq!(ran.code, Some(1), "names are no patterns");
}

#[test]
fn owners_modes_and_times_can_be_forced() {
    if skip::without_root() {
        return;
    }
    let workshop = workshop();
    let line = "-n -force-uid 77 -force-gid 88 -force-file-mode u=rw,go= -force-dir-mode 711 \
                -all-time 99 image";
    workshop.done("unsquashfs", line);
    for (path, mode) in [
        ("", 0o711),
        ("etc", 0o711),
        ("bin/app", 0o600),
        ("dangling", 0o777),
    ] {
        let metadata = fs::symlink_metadata(workshop.at("squashfs-root").join(path)).unwrap();
        assert_eq!(metadata.mode() & 0o7777, mode, "{path}");
        let rest = (metadata.uid(), metadata.gid(), metadata.mtime());
        assert_eq!(rest, (77, 88, 99), "{path}");
    }
}

#[test]
fn damage_ends_the_work_unless_it_is_ignored() {
    let workshop = workshop();
    let mut bytes = fs::read(workshop.at("image")).unwrap();
    // In the first data block, behind the superblock.
    bytes[2000..2100].fill(0xa5);
    fs::write(workshop.at("image"), bytes).unwrap();
    assert_eq!(workshop.run("unsquashfs", "-n -d one image").code, Some(1));
    let ran = workshop.run("unsquashfs", "-n -ignore-errors -d two image");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_eq!(
        fs::read(workshop.at("two/etc/conf")).unwrap(),
        b"key = value\n"
    );
    assert_eq!(
        workshop
            .run("unsquashfs", "-n -ig -no-exit -d three image")
            .code,
        Some(0)
    );
    assert_eq!(workshop.run("sqfscat", "image bin/app").code, Some(1));
    assert_eq!(workshop.run("sqfscat", "-ig image bin/app").code, Some(2));
}

#[test]
fn what_the_caller_may_not_restore_is_told_by_the_exit_status() {
    if skip::without_root() || skip::without_peer("setpriv") {
        return;
    }
    let workshop = workshop();
    fs::create_dir(workshop.at("open")).unwrap();
    fs::set_permissions(workshop.at("open"), Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(workshop.at("."), Permissions::from_mode(0o755)).unwrap();
    let run = |words: &str| {
        let mut command = workshop.peer("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(workshop.at("unsquashfs"));
        ran(command.args(words.split_whitespace()))
    };
    for (words, code) in [
        ("-n -d open/one image", 2),
        ("-n -no-exit-code -d open/two image", 0),
        ("-n -strict-errors -d open/three image", 1),
        ("-n -d open/four image bin etc", 0),
        ("-n -force-uid 0 -d open/five image", 1),
    ] {
        let ran = run(words);
        assert_eq!(ran.code, Some(code), "{words}: {}", ran.stderr);
    }
    let app = fs::metadata(workshop.at("open/four/bin/app")).unwrap();
    assert_eq!((app.mode() & 0o7777, app.uid()), (0o755, 65534));
}

#[test]
fn what_is_no_image_or_another_one_is_refused_by_name() {
    let workshop = workshop();
    let image = fs::read(workshop.at("image")).unwrap();
    let version = |magic: &[u8], version: [u8; 4]| {
        let mut bytes = image.clone();
        bytes[..4].copy_from_slice(magic);
        bytes[28..32].copy_from_slice(&version);
        bytes
    };
    for (name, bytes, expected) in [
        (
            "three",
            version(b"hsqs", [3, 0, 1, 0]),
            "is an image of SquashFS 3.1",
        ),
        (
            "one",
            version(b"hsqs", [1, 0, 0, 0]),
            "is an image of SquashFS 1.0",
        ),
        (
            "swapped",
            version(b"sqsh", [0, 3, 0, 0]),
            "is a byte-swapped (big-endian) image of SquashFS 3.0",
        ),
        (
            "streamed",
            version(b"HSQS", [4, 0, 0, 0]),
            "is an image with the superblock at its end",
        ),
        (
            "text",
            b"no image at all".to_vec(),
            "is not a SquashFS image",
        ),
        ("nothing", Vec::new(), "is not a SquashFS image"),
    ] {
        fs::write(workshop.at(name), bytes).unwrap();
        for option in ["-ls", "-s", "-mkfs-time", "-n"] {
            let ran = workshop.run("unsquashfs", &format!("{option} {name}"));
            assert_eq!(ran.code, Some(1), "{name} {option}");
            assert!(
                ran.stderr.contains(expected),
                "{name} {option}: {}",
                ran.stderr
            );
            assert!(ran.stdout.is_empty(), "{name} {option}");
        }
    }
    assert_eq!(workshop.run("unsquashfs", "-ls not-there").code, Some(1));
    assert_eq!(workshop.run("unsquashfs", "-ls .").code, Some(1));
}

#[test]
fn an_image_may_lie_behind_other_bytes() {
    let workshop = workshop();
    let mut bytes = vec![0x7f; 8192];
    bytes.extend(fs::read(workshop.at("image")).unwrap());
    fs::write(workshop.at("app"), bytes).unwrap();
    for line in ["-ls", "-mkfs-time", "-lln -full"] {
        let plain = workshop.done("unsquashfs", &format!("{line} image")).text();
        let shifted = workshop
            .done("unsquashfs", &format!("{line} -o 8K app"))
            .text();
        assert_eq!(plain, shifted, "{line}");
    }
    let content = workshop.done("sqfscat", "-offset 8192 app etc/conf").text();
    assert_eq!(content, "key = value\n");
    workshop.done("unsquashfs", "-n -offset 8192 app bin");
    assert!(workshop.at("squashfs-root/bin/app").exists());
}

#[test]
fn help_and_version_are_printed() {
    let workshop = Workshop::new();
    for (tool, line, expected) in [
        (
            "unsquashfs",
            "-help",
            "usage: unsquashfs [OPTIONS] IMAGE [PATHS...]\n",
        ),
        (
            "unsquashfs",
            "-version",
            "unsquashfs version 4.7 (coldpress ",
        ),
        ("sqfscat", "--version", "sqfscat version 4.7 (coldpress "),
        ("sqfscat", "-h", "usage: sqfscat [OPTIONS] IMAGE PATHS...\n"),
        (
            "unsquashfs",
            "-ho full",
            "\nPrinting\n  -full-precision, -full\n",
        ),
        (
            "unsquashfs",
            "-hs attributes",
            "\nExtended attributes\n  -xattrs, -x\n",
        ),
    ] {
        let text = workshop.done(tool, line).text();
        assert!(text.starts_with(expected), "{tool} {line}: {text}");
    }
    assert!(!workshop.done("sqfscat", "-help").text().contains("-dest"));
}

#[test]
fn the_tools_are_verbs_too() {
    let workshop = workshop();
    let run = |words: &[&str]| {
        let mut command = crate::run::command();
        ran(command.args(words).current_dir(workshop.at(".")))
    };
    let text = run(&["sqfscat", "image", "etc/conf"]).text();
    assert_eq!(text, "key = value\n");
    assert_eq!(
        run(&["unsquashfs", "-mkfs-time", "image"]).text(),
        "1600000000\n"
    );
    assert_eq!(run(&["sqfscat", "image", "nothing"]).code, Some(2));
    // Behind an option of coldpress the exit status is that of its verbs.
    assert_eq!(run(&["-q", "sqfscat", "image", "nothing"]).code, Some(1));
    assert_eq!(run(&["-q", "unsquashfs", "-ls", "nothing"]).code, Some(2));
    let help = run(&["unsquashfs", "--help"]).text();
    assert!(help.contains("Example:\n  coldpress unsquashfs "), "{help}");
}

#[test]
fn nobody_needs_to_read_what_is_printed_beside_the_work() {
    let workshop = workshop();
    for line in [
        "unsquashfs -d one image",
        "unsquashfs -info -d two image",
        "mksquashfs tree new",
    ] {
        let (tool, words) = line.split_once(' ').unwrap();
        let path = workshop.at(tool);
        // The reader is gone before the first line.
        let script = format!(
            "(sleep 0.2; {} {words}; echo $? > status) | true",
            path.display()
        );
        ran(workshop.peer("bash").args(["-c", &script]));
        let status = fs::read_to_string(workshop.at("status")).unwrap();
        assert_eq!(status, "0\n", "{line}");
    }
    assert_eq!(state(&workshop, "one"), state(&workshop, "two"));
    assert!(workshop.at("new").exists());
}

#[test]
fn nobody_needs_to_read_all_of_it() {
    let workshop = workshop();
    for line in [
        "unsquashfs -ls image",
        "sqfscat image bin/app",
        "unsquashfs -pf - image",
    ] {
        let (tool, words) = line.split_once(' ').unwrap();
        let path = workshop.at(tool);
        let script = format!(
            "{} {words} | head -c 1 > /dev/null; exit ${{PIPESTATUS[0]}}",
            path.display()
        );
        let ran = ran(workshop.peer("bash").args(["-c", &script]));
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
    }
}
