//! What a press proved, as it is written and read as JSON.

use serde::{Deserialize, Serialize};

use crate::comparison::Comparison;
use crate::report::Report;

/// The measurement at the end of a press.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// What was measured.
    pub comparison: Comparison,
    /// What it is called.
    pub title: String,
    /// Facts beside the measurement, as (name, value): plan, build times, checks, tool versions.
    pub notes: Vec<(String, String)>,
}

impl Proof {
    /// The same as a report.
    pub fn report(&self) -> Report {
        Report {
            title: self.title.clone(),
            studies: vec![self.comparison.study(&self.title)],
            notes: self.notes.clone(),
            ..Report::default()
        }
    }
}
