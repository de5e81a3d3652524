//! What was measured and what was done, kept.
//!
//! A [`Study`] is a measurement of several contestants, with everything it depends on: ours, or one
//! that somebody published. It knows names, figures and units, and nothing of mounts or processes,
//! so that a launch, a build and a boot are stored, exported, compared and drawn by the same code.
//!
//! A [`Change`] is one operation of coldpress as timed tasks, listed as snapd does and exported for
//! viewers of traces.
//!
//! [`History`] is the database of them: SQLite in one file, which several processes may write at
//! once. What was committed stays, whatever ends the process.

mod change;
mod change_list;
mod changes;
mod error;
mod export;
mod figure;
mod import;
mod listing;
mod published;
mod rows;
mod schema;
mod store;
mod studies;
mod study;
mod study_list;
mod task_list;
mod trace_events;

pub use change::{Change, Status, Task, UnknownStatus};
pub use change_list::{ListedChange, change_list};
pub use changes::{ChangeId, KEPT_CHANGES};
pub use error::Error;
pub use export::{write_csv, write_json, write_parquet};
pub use figure::{Unit, stem};
pub use import::{Imported, read_studies};
pub use listing::Listed;
pub use store::History;
pub use studies::StudyId;
pub use study::{Contestant, Facts, Figures, Kind, Measured, Origin, Run, State, Study};
pub use study_list::{ListedStudy, study_list};
pub use task_list::{BRIEF_US, Malformed, TaskList, parse as parse_task_list};
pub use trace_events::TraceEvents;
