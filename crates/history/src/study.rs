//! A study: contestants, and their runs in turn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What something was or depended on, by name: `kernel`, `device`, `commit`, `seed`.
pub type Facts = BTreeMap<String, String>;

/// What was measured, by name. The name ends with the unit: `cold_s`, `size_bytes`, `used_cores`,
/// `size_percent`; without one it is a count: `reads`.
pub type Figures = BTreeMap<String, f64>;

/// A measurement of several contestants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// What was measured.
    pub kind: Kind,
    /// What it is called in listings.
    pub title: String,
    /// When it began, in milliseconds since 1970.
    pub began_unix_ms: u64,
    /// Whose figures they are.
    pub origin: Origin,
    /// How it ended.
    pub state: State,
    /// What the figures depend on: machine, kernel, versions, commit, seed, device, command.
    pub facts: Facts,
    /// Who took part; the first one is the baseline of all ratios.
    pub contestants: Vec<Contestant>,
    /// All runs in the order in which they were made, those that do not count among them.
    pub runs: Vec<Run>,
}

/// What a study measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Starts of a program: `bench launch`.
    Launch,
    /// Making and unpacking of images: `bench build`.
    Build,
    /// Boots of a live image: `bench boot`.
    Boot,
    /// The proof of a press: starts of the pressed image beside others.
    Press,
}

/// Whose figures a study holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Measured by coldpress.
    Measured,
    /// Published by somebody else, with only medians as a rule.
    Published {
        /// Where, by whom, when.
        citation: String,
    },
}

/// How far a study came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Under way, or its process was killed: what is there was committed.
    Running,
    /// All turns were made.
    Done,
    /// Stopped by a person; the finished runs are there.
    Interrupted,
    /// Ended by an error; the finished runs are there.
    Failed,
}

/// One of those that are compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contestant {
    /// What it is called in tables and charts.
    pub name: String,
    /// What it is: `compressor`, `level`, `tool`, `mount`.
    pub facts: Facts,
    /// What is the same in all its runs: `size_bytes`, `block_size_bytes`.
    pub figures: Figures,
}

/// One run of one contestant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Index into the contestants of the study.
    pub contestant: usize,
    /// Number of the turn, from 0.
    pub turn: u32,
    /// Why this run does not count; `None` if it does.
    pub excluded: Option<String>,
    /// What was measured.
    pub figures: Figures,
}

impl Study {
    /// The values of one figure over the runs of a contestant that count, in the order of the runs.
    pub fn values(&self, contestant: usize, figure: &str) -> Vec<f64> {
        self.counted(contestant)
            .filter_map(|run| run.figures.get(figure).copied())
            .collect()
    }

    /// The runs of a contestant that count.
    pub fn counted(&self, contestant: usize) -> impl Iterator<Item = &Run> {
        self.runs
            .iter()
            .filter(move |run| run.contestant == contestant && run.excluded.is_none())
    }
}
