//! `coldpress run`: commands from images, with namespaces of their own.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};

use crate::run::{Ran, Session, comes_true};
use crate::skip;

/// Defines `nobody COMMAND...`, and gives `/dev/fuse` to everyone, as it usually is.
const PREPARE: &str = "\
    set -e; mknod -m 666 device c 10 229; mount --bind device /dev/fuse; export TMPDIR=$PWD; \
    nobody() { setpriv --reuid=4711 --regid=4712 --clear-groups \"$@\"; }; ";

/// A session with an image of a few files, in which a shell finds what it needs, and this program.
fn session() -> Session {
    let session = Session::new();
    let source = session.at("source");
    for directory in ["proc", "dev", "tmp", "run", "directory", "etc"] {
        fs::create_dir_all(source.join(directory)).unwrap();
    }
    fs::write(source.join("directory/file"), "content\n").unwrap();
    fs::write(source.join(OsStr::from_bytes(b"odd \xff\n")), "odd\n").unwrap();
    fs::write(source.join("text"), "not a program").unwrap();
    fs::write(source.join("script"), "#!/bin/sh\necho \"$@\"\n").unwrap();
    fs::set_permissions(source.join("script"), Permissions::from_mode(0o755)).unwrap();
    session.done(["-q", "build", "source", "image"]);
    session
}

/// Runs a command from the image.
fn run<S: AsRef<OsStr>>(session: &Session, args: impl IntoIterator<Item = S>) -> Ran {
    let words = ["run", "image"].map(|word| OsStr::new(word).to_owned());
    let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
    session.run(words.into_iter().chain(args))
}

/// Runs a script in a mount namespace of its own, in which `nobody` finds everything.
fn script(session: &Session, script: &str) -> Ran {
    let directory = session.directory();
    fs::set_permissions(directory, Permissions::from_mode(0o777)).unwrap();
    if !session.at("program").exists() {
        fs::copy(env!("CARGO_BIN_EXE_coldpress"), session.at("program")).unwrap();
    }
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &format!("{PREPARE}{script}")]);
    command
        .env("COLDPRESS_HISTORY", "off")
        .current_dir(directory);
    let child = session.start(&mut command);
    let ran = Ran::of(child.wait_with_output().unwrap());
    fs::remove_file(session.at("device")).unwrap();
    ran
}

fn cannot_run() -> bool {
    skip::without_fuse()
}

fn cannot_be_nobody() -> bool {
    cannot_run() || ["setpriv", "unshare"].into_iter().any(skip::without_peer)
}

/// A static shell that works in an image without anything else.
fn busybox(session: &Session) -> bool {
    let Some(path) = ["/bin/busybox", "/usr/bin/busybox"]
        .into_iter()
        .find(|path| Path::new(path).exists())
    else {
        return false;
    };
    fs::create_dir(session.at("source/bin")).unwrap();
    for name in ["busybox", "sh", "cat", "ls", "pwd"] {
        let to = session.at("source/bin").join(name);
        if name == "busybox" {
            fs::copy(path, to).unwrap();
        } else {
            std::os::unix::fs::symlink("busybox", to).unwrap();
        }
    }
    fs::remove_file(session.at("image")).unwrap();
    session.done(["-q", "build", "source", "image"]);
    true
}

#[test]
fn the_command_finds_the_image_and_its_status_is_that_of_the_run() {
    if cannot_run() {
        return;
    }
    let session = session();
    for (args, status, output) in [
        (&["--", "cat", "{root}/directory/file"][..], 0, "content\n"),
        (&["--", "{root}/script", "a b", "c"], 0, "a b c\n"),
        (&["--", "sh", "-c", "exit 77"], 77, ""),
        (&["--", "sh", "-c", "kill -TERM $$"], 143, ""),
        (&["--", "sh", "-c", "kill -KILL $$"], 137, ""),
        (&["--", "no such program"], 127, ""),
        (&["--", "{root}/none"], 127, ""),
        (&["--", "{root}/text"], 126, ""),
        (&["--", "sh", "-c", "! touch {root}/new 2>/dev/null"], 0, ""),
    ] {
        let ran = run(&session, args);
        assert_eq!(ran.code, Some(status), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.text(), output, "{args:?}");
    }
    let odd = OsStr::from_bytes(b"{root}/odd \xff\n");
    let ran = run(&session, [OsStr::new("--"), OsStr::new("cat"), odd]);
    assert_eq!(
        (ran.code, &*ran.text()),
        (Some(0), "odd\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn nobody_needs_to_be_root() {
    if cannot_be_nobody() {
        return;
    }
    let session = session();
    let ran = script(
        &session,
        "nobody ./program run image -- sh -c 'id -u; cat {root}/directory/file; stat -c %u:%g {root}/directory; \
         cat /proc/self/status | grep CapEff; exit 3' || echo $?; ls -A | grep coldpress || true",
    );
    let said = "4711\ncontent\n4711:4712\nCapEff:\t0000000000000000\n3\n";
    assert_eq!((ran.code, &*ran.text(), &*ran.stderr), (Some(0), said, ""));
}

#[test]
fn what_is_missing_is_told() {
    if cannot_be_nobody() {
        return;
    }
    let session = session();
    let ran = script(
        &session,
        "chmod 600 device; nobody ./program run image -- true || echo $?; \
         nobody ./program run image --kernel-mount -- true || echo $?",
    );
    assert_eq!((ran.code, &*ran.text()), (Some(0), "2\n2\n"));
    for sentence in [
        "error: mounting in user space needs what this process lacks: the right to open /dev/fuse\n\nhint: `chmod 666 /dev/fuse`",
        "error: mounting through the kernel needs root; ",
    ] {
        assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    }
}

#[test]
fn changes_go_to_a_directory_or_nowhere() {
    if cannot_be_nobody() {
        return;
    }
    let session = session();
    let change = "'echo new > {root}/directory/file; rm {root}/text; mkdir {root}/made; cat {root}/directory/file'";
    let look = "'cat {root}/directory/file; ls -d {root}/text {root}/made 2>/dev/null | wc -l'";
    let ran = script(
        &session,
        &format!(
            "mkdir -m 777 changes; ./program run image --overlay tmpfs -- sh -c {change}; \
             ./program run image -- sh -c {look}; \
             nobody ./program run image --overlay tmpfs -- sh -c {change}; \
             nobody ./program run image --overlay changes -- sh -c {change}; \
             nobody ./program run image --overlay changes -- sh -c {look}; cat changes/upper/directory/file"
        ),
    );
    let said = "new\ncontent\n1\nnew\nnew\nnew\n1\nnew\n";
    assert_eq!((ran.code, &*ran.text(), &*ran.stderr), (Some(0), said, ""));
}

#[test]
fn inside_the_image_it_finds_what_is_bound_there() {
    if cannot_be_nobody() {
        return;
    }
    let session = session();
    if !busybox(&session) {
        return;
    }
    fs::write(session.at("mine"), "mine\n").unwrap();
    fs::create_dir(session.at("my directory")).unwrap();
    fs::write(session.at("my directory/inner"), "inner\n").unwrap();
    for (who, overlay, target) in [
        ("", "", "/directory"),
        ("nobody ", "", "/directory"),
        ("nobody ", "--overlay tmpfs", "/new"),
    ] {
        let ran = script(
            &session,
            &format!(
                "{who}./program run image --chroot {overlay} --bind mine:/text --bind 'my directory:{target}' \
                 -- sh -c 'pwd; echo $HOME; cat /text {target}/inner; echo x > /tmp/x; ls /tmp /proc/self/stat'"
            ),
        );
        let said = "/\n/tmp\nmine\ninner\n/proc/self/stat\n\n/tmp:\nx\n";
        assert_eq!(
            (ran.code, &*ran.text(), &*ran.stderr),
            (Some(0), said, ""),
            "{who}{overlay}"
        );
    }
    let ran = run(&session, ["--chroot", "--bind", "/etc:/none", "--", "true"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr
            .starts_with("error: cannot bind to `/none`: No such file"),
        "{}",
        ran.stderr
    );
}

#[test]
fn links_of_the_image_do_not_lead_what_is_bound_out_of_it() {
    if cannot_run() {
        return;
    }
    let session = session();
    if !busybox(&session) {
        return;
    }
    std::os::unix::fs::symlink("/etc", session.at("source/out")).unwrap();
    fs::write(session.at("source/etc/marked"), "").unwrap();
    fs::remove_file(session.at("image")).unwrap();
    session.done(["-q", "build", "source", "image"]);
    fs::create_dir(session.at("mine")).unwrap();
    let ran = run(
        &session,
        ["--chroot", "--bind", "mine:/out", "--", "ls", "/etc"],
    );
    // It is the image's own /etc that is hidden.
    assert_eq!((ran.code, &*ran.text()), (Some(0), ""), "{}", ran.stderr);
}

#[test]
fn signals_are_passed_on() {
    if cannot_run() || skip::without_peer("setsid") {
        return;
    }
    let session = session();
    for (name, signal) in [
        ("TERM", Signal::TERM),
        ("HUP", Signal::HUP),
        ("USR1", Signal::USR1),
        ("INT", Signal::INT),
    ] {
        let script =
            format!("trap 'echo {name}; exit 9' {name}; : > ready; while :; do sleep 0.01; done");
        // Without a terminal, which would send some of them to both. It does not fork.
        let mut command = Command::new("setsid");
        command.arg(env!("CARGO_BIN_EXE_coldpress"));
        command.args(["run", "image", "--", "sh", "-c", &script]);
        command
            .env("COLDPRESS_HISTORY", "off")
            .current_dir(session.directory());
        let child = session.start(&mut command);
        assert!(comes_true(|| session.at("ready").exists()));
        send(&child, signal);
        let ran = Session::end(child);
        assert_eq!(
            (ran.code, &*ran.text()),
            (Some(9), &*format!("{name}\n")),
            "{}",
            ran.stderr
        );
        fs::remove_file(session.at("ready")).unwrap();
    }
}

fn send(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.unwrap(), signal).unwrap();
}

#[test]
fn who_is_killed_leaves_nothing() {
    if cannot_run() {
        return;
    }
    let session = session();
    for args in [&[][..], &["--overlay", "tmpfs"], &["--kernel-mount"]] {
        if args == ["--kernel-mount"] && skip::without_kernel() {
            continue;
        }
        let words = [
            &["run", "image"][..],
            args,
            &["--", "sh", "-c", "echo {root} > ready; exec sleep 100"],
        ]
        .concat();
        let mut command = session.command(words);
        command.env("TMPDIR", session.directory());
        let child = session.start(&mut command);
        assert!(comes_true(
            || fs::read(session.at("ready")).is_ok_and(|text| text.ends_with(b"\n"))
        ));
        let root = fs::read_to_string(session.at("ready")).unwrap();
        send(&child, Signal::KILL);
        assert_eq!(Session::end(child).code, None);
        assert!(
            comes_true(|| session.leftovers().is_empty()),
            "{:?}",
            session.leftovers()
        );
        assert!(!Path::new(root.trim()).exists());
        fs::remove_file(session.at("ready")).unwrap();
    }
}

#[test]
fn the_kernel_mounts_for_root() {
    if cannot_run() || skip::without_kernel() {
        return;
    }
    let session = session();
    let ran = run(
        &session,
        ["--kernel-mount", "--", "stat", "-f", "-c", "%T", "{root}"],
    );
    assert_eq!(
        (ran.code, &*ran.text()),
        (Some(0), "squashfs\n"),
        "{}",
        ran.stderr
    );
    let owner = fs::metadata(session.at("source/directory")).unwrap();
    let ran = run(&session, ["--", "stat", "-c", "%u:%g", "{root}/directory"]);
    assert_eq!(ran.text(), format!("{}:{}\n", owner.uid(), owner.gid()));
}

#[test]
fn what_cannot_be_run_is_told() {
    let session = session();
    for (args, sentence) in [
        (
            &["run", "image"][..],
            "error: the following required arguments were not provided:",
        ),
        (
            &["run", "none", "--", "true"],
            "error: cannot open `none`: No such file",
        ),
        (
            &["run", "source/text", "--", "true"],
            "error: `source/text` is not a SquashFS image",
        ),
        (
            &["run", "image", "--bind", "a", "--", "true"],
            "error: invalid value 'a' for '--bind <SRC:DST>'",
        ),
        (
            &["run", "image", "--profile", "none", "--", "true"],
            "error: cannot read `none`",
        ),
    ] {
        let ran = session.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(sentence), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn launches_with_and_without_prefetch_take_turns_until_it_is_decided() {
    if cannot_run() {
        return;
    }
    let session = session();
    let trace = "coldpress-trace 1\n1 1 R 0-0 /directory/file\n";
    fs::write(session.at("profile"), trace).unwrap();
    let words = ["run", "image", "--profile", "profile", "--prove", "--"];
    let launch = |command: &[&str]| {
        let mut launch = session.command([&words[..], command].concat());
        launch.env("COLDPRESS_HISTORY", session.at("history"));
        let child = session.start(&mut launch);
        Ran::of(child.wait_with_output().unwrap())
    };
    let mut said = String::new();
    for _ in 0..21 {
        let ran = launch(&["cat", "{root}/directory/file"]);
        assert_eq!(
            (ran.code, &*ran.text()),
            (Some(0), "content\n"),
            "{}",
            ran.stderr
        );
        assert_eq!(said, "", "decided too soon");
        said = ran.stderr;
    }
    let is_decided = |said: &str| said.contains("reading ahead: launches with it took ");
    assert!(is_decided(&said), "{said}");
    assert_eq!(launch(&["false"]).code, Some(1));
    let mut history = session.command(["history", "list", "--json"]);
    history.env("COLDPRESS_HISTORY", session.at("history"));
    let listed = Ran::of(history.output().unwrap()).text();
    for title in [
        "launches of cat {root}/directory/file with",
        "launches of false with",
    ] {
        assert_eq!(listed.matches(title).count(), 1, "{listed}");
    }
    let ran = run(&session, ["--profile", "profile", "--prove", "--", "true"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.starts_with("error: there is no history"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_mount_that_may_not_open_the_device_says_what_to_do() {
    if cannot_be_nobody() {
        return;
    }
    let session = session();
    let ran = script(
        &session,
        "chmod 600 device; mkdir at; chmod 777 at; nobody ./program mount image at",
    );
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    for part in [
        "the right to open /dev/fuse",
        "hint: `chmod 666 /dev/fuse` by root",
    ] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
}
