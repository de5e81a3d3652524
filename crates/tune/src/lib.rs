//! Which image to build of a source: what there is to choose from, what each would give, the choice.
//!
//! ```text
//! field       candidates: compressor, level, block size, tail ends, order    field.rs, candidate.rs
//! sample      what their blocks would take: coldpress_build                   search.rs
//! predict     a cold start from each: coldpress_cost                          search.rs, sizes.rs
//! spend       blocks that are stored as they are, within a budget             spend.rs
//! front       those that no other beats                                       front.rs
//! recommend   the one to build under limits, and what it stands beside        choice.rs
//! equivalents how to tell other tools                                         equivalent.rs
//! ```
//!
//! No image is written. [`Search`] compresses samples and replays a start against images that do not
//! exist; the rest is pure. The same source and start give the same choice for any number of
//! threads, as far as build times do not decide it: those are measured.
//!
//! What the words of other tools mean is documented in docs/tune.md.
#![forbid(unsafe_code)]

mod candidate;
mod choice;
mod equivalent;
mod field;
mod front;
mod outcome;
mod search;
mod sizes;
mod spend;

pub use candidate::{Candidate, OrderBy};
pub use choice::{Limits, Rivals, Row, Unmet, recommend};
pub use equivalent::{Equivalent, equivalents, mksquashfs_words};
pub use field::{Effort, FieldOptions, Today, defaults_today, field};
pub use front::front;
pub use outcome::Outcome;
pub use search::{FileCode, Sampled, Search};
pub use spend::Budget;
