//! Studies as a table, a line each.

use coldpress_report::text::escaped;
use coldpress_report::units::count;
use coldpress_report::{LocalTime, Table};
use serde::Serialize;

use crate::listing::Listed;
use crate::study::Origin;

const COLUMNS: [&str; 8] = [
    "id",
    "began",
    "kind",
    "title",
    "contestants",
    "runs",
    "excluded",
    "state",
];

/// Columns of numbers, aligned at their ends.
const NUMBERS: [usize; 4] = [0, 4, 5, 6];

/// A study in a list of them, as it serializes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedStudy<'a> {
    id: i64,
    /// `null` if nobody wrote it down.
    began_unix_ms: Option<u64>,
    kind: &'static str,
    title: &'a str,
    citation: Option<&'a str>,
    contestants: u64,
    runs: u64,
    excluded: u64,
    /// What became of it.
    state: &'a str,
}

impl<'a> ListedStudy<'a> {
    /// * `became`: how it ended, as far as that is known.
    pub fn new(listed: &'a Listed, became: &'a str) -> Self {
        Self {
            id: listed.id,
            began_unix_ms: Some(listed.began_unix_ms).filter(|began| *began > 0),
            kind: listed.kind.name(),
            title: &listed.title,
            citation: match &listed.origin {
                Origin::Measured => None,
                Origin::Published { citation } => Some(citation),
            },
            contestants: listed.contestants,
            runs: listed.counted,
            excluded: listed.excluded,
            state: became,
        }
    }
}

/// The studies as a table.
pub fn study_list(studies: &[ListedStudy<'_>]) -> String {
    let time = LocalTime::new(false);
    let row = |study: &ListedStudy<'_>| {
        let began = study.began_unix_ms;
        let began = began.and_then(|began| u32::try_from(began / 1000).ok());
        let published = study.citation.map_or("", |_| " (published)");
        vec![
            study.id.to_string(),
            began.map_or_else(|| "-".to_owned(), |began| time.text(began, false)),
            study.kind.to_owned(),
            format!("{}{published}", escaped(study.title.as_bytes())),
            count(study.contestants),
            count(study.runs),
            count(study.excluded),
            study.state.to_owned(),
        ]
    };
    let table = Table {
        columns: COLUMNS.map(str::to_owned).to_vec(),
        rows: studies.iter().map(row).collect(),
    };
    table.text_with_numbers(|column| NUMBERS.contains(&column))
}
