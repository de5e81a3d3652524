//! Recordings of other tools, as they write them (docs/import.md).
//!
//! Three steps: [`detect`] tells whose a text is, [`read`] takes from it what was accessed, and
//! [`Imported::into_trace`] makes a trace of that, with what is known of the image.
//!
//! What the formats know differs: strace sees calls, not page faults; lists know that a file was
//! used, not when and which part of it. Nothing is made up. Pages are certain only where the
//! recorder saw that they were read; where it only saw that the file was used, they are as
//! uncertain as those that fault-around maps.
//!
//! The texts come from elsewhere. A line that is not understood is kept and counted, time is
//! linear in the text, and memory is at most [`GROWTH_MAX`] times as large.

mod access_list;
mod detect;
mod etrace;
mod imported;
mod list;
mod notes;
mod opensnoop;
mod paths;
mod perf;
mod strace;
mod text;
mod ureadahead;

pub use detect::detect;
pub use imported::{Imported, Settled};
pub use notes::{GROWTH_MAX, UNREAD_NAMED_MAX, Unread};
pub use paths::PATH_BYTES_MAX;
pub use perf::devices;

use std::fmt;

use crate::error::Error;
use notes::Notes;

/// Whose recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `strace`, also `-f` and `-ff`.
    Strace,
    /// `etrace file --json` and `etrace exec --json`.
    Etrace,
    /// Paths, one on each line or each before a NUL: `find`, analysis files of DwarFS.
    List,
    /// `opensnoop` of bcc, libbpf-tools and bpftrace.
    Opensnoop,
    /// The optimizer of Nydus: CSV, JSON lines, and prefetch files.
    Nydus,
    /// `ctr-remote image optimize --record-out`.
    Estargz,
    /// The pack of `ureadahead`, and `ureadahead --dump`.
    Ureadahead,
    /// `perf script`, or the trace file of the kernel, of `filemap` events.
    PerfScript,
    /// `perf trace -F all`.
    PerfTrace,
}

impl Format {
    /// The name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strace => "strace",
            Self::Etrace => "etrace",
            Self::List => "list",
            Self::Opensnoop => "opensnoop",
            Self::Nydus => "nydus",
            Self::Estargz => "estargz",
            Self::Ureadahead => "ureadahead",
            Self::PerfScript => "perf-script",
            Self::PerfTrace => "perf-trace",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One file of a recording. `strace -ff` writes one for each process.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What it holds.
    pub text: &'a [u8],
    /// The process that it is about, if its name says so.
    pub pid: Option<u32>,
}

/// A device as the kernel numbers it: major and minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    /// Its driver.
    pub major: u32,
    /// Its number there.
    pub minor: u32,
}

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.major, self.minor)
    }
}

/// What inode numbers of a recording stand for.
pub struct Inodes<'a> {
    /// The device of the image; events on others are left out.
    pub device: Device,
    /// The path of an inode.
    pub path_of: &'a mut dyn FnMut(u64) -> Option<Vec<u8>>,
}

impl fmt::Debug for Inodes<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Inodes({})", self.device)
    }
}

/// Reads a recording.
///
/// * `parts`: its files. Those of strace are put in the order of their times, if all tell times
///   that can be compared; all else is read in the order given.
/// * `inodes`: for [`Format::PerfScript`], which tells inode numbers only.
///
/// # Errors
///
/// [`Error::Document`] if a JSON document is none or another one, [`Error::Inodes`] if inode
/// numbers are all that there is and nothing says what they mean, [`Error::Growth`] if the text
/// would become more than [`GROWTH_MAX`] times as large. Lines that are not understood are no
/// error.
///
/// # Cost
///
/// Linear in the text.
pub fn read(
    parts: &[Part<'_>],
    format: Format,
    mut inodes: Option<Inodes<'_>>,
) -> Result<Imported, Error> {
    let mut notes = Notes::new(parts);
    if format == Format::Strace {
        strace::read(parts, &mut notes);
        return notes.finish();
    }
    for (part, index) in parts.iter().zip(0..) {
        notes.begin_part(index);
        let text = part.text;
        match format {
            Format::Strace => {}
            Format::Etrace => etrace::read(text, &mut notes)?,
            Format::List => list::read(text, &mut notes),
            Format::Opensnoop => opensnoop::read(text, &mut notes),
            Format::Nydus | Format::Estargz => access_list::read(text, format, &mut notes)?,
            Format::Ureadahead => ureadahead::read(text, &mut notes),
            Format::PerfScript => {
                let inodes = inodes.as_mut().ok_or(Error::Inodes)?;
                perf::read_script(text, inodes, &mut notes);
            }
            Format::PerfTrace => perf::read_trace(text, &mut notes),
        }
    }
    notes.finish()
}
