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
    /// When it began, in milliseconds since 1970; 0 if nobody wrote it down.
    pub began_unix_ms: u64,
    /// Whose figures they are.
    pub origin: Origin,
    /// How it ended.
    pub state: State,
    /// What the figures depend on: machine, kernel, versions, commit, seed, device, command.
    pub facts: Facts,
    /// Who took part; the first one is the baseline of all ratios but of those whose fact
    /// `baseline` names another one.
    pub contestants: Vec<Contestant>,
    /// All runs in the order in which they were made, those that do not count among them.
    pub runs: Vec<Run>,
}

/// A study, and what a verb says of it: what every verb that measures prints as JSON.
///
/// * `S`: the study, or a reference to it; nothing where nothing could be measured.
/// * `T`: what follows from the study or stands beside it; docs/benchmark.md lists it by verb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured<S, T> {
    /// What was measured.
    pub study: S,
    /// What the verb says of it.
    pub summary: T,
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

impl Kind {
    /// As it is written in files and listings.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Launch => "launch",
            Kind::Build => "build",
            Kind::Boot => "boot",
            Kind::Press => "press",
        }
    }
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

impl State {
    /// As it is written in files and listings.
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Done => "done",
            State::Interrupted => "interrupted",
            State::Failed => "failed",
        }
    }
}

/// The fact of a contestant that names the one with which it is compared.
pub(crate) const BASELINE: &str = "baseline";

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

    /// The contestant with which another one is compared; itself, if it is a baseline.
    pub fn baseline(&self, contestant: usize) -> usize {
        let named = |name: &String| {
            self.contestants
                .iter()
                .position(|other| other.name == *name)
        };
        let facts = self
            .contestants
            .get(contestant)
            .map(|contestant| &contestant.facts);
        facts
            .and_then(|facts| named(facts.get(BASELINE)?))
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        for kind in [Kind::Launch, Kind::Build, Kind::Boot, Kind::Press] {
            assert_eq!(serde_json::json!(kind), kind.name());
        }
        for state in [
            State::Running,
            State::Done,
            State::Interrupted,
            State::Failed,
        ] {
            assert_eq!(serde_json::json!(state), state.name());
        }
    }
}
