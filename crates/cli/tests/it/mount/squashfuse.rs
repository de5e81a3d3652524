//! Called as squashfuse or `squashfuse_ll`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::stage::MountStage;
use crate::run::{Ran, Session, comes_true, command, program};
use crate::skip;

/// The stage, with a link of this name to the binary.
fn stage(name: &str) -> (MountStage, PathBuf) {
    let stage = MountStage::new();
    let link = stage.at(name);
    symlink(env!("CARGO_BIN_EXE_coldpress"), &link).unwrap();
    (stage, link)
}

impl MountStage {
    fn call<S: AsRef<OsStr>>(&self, program: &Path, args: impl IntoIterator<Item = S>) -> Command {
        let mut called = Command::new(program);
        called.args(args).current_dir(self.session.directory());
        called.env("COLDPRESS_HISTORY", "off");
        called
    }

    fn ran<S: AsRef<OsStr>>(&self, program: &Path, args: impl IntoIterator<Item = S>) -> Ran {
        let child = self.session.start(&mut self.call(program, args));
        Ran::of(child.wait_with_output().unwrap())
    }

    /// A named pipe.
    fn pipe(&self) -> PathBuf {
        let pipe = self.at("pipe");
        program(Command::new("mkfifo").arg(&pipe));
        pipe
    }
}

/// The first byte that comes.
fn heard(pipe: &Path) -> u8 {
    let mut byte = [0];
    File::open(pipe).unwrap().read_exact(&mut byte).unwrap();
    byte[0]
}

#[test]
fn exit_statuses_are_those_of_the_programs() {
    let (stage, squashfuse) = stage("squashfuse");
    let ll = stage.at("squashfuse_ll");
    symlink(env!("CARGO_BIN_EXE_coldpress"), &ll).unwrap();
    for (args, status, ll_status, sentence) in [
        (&[][..], 254, 2, "error: give an image and a directory"),
        (&["-h"], 254, 2, "squashfuse 0.6.2 (coldpress "),
        (&["--version"], 254, 2, "squashfuse 0.6.2 (coldpress "),
        (
            &["image", "at", "more"],
            254,
            2,
            "error: give an image and a directory",
        ),
        (
            &["image", "at", "-x"],
            254,
            2,
            "error: `-x` is not an option",
        ),
        (
            &["image", "at", "-o", "dev"],
            254,
            2,
            "error: `-o dev` is not supported",
        ),
        (
            &["none", "at"],
            255,
            255,
            "error: cannot open `none`: No such file",
        ),
        (
            &["image", "at", "-o", "offset=1"],
            255,
            255,
            "error: `image` is not a SquashFS",
        ),
        (
            &["-f", "image", "none"],
            4,
            1,
            "error: cannot mount on `none`",
        ),
        (&["image", "none"], 4, 1, "error: cannot mount on `none`"),
        (
            &["image", "at", "-o", "subdir=x"],
            4,
            1,
            "error: the image has no `/x`",
        ),
    ] {
        for (program, expected) in [(&squashfuse, status), (&ll, ll_status)] {
            let ran = stage.ran(program, args);
            assert_eq!(ran.code, Some(expected), "{args:?}: {}", ran.stderr);
            assert!(ran.stderr.starts_with(sentence), "{args:?}: {}", ran.stderr);
            assert_eq!(ran.text(), "", "{args:?}");
            assert!(!stage.is_mounted());
        }
    }
}

#[test]
fn the_names_are_verbs_too() {
    for (name, status) in [("squashfuse", 254), ("squashfuse_ll", 2)] {
        let ran = Ran::of(command().args([name, "-h"]).output().unwrap());
        assert_eq!(ran.code, Some(status));
        let usage = format!("\nUsage: {name} [options] ARCHIVE MOUNTPOINT\n");
        assert!(ran.stderr.contains(&usage), "{}", ran.stderr);
        let ran = Ran::of(command().args([name, "--help"]).output().unwrap());
        let example = format!("Example:\n  coldpress {name} ");
        assert!(ran.code == Some(0) && ran.text().contains(&example));
        // Behind options of coldpress it ends as coldpress does.
        let ran = Ran::of(
            command()
                .args(["-q", name, "none", "none"])
                .output()
                .unwrap(),
        );
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    }
}

#[test]
fn it_mounts_says_nothing_and_can_be_found_by_its_command_line() {
    if skip::without_fuse() {
        return;
    }
    for name in ["squashfuse", "squashfuse_ll"] {
        let (stage, program) = stage(name);
        let ran = stage.ran(&program, ["image", "at", "-s", "-o", "nonempty,fsname=x"]);
        assert_eq!((ran.code, &*ran.text(), &*ran.stderr), (Some(0), "", ""));
        let content = fs::read(stage.mounted("directory/file")).unwrap();
        assert_eq!(content, b"content\n");
        let line = [program.as_os_str().as_bytes(), b"image", b"at"].join(&0);
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let staying = processes.filter(|entry| {
            let found = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.starts_with(&line)
        });
        assert_eq!(staying.count(), 1);
        assert_eq!(stage.unmount().code, Some(0));
    }
}

#[test]
fn options_are_those_of_squashfuse() {
    if skip::without_fuse() {
        return;
    }
    let (stage, program) = stage("squashfuse_ll");
    let odd = OsStr::from_bytes(b"a,b\\c \xff");
    fs::create_dir(stage.at("source").join(odd)).unwrap();
    fs::write(stage.at("source").join(odd).join("odd"), "odd\n").unwrap();
    fs::remove_file(stage.at("image")).unwrap();
    stage.session.done(["-q", "build", "source", "image"]);
    let mut bytes = vec![b'x'; 70_001];
    bytes.extend(fs::read(stage.at("image")).unwrap());
    fs::write(stage.at("image"), bytes).unwrap();
    for (options, file) in [
        (&b"offset=70001"[..], "large"),
        (b"offset=auto,uid=0,gid=0", "large"),
        (b"offset=auto,subdir=a\\,b\\\\c \xff", "odd"),
        (b"ro,offset=auto,subdir=/directory/,allow_other", "file"),
    ] {
        let words = [&b"-o"[..], options].concat();
        for args in [
            vec![
                OsStr::new("image"),
                OsStr::new("at"),
                OsStr::from_bytes(&words),
            ],
            vec![
                OsStr::new("-o"),
                OsStr::from_bytes(options),
                OsStr::new("image"),
                OsStr::new("at"),
            ],
        ] {
            let ran = stage.ran(&program, args);
            assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
            assert!(stage.mounted(file).exists(), "{}", options.escape_ascii());
            assert_eq!(stage.unmount().code, Some(0));
        }
    }
}

#[test]
fn a_pipe_hears_whether_it_is_mounted() {
    if skip::without_fuse() {
        return;
    }
    let (stage, program) = stage("squashfuse");
    let pipe = stage.pipe();
    for (args, word) in [
        (&["-f", "-o", "notify_pipe=pipe", "image", "at"][..], b's'),
        (&["-o", "notify_pipe=pipe", "image", "at"], b's'),
        (&["-f", "-o", "notify_pipe=pipe", "/dev/null", "at"], b'f'),
        (&["-o", "notify_pipe=pipe", "image", "none"], b'f'),
        (
            &["-f", "-o", "notify_pipe=pipe,subdir=x", "image", "at"],
            b'f',
        ),
    ] {
        let child = stage.session.start(&mut stage.call(&program, args));
        assert_eq!(heard(&pipe), word, "{args:?}");
        if word == b's' {
            assert!(stage.mounted("large").exists());
            assert_eq!(stage.unmount().code, Some(0));
        }
        let ran = Session::end(child);
        assert_eq!(
            ran.code == Some(0),
            word == b's',
            "{args:?}: {}",
            ran.stderr
        );
    }
}

#[test]
fn nobody_listens_to_the_pipe_and_it_is_mounted_all_the_same() {
    if skip::without_fuse() {
        return;
    }
    let (stage, program) = stage("squashfuse");
    stage.pipe();
    let ran = stage.ran(&program, ["-o", "notify_pipe=pipe", "image", "at"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert!(stage.mounted("large").exists());
    assert_eq!(stage.unmount().code, Some(0));
    // A file is none, and is not written to.
    fs::write(stage.at("file"), "mine").unwrap();
    let ran = stage.ran(&program, ["-o", "notify_pipe=file", "image", "at"]);
    let warning = "warning: nobody is notified: `file` is not a pipe\n";
    assert_eq!((ran.code, &*ran.stderr), (Some(0), warning));
    assert_eq!(stage.unmount().code, Some(0));
    assert_eq!(fs::read(stage.at("file")).unwrap(), b"mine");
}

#[test]
fn a_descriptor_hears_it_too() {
    if skip::without_fuse() {
        return;
    }
    let (stage, program) = stage("squashfuse_ll");
    let script = format!(
        "{} -f -o notify_fd=3 image at 3>&1 >&2 | head -c1",
        program.display()
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .current_dir(stage.session.directory());
    let mut child = stage.session.start(&mut shell);
    let mut byte = [0];
    child.stdout.take().unwrap().read_exact(&mut byte).unwrap();
    assert_eq!(&byte, b"s");
    assert!(comes_true(|| stage.is_mounted()));
    assert_eq!(stage.unmount().code, Some(0));
    Session::end(child);
}
