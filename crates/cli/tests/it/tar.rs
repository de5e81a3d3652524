//! Tar archives as users have them: made by GNU tar and Python, compressed, from pipes.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::run::{Ran, command, done, program};
use crate::skip::{without_peer, without_root};

/// A tree with all that archives have formats for, as far as this user can make it.
pub(crate) fn tree() -> TempDir {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let name = "n".repeat(150);
    let is_root = rustix::process::geteuid().is_root();
    let script = format!(
        "mkdir -p t/d/e t/{name}/{name}/{name}/{name}/{name}/{name}/{name} && cd t
         echo hi > d/f && ln d/f d/e/hard && ln -s ../f d/e/symlink && mkfifo d/pipe
         ln -s {name}/{name} longlink
         echo long > {name}/{name}/{name}/{name}/{name}/{name}/{name}/{name}
         head -c 300000 /dev/urandom > random && cp random duplicate
         for at in $(seq 0 70000 2100000); do
             printf $at | dd of=sparse bs=1 seek=$at conv=notrunc status=none
         done
         truncate -s 3000000 sparse && truncate -s 1000000 holes
         if {is_root}; then
             mknod d/char c 1 3; mknod d/block b 259 70000; chown 4000000:5 random
         fi
         chmod 6751 d/f && chmod 1777 d/e
         touch -d '2001-02-03 04:05:06.789' d/f && touch -d @1000000000 d/e d . "
    );
    program(
        Command::new("sh")
            .args(["-c", &script])
            .current_dir(directory.path()),
    );
    directory
}

/// Runs the binary in a directory, with another program's output as standard input.
fn piped(directory: &Path, feed: &str, args: &[&str]) -> Ran {
    let mut child = Command::new("sh")
        .args(["-c", feed])
        .current_dir(directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut build = command();
    build.args(args).current_dir(directory);
    build.stdin(child.stdout.take().unwrap());
    let output = build.output().unwrap();
    child.wait().unwrap();
    Ran {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn build(directory: &Path, args: &[&str]) -> Ran {
    piped(directory, "true", args)
}

fn image(directory: &Path, name: &str) -> Vec<u8> {
    fs::read(directory.join(name)).unwrap()
}

#[test]
fn archives_of_gnu_tar_make_the_image_of_their_directory() {
    if without_peer("tar") {
        return;
    }
    let directory = tree();
    let at = directory.path();
    assert_eq!(build(at, &["build", "t", "expected"]).code, Some(0));
    let expected = done(["ls", "-lR", at.join("expected").to_str().unwrap()]).text();
    for flags in [
        "--format=gnu",
        "--format=oldgnu",
        "--format=pax",
        "--format=gnu --sparse",
        "--format=oldgnu --sparse",
        "--format=pax --sparse --sparse-version=0.0",
        "--format=pax --sparse --sparse-version=0.1",
        "--format=pax --sparse --sparse-version=1.0 --xattrs",
    ] {
        let feed = format!("tar {flags} -C t -cf - . | tee x.tar");
        let ran = piped(at, &feed, &["build", "--verify", "-", "piped"]);
        assert_eq!(ran.code, Some(0), "{flags}: {}", ran.stderr);
        let ran = build(at, &["build", "--verify", "x.tar", "image"]);
        assert_eq!(ran.code, Some(0), "{flags}: {}", ran.stderr);
        assert!(image(at, "image") == image(at, "piped"), "{flags}");
        let listing = done(["ls", "-lR", at.join("image").to_str().unwrap()]).text();
        assert_eq!(listing, expected, "{flags}");
        let out = at.join("out");
        done([Path::new("extract"), &at.join("image"), &out]);
        for file in ["sparse", "holes", "random", "d/f"] {
            let same =
                fs::read(out.join(file)).unwrap() == fs::read(at.join("t").join(file)).unwrap();
            assert!(same, "{flags} {file}");
        }
        fs::remove_dir_all(out).unwrap();
    }
}

#[test]
fn images_of_archives_are_those_of_tar2sqfs() {
    if without_peer("tar2sqfs") || without_peer("unsquashfs") || without_peer("tar") {
        return;
    }
    let directory = tree();
    let at = directory.path();
    for format in ["v7", "ustar", "oldgnu", "gnu", "pax"] {
        // What a format cannot hold ends with a status that is not of interest here.
        let script = format!(
            "tar --format={format} --sort=name -C t -cf x.tar . 2>&- ; rm -f ng
             tar2sqfs -q ng < x.tar"
        );
        program(Command::new("sh").args(["-c", &script]).current_dir(at));
        assert_eq!(
            build(at, &["build", "x.tar", "own"]).code,
            Some(0),
            "{format}"
        );
        let list = |image: &str| {
            let mut list = Command::new("unsquashfs");
            program(list.args(["-lln", image]).current_dir(at)).text()
        };
        assert_eq!(list("own"), list("ng"), "{format}");
    }
}

#[test]
fn archives_of_python_are_read() {
    if without_peer("python3") {
        return;
    }
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let script = r"
import io, tarfile
for name, form in ('ustar', tarfile.USTAR_FORMAT), ('gnu', tarfile.GNU_FORMAT), ('pax', tarfile.PAX_FORMAT):
    with tarfile.open(name + '.tar', 'w', format=form) as archive:
        def add(path, kind, data=b'', **fields):
            info = tarfile.TarInfo(path)
            info.type, info.size, info.mtime = kind, len(data), 1000000000
            for key, value in fields.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
        add('a/b', tarfile.REGTYPE, b'content', uid=70000)
        add('a/c', tarfile.LNKTYPE, linkname='a/b')
        add('a/d', tarfile.SYMTYPE, linkname='b')
        add('a/' + 'e' * 90 + '/' + 'f' * 90, tarfile.REGTYPE, b'x')
        add('a/\u00e4', tarfile.CONTTYPE, b'xy')
        add('p', tarfile.FIFOTYPE)
";
    program(
        Command::new("python3")
            .args(["-c", script])
            .current_dir(directory.path()),
    );
    let images = ["ustar", "gnu", "pax"].map(|format| {
        let ran = build(
            directory.path(),
            &["build", "--verify", &format!("{format}.tar"), "image"],
        );
        assert_eq!(ran.code, Some(0), "{format}: {}", ran.stderr);
        image(directory.path(), "image")
    });
    assert!(images[0] == images[1] && images[1] == images[2]);
    let path = directory.path().join("image");
    let content = done(["cat", path.to_str().unwrap(), "/a/c"]).stdout;
    assert_eq!(content, b"content");
}

#[test]
fn compressed_archives_are_known_and_cut_ones_are_errors() {
    if without_peer("tar") {
        return;
    }
    let directory = tree();
    let at = directory.path();
    program(
        Command::new("tar")
            .args(["-C", "t", "-cf", "x.tar", "."])
            .current_dir(at),
    );
    assert_eq!(build(at, &["build", "x.tar", "expected"]).code, Some(0));
    for compressor in ["gzip", "bzip2", "xz", "zstd", "lz4"] {
        if without_peer(compressor) {
            continue;
        }
        let script = format!("{compressor} -c < x.tar > x && head -c 250000 x > cut");
        program(Command::new("sh").args(["-c", &script]).current_dir(at));
        for (feed, source) in [("true", "x"), ("cat x", "-")] {
            let ran = piped(at, feed, &["build", source, "image"]);
            assert_eq!(ran.code, Some(0), "{compressor}: {}", ran.stderr);
            assert!(image(at, "image") == image(at, "expected"), "{compressor}");
        }
        for (feed, source) in [("true", "cut"), ("cat cut", "-")] {
            let ran = piped(at, feed, &["build", source, "none"]);
            assert_eq!(ran.code, Some(2), "{compressor}: {}", ran.stderr);
            assert!(
                ran.stderr.contains("ends early"),
                "{compressor}: {}",
                ran.stderr
            );
            assert!(!at.join("none").exists());
        }
    }
}

#[test]
fn archives_stand_in_the_root_beside_what_has_a_name() {
    if without_peer("tar") {
        return;
    }
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let at = directory.path();
    let script = "mkdir -p s/in && echo 1 > s/in/f && tar -C s -cf x.tar in/f && echo 2 > s/in/f
                  tar -C s -cf y.tar in/f && cat x.tar y.tar > xy.tar && head -c 1024 y.tar > z";
    program(Command::new("sh").args(["-c", script]).current_dir(at));
    let list = |args: &[&str]| {
        let ran = build(at, &[&["build"], args, &["image"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        done(["ls", "-R", at.join("image").to_str().unwrap()]).text()
    };
    let cat = || done(["cat", at.join("image").to_str().unwrap(), "/in/f"]).text();
    let both = list(&["x.tar", "s"]);
    assert!(both.contains("s/in/f") && both.contains("in/f"), "{both}");
    assert_eq!(cat(), "1\n");
    list(&["x.tar", "y.tar"]);
    assert_eq!(cat(), "2\n");
    list(&["xy.tar"]);
    assert_eq!(cat(), "1\n");
    list(&["--tar-ignore-zeros", "xy.tar"]);
    assert_eq!(cat(), "2\n");
    assert!(list(&["--no-tar", "x.tar"]).contains("x.tar"));
    list(&["--default-mode", "700", "--default-uid", "9", "x.tar"]);
    let long = done(["ls", "-l", at.join("image").to_str().unwrap()]).text();
    assert!(long.contains("drwx------") && long.contains('9'), "{long}");
    for (args, text) in [
        (&["-"][..], "the input is empty"),
        (&["-", "-"], "named twice"),
        (&["--tar", "s/in/f"], "archive"),
    ] {
        let ran = build(at, &[&["build"], args, &["none"]].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_full_disk_under_the_spool_is_named_and_nothing_is_left() {
    if without_root() || without_peer("tar") {
        return;
    }
    let directory = tree();
    let at = directory.path();
    program(
        Command::new("tar")
            .args(["-C", "t", "-czf", "x.tgz", "."])
            .current_dir(at),
    );
    fs::create_dir(at.join("small")).unwrap();
    let script = "mount -t tmpfs -o size=200k tmpfs small || exit 9
                  TMPDIR=small \"$BINARY\" build x.tgz image; status=$?
                  test -z \"$(ls -A small)\" || exit 8
                  exit $status";
    // In a mount namespace of its own: nothing is left mounted whatever happens.
    let mut build = Command::new("unshare");
    build.args(["-m", "sh", "-c", script]).current_dir(at);
    build.env("BINARY", env!("CARGO_BIN_EXE_coldpress"));
    build.env("COLDPRESS_HISTORY", "off");
    let output = build.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("`small`") && stderr.contains("No space left"),
        "{stderr}"
    );
    assert!(!at.join("image").exists());
}

#[test]
fn ctrl_c_ends_a_build_that_waits_for_a_pipe_and_leaves_nothing() {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let mut build = command();
    build
        .args(["build", "-", "image"])
        .current_dir(directory.path());
    let mut child = build.stdin(Stdio::piped()).spawn().unwrap();
    // A part of an archive, and then silence.
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"name").unwrap();
    sleep(Duration::from_millis(500));
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn standard_input_may_be_a_file_that_is_partly_read() {
    if without_peer("tar") {
        return;
    }
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let at = directory.path();
    let script = "echo 1 > f && tar -cf x.tar f && (head -c 700 /dev/zero; cat x.tar) > shifted";
    program(Command::new("sh").args(["-c", script]).current_dir(at));
    let mut file = File::open(at.join("shifted")).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(700)).unwrap();
    let mut build = command();
    build
        .args(["build", "-q", "--verify", "-", "image"])
        .current_dir(at);
    assert_eq!(build.stdin(file).status().unwrap().code(), Some(0));
    let content = done(["cat", at.join("image").to_str().unwrap(), "/f"]).text();
    assert_eq!(content, "1\n");
}
