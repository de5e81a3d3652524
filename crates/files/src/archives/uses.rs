//! Which entries of an archive a start used, by a log or a trace.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_archive::{Archive, StartLog, jar_log_line};
use coldpress_report::failure::hint;
use coldpress_report::text::{base_name, plural, quoted, quoted_bytes, some_of};
use coldpress_session::ui::Ui;
use coldpress_trace::{FileAccess, Trace};

use super::Opened;

/// What is known of a start.
#[derive(Debug)]
pub enum Uses {
    /// Nothing.
    Unknown,
    /// What the program said.
    Log(StartLog),
    /// What was recorded.
    Trace(Trace),
}

impl Uses {
    /// Reads a log or, if there is one, a trace.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no trace.
    pub fn read(log: Option<&Path>, trace: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = trace.or(log) else {
            return Ok(Self::Unknown);
        };
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
        if trace.is_none() {
            return Ok(Self::Log(StartLog::parse(&bytes)));
        }
        let trace = Trace::parse(&bytes);
        let trace = trace.with_context(|| format!("cannot use {}", quoted(path)))?;
        Ok(Self::Trace(trace))
    }

    /// Places of the parts that were used, in the order of the start.
    ///
    /// * `known_as`: the path of the archive there, if it is not the end of its own.
    ///
    /// # Errors
    ///
    /// If the log or trace knows nothing of it.
    pub fn of(
        &self,
        opened: &Opened,
        known_as: Option<&Path>,
        ui: &Ui,
    ) -> anyhow::Result<Vec<usize>> {
        let path = name_of(opened, known_as);
        let used = match self {
            Self::Unknown => {
                let error = anyhow!("nothing says which entries a start uses");
                let what = "give a log with `--log FILE`, or a trace with `--trace TRACE`";
                return Err(hint(error, what));
            }
            Self::Log(log) => {
                let (used, unknown) = opened.archive.used_by_log(log, &path);
                if unknown > 0 && !used.is_empty() {
                    let lines = plural(unknown as u64, "line names", "lines name");
                    let name = quoted(&opened.path);
                    ui.note(&format!("{lines} no entry of {name}"));
                }
                used
            }
            Self::Trace(trace) => {
                let set = trace.working_set();
                let found = find(&set.files, &path)?;
                found.map_or(Vec::new(), |file| opened.archive.used_by_pages(file))
            }
        };
        if used.is_empty() {
            let error = anyhow!("nothing says that {} was used", quoted(&opened.path));
            return Err(hint(error, self.others()));
        }
        Ok(used)
    }

    /// The same; none if nothing is known of a start.
    ///
    /// # Errors
    ///
    /// As [`Self::of`].
    pub fn of_any(
        &self,
        opened: &Opened,
        known_as: Option<&Path>,
        ui: &Ui,
    ) -> anyhow::Result<Vec<usize>> {
        match self {
            Self::Unknown => Ok(Vec::new()),
            Self::Log(_) | Self::Trace(_) => self.of(opened, known_as, ui),
        }
    }

    /// The path of an archive in the trace.
    pub(super) fn traced(
        &self,
        opened: &Opened,
        known_as: Option<&Path>,
    ) -> anyhow::Result<Option<(&Trace, Vec<u8>)>> {
        let Self::Trace(trace) = self else {
            return Ok(None);
        };
        let set = trace.working_set();
        let found = find(&set.files, &name_of(opened, known_as))?;
        Ok(found.map(|file| (trace, file.path.clone())))
    }

    /// What it does know.
    fn others(&self) -> String {
        let known = match self {
            Self::Unknown => Vec::new(),
            Self::Log(log) => log.archives(),
            Self::Trace(trace) => {
                let files = trace.working_set().files.into_iter().map(|file| file.path);
                files.filter(|path| Archive::is_likely(path)).collect()
            }
        };
        if known.is_empty() {
            return "it names no archive".to_owned();
        }
        let known = some_of(known.iter().map(Vec::as_slice));
        format!("it names {known}; `--known-as PATH` says which of them is meant")
    }
}

fn name_of(opened: &Opened, known_as: Option<&Path>) -> Vec<u8> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let path: PathBuf = known_as.map_or_else(|| whole(&opened.path), Path::to_owned);
    path.as_os_str().as_bytes().to_vec()
}

/// The file of a trace whose path has most names at the end in common with a path.
fn find<'a>(files: &'a [FileAccess], path: &[u8]) -> anyhow::Result<Option<&'a FileAccess>> {
    let names = |path: &[u8]| {
        path.split(|byte| *byte == b'/')
            .map(<[u8]>::to_vec)
            .rev()
            .collect()
    };
    let wanted: Vec<Vec<u8>> = names(path);
    let in_common = |file: &FileAccess| {
        let found: Vec<Vec<u8>> = names(&file.path);
        let pairs = found.iter().zip(&wanted);
        pairs.take_while(|(found, wanted)| found == wanted).count()
    };
    let best = files.iter().map(in_common).max().unwrap_or(0);
    let mut matching = files
        .iter()
        .filter(|file| best > 0 && in_common(file) == best);
    match (matching.next(), matching.next()) {
        (Some(one), Some(other)) => {
            let (one, other) = (quoted_bytes(&one.path), quoted_bytes(&other.path));
            let name = quoted_bytes(base_name(path));
            let error = anyhow!("{name} may be {one} or {other} of the trace");
            Err(hint(error, "`--known-as PATH` says which"))
        }
        (found, _) => Ok(found),
    }
}

/// The parts that were used, as Gecko writes them.
pub fn log(opened: &Opened, used: &[usize]) -> Vec<u8> {
    let parts = opened.archive.parts();
    let archive = opened.path.as_os_str().as_bytes();
    let used = used.iter().filter_map(|&place| parts.get(place));
    used.flat_map(|part| jar_log_line(archive, part.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_common_end_is_meant() {
        let file = |path: &str| FileAccess {
            path: path.as_bytes().to_vec(),
            first_rank: 0,
            pages: Vec::new(),
        };
        let files = [
            "/usr/lib/ff/omni.ja",
            "/usr/lib/ff/browser/omni.ja",
            "/x.jar",
        ]
        .map(file);
        for (path, expected) in [
            ("/root/usr/lib/ff/omni.ja", Some("/usr/lib/ff/omni.ja")),
            ("browser/omni.ja", Some("/usr/lib/ff/browser/omni.ja")),
            ("/tmp/x.jar", Some("/x.jar")),
            ("y.jar", None),
        ] {
            let found = find(&files, path.as_bytes()).expect("it is clear");
            let found = found.map(|file| String::from_utf8_lossy(&file.path).into_owned());
            assert_eq!(found.as_deref(), expected, "{path}");
        }
        find(&files, b"omni.ja").expect_err("there are two");
    }
}
