//! Running the binary.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    fn of(output: Output) -> Self {
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

/// The repository.
pub(crate) fn repository() -> &'static Path {
    // crates/cli
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .parent()
        .unwrap()
}
