//! Where the tree comes from, and under which names.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, BufRead as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_report::text::{quoted, quoted_bytes};
use coldpress_writer::{Input as BuildInput, TarDefaults, TarInput, TarOrigin};
use rustix::process::{getgid, getuid};

use super::request::{Input, Request};
use crate::Warn;
use crate::directory_of;

/// Mode of directories that a tar stream does not hold.
const TAR_MODE: u16 = 0o755;

/// What the image is built from.
///
/// * `taken`: names in the root directory that sources cannot have.
///
/// # Errors
///
/// If a source is not there or standard input cannot be read.
pub(crate) fn inputs(
    request: &Request,
    taken: &BTreeSet<Vec<u8>>,
    warn: Warn<'_>,
) -> anyhow::Result<Vec<BuildInput>> {
    if request.is_tar() {
        return Ok(vec![BuildInput::Tar(tar(request))]);
    }
    if let Some(Input::Names { end }) = reads(request) {
        return Ok(vec![BuildInput::Listed {
            paths: names(end)?,
            is_recursive: false,
        }]);
    }
    if request.whole_paths && !request.sources.is_empty() {
        return Ok(vec![BuildInput::Listed {
            paths: request.sources.clone(),
            is_recursive: true,
        }]);
    }
    for source in &request.sources {
        source
            .symlink_metadata()
            .with_context(|| format!("cannot read source {}", quoted(source)))?;
    }
    if let Some(directory) = root_source(request) {
        return Ok(vec![BuildInput::Directory(directory.to_path_buf())]);
    }
    entries(&request.sources, taken, warn)
}

/// What standard input is; checked to be one thing at most.
fn reads(request: &Request) -> Option<Input> {
    request.input.first().copied()
}

/// The tar stream on standard input.
fn tar(request: &Request) -> TarInput {
    let defaults = &request.tar;
    let mode = defaults.mode.as_ref();
    TarInput {
        origin: TarOrigin::Stdin,
        spool_directory: directory_of(&request.destination).to_path_buf(),
        ignore_zeros: defaults.ignore_zeros,
        defaults: TarDefaults {
            mode: mode.map_or(TAR_MODE, |mode| mode.apply(TAR_MODE, true)),
            uid: defaults.uid.unwrap_or_else(|| getuid().as_raw()),
            gid: defaults.gid.unwrap_or_else(|| getgid().as_raw()),
        },
    }
}

/// The names on standard input; empty ones are skipped.
fn names(end: u8) -> anyhow::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    let mut name = Vec::new();
    let mut stdin = io::stdin().lock();
    loop {
        name.clear();
        let read = stdin.read_until(end, &mut name);
        if read.context("cannot read names from standard input")? == 0 {
            return Ok(names);
        }
        let text = name.strip_suffix(&[end]).unwrap_or(&name);
        if !text.is_empty() {
            names.push(PathBuf::from(OsStr::from_bytes(text)));
        }
    }
}

/// The source whose content becomes the root directory: a single directory, not by a symbolic
/// link.
fn root_source(request: &Request) -> Option<&Path> {
    match request.sources.as_slice() {
        [source] if !request.keep_as_directory && !request.whole_paths => {
            let metadata = source.symlink_metadata().ok()?;
            metadata.is_dir().then_some(source)
        }
        _ => None,
    }
}

/// Sources that stand in the root directory by their names; of equal names all but the first get a
/// number, and all whose name is taken.
fn entries(
    sources: &[PathBuf],
    taken: &BTreeSet<Vec<u8>>,
    warn: Warn<'_>,
) -> anyhow::Result<Vec<BuildInput>> {
    let mut names = BTreeSet::new();
    let mut inputs = Vec::new();
    for path in sources {
        let base = base_name(path)?;
        let free = |name: &Vec<u8>| !names.contains(name) && !taken.contains(name);
        // As many numbers as there are names are enough.
        let name = (0..=sources.len() + taken.len())
            .map(|number| numbered(&base, number))
            .find(free)
            .unwrap_or_default();
        if name != base {
            let (path, name) = (quoted(path), quoted_bytes(&name));
            warn(&format!(
                "{path} is stored as {name}: its own name is taken"
            ));
        }
        names.insert(name.clone());
        let path = path.clone();
        inputs.push(BuildInput::Entry { path, name });
    }
    Ok(inputs)
}

/// `name`, `name_1`, `name_2`
fn numbered(base: &[u8], number: usize) -> Vec<u8> {
    match number {
        0 => base.to_vec(),
        number => [base, format!("_{number}").as_bytes()].concat(),
    }
}

/// The name of a source; that of a path which ends in `.` or `..` is found on disk.
fn base_name(path: &Path) -> anyhow::Result<Vec<u8>> {
    let ends_in_dots = path.file_name().is_none() || path.as_os_str().as_bytes().ends_with(b"/.");
    let found = if ends_in_dots {
        let real = path.canonicalize();
        let real = real.with_context(|| format!("cannot read source {}", quoted(path)))?;
        real.file_name().map(OsStr::to_owned)
    } else {
        path.file_name().map(OsStr::to_owned)
    };
    let name = found.ok_or_else(|| {
        anyhow!(
            "source {} has no name under which it could be stored",
            quoted(path)
        )
    })?;
    Ok(name.as_bytes().to_vec())
}

/// Where a file lies in the image, as patterns that match only it: an old image in a source is not
/// a part of its successor.
pub(crate) fn places_of(file: &Path, inputs: &[BuildInput]) -> Vec<Vec<u8>> {
    let Ok(file) = file.canonicalize() else {
        return Vec::new();
    };
    let place = |input: &BuildInput| {
        let (directory, at) = match input {
            BuildInput::Directory(path) => (path, Vec::new()),
            BuildInput::Entry { path, name } => (path, [b"/", name.as_slice()].concat()),
            _ => return None,
        };
        let directory = directory.canonicalize().ok()?;
        let below = file.strip_prefix(directory).ok()?.as_os_str().as_bytes();
        let slash: &[u8] = if below.is_empty() { b"" } else { b"/" };
        Some(pattern(&[&at, slash, below].concat()))
    };
    inputs.iter().filter_map(place).collect()
}

/// The pattern that matches this path and no other.
fn pattern(path: &[u8]) -> Vec<u8> {
    let special = |byte: &u8| b"*?[]\\ ".contains(byte);
    let escape = |byte: &u8| {
        if special(byte) {
            vec![b'\\', *byte]
        } else {
            vec![*byte]
        }
    };
    path.iter().flat_map(escape).collect()
}
