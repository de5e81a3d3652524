//! The updaters, and how each is asked.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use coldpress_report::text::printable;

use crate::error::Error;
use crate::tools::{casync, hdiffpatch, patch, rauc, zsync};
use crate::transfer::Transfer;

/// A program that makes a new file of an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Updater {
    /// A patch in the format VCDIFF.
    Xdelta3,
    /// Blocks fetched by HTTP ranges.
    Zsync,
    /// Chunks cut by content, from a store.
    Casync,
    /// A patch that also describes bytes that differ within a match.
    Bsdiff,
    /// A patch like that of bsdiff.
    Hdiffpatch,
    /// RAUC's adaptive updates by a block hash index.
    Rauc,
}

impl Updater {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Xdelta3,
        Self::Zsync,
        Self::Casync,
        Self::Bsdiff,
        Self::Hdiffpatch,
        Self::Rauc,
    ];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xdelta3 => "xdelta3",
            Self::Zsync => "zsync",
            Self::Casync => "casync",
            Self::Bsdiff => "bsdiff",
            Self::Hdiffpatch => "hdiffpatch",
            Self::Rauc => "rauc",
        }
    }

    /// Demands that its programs are installed.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`].
    pub fn demand(self) -> Result<(), Error> {
        let programs: &[&'static str] = match self {
            Self::Xdelta3 => &["xdelta3"],
            Self::Zsync => &["zsyncmake", "zsync"],
            Self::Casync => &["casync"],
            Self::Bsdiff => &["bsdiff"],
            Self::Hdiffpatch => return hdiffpatch::demand(),
            Self::Rauc => &[],
        };
        let missing = programs.iter().find(|program| !is_installed(program));
        missing.map_or(Ok(()), |program| {
            Err(Error::Missing {
                updater: self,
                program,
                package: match self {
                    Self::Zsync => "the package zsync",
                    Self::Casync => "the package casync",
                    Self::Bsdiff => "the package bsdiff",
                    _ => "the package xdelta3",
                },
            })
        })
    }
}

impl fmt::Display for Updater {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Updater {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|updater| updater.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no such updater: these are {names}")
        })
    }
}

/// Two files, and room for what is made of them.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The old file.
    pub old: &'a Path,
    /// The new file.
    pub new: &'a Path,
    /// A directory for files that are of no use afterwards; the caller removes it.
    pub scratch: &'a Path,
}

/// Asks an updater what it transfers.
///
/// * `stop`: asked from time to time whether to give up.
///
/// # Errors
///
/// [`Error`] if its program is missing, fails, or `stop` says so.
///
/// # Cost
///
/// That of the updater. bsdiff takes 17 bytes of memory for each byte of the old file and minutes
/// for each 100 MB, hdiffpatch some 10 bytes; the others little.
pub fn measure(
    updater: Updater,
    pair: Pair<'_>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Transfer, Error> {
    updater.demand()?;
    match updater {
        Updater::Xdelta3 => patch::xdelta3(pair, stop),
        Updater::Bsdiff => patch::bsdiff(pair, stop),
        Updater::Hdiffpatch => hdiffpatch::measure(pair, stop),
        Updater::Zsync => zsync::measure(pair, stop),
        Updater::Casync => casync::measure(pair, stop),
        Updater::Rauc => rauc::measure(pair, stop),
    }
}

/// Whether a program of this name is in `PATH`.
pub(crate) fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|path| path.join(program).is_file())
}

/// The end of what a program said.
pub(crate) fn said(outcome: &coldpress_host::Outcome) -> String {
    let tail = if outcome.stderr_tail.is_empty() {
        &outcome.stdout_tail
    } else {
        &outcome.stderr_tail
    };
    printable(tail).trim().to_owned()
}
