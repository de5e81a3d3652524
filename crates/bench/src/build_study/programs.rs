//! Tools as programs: found, started, and what their end means.

use std::ffi::OsString;
use std::path::Path;

use coldpress_host::{Cgroup, Command, Error as HostError, Outcome, Ready, launch, write_back};
use coldpress_report::text::printable;

use crate::error::Error;
use crate::run::Exit;

/// What `{root}` in the words of a tool is replaced by: itself, as the paths of users may contain
/// it.
const NO_ROOT: &str = "{root}";

/// What stands before coldpress: it would note each run in the history of the user, and wait for
/// the disk, which no other tool does. The shell takes a millisecond for it and becomes the
/// program.
const UNRECORDED: [&str; 3] = [
    "/bin/sh",
    "-c",
    "export COLDPRESS_HISTORY=off; exec \"$0\" \"$@\"",
];

/// What the system says of a full disk, and so every tool.
const DISK_IS_FULL: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

/// Characters of the last words of a tool that are kept.
const WORDS_MAX: usize = 300;

/// Where the tools are, and where they run.
pub(super) struct Programs<'a> {
    /// This release's own program, whatever PATH says; other tools are looked up there.
    pub(super) coldpress: &'a Path,
    /// Without one, the process group of a tool is ended.
    pub(super) cgroup: Option<Cgroup>,
    /// Seconds after which a tool is ended; 0 is never.
    pub(super) timeout_s: u64,
}

/// How a tool ended.
pub(super) enum Ended {
    /// It did what it should.
    Done {
        outcome: Outcome,
        /// What it told all the same.
        warning: Option<String>,
    },
    /// It did not.
    Failed { why: String },
}

impl Programs<'_> {
    /// Runs a tool when all that was written before is on the disk.
    ///
    /// * `work`: on the disk to which it writes.
    pub(super) fn run(
        &self,
        tool: &str,
        words: Vec<OsString>,
        work: &Path,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Ended, Error> {
        write_back(work)?;
        let outcome = match self.launch(tool, words, stop) {
            Err(Error::Host(HostError::CannotRun { source, .. })) => {
                let why = format!("{tool} cannot be run: {source}");
                return Ok(Ended::Failed { why });
            }
            outcome => outcome?,
        };
        if outcome.timed_out {
            let why = format!(
                "{tool} was not done after {} s, and was ended",
                self.timeout_s
            );
            return Ok(Ended::Failed { why });
        }
        let code = outcome.status.code;
        if code == Some(0) {
            let warning = None;
            return Ok(Ended::Done { outcome, warning });
        }
        let told = last_words(&outcome);
        if is_disk_full(&outcome) {
            let work = work.to_owned();
            return Err(Error::DiskFull { work, told });
        }
        if is_warning(tool, code) {
            let warning = Some(format!("{tool}: {told}"));
            return Ok(Ended::Done { outcome, warning });
        }
        let exit = Exit::from(outcome.status);
        let why = match told.as_str() {
            "" => format!("{tool} failed ({exit})"),
            told => format!("{tool} failed ({exit}): {told}"),
        };
        Ok(Ended::Failed { why })
    }

    fn launch(
        &self,
        tool: &str,
        words: Vec<OsString>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Outcome, Error> {
        let mut args: Vec<OsString> = match tool {
            "coldpress" => {
                let shell = UNRECORDED.iter().map(OsString::from);
                shell.chain([self.coldpress.into()]).collect()
            }
            tool => vec![tool.into()],
        };
        args.extend(words);
        let command = Command {
            args,
            chroot: false,
            environment: Vec::new(),
            working_directory: None,
            timeout_s: self.timeout_s,
            ready: Ready::Exit,
        };
        match launch(&command, Path::new(NO_ROOT), self.cgroup.as_ref(), stop) {
            Err(HostError::Stopped) => Err(Error::Stopped),
            outcome => Ok(outcome?),
        }
    }
}

/// The first line of what a tool says of its version; `None` if it is not there.
///
/// * `coldpress`: the program that `coldpress` stands for.
///
/// # Errors
///
/// [`Error::Stopped`] if `stop` said so.
///
/// # Cost
///
/// Starts the program.
pub fn version(
    tool: &str,
    coldpress: &Path,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<String>, Error> {
    let programs = Programs {
        coldpress,
        cgroup: None,
        timeout_s: 0,
    };
    let flag = match tool {
        "mksquashfs" | "unsquashfs" => "-version",
        _ => "--version",
    };
    match programs.launch(tool, vec![flag.into()], stop) {
        Ok(outcome) => {
            let said = printable(&outcome.stdout_tail);
            Ok(Some(said.lines().next().unwrap_or(tool).to_owned()))
        }
        Err(Error::Host(HostError::CannotRun { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an exit code says that everything was done but for a few things that are told, such as
/// an owner that this user may not restore.
fn is_warning(tool: &str, code: Option<i32>) -> bool {
    matches!(
        (tool, code),
        ("coldpress", Some(1)) | ("unsquashfs", Some(2))
    )
}

/// The last line that a tool wrote, to its standard error if it wrote there.
fn last_words(outcome: &Outcome) -> String {
    let last_line = |tail: &[u8]| {
        let text = printable(tail);
        let line = text.lines().rfind(|line| !line.trim().is_empty());
        line.map(|line| line.trim().chars().take(WORDS_MAX).collect())
    };
    last_line(&outcome.stderr_tail)
        .or_else(|| last_line(&outcome.stdout_tail))
        .unwrap_or_default()
}

fn is_disk_full(outcome: &Outcome) -> bool {
    let tails = [&outcome.stderr_tail, &outcome.stdout_tail];
    let texts = tails.map(|tail| printable(tail));
    let mut words = DISK_IS_FULL.iter();
    words.any(|words| texts.iter().any(|text| text.contains(words)))
}
