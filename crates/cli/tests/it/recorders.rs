//! The recorders beside each other, and those that need no root or no source.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use coldpress_trace::Trace;
use rustix::process::{Pid, Signal, kill_process};

use crate::press::source;
use crate::press::unprivileged::as_nobody;
use crate::record::accesses;
use crate::run::{Session, comes_true, names, program, tracefs};
use crate::skip;

/// A session with a source.
fn session() -> Session {
    let session = Session::new();
    source::write(&session.at("source"));
    session
}

fn trace(session: &Session, name: &str) -> Trace {
    Trace::parse(&fs::read(session.at(name)).unwrap()).unwrap()
}

fn field<'a>(trace: &'a Trace, key: &str) -> &'a str {
    trace.header.find(key).unwrap()
}

/// Reads, looks up and lists in children, in their children, by a chain of programs, and in vain.
const FAMILY: &str = "cat {root}/app/bin/tool; (sh -c 'cat {root}/app/share/text-07' & wait); \
    env sh -c 'exec cat {root}/data/large-3'; test -e {root}/app/share/text-50; \
    test -e {root}/with' 'space/none; ls {root}/app/lib/part-03; cd {root}/app/link && test -e module-1; \
    cat < {root}/with' 'space/a' 'file";

/// What a trace says was looked up and searched.
fn names_needed(trace: &Trace) -> BTreeSet<String> {
    let lines = accesses(trace).into_iter();
    lines.filter(|line| line.starts_with(['L', 'D'])).collect()
}

#[test]
fn as_nobody_a_start_is_recorded_by_what_it_opens() {
    let session = session();
    let args = [
        "record",
        "source",
        "--recorder",
        "opens",
        "-o",
        "trace",
        "--",
        "/bin/sh",
        "-c",
        FAMILY,
    ];
    let ran = as_nobody(&session, args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("opens: recorded "), "{}", ran.stderr);
    let trace = trace(&session, "trace");
    assert!(field(&trace, "recorder").starts_with("opens: "));
    assert!(field(&trace, "cold").starts_with("no: "));
    assert_eq!(field(&trace, "lost-events"), "0");
    let expected = [
        "D /",
        "L /app",
        "D /app",
        "L /app/bin",
        "D /app/bin",
        "L /app/bin/tool",
        "M 0-0 /app/bin/tool",
        "L /app/share",
        "D /app/share",
        "L /app/share/text-07",
        "M 0-0 /app/share/text-07",
        "L /data",
        "D /data",
        "L /data/large-3",
        "M 0-219 /data/large-3",
        // Looked up only.
        "L /app/share/text-50",
        // Searched in vain.
        "L /with space",
        "D /with space",
        // Listed; the names in it were not asked for.
        "L /app/lib",
        "D /app/lib",
        "L /app/lib/part-03",
        "D /app/lib/part-03",
        // Through a link, and then relative to the working directory.
        "L /app/link",
        "L /app/lib/part-00",
        "D /app/lib/part-00",
        "L /app/lib/part-00/module-1",
        "L /with space/a file",
        "M 0-0 /with space/a file",
    ];
    assert_eq!(accesses(&trace), expected);
}

#[test]
fn what_a_program_does_last_is_recorded_on_a_busy_machine() {
    /// Threads that compute, so that the program ends before whoever observes it has a turn.
    const BUSY: usize = 6;
    let session = session();
    let args = "record source -o trace --recorder opens -- /bin/sh -c";
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..BUSY {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let runs = (0..6).map(|_| session.run(args.split(' ').chain(["cat {root}/app/bin/tool"])));
        let runs: Vec<_> = runs.collect();
        is_over.store(true, Ordering::Relaxed);
        for ran in runs {
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        }
    });
}

#[test]
fn two_recorders_tell_the_same_names() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let traces = ["kernel", "opens"].map(|recorder| {
        let args = [
            "-q",
            "record",
            "source",
            "-o",
            recorder,
            "--recorder",
            recorder,
        ];
        let own = if recorder == "kernel" {
            &["--readahead", "16K"][..]
        } else {
            &[]
        };
        let args = args.iter().chain(own).copied();
        session.done(args.chain(["--", "/bin/sh", "-c", FAMILY]));
        trace(&session, recorder)
    });
    // As it is after the mount, which raises what is set before.
    let header = &traces[0].header;
    assert_eq!(header.find("read-ahead-kib"), Some("16"));
    assert_eq!(names_needed(&traces[0]), names_needed(&traces[1]));
    let files = traces.map(|trace| {
        let files = trace.working_set().files.into_iter();
        files.map(|file| file.path).collect::<Vec<_>>()
    });
    assert_eq!(files[0], files[1]);
}

#[test]
fn what_is_recorded_and_looked_up_is_enough_to_start() {
    if skip::without_root() {
        return;
    }
    let session = Session::new();
    source::write_root(&session.at("root"));
    fs::create_dir_all(session.at("root/usr/share")).unwrap();
    fs::write(session.at("root/usr/share/unused"), "x").unwrap();
    let start = "--chroot -- /bin/sh -c";
    let script = "read -r line < /words && echo > /tmp/x && test ! -e /etc/none && cd /bin";
    let recorders = if skip::without_recording() {
        &["opens"][..]
    } else {
        &["opens", "kernel"]
    };
    for recorder in recorders {
        let record = |source: &str| {
            let args = format!("-q record {source} -o trace --recorder {recorder} {start}");
            session.done(args.split(' ').chain([script]));
            trace(&session, "trace")
        };
        let whole = record("root");
        let pruned = format!("only-{recorder}");
        prune(&session.at("root"), &session.at(&pruned), &whole);
        assert!(!session.at(&pruned).join("usr/share").exists());
        let again = record(&pruned);
        assert_eq!(names_needed(&whole), names_needed(&again), "{recorder}");
    }
}

/// Copies what a trace names.
fn prune(from: &Path, to: &Path, trace: &Trace) {
    let set = trace.working_set();
    let mut paths: BTreeSet<Vec<u8>> = set.lookups.into_iter().chain(set.lists).collect();
    paths.remove(&b"/"[..]);
    let list = to.with_extension("list");
    let lines: Vec<u8> = paths
        .iter()
        .flat_map(|path| [&path[1..], b"\0"].concat())
        .collect();
    fs::write(&list, lines).unwrap();
    fs::create_dir(to).unwrap();
    // Directories are named themselves, and nothing comes with them.
    let mut tar = Command::new("sh");
    let script = "tar -C \"$1\" --null --no-recursion -T \"$2\" -c | tar -C \"$3\" -x";
    program(tar.args(["-c", script, "sh"]).args([from, &list, to]));
}

#[test]
fn a_chroot_works_as_nobody_and_changes_nothing() {
    let session = Session::new();
    source::write_root(&session.at("root"));
    // Writable for everyone, and still not changed.
    program(Command::new("chmod").arg("777").arg(session.at("root")));
    let script = "set -e; test $1 = /; read -r line < /words; echo x > /tmp/x; test -d /proc/self; \
                  test -c /dev/null; ! (: > /new)";
    let args = "record root -o trace --chroot --recorder opens -- /bin/sh -c";
    let ran = as_nobody(&session, args.split(' ').chain([script, "sh", "{root}"]));
    if ran.stderr.contains("user namespaces") {
        return;
    }
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let trace = trace(&session, "trace");
    let accesses = accesses(&trace);
    for access in [
        "R 0-0 /bin/sh",
        "M 0-0 /words",
        "L /proc",
        "L /dev",
        "L /tmp",
    ] {
        let found = accesses.iter().any(|other| other == access);
        assert!(found, "{access}: {accesses:#?}");
    }
    // The kernel opens the interpreter of the program, by no call.
    let linker = accesses.iter().find(|access| access.contains("/ld-"));
    assert!(linker.is_some(), "{accesses:#?}");
    let library = accesses
        .iter()
        .find(|access| access.starts_with("M 0-") && access.contains("libc.so"));
    assert!(library.is_some(), "{accesses:#?}");
    assert!(!session.at("root/new").exists());
    assert_eq!(names(&session.at("root/tmp")), [""; 0]);
}

#[test]
fn signals_and_exit_status_are_those_of_the_program() {
    let session = session();
    let record = |script: &str| {
        let args = "record source -o trace --recorder opens -- /bin/sh -c";
        as_nobody(&session, args.split(' ').chain([script]))
    };
    for (script, told) in [
        ("exit 3", "failed with exit status 3"),
        (
            "cat {root}/data/text >/dev/null; kill -TERM $$",
            "was killed by signal 15",
        ),
        (
            "cat {root}/data/text >/dev/null; kill -HUP $$",
            "was killed by signal 1;",
        ),
    ] {
        let ran = record(script);
        assert_eq!(ran.code, Some(2), "{script}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{script}: {}", ran.stderr);
        assert!(!session.at("trace").exists());
    }
    let script = "trap 'cat {root}/app/bin/tool; exit 0' USR1; kill -USR1 $$; sleep 5; exit 1";
    let ran = record(script);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let accesses = accesses(&trace(&session, "trace"));
    assert_eq!(accesses.last().unwrap(), "M 0-0 /app/bin/tool");
}

#[test]
fn a_time_limit_ends_a_recording_well() {
    let session = session();
    // It is ended cleanly: what it does then is no part of its start.
    let script = "trap 'cat {root}/app/bin/zz-same; echo ended > ended; exit 0' TERM; \
                  cat {root}/data/text; while :; do sleep 0.1; done";
    let args = "-q record source -o trace --recorder opens --for 1 --timeout 1 -- /bin/sh -c";
    session.done(args.split(' ').chain([script]));
    assert_eq!(fs::read(session.at("ended")).unwrap(), b"ended\n");
    let accesses = accesses(&trace(&session, "trace"));
    assert_eq!(accesses.last().unwrap(), "M 0-390 /data/text");
}

#[test]
fn several_recordings_go_to_files_of_their_own() {
    let session = session();
    let args = "record source -o run-{}.trace --runs 3 --cost --recorder opens -- /bin/sh -c";
    let ran = session.done(args.split(' ').chain(["cat {root}/app/bin/tool"]));
    let written = names(session.directory());
    assert_eq!(
        written,
        ["run-1.trace", "run-2.trace", "run-3.trace", "source"]
    );
    let first = accesses(&trace(&session, "run-1.trace"));
    assert_eq!(accesses(&trace(&session, "run-3.trace")), first);
    for told in [
        "in all 3 recordings: 100.0 % of the bytes of touched blocks, 100.0 % of the files, 100.0 % of the lookups and 100.0 % of the ",
        "recording cost ",
        " 3 turns): ",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    for args in [
        "record source --runs 2 -- /bin/true",
        "record source -o trace --runs 2 -- /bin/true",
    ] {
        let ran = session.run(args.split(' '));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("{}"), "{}", ran.stderr);
    }
}

/// An image of the source, mounted by mount(8).
struct Mounted(PathBuf);

impl Mounted {
    fn new(session: &Session) -> Self {
        let at = session.at("mounted");
        fs::create_dir(&at).unwrap();
        session.done("-q build -l 1 source image".split(' '));
        let mut mount = Command::new("mount");
        mount.args(["-t", "squashfs", "-o", "loop,ro"]);
        program(mount.arg(session.at("image")).arg(&at));
        Self(at)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn what_is_mounted_already_is_recorded_with_a_command() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let _mounted = Mounted::new(&session);
    let script = "dd if={root}/data/large-3 bs=4096 skip=7 count=2 of=/dev/null status=none; \
                  cat mounted/app/bin/tool; test -e {root}/app/share/text-50";
    let args = "record --mounted mounted -o trace -- /bin/sh -c";
    let ran = session.done(args.split(' ').chain([script]));
    assert!(ran.stderr.contains("recorded 2 events"), "{}", ran.stderr);
    let trace = trace(&session, "trace");
    // Lookups are not known.
    assert_eq!(
        accesses(&trace),
        ["R 7-8 /data/large-3", "R 0-0 /app/bin/tool"]
    );
    assert!(field(&trace, "recorder").contains("of a mounted image"));
}

/// A disk that has the image of the source in its only partition.
struct Disk {
    /// The loop device that stands for it.
    device: String,
}

impl Disk {
    /// Where the partition begins.
    const START_BYTES: usize = 1 << 20;

    fn new(session: &Session) -> Self {
        session.done("-q build source image".split(' '));
        let image = fs::read(session.at("image")).unwrap();
        let sectors = (image.len() / 512).to_string();
        let front = vec![0; Self::START_BYTES];
        fs::write(session.at("disk"), [front, image].concat()).unwrap();
        let losetup = ["--find", "--show", "--read-only", "--partscan"];
        let ran = program(
            Command::new("losetup")
                .args(losetup)
                .arg(session.at("disk")),
        );
        let device = ran.text().trim().to_owned();
        let disk = Self { device };
        let start = (Self::START_BYTES / 512).to_string();
        program(Command::new("addpart").args([&*disk.device, "1", &start, &sectors]));
        disk
    }

    fn partition(&self) -> String {
        format!("{}p1", self.device)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.partition()).status();
        let _ = Command::new("losetup")
            .args(["--detach", &self.device])
            .status();
    }
}

#[test]
fn an_image_on_a_partition_is_recorded_and_explained() {
    if skip::without_recording() || skip::without_peer("losetup") || skip::without_peer("addpart") {
        return;
    }
    let session = session();
    let disk = Disk::new(&session);
    let partition = disk.partition();
    fs::create_dir(session.at("mounted")).unwrap();
    program(
        Command::new("mount")
            .args(["-r", "-t", "squashfs", &partition])
            .arg(session.at("mounted")),
    );
    let script = "cat {root}/app/bin/tool";
    let args = "record --mounted mounted -o trace -- /bin/sh -c";
    session.done(args.split(' ').chain([script]));
    assert_eq!(accesses(&trace(&session, "trace")), ["R 0-0 /app/bin/tool"]);
    let args = [
        "-q", "explain", &partition, "--json", "--", "/bin/sh", "-c", script,
    ];
    let told = session.done(args).json();
    assert_eq!(told["files"][0]["path"], "/app/bin/tool");
    assert_eq!(told["totals"]["reads"], told["totals"]["device_reads"]);
}

/// Starts to record, and returns when it does.
fn listening(session: &Session, args: &str) -> Child {
    let child = session.start(&mut session.command(args.split(' ')));
    let mounted = tracefs().unwrap();
    let instance = format!(
        "/proc/self/fd/{}/instances/coldpress-{}-0",
        mounted.as_raw_fd(),
        child.id()
    );
    // The last event that is switched on, and then all of them.
    let switches = [
        "events/filemap/mm_filemap_add_to_page_cache/enable",
        "tracing_on",
    ];
    let is_on = |switch: &&str| {
        let text = fs::read_to_string(format!("{instance}/{switch}"));
        text.is_ok_and(|text| text.trim() == "1")
    };
    assert!(comes_true(|| switches.iter().all(is_on)));
    child
}

#[test]
fn a_signal_ends_the_recording_of_what_is_mounted_and_writes_it() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let mounted = Mounted::new(&session);
    for signal in [Signal::TERM, Signal::INT] {
        let child = listening(&session, "record --mounted mounted -o trace");
        fs::read(mounted.0.join("app/bin/tool")).unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        let ran = Session::end(child);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(accesses(&trace(&session, "trace")), ["R 0-0 /app/bin/tool"]);
    }
    let child = listening(
        &session,
        "record --mounted mounted -o trace --ready file=done",
    );
    fs::read(mounted.0.join("with space/a file")).unwrap();
    fs::write(session.at("done"), "").unwrap();
    let ran = Session::end(child);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found = accesses(&trace(&session, "trace"));
    assert_eq!(found, ["R 0-0 /with space/a file"]);
}

#[test]
fn what_is_no_mounted_image_is_refused() {
    if skip::without_root() {
        return;
    }
    let session = session();
    for (args, told) in [
        (
            "record --mounted source -o trace --for 1",
            "is not on a SquashFS",
        ),
        ("record --mounted none -o trace --for 1", "cannot read"),
        (
            "record --mounted source --recorder opens",
            "cannot be used with",
        ),
        ("record --for 1 -- /bin/true", "<SOURCE>"),
        ("record source", "there is no command"),
        ("record --boot units --mounted source", "--output"),
    ] {
        let ran = session.run(args.split(' '));
        assert_eq!(ran.code, Some(2), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{args}: {}", ran.stderr);
    }
}

#[test]
fn units_for_a_boot_name_what_records_and_what_ends_it() {
    let session = session();
    fs::create_dir(session.at("units")).unwrap();
    let args = "record --boot units --mounted / --stop-after gdm.service --for 60 -o";
    let ran = session.done(args.split(' ').chain(["a 100% trace"]));
    let units = ["coldpress-record-end.service", "coldpress-record.service"];
    assert_eq!(names(&session.at("units")), units);
    assert!(ran.stderr.contains("systemctl enable"), "{}", ran.stderr);
    let text = |name: &str| fs::read_to_string(session.at("units").join(name)).unwrap();
    let output = session.at("a 100%% trace");
    let command = format!(
        " \"record\" \"--mounted\" \"/\" \"-o\" \"{}\" \"--for\" \"60\"\n",
        output.display()
    );
    let record = text("coldpress-record.service");
    assert!(record.contains(&command), "{record}");
    let place = format!("mkdir -p -- \"{}\"\n", session.directory().display());
    assert!(record.contains(&place), "{record}");
    assert!(record.contains("WantedBy=sysinit.target\n"), "{record}");
    let end = text("coldpress-record-end.service");
    assert!(
        end.contains("After=coldpress-record.service gdm.service\n"),
        "{end}"
    );
    let args = "record --boot units --mounted / -o trace --stop-after gdm";
    assert_eq!(session.run(args.split(' ')).code, Some(2));
}
