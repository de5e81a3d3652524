//! Nothing stays behind, whatever happens.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::thread::{self, sleep};
use std::time::Duration;

use coldpress_host::{
    Cgroup, Command, Device, Janitor, Keep, Leftover, Ready, Recorder, Scratch, launch,
};

use crate::stage::{Stage, have_all, is_attached};

/// Names the test that plays the victim; set for the child process only.
const VICTIM: &str = "COLDPRESS_TEST_VICTIM";

fn comes_true(what: impl Fn() -> bool) -> bool {
    (0..1000).any(|_| {
        let now = what();
        if !now {
            sleep(Duration::from_millis(10));
        }
        now
    })
}

#[test]
fn the_janitor_removes_what_is_watched_and_nothing_else() {
    let work = tempfile::tempdir().unwrap();
    let odd = OsStr::from_bytes(b"a b\n*%s\\n$(touch x)'\"\xff-");
    let named = work.path().join(odd);
    fs::create_dir(&named).unwrap();
    let inside = named.join("-rf");
    fs::write(&inside, "x").unwrap();
    let full = work.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("kept"), "x").unwrap();
    let taken_back = work.path().join("taken back");
    fs::write(&taken_back, "x").unwrap();
    let unnamed = work.path().join("unnamed");
    fs::write(&unnamed, "x").unwrap();

    let janitor = Janitor::start().unwrap();
    janitor.watch(Leftover::Dir(named.clone()));
    janitor.watch(Leftover::File(inside.clone()));
    janitor.watch(Leftover::Dir(full.clone()));
    janitor.watch(Leftover::File(full.clone()));
    janitor.watch(Leftover::File(taken_back.clone()));
    janitor.watch(Leftover::File(work.path().join("never made")));
    janitor.forget(&Leftover::File(taken_back.clone()));
    assert!(inside.exists());
    drop(janitor);
    assert!(!inside.exists());
    assert!(
        !named.exists(),
        "the newest is removed first, so the directory was empty"
    );
    assert!(full.join("kept").exists());
    assert!(taken_back.exists() && unnamed.exists());
}

/// Run by [`a_killed_process_leaves_nothing`] in a process of its own: holds everything there is
/// to hold, tells what, and waits to be killed.
#[test]
#[ignore = "plays the victim of another test"]
fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let stage = Stage::new(true, |source| fs::write(source.join("data"), "x").unwrap());
    let root = stage.mount.root().to_owned();
    let work = root.parent().unwrap().to_owned();
    stage.janitor.watch(Leftover::Dir(work.clone()));
    stage.janitor.watch(Leftover::Dir(work.join("source")));
    stage
        .janitor
        .watch(Leftover::File(work.join("source/data")));
    stage.janitor.watch(Leftover::File(stage.image.clone()));
    stage.janitor.watch(Leftover::Dir(root.clone()));
    let cgroup = Cgroup::create("victim").unwrap();
    stage.janitor.watch(cgroup.leftover());
    let number = stage.loop_device.device_number();
    cgroup
        .limit(number, &Device::parse("usb2").unwrap())
        .unwrap();
    let _recorder =
        Recorder::start(&stage.mount, &stage.loop_device, Keep::All, &stage.janitor).unwrap();
    let (image, path) = (stage.image.clone(), cgroup.path().to_owned());
    let announce = thread::spawn(move || {
        // Until the program below has made it into the cgroup.
        assert!(comes_true(|| {
            let members = fs::read_to_string(path.join("cgroup.procs")).unwrap();
            members.lines().count() >= 3
        }));
        let members = fs::read_to_string(path.join("cgroup.procs")).unwrap();
        fs::write(
            image.with_extension("held"),
            format!("{}\n{}\n{}", image.display(), path.display(), members),
        )
        .unwrap();
    });
    stage
        .janitor
        .watch(Leftover::File(stage.image.with_extension("held")));
    let command = Command {
        // One child that leaves the session, and all have the mount busy.
        args: ["sh", "-c", "cd {root}; setsid sleep 600 & sleep 600; true"]
            .map(OsString::from)
            .to_vec(),
        chroot: false,
        environment: Vec::new(),
        working_directory: None,
        timeout_s: 600,
        ready: Ready::Exit,
    };
    // The work directory tells the parent where to look.
    fs::write(
        std::env::var_os(VICTIM).unwrap(),
        work.as_os_str().as_bytes(),
    )
    .unwrap();
    launch(&command, &root, Some(&cgroup), &mut || false).unwrap();
    announce.join().unwrap();
}

#[test]
fn a_killed_process_leaves_nothing() {
    if !have_all() {
        return;
    }
    let note = tempfile::NamedTempFile::new().unwrap();
    let mut child = process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "cleanup::victim"])
        .env(VICTIM, note.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held = || {
        let work = fs::read(note.path()).unwrap_or_default();
        let work = Path::new(OsStr::from_bytes(&work)).to_owned();
        fs::read_to_string(work.join("image.held"))
            .ok()
            .filter(|text| text.lines().count() >= 5)
    };
    if !comes_true(|| held().is_some()) {
        child.kill().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        panic!("{:?}", lines.collect::<Result<Vec<_>, _>>());
    }
    let held = held().unwrap();
    let mut lines = held.lines();
    let image = PathBuf::from(lines.next().unwrap());
    let cgroup = PathBuf::from(lines.next().unwrap());
    let members: Vec<PathBuf> = lines.map(|pid| Path::new("/proc").join(pid)).collect();
    assert!(is_attached(&image));
    assert!(cgroup.is_dir());
    assert!(members.iter().all(|member| member.exists()));
    assert_eq!(instances_of(child.id()), 1);
    let mark = note.path().as_os_str().as_bytes();
    assert!(is_anyone_marked_by(mark));

    child.kill().unwrap();
    child.wait().unwrap();

    assert!(comes_true(|| !cgroup.exists()), "cgroup");
    assert!(comes_true(|| !is_attached(&image)), "loop device");
    assert!(
        comes_true(|| instances_of(child.id()) == 0),
        "trace instance"
    );
    let work = image.parent().unwrap();
    assert!(comes_true(|| !work.exists()), "{:?}", fs::read_dir(work));
    let running = |path: &PathBuf| {
        let stat = fs::read_to_string(path.join("stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    assert!(comes_true(|| !members.iter().any(running)), "processes");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(&*work.to_string_lossy()));
    // The janitor itself ended too.
    assert!(comes_true(|| !is_anyone_marked_by(mark)), "janitor");
}

/// Trace instances of a process, counted through a mount that only the shell sees.
fn instances_of(pid: u32) -> usize {
    let script = "mount -t tracefs none /mnt && ls /mnt/instances";
    let output = process::Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script])
        .output()
        .unwrap();
    let names = String::from_utf8(output.stdout).unwrap();
    let prefix = format!("coldpress-{pid}-");
    names
        .lines()
        .filter(|name| name.starts_with(&prefix))
        .count()
}

/// Whether a process has this in its environment, as all that the victim started have.
fn is_anyone_marked_by(mark: &[u8]) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let environments = processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    environments
        .into_iter()
        .any(|environment| environment.windows(mark.len()).any(|window| window == mark))
}

#[test]
fn what_the_dead_left_is_swept_at_the_next_start() {
    if !have_all() {
        return;
    }
    let cgroup = Cgroup::create("alive").unwrap();
    // A process number that cannot be: they end below 2^22.
    let dead = cgroup.path().with_file_name("coldpress-4194999-dead");
    fs::create_dir(&dead).unwrap();
    let janitor = Janitor::start().unwrap();
    assert!(!dead.exists());
    assert!(cgroup.path().exists());
    drop(janitor);
}

#[test]
fn the_janitor_removes_trees_of_its_own_name_only() {
    let work = tempfile::tempdir().unwrap();
    let make = |name: &str| {
        let tree = work.path().join(name);
        let closed = tree.join("a b\n/closed");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "x").unwrap();
        std::os::unix::fs::symlink(work.path(), closed.join("link")).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
        tree
    };
    let (ours, other) = (make(".coldpress-1 $(touch x)"), make("coldpress-1"));
    let janitor = Janitor::start().unwrap();
    for tree in [&ours, &other, &work.path().join(".coldpress-2")] {
        janitor.watch(Leftover::Tree(tree.clone()));
    }
    let scratch = Scratch::create(work.path(), &janitor).unwrap();
    let path = scratch.path().to_owned();
    fs::create_dir_all(path.join("a/b")).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "nobody else looks in");
    drop(scratch);
    assert!(!path.exists());
    drop(janitor);
    assert!(!ours.exists());
    assert!(other.join("a b\n/closed/file").exists());
}
