//! Running the binary with little time and memory, beside things that it must not touch.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::available_parallelism;

use crate::run::{Stage, command};

/// Processor time of one run of a debug build on a small image, in s. The longest, `ls -R --json`
/// of names that all directories share, takes 12 s of a loaded processor of 2.25 GHz.
const TIME_S: u32 = 60;
/// Time on the clock: a run that sleeps hangs as well.
const PATIENCE_S: u32 = 300;
/// Private memory of one run, in KiB.
const MEMORY_KIB: usize = 64 << 10;
/// Stack and blocks of each further thread.
const THREAD_KIB: usize = 4 << 10;

/// Verbs whose exit status 1 is an answer, which is on standard output.
const ANSWERING: [&str; 4] = ["diff", "doctor", "dump", "resquash"];

/// What the canaries hold, and where they are.
const CANARY: &[u8] = b"nobody writes here";
const CANARIES: [&str; 3] = ["outside", "up/outside", "up/etc/crontab"];

/// Whether all images go through all verbs, and all texts through all that reads texts.
pub(super) fn is_full() -> bool {
    std::env::var("COLDPRESS_TESTS").is_ok_and(|what| what == "full")
}

/// A stage with files around the place where the binary may write, which is `up/in`.
pub(super) struct Yard {
    stage: Stage,
}

impl Yard {
    pub(super) fn new() -> Self {
        let stage = Stage::new();
        fs::create_dir_all(stage.at("up/in")).unwrap();
        fs::create_dir_all(stage.at("up/etc")).unwrap();
        for canary in CANARIES {
            fs::write(stage.at(canary), CANARY).unwrap();
        }
        Self { stage }
    }

    /// Where the binary runs and writes.
    pub(super) fn inside(&self) -> std::path::PathBuf {
        self.stage.at("up/in")
    }

    /// Puts a file there.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.inside().join(name), bytes).unwrap();
    }

    /// Removes a file that may be there.
    pub(super) fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.inside().join(name));
    }

    /// Puts a symlink there.
    pub(super) fn link(&self, name: &str, target: &str) {
        symlink(target, self.inside().join(name)).unwrap();
    }

    /// Runs the binary within bounds; gives its exit status and what it said.
    ///
    /// * `what`: what it reads, for failures.
    ///
    /// # Panics
    ///
    /// If it ends by a signal or a panic, an error has no text, or something outside is touched.
    pub(super) fn run(&self, what: &str, words: &[&str], input: Stdio) -> (i32, String) {
        let threads = available_parallelism().map_or(1, usize::from);
        let memory_kib = MEMORY_KIB + threads * THREAD_KIB;
        // Sets the limits and becomes the binary.
        let limits = format!("ulimit -c 0; ulimit -t {TIME_S}; ulimit -d {memory_kib}");
        let script = format!("{limits}; exec \"$@\"");
        let mut run = Command::new("timeout");
        run.args([&PATIENCE_S.to_string(), "sh", "-c", &script, "sh"]);
        run.arg(command().get_program()).args(words);
        run.current_dir(self.inside())
            .env("TMPDIR", self.inside())
            .stdin(input)
            .stdout(Stdio::null());
        let output = run.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code().unwrap_or(-1);
        assert!(
            (0..=2).contains(&code),
            "{what}, {words:?}: {}: {said}",
            output.status
        );
        assert!(!said.contains("panicked"), "{what}, {words:?}: {said}");
        let is_answer = code == 1 && ANSWERING.contains(&words[0]);
        assert!(
            code == 0 || is_answer || !said.is_empty(),
            "{what}, {words:?}: {code}, but nothing is said"
        );
        self.assert_untouched();
        (code, said)
    }

    fn assert_untouched(&self) {
        for canary in CANARIES {
            assert_eq!(fs::read(self.stage.at(canary)).unwrap(), CANARY, "{canary}");
        }
        assert_eq!(names(self.stage.directory()), ["outside", "up"]);
        assert_eq!(names(&self.stage.at("up")), ["etc", "in", "outside"]);
        assert_eq!(names(&self.stage.at("up/etc")), ["crontab"]);
    }

    /// Removes all but the canaries.
    pub(super) fn clear(&self) {
        // Deep trees and closed directories are for a program: to start one takes as long as a run.
        if fs::remove_dir_all(self.inside()).is_err() {
            let mut clear = Command::new("sh");
            clear.args(["-c", "chmod -R u+rwx up/in; rm -rf up/in"]);
            let cleared = clear.current_dir(self.stage.directory()).output().unwrap();
            assert!(cleared.status.success(), "{cleared:?}");
        }
        fs::create_dir(self.inside()).unwrap();
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| {
            entry
                .unwrap()
                .file_name()
                .as_bytes()
                .escape_ascii()
                .to_string()
        })
        .collect();
    names.sort();
    names
}
