//! What a study is, above its figures.

use coldpress_history::{Origin, Study};
use coldpress_report::LocalTime;
use coldpress_report::text::{escaped, fields};

/// What a study is, what became of it, and what it depends on: a line each.
///
/// * `became`: how it ended, as far as that is known.
pub fn study_head(study: &Study, became: &str) -> String {
    let began = u32::try_from(study.began_unix_ms / 1000)
        .ok()
        .filter(|began| *began > 0);
    let mut rows = vec![
        ("title", escaped(study.title.as_bytes())),
        ("kind", study.kind.name().to_owned()),
        (
            "began",
            began.map_or_else(
                || "-".to_owned(),
                |began| LocalTime::new(false).text(began, true),
            ),
        ),
        ("state", became.to_owned()),
    ];
    if let Origin::Published { citation } = &study.origin {
        rows.push(("published", escaped(citation.as_bytes())));
    }
    let facts: Vec<(String, String)> = study
        .facts
        .iter()
        .map(|(name, value)| (escaped(name.as_bytes()), escaped(value.as_bytes())))
        .collect();
    rows.extend(
        facts
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone())),
    );
    fields(&rows)
}
