//! `coldpress prefetch`: what is read, by what the kernel has in memory afterwards.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use coldpress_host::{evict, resident_pages};

use crate::run::{Session, program, unmount};
use crate::skip;

const PAGE_BYTES: u64 = 4096;
/// Bytes that do not compress, so that the image is as large as they are.
const LARGE_BYTES: usize = 4 << 20;

/// A session with an image of one large file and a small one, and a profile that reads the second
/// MiB of the large one.
fn session() -> Session {
    let session = Session::new();
    let source = session.at("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("large"), noise(LARGE_BYTES)).unwrap();
    fs::write(
        source.join(std::ffi::OsStr::from_bytes(b"odd \xff")),
        noise(9000),
    )
    .unwrap();
    session.done(["-q", "build", "source", "image", "-b", "128K"]);
    profile(&session, &["R 256-511 /large"]);
    session
}

fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let bytes = (0..len).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u8::try_from(state & 0xff).unwrap()
    });
    bytes.collect()
}

/// Writes a trace of these accesses.
fn profile(session: &Session, accesses: &[&str]) {
    let lines = accesses.iter().zip(1..);
    let lines: Vec<String> = lines
        .map(|(access, time)| format!("{time} 1 {access}\n"))
        .collect();
    let text = format!("coldpress-trace 1\n{}", lines.concat());
    fs::write(session.at("profile"), text).unwrap();
}

/// Drops the image from memory, runs, and returns the pages of the image that are there then.
fn pages_after(session: &Session, args: &[&str]) -> u64 {
    let image = File::open(session.at("image")).unwrap();
    evict(&session.at("image")).unwrap();
    assert_eq!(resident_pages(&image).unwrap(), 0);
    session.done([&["-q", "prefetch"][..], args].concat());
    resident_pages(&image).unwrap()
}

fn cannot_count() -> bool {
    skip::without_root()
}

#[test]
fn the_blocks_of_the_profile_come_into_memory_and_few_others() {
    if cannot_count() {
        return;
    }
    let session = session();
    let wanted = (1 << 20) / PAGE_BYTES;
    let found = pages_after(&session, &["image", "--profile", "profile"]);
    assert!((wanted..wanted + 64).contains(&found), "{found} pages");
    // The whole file and the other one.
    profile(&session, &["R 0-1023 /large", "R 0-2 /odd \\xff"]);
    let all = fs::metadata(session.at("image")).unwrap().len() / PAGE_BYTES;
    let found = pages_after(&session, &["image", "--profile", "profile"]);
    assert!(found + 2 >= all, "{found} of {all} pages");
    // Not from the first page on, behind which the kernel reads ahead for the superblock.
    profile(&session, &["R 256-1023 /large"]);
    let found = pages_after(
        &session,
        &["image", "--profile", "profile", "--max-read", "1M"],
    );
    assert!((256..256 + 64).contains(&found), "{found} pages");
}

#[test]
fn pages_of_a_mount_come_into_memory() {
    if cannot_count() || skip::without_fuse() {
        return;
    }
    let session = session();
    fs::create_dir(session.at("at")).unwrap();
    session.done(["mount", "image", "at"]);
    session.done(["-q", "prefetch", "at", "--profile", "profile"]);
    let found = resident_pages(File::open(session.at("at/large")).unwrap());
    assert_eq!(unmount(&session.at("at")).code, Some(0));
    let found = found.unwrap();
    assert!((256..1024).contains(&found), "{found} pages");
}

#[test]
fn nothing_but_regular_files_of_the_mount_is_opened() {
    let session = Session::new();
    let mount = session.at("mount");
    fs::create_dir(&mount).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", mount.join("link")).unwrap();
    program(Command::new("mkfifo").arg(mount.join("pipe")));
    profile(
        &session,
        &["R 0-0 /link", "R 0-0 /pipe", "R 0-0 /", "L /none"],
    );
    let ran = session.run(["prefetch", "mount", "--profile", "profile"]);
    assert!(ran.stderr.contains("read ahead 0 B in "), "{}", ran.stderr);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
}

#[test]
fn a_unit_says_the_same_at_each_boot() {
    let session = session();
    let args = [
        "prefetch",
        "image",
        "--profile",
        "profile",
        "--max-read",
        "64M",
        "--bandwidth",
        "10M",
        "--systemd",
    ];
    let ran = session.done(args);
    let directory = session.directory().display();
    let text = ran.text();
    for line in [
        format!("RequiresMountsFor=\"{directory}/image\" \"{directory}/profile\""),
        format!(
            " \"-q\" \"prefetch\" \"{directory}/image\" \"--profile\" \"{directory}/profile\" \"--max-read\" \
             \"67108864\" \"--bandwidth\" \"10485760\" \"--for\" \"60\""
        ),
        "IOSchedulingClass=idle".to_owned(),
        "WantedBy=sysinit.target".to_owned(),
    ] {
        assert!(text.contains(&line), "{line}: {text}");
    }
}

#[test]
fn what_cannot_be_read_ahead_is_told() {
    let session = session();
    for (args, status, sentence) in [
        (
            &["none", "--profile", "profile"][..],
            2,
            "error: cannot open `none`: No such file",
        ),
        (
            &["image", "--profile", "none"],
            2,
            "error: cannot read `none`: No such file",
        ),
        (
            &["source/large", "--profile", "profile"],
            2,
            "error: `source/large` is not a SquashFS image",
        ),
        (
            &["image", "--profile", "image"],
            2,
            "error: cannot use `image`",
        ),
        (
            &["image", "--profile", "profile", "--bandwidth", "0"],
            2,
            "error: invalid value '0' for '--bandwidth <SIZE>'",
        ),
    ] {
        let ran = session.run([&["prefetch"][..], args].concat());
        assert_eq!(ran.code, Some(status), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(sentence), "{args:?}: {}", ran.stderr);
    }
    profile(&session, &["R 0-0 /other"]);
    let ran = session.run(["-q", "prefetch", "image", "--profile", "profile"]);
    assert_eq!(
        (ran.code, &*ran.stderr),
        (Some(1), "warning: `image` lacks 1 path of the profile\n")
    );
    if Path::new("/dev/loop0").exists() {
        let ran = session.run(["prefetch", "/dev/loop0", "--profile", "profile"]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(
            ran.stderr
                .contains("is a block device: the kernel's SquashFS reads past the memory")
        );
    }
}
