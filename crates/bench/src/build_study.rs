//! Making and unpacking of images compared: how long, how large, with how much memory.
//!
//! [`Lists`] say what is combined; [`Lists::matrix`] makes contestants of it, and says what no tool
//! can do. [`run_builds`] lets all of them run in random order, turn by turn: an image is made,
//! unpacked in all ways, and removed. Every tool is a program of its own, this one too.
//! [`build_rows`] and [`unpack_rows`] sum up; [`build_table`] and [`unpack_table`] are their texts.
//!
//! The source was read before ([`read_source`]) and images have just been written, so both are in
//! memory, and what was written is on the disk before the next run begins. Times end when the
//! program does; what it leaves to the kernel to write back is not in them.

mod backend;
mod matrix;
mod order;
mod programs;
mod rows;
mod runner;
mod setting;
mod survey;
mod tables;
mod tools;

pub use matrix::{Build, Image, Lists, Matrix, Unpack};
pub use programs::version;
pub use rows::{BuildRow, UnpackRow, build_rows, unpack_rows};
pub use setting::{Compressor, Level, Setting};
pub use survey::{Survey, read_source};
pub use tables::{BUILD_LEGEND, build_table, unpack_table};
pub use tools::{Maker, Unpacker};

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use coldpress_history::Run;
use coldpress_host::Janitor;

use crate::error::Error;
use backend::RealBackend;
use runner::Runner;

/// A study to make.
#[derive(Clone, Debug)]
pub struct BuildStudy {
    /// Who takes part.
    pub matrix: Matrix,
    /// The directory to make images of.
    pub source: PathBuf,
    /// What it holds.
    pub survey: Survey,
    /// A directory for one image and what is unpacked of it; nothing else may be there.
    pub work: PathBuf,
    /// Where the first image of each maker and setting goes, by its name; `None` to keep none.
    pub keep: Option<PathBuf>,
    /// The program that `coldpress` stands for.
    pub coldpress: PathBuf,
    /// How often each contestant runs.
    pub turns: u32,
    /// Of the random orders.
    pub seed: u64,
    /// Seconds after which a tool has failed, and is ended; 0 is never.
    pub timeout_s: u64,
}

/// Where a study is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Index of the contestant that runs.
    pub contestant: usize,
    /// Number of the turn, from 0.
    pub turn: u32,
    /// Number of turns.
    pub turns: u32,
    /// Runs that are over.
    pub done: u64,
    /// Runs in all.
    pub total: u64,
}

/// Who follows a study.
#[expect(
    missing_debug_implementations,
    reason = "functions have nothing to show"
)]
pub struct Watch<'a> {
    /// Told before each run and ten times a second; a break kills the tool and ends the study.
    pub progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    /// Told of each run that is over, to keep it.
    pub ended: &'a mut dyn FnMut(&Run) -> Result<(), coldpress_history::Error>,
}

/// Makes all runs of a study and appends each to `runs` when it is over.
///
/// A run whose tool failed, or that took less time than its own processor time, is excluded with
/// the reason. A contestant that failed and never counted is left out of later turns.
///
/// Figures of runs: `build_s` or `unpack_s`, `used_cores` (processor time by wall time) and
/// `peak_memory_bytes` (the largest resident set) of the tool; `size_bytes` and `size_percent` (of
/// the content) of the image.
///
/// Needs no root; with it, owners are restored, and the tools run in a cgroup of their own, so that
/// what they leave running is found.
///
/// Returns what tools told although they were done, a sentence each.
///
/// # Errors
///
/// [`Error::Stopped`] if `watch` says so, [`Error::DiskFull`], what `watch` reports, what `host`
/// reports. The runs made so far are in `runs`.
///
/// # Cost
///
/// The disk takes one image and one tree. Its file system writes back all pages before each run.
pub fn run_builds(
    study: &BuildStudy,
    janitor: &Janitor,
    runs: &mut Vec<Run>,
    watch: Watch,
) -> Result<BTreeSet<String>, Error> {
    let mut runner = Runner {
        backend: RealBackend::open(study, janitor),
        matrix: &study.matrix,
        turns: study.turns,
        seed: study.seed,
        cores: coldpress_host::machine().cores,
        watch,
        done: 0,
        warnings: BTreeSet::new(),
    };
    runner.run_all(runs)?;
    Ok(runner.warnings)
}

/// For `map_err`.
fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io {
        action,
        path,
        source,
    }
}
