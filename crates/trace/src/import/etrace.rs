//! JSON of etrace: `etrace file --json` has each access of each process, `etrace exec --json` the
//! programs that were started, for each run.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::Deserialize;

use super::Format;
use super::imported::Seen;
use super::notes::Notes;
use crate::error::Error;
use crate::event::Access;

/// Either document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    execve_paths: Option<ExecvePaths>,
    runs: Option<Vec<Execution>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ExecvePaths {
    all_files: Option<Vec<FileInfo>>,
    processes: Option<Vec<Process>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct FileInfo {
    path: String,
    /// -1 if it is not known.
    size: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Process {
    start: String,
    exe: String,
    path_accesses: Option<Vec<PathAccess>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PathAccess {
    time: String,
    path: String,
    syscall: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Execution {
    execve_timing: Option<ExecveTiming>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ExecveTiming {
    exe_runtimes: Option<Vec<ExeRuntime>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ExeRuntime {
    start: String,
    exe: String,
}

/// Calls that read data of the file, or may do so.
const READING: [&str; 10] = [
    "read",
    "pread64",
    "readv",
    "preadv",
    "preadv2",
    "mmap",
    "execve",
    "execveat",
    "sendfile",
    "copy_file_range",
];

/// Reads a document.
///
/// # Errors
///
/// [`Error::Document`] if it is none of etrace.
pub(super) fn read(text: &[u8], notes: &mut Notes) -> Result<(), Error> {
    const EXPECTED: &str = "what `etrace file --json` or `etrace exec --json` prints";
    let document: Document = serde_json::from_slice(text)
        .map_err(|error| Error::document(Format::Etrace, &error, EXPECTED))?;
    if let Some(paths) = &document.execve_paths {
        read_files(paths, notes);
    }
    for run in document.runs.iter().flatten() {
        let programs = run.execve_timing.iter();
        for program in programs.flat_map(|it| it.exe_runtimes.iter().flatten()) {
            let seen = Seen::File { size_bytes: None };
            see(&program.start, seen, &program.exe, notes);
        }
    }
    Ok(())
}

/// Files that no process tells of stand behind all others: when they were needed is not known.
fn read_files(paths: &ExecvePaths, notes: &mut Notes) {
    let files = paths.all_files.as_deref().unwrap_or_default();
    let sizes: HashMap<&str, u64> = files
        .iter()
        .filter_map(|file| Some((file.path.as_str(), u64::try_from(file.size).ok()?)))
        .collect();
    let size_of = |path: &str| sizes.get(path).copied();
    let mut told = HashSet::new();
    let mut last_us = 0;
    for process in paths.processes.iter().flatten() {
        let size_bytes = size_of(&process.exe);
        let seen = Seen::File { size_bytes };
        last_us = last_us.max(see(&process.start, seen, &process.exe, notes));
        told.insert(process.exe.as_str());
        for access in process.path_accesses.iter().flatten() {
            let seen = seen_by(&access.syscall, size_of(&access.path));
            last_us = last_us.max(see(&access.time, seen, &access.path, notes));
            told.insert(access.path.as_str());
        }
    }
    let others = files
        .iter()
        .filter(|file| !told.contains(file.path.as_str()));
    for file in others {
        let size_bytes = size_of(&file.path);
        see_at(last_us, Seen::File { size_bytes }, &file.path, notes);
    }
}

/// What a call needs of the file that it is about.
fn seen_by(syscall: &str, size_bytes: Option<u64>) -> Seen {
    match syscall {
        "getdents" | "getdents64" => Seen::Access(Access::List),
        "lstat" | "readlink" | "readlinkat" => Seen::Link,
        _ if READING.contains(&syscall) => Seen::File { size_bytes },
        _ => Seen::Access(Access::Lookup),
    }
}

/// Notes an access, and gives its time. Times before 1970 stand where the recorder knew none.
fn see(time: &str, seen: Seen, path: &str, notes: &mut Notes) -> u64 {
    let Ok(time) = time.parse::<Timestamp>() else {
        notes.cannot_read(time.as_bytes(), "not a time");
        return 0;
    };
    let time_us = u64::try_from(time.as_microsecond()).unwrap_or(0);
    see_at(time_us, seen, path, notes);
    time_us
}

/// etrace tells paths as programs named them: those that are relative are to an open directory.
fn see_at(time_us: u64, seen: Seen, path: &str, notes: &mut Notes) {
    if path.starts_with('/') {
        notes.see(time_us, 0, seen, path.as_bytes());
    } else {
        notes.cannot_read(path.as_bytes(), "a relative path, to no known directory");
    }
}
