//! Figures as CSV, as RFC 4180 has it but for the line ends, which are those of Unix.

use std::io::Write;

use super::rows;
use crate::error::Error;
use crate::studies::StudyId;
use crate::study::Study;

const COLUMNS: [&str; 10] = [
    "study",
    "kind",
    "title",
    "began",
    "contestant",
    "turn",
    "excluded",
    "figure",
    "unit",
    "value",
];

/// Writes a row for each figure, under a line of titles.
///
/// # Errors
///
/// [`Error::Csv`] if it cannot be written.
pub fn write_csv(studies: &[(StudyId, Study)], out: &mut impl Write) -> Result<(), Error> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for row in rows(studies) {
        writer.write_record([
            row.id.to_string().as_str(),
            row.study.kind.name(),
            &row.study.title,
            &row.began().unwrap_or_default(),
            row.contestant,
            &row.turn.map(|turn| turn.to_string()).unwrap_or_default(),
            row.excluded.unwrap_or_default(),
            row.figure,
            row.unit().name(),
            // The shortest digits that give the same number back.
            &row.value.to_string(),
        ])?;
    }
    Ok(writer.flush()?)
}
