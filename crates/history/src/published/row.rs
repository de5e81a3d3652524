//! A row of a table, by the titles of its columns.

use csv::StringRecord;

use crate::error::Error;

/// A row of a table that is known, so that all its columns are there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    columns: &'static [&'static str],
    record: &'a StringRecord,
}

impl<'a> Row<'a> {
    pub(super) fn new(columns: &'static [&'static str], record: &'a StringRecord) -> Row<'a> {
        Row { columns, record }
    }

    /// The text in a column.
    pub(super) fn text(&self, column: &'static str) -> &'a str {
        let index = self.columns.iter().position(|title| *title == column);
        index
            .and_then(|index| self.record.get(index))
            .unwrap_or_default()
    }

    /// The number in a column.
    pub(super) fn number(&self, column: &'static str) -> Result<f64, Error> {
        let number = self.text(column).parse::<f64>().ok();
        self.checked(column, number)
    }

    /// The number in a column, if there is any.
    pub(super) fn optional(&self, column: &'static str) -> Result<Option<f64>, Error> {
        if self.text(column).is_empty() {
            return Ok(None);
        }
        self.number(column).map(Some)
    }

    /// A size as `128k` or `1M`, in bytes.
    pub(super) fn block_size_bytes(&self, column: &'static str) -> Result<f64, Error> {
        let text = self.text(column);
        let units = [("k", 1024.0), ("M", 1024.0 * 1024.0)];
        let bytes = units.iter().find_map(|(unit, bytes)| {
            let count = text.strip_suffix(unit)?.parse::<u16>().ok()?;
            Some(f64::from(count) * bytes)
        });
        self.checked(column, bytes)
    }

    fn checked(&self, column: &'static str, number: Option<f64>) -> Result<f64, Error> {
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| Error::NotInTable {
            line: self.record.position().map_or(0, csv::Position::line),
            column,
            found: self.text(column).to_owned(),
        })
    }
}
