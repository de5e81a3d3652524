//! Running the binary, and what it must not leave behind.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap()
    }
}

/// The binary, in an environment that does not depend on who runs the tests.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coldpress"));
    for name in ["SOURCE_DATE_EPOCH", "NO_COLOR", "COLUMNS", "LINES"] {
        command.env_remove(name);
    }
    // What tests measure is of no use to whoever runs them.
    command.env("COLDPRESS_HISTORY", "off");
    command.env("COLDPRESS_CALIBRATION", "off");
    command.stdin(Stdio::null());
    command
}

/// Runs the binary.
pub(crate) fn coldpress<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    Ran::of(command().args(args).output().unwrap())
}

/// Runs the binary and demands success.
pub(crate) fn done<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    let ran = coldpress(args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran
}

/// Runs another program and demands success.
pub(crate) fn program(command: &mut Command) -> Ran {
    let ran = Ran::of(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(ran.code, Some(0), "{command:?}: {}", ran.stderr);
    ran
}

/// Takes a mount away, at once for all who look, and for good when the last file of it is closed: a
/// program that another test starts holds the files of this one until it is executed, and the mount
/// would be busy.
pub(crate) fn detach(at: &Path) {
    program(Command::new("umount").arg("--lazy").arg(at));
}

/// The repository.
pub(crate) fn repository() -> &'static Path {
    // crates/cli
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .parent()
        .unwrap()
}

/// Sessions drop the caches of the whole machine and count reads: one after the other, also those
/// of other runs of the tests. Whoever has locked this directory is alone.
const ALONE: &str = "/var/tmp";

/// In the environment of all that a session starts, with the directory of the session.
const MARK: &str = "COLDPRESS_TEST_SESSION";

/// How long what is left may take to vanish.
/// Longer than any other test sees a copy of a mount in a namespace of its own, which keeps who
/// answers for it.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(10);

/// Whether it becomes true within a minute.
pub(crate) fn comes_true(mut what: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    loop {
        if what() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        sleep(PAUSE);
    }
}

/// `fusermount3 -u`, until the mount is no longer busy: who answers for it may still be giving
/// pages to the kernel.
pub(crate) fn unmount(at: &Path) -> Ran {
    let unmount = || {
        Ran::of(
            Command::new("fusermount3")
                .arg("-u")
                .arg(at)
                .output()
                .unwrap(),
        )
    };
    let mut ran = unmount();
    comes_true(|| {
        let is_busy = ran.stderr.contains("busy");
        if is_busy {
            ran = unmount();
        }
        !is_busy
    });
    ran
}

/// A directory in which the binary runs.
#[derive(Debug)]
pub(crate) struct Stage {
    directory: TempDir,
}

impl Stage {
    /// An empty directory.
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A path in it.
    pub(crate) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory().join(name)
    }

    /// Runs the binary in it.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        let mut command = command();
        command.args(args).current_dir(self.directory());
        Ran::of(command.output().unwrap())
    }

    /// Runs the binary in it and demands success.
    pub(crate) fn done<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    }
}

/// Runs of the binary in a directory of their own, of which nothing may be left.
///
/// On drop, which is at the end of every test, it asserts that. Not in `/tmp`, which may be in
/// memory, where no image is ever cold.
#[derive(Debug)]
pub(crate) struct Session {
    directory: TempDir,
    pids: RefCell<Vec<u32>>,
    _alone: Option<File>,
}

impl Session {
    /// A session with an empty directory.
    pub(crate) fn new() -> Self {
        let alone = File::open(ALONE).unwrap();
        alone.lock().unwrap();
        Self::with(Some(alone))
    }

    /// A session that drops no caches, and measures nothing that depends on them.
    pub(crate) fn beside_others() -> Self {
        Self::with(None)
    }

    fn with(alone: Option<File>) -> Self {
        Self {
            directory: tempfile::tempdir_in("/var/tmp").unwrap(),
            pids: RefCell::default(),
            _alone: alone,
        }
    }

    /// Its directory.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A path in its directory.
    pub(crate) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory().join(name)
    }

    /// The binary, to be started in its directory.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = command();
        command.args(args).current_dir(self.directory());
        command
    }

    /// Starts the binary, or another one in its place.
    pub(crate) fn start(&self, command: &mut Command) -> Child {
        command.env(MARK, self.directory());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        self.pids.borrow_mut().push(child.id());
        child
    }

    /// Runs the binary to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        let child = self.start(&mut self.command(args));
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Runs the binary and demands success.
    pub(crate) fn done<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    }

    /// Waits a minute at most for the end of what was started, then kills it and fails.
    pub(crate) fn end(mut child: Child) -> Ran {
        let ended = comes_true(|| child.try_wait().unwrap().is_some());
        if !ended {
            child.kill().unwrap();
        }
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert!(ended, "it goes on after a minute: {}", ran.stderr);
        ran
    }

    /// What there is at the moment of the runs of this session, a line for each thing.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let directory = self.directory();
        let mut found = Vec::new();
        let mut places = vec![directory.to_owned()];
        for pid in self.pids.borrow().iter() {
            let ours = format!("coldpress-{pid}-");
            let kernel = trace_instances().into_iter().chain(cgroups());
            found.extend(kernel.filter(|name| name.contains(&ours)));
            // Where `record` works when it writes to standard output.
            let ours = format!(".coldpress-{pid}-");
            for name in names(Path::new("/var/tmp")) {
                if name.starts_with(&ours) {
                    let beside = Path::new("/var/tmp").join(name);
                    found.push(format!("file {}", beside.display()));
                    places.push(beside);
                }
            }
        }
        found.extend(places.iter().flat_map(|place| loop_devices(place)));
        found.extend(places.iter().flat_map(|place| mounts(place)));
        // Work directories, and images that are not yet in place.
        let unfinished = names(directory)
            .into_iter()
            .filter(|name| name.contains("coldpress-"));
        found.extend(unfinished.map(|name| format!("file {name}")));
        found.extend(
            processes(directory)
                .into_iter()
                .map(|(pid, line)| format!("process {pid} {line:.80}")),
        );
        found
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let mut left = Vec::new();
        // A test that fails has something else to say.
        let vanished = std::thread::panicking()
            || comes_true(|| {
                left = self.leftovers();
                left.is_empty()
            });
        // What a failure leaves running must not disturb the next test. A janitor has work to do.
        for (pid, line) in processes(self.directory()) {
            if !line.contains("janitor") {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        assert!(vanished, "left behind: {left:#?}");
    }
}

/// Names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Those that show a file below a directory.
fn loop_devices(directory: &Path) -> Vec<String> {
    let devices = names(Path::new("/sys/block")).into_iter();
    let backed = devices.filter_map(|name| {
        let file = Path::new("/sys/block")
            .join(&name)
            .join("loop/backing_file");
        Some((name, fs::read_to_string(file).ok()?))
    });
    backed
        .filter(|(_, file)| Path::new(file).starts_with(directory))
        .map(|(name, file)| format!("loop device {name}: {}", file.trim_end()))
        .collect()
}

/// Mounts below a directory that the machine's first process or this one can see.
fn mounts(directory: &Path) -> Vec<String> {
    let name = directory.to_str().unwrap();
    ["/proc/1/mountinfo", "/proc/self/mountinfo"]
        .iter()
        .filter_map(|list| fs::read_to_string(list).ok())
        .flat_map(|list| list.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.contains(name))
        .map(|line| format!("mount {line}"))
        .collect()
}

/// The kernel's tracing files, in a mount that is attached nowhere and goes with the descriptor.
pub(crate) fn tracefs() -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let flags = FsMountFlags::FSMOUNT_CLOEXEC;
    fsmount(&context, flags, MountAttrFlags::empty())
}

/// Trace instances of everyone; none without root.
fn trace_instances() -> Vec<String> {
    let Ok(mounted) = tracefs() else {
        return Vec::new();
    };
    let instances = format!("/proc/self/fd/{}/instances", mounted.as_raw_fd());
    let names = names(Path::new(&instances)).into_iter();
    names.map(|name| format!("trace instance {name}")).collect()
}

/// Cgroups of everyone, at the top of each hierarchy and in the groups of this process.
fn cgroups() -> Vec<String> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (mounts, own) = (read("/proc/self/mountinfo"), read("/proc/self/cgroup"));
    let hierarchies = mounts.lines().filter(|line| line.contains(" - cgroup"));
    let tops = hierarchies.filter_map(|line| line.split(' ').nth(4));
    let groups: Vec<&str> = own
        .lines()
        .filter_map(|line| line.splitn(3, ':').nth(2))
        .chain(["/"])
        .collect();
    let mut found: Vec<String> = tops
        .flat_map(|top| groups.iter().map(move |group| format!("{top}{group}")))
        .flat_map(|path| {
            let children = names(Path::new(&path)).into_iter();
            children.map(move |name| format!("cgroup {}/{name}", path.trim_end_matches('/')))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Processes with the mark of a session in their environment, the binary itself among them, and
/// their command lines.
fn processes(directory: &Path) -> Vec<(Pid, String)> {
    let mark = [MARK.as_bytes(), b"=", directory.as_os_str().as_bytes()].concat();
    let pids = names(Path::new("/proc"))
        .into_iter()
        .filter_map(|name| Pid::from_raw(name.parse().ok()?));
    let marked = pids.filter(|pid| {
        // Empty for those that ended and only wait to be reaped.
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|name| name == mark)
    });
    marked
        .map(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (pid, line)
        })
        .collect()
}
