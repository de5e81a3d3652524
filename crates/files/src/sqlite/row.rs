//! What is told of a database.

use coldpress_report::text::{plural, quoted};
use coldpress_report::units::{bytes, count};
use serde::Serialize;

use super::Survey;

/// A database, for `--json`.
#[derive(Debug, Serialize)]
pub struct Row {
    /// As it is now.
    #[serde(flatten)]
    pub survey: Survey,
    /// As it was, if it was rewritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Survey>,
}

impl Row {
    /// A database that was rewritten.
    pub fn rewritten((before, survey): (Survey, Survey)) -> Self {
        Self {
            survey,
            before: Some(before),
        }
    }

    /// What became of one that was rewritten.
    pub fn sentence(&self) -> Option<String> {
        let before = self.before.as_ref()?;
        Some(rewritten(before, &self.survey))
    }
}

impl From<Survey> for Row {
    fn from(survey: Survey) -> Self {
        Self {
            survey,
            before: None,
        }
    }
}

/// ``` `places.sqlite`: 5.00 MiB, 300 free pages, 55 extents; now 3.20 MiB, 1 extent ```
fn rewritten(before: &Survey, now: &Survey) -> String {
    let lies = |it: &Survey| {
        let extents = it
            .extents
            .map(|extents| plural(extents, "extent", "extents"));
        extents.map_or_else(String::new, |extents| format!(", {extents}"))
    };
    format!(
        "{}: {}, {} free{}; now {}{}",
        quoted(before.file()),
        bytes(before.size_bytes),
        count(before.free_pages),
        lies(before),
        bytes(now.size_bytes),
        lies(now)
    )
}
