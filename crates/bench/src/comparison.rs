//! A newer study beside an older one: what changed, what was demanded, and how both are told.

mod doubts;
mod judgement;
mod junit;
mod markdown;

use std::io;

use coldpress_history::Study;
use coldpress_report::Table;
use coldpress_report::text::escaped;
use coldpress_report::units::change;
use serde::Serialize;

use crate::condition::Condition;
use crate::difference::Difference;
use crate::figure::formatted;
use crate::relation::Evidence;

pub use judgement::Judgement;

/// Facts that two studies are not meant to share.
const OWN_FACTS: [&str; 2] = ["coldpress_commit", "seed"];

/// Headings of [`Difference::cells`].
pub const COMPARISON_COLUMNS: [&str; 7] = [
    "contestant",
    "figure",
    "base",
    "new",
    "change",
    "95 % interval",
    "verdict",
];

/// Where figures stand, which are aligned at their ends.
const NUMBERS: std::ops::Range<usize> = 2..6;

/// A newer study beside an older one.
#[derive(Debug, Serialize)]
pub struct Comparison<'a> {
    base: Compared<'a>,
    new: Compared<'a>,
    /// Facts in which they differ: name, older value, newer value.
    pub conditions: Vec<(&'a str, Option<&'a str>, Option<&'a str>)>,
    /// What they have in common, figure by figure.
    pub differences: &'a [Difference],
    /// What was demanded of these.
    pub judgements: Vec<Judgement<'a>>,
}

/// One of the two.
#[derive(Debug, Serialize)]
struct Compared<'a> {
    title: &'a str,
    began_unix_ms: u64,
}

impl<'a> Comparison<'a> {
    /// Compares, and applies conditions.
    ///
    /// * `differences`: of the same two studies.
    ///
    /// # Errors
    ///
    /// The condition that is about no figure.
    pub fn new(
        [base, new]: [&'a Study; 2],
        differences: &'a [Difference],
        conditions: &'a [Condition],
    ) -> Result<Self, &'a Condition> {
        Ok(Self {
            base: compared(base),
            new: compared(new),
            conditions: changed_facts(base, new),
            differences,
            judgements: judgement::judge(conditions, differences)?,
        })
    }

    /// The differences as a table, the figures of a contestant below each other.
    pub fn table(&self) -> String {
        let table = Table {
            columns: COMPARISON_COLUMNS.map(str::to_owned).to_vec(),
            rows: self
                .differences
                .iter()
                .map(|it| it.cells().into())
                .collect(),
        };
        table.text_with_numbers(|column| NUMBERS.contains(&column))
    }

    /// As JUnit XML.
    ///
    /// # Errors
    ///
    /// If the writer of XML fails, which it has no reason for in memory.
    pub fn junit(&self) -> io::Result<Vec<u8>> {
        junit::document(self)
    }

    /// In GitHub's Markdown.
    pub fn markdown(&self) -> String {
        markdown::document(self)
    }
}

fn compared(study: &Study) -> Compared<'_> {
    Compared {
        title: &study.title,
        began_unix_ms: study.began_unix_ms,
    }
}

fn changed_facts<'a>(
    base: &'a Study,
    new: &'a Study,
) -> Vec<(&'a str, Option<&'a str>, Option<&'a str>)> {
    let mut names: Vec<&str> = base
        .facts
        .keys()
        .chain(new.facts.keys())
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names.dedup();
    let value = |study: &'a Study, name: &str| study.facts.get(name).map(String::as_str);
    let facts = names
        .into_iter()
        .map(|name| (name, value(base, name), value(new, name)));
    facts
        .filter(|(name, base, new)| base != new && !OWN_FACTS.contains(name))
        .collect()
}

impl Difference {
    /// The difference as text, under [`COMPARISON_COLUMNS`].
    pub fn cells(&self) -> [String; COMPARISON_COLUMNS.len()] {
        let [base, new] = self.values();
        let relation = &self.relation;
        let interval = relation.interval.filter(|sure| sure.low < sure.high);
        [
            escaped(self.contestant.as_bytes()),
            escaped(self.figure.as_bytes()),
            base,
            new,
            relation.ratio.map_or_else(|| "-".to_owned(), change),
            interval.map_or_else(String::new, |sure| {
                format!("{} to {}", change(sure.low), change(sure.high))
            }),
            self.verdict().to_owned(),
        ]
    }

    /// The older and the newer figure; with all digits if three do not tell them apart, as where a
    /// size grew by a byte.
    pub(crate) fn values(&self) -> [String; 2] {
        let values = [self.base, self.new];
        let [base, new] = values.map(|value| formatted(&self.figure, value));
        let is_exact = self.relation.evidence == Evidence::Exact;
        if base == new && is_exact && self.relation.ratio != Some(1.0) {
            return values.map(|value| value.to_string());
        }
        [base, new]
    }
}
