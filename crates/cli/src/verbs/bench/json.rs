//! What every verb that measures prints as JSON.

use coldpress_history::Study;
use serde::Serialize;

/// A study, and what it says of its contestants, which can be computed from it again.
#[derive(Debug, Serialize)]
pub(super) struct Measured<'a, T> {
    pub(super) study: &'a Study,
    /// By verb, as docs/benchmark.md lists it.
    pub(super) summary: T,
}
