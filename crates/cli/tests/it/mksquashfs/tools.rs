//! Calling the binary by another name, and the programs that it stands for.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::run::Ran;

/// A directory with the binary under its other names and a place to work in.
pub(crate) struct Workshop {
    directory: TempDir,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["mksquashfs", "sqfstar", "unsquashfs", "sqfscat"] {
            let link = directory.path().join(name);
            symlink(env!("CARGO_BIN_EXE_coldpress"), link).unwrap();
        }
        Self { directory }
    }

    /// A path in it.
    pub(crate) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file in it.
    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The binary by one of its other names, working in the directory.
    pub(crate) fn command(&self, name: &str) -> Command {
        self.prepared(Command::new(self.at(name)))
    }

    /// The program of that name that is installed.
    pub(crate) fn peer(&self, name: &str) -> Command {
        self.prepared(Command::new(name))
    }

    fn prepared(&self, mut command: Command) -> Command {
        for name in ["SOURCE_DATE_EPOCH", "NO_COLOR", "COLUMNS", "LINES"] {
            command.env_remove(name);
        }
        command.env("COLDPRESS_HISTORY", "off");
        command.current_dir(self.directory.path());
        command.stdin(Stdio::null());
        command
    }

    /// Runs the binary by another name with words separated by spaces.
    pub(crate) fn run(&self, name: &str, line: &str) -> Ran {
        ran(self.command(name).args(line.split_whitespace()))
    }

    /// Runs it and demands success.
    pub(crate) fn done(&self, name: &str, line: &str) -> Ran {
        let ran = self.run(name, line);
        assert_eq!(ran.code, Some(0), "{name} {line}: {}", ran.stderr);
        ran
    }

    /// What unsquashfs lists of an image at a byte of a file: mode, owner, size, time and name of
    /// everything.
    pub(crate) fn listing(&self, image: &str, offset_bytes: u64) -> String {
        let mut command = self.peer("unsquashfs");
        command.args(["-o", &offset_bytes.to_string(), "-lln", image]);
        let ran = ran(&mut command);
        assert_eq!(ran.code, Some(0), "{image}: {}", ran.stderr);
        // 4.5.1 prints names of threads and inodes before.
        let lines = ran.text();
        let is_entry = |line: &&str| line.contains(" squashfs-root");
        let lines: Vec<&str> = lines.lines().filter(is_entry).collect();
        assert!(!lines.is_empty(), "{image}");
        lines.join("\n")
    }
}

/// Runs a command to its end.
pub(crate) fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A file as standard input.
pub(crate) fn input(path: impl AsRef<OsStr>) -> Stdio {
    File::open(Path::new(path.as_ref())).unwrap().into()
}
