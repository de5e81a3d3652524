//! A recording of another tool: its files, and whose it is.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_layout::{Dialect, SortFile};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_trace::import::{self, Format, Part};

use crate::verbs::profile::args::RecordingName;

/// How much of a text is looked at to tell whether it is a sort file.
const LOOK_BYTES: usize = 64 << 10;

/// Whose recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorder {
    Tool(Format),
    /// A sort file is no recording, but tells what somebody wants to be read first.
    Sort(Dialect),
}

/// The files of a recording.
#[derive(Debug)]
pub(super) struct Recording {
    /// Names and contents.
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
}

impl Recorder {
    /// The recorder that a flag names.
    pub(super) fn named(name: RecordingName) -> Self {
        match name {
            RecordingName::Strace => Self::Tool(Format::Strace),
            RecordingName::Etrace => Self::Tool(Format::Etrace),
            RecordingName::List => Self::Tool(Format::List),
            RecordingName::Opensnoop => Self::Tool(Format::Opensnoop),
            RecordingName::Nydus => Self::Tool(Format::Nydus),
            RecordingName::Estargz => Self::Tool(Format::Estargz),
            RecordingName::Ureadahead => Self::Tool(Format::Ureadahead),
            RecordingName::PerfScript => Self::Tool(Format::PerfScript),
            RecordingName::PerfTrace => Self::Tool(Format::PerfTrace),
            RecordingName::Mksquashfs => Self::Sort(Dialect::Mksquashfs),
            RecordingName::Gensquashfs => Self::Sort(Dialect::Gensquashfs),
        }
    }

    /// The recorder whose text this looks like. A list of paths whose lines have priorities is a
    /// sort file.
    fn of_text(text: &[u8]) -> Option<Self> {
        let found = import::detect(text);
        let beginning = text.get(..LOOK_BYTES).unwrap_or(text);
        let mut sorts = [Dialect::Mksquashfs, Dialect::Gensquashfs].into_iter();
        let is_sort = |dialect: &Dialect| {
            let (file, findings) = SortFile::parse_all(beginning, *dialect);
            file.entries.len() > findings.len()
        };
        match found {
            None | Some(Format::List) => sorts
                .find(is_sort)
                .map(Self::Sort)
                .or(found.map(Self::Tool)),
            Some(format) => Some(Self::Tool(format)),
        }
    }

    /// The name of its format.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tool(format) => format.name(),
            Self::Sort(Dialect::Mksquashfs) => "mksquashfs",
            Self::Sort(Dialect::Gensquashfs) => "gensquashfs",
        }
    }
}

impl Recording {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// If one cannot be read.
    pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let read = |path: &PathBuf| {
            let bytes = read_file(path).with_context(|| format!("cannot read {}", quoted(path)))?;
            Ok((path.clone(), bytes))
        };
        let files = paths.iter().map(read).collect::<anyhow::Result<_>>()?;
        Ok(Self { files })
    }

    /// What the first of its files that is not empty looks like.
    ///
    /// # Errors
    ///
    /// If it looks like nothing.
    pub(super) fn recorder(&self) -> anyhow::Result<Recorder> {
        let said = self.files.iter().find(|(_, text)| !text.is_empty());
        let Some((path, text)) = said.or(self.files.first()) else {
            return Err(anyhow!("there is no file to import"));
        };
        if text.starts_with(b"coldpress-") {
            let error = anyhow!("{} is a file of coldpress itself", quoted(path));
            return Err(hint(
                error,
                "there is nothing to import: verbs read it as it is",
            ));
        }
        Recorder::of_text(text).ok_or_else(|| {
            let error = anyhow!("{} does not look like any known recording", quoted(path));
            hint(
                error,
                "state its format, for example `--format list`; `coldpress profile import --help` \
                 lists the formats",
            )
        })
    }

    /// The files as parts. `strace -ff` puts the process behind the last dot of their names.
    pub(super) fn parts(&self) -> Vec<Part<'_>> {
        let parts = self.files.iter().map(|(path, text)| Part {
            text,
            pid: process_of(path),
        });
        parts.collect()
    }
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    fs::read(path)
}

fn process_of(path: &Path) -> Option<u32> {
    let name = path.file_name().map(OsStr::as_bytes)?;
    let (_, number) = str::from_utf8(name).ok()?.rsplit_once('.')?;
    number.parse().ok()
}
