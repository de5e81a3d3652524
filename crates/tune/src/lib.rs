//! Which image to build of a source: what there is to choose from, what each would give, the
//! choice.
//!
//! ```text
//! field       candidates: compressor, level, block size, tail ends, order    field.rs, effort.rs, today.rs
//! sample      what their blocks would take: coldpress_writer                   search.rs
//! predict     a cold start from each, on each device: coldpress_cost          search.rs, device.rs, sizes.rs
//! spend       blocks that are stored as they are, within a budget             spend.rs
//! front       those that no other beats                                       front.rs
//! recommend   the one to build under limits, and what it stands beside        choice.rs
//! equivalents how to tell other tools                                         equivalent.rs
//! ```
//!
//! No image is written. [`Search`] compresses samples and replays a start against images that do
//! not exist; the rest is pure. The same source and start give the same choice for any number of
//! threads, as far as build times do not decide it: those are measured.
//!
//! What the words of other tools mean is documented in docs/tune.md.
#![forbid(unsafe_code)]

mod budget;
mod candidate;
mod choice;
mod device;
mod effort;
mod equivalent;
mod field;
mod front;
mod machine_code;
mod outcome;
mod sampled;
mod search;
mod sizes;
mod spend;
mod today;

pub use budget::Budget;
pub use candidate::{Candidate, OrderBy};
pub use choice::{Goal, Limits, Rivals, Row, Unmet, recommend, soonest_starts_s};
pub use device::{Device, Devices};
pub use effort::Effort;
pub use equivalent::{Equivalent, equivalents, mksquashfs_words};
pub use field::{FieldOptions, field};
pub use front::front;
pub use machine_code::filters;
pub use outcome::Outcome;
pub use sampled::Sampled;
pub use search::{FileCode, Search};
pub use today::{Today, defaults_today};
