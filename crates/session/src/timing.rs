//! What this process does and how long it takes: the tasks of its change.
//!
//! ```text
//! task      begun and ended by the steps of the `Ui`     task.rs
//! busy      what threads do meanwhile                    busy.rs
//! ```

mod busy;
mod task;

pub use task::Running;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::Error;
use coldpress_history::{Change, Origin, Status, Task};

use crate::clock::now_unix_ms;
use crate::failure;

use busy::BusyTimes;

/// More tasks are not noted: a comparison of ten images in a hundred turns has a thousand.
const TASKS_MAX: usize = 20_000;

/// The clock of this process, and what it was read for.
#[derive(Debug)]
pub struct Timing {
    began: Instant,
    began_unix_ms: u64,
    noted: Mutex<Noted>,
    busy: BusyTimes,
}

/// What is done: a verb, and a sentence for listings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// The verb, as typed.
    pub verb: &'static str,
    /// What it does, as a sentence.
    pub summary: String,
    /// Whether it is told that it could not be kept: not by the tools, which programs call that
    /// know no history.
    pub is_told: bool,
}

/// What was noted so far.
#[derive(Debug, Default)]
struct Noted {
    operation: Operation,
    /// In the order of their beginnings, which is that of a listing.
    tasks: Vec<Task>,
    /// How many of them are under way, which is the level of the next.
    level: u16,
}

impl Timing {
    /// A clock that begins now.
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            began_unix_ms: now_unix_ms(),
            noted: Mutex::default(),
            busy: BusyTimes::default(),
        }
    }

    /// States what this process does.
    pub fn name(&self, operation: Operation) {
        self.noted().operation = operation;
    }

    /// What was done until now, as a change that ended so.
    pub fn change(&self, status: Status) -> Change {
        let noted = self.noted();
        let mut tasks = noted.tasks.clone();
        let mut number = 0;
        for task in &mut tasks {
            if task.level == 0 {
                number += 1;
                task.name = format!("{number}");
            }
            // What ended because a person wanted it is no error.
            if task.status == Some(Status::Error) && status == Status::Abort {
                task.status = Some(Status::Abort);
            }
        }
        Change {
            verb: noted.operation.verb.to_owned(),
            summary: noted.operation.summary.clone(),
            began_unix_ms: self.began_unix_ms,
            took_us: (status != Status::Doing).then(|| self.elapsed_us()),
            origin: Origin::Measured,
            status,
            tasks,
        }
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a change ended by what became of it.
///
/// * `is_interrupted`: whether a person wanted it to end.
pub fn status<T>(outcome: &Result<T, Error>, is_interrupted: bool) -> Status {
    match outcome {
        Ok(_) => Status::Done,
        Err(error) if failure::is_stdout_closed(error) => Status::Done,
        Err(_) if is_interrupted => Status::Abort,
        Err(_) => Status::Error,
    }
}
