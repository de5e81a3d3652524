//! Studies that others published as tables, known by their first line.
//!
//! The tables themselves are not part of the program; what they are and who made them is.

mod row;
mod tables;

use crate::error::Error;
use crate::study::{Contestant, Facts, Figures, Kind, Origin, Run, State, Study};

use row::Row;
use tables::TABLES;

/// A table that is known.
struct Table {
    columns: &'static [&'static str],
    kind: Kind,
    title: &'static str,
    /// 0 if it is not known.
    began_unix_ms: u64,
    citation: &'static str,
    facts: &'static [(&'static str, &'static str)],
    /// The contestants of a row.
    measured: fn(&Row<'_>) -> Result<Vec<Measured>, Error>,
}

/// A contestant, and what was measured of it.
struct Measured {
    name: String,
    facts: Vec<(&'static str, String)>,
    /// The same in all its runs.
    own: Vec<(&'static str, f64)>,
    /// The median of its runs.
    run: Vec<(&'static str, f64)>,
}

/// Reads a published table.
///
/// # Errors
///
/// [`Error::NoStudies`] if its first line is not known, [`Error::Csv`] and [`Error::NotInTable`] if
/// another line is wrong.
pub(crate) fn published(bytes: &[u8]) -> Result<Study, Error> {
    let mut reader = csv::Reader::from_reader(bytes);
    let titles = reader.headers().map_err(|_| Error::NoStudies)?.clone();
    let table = TABLES
        .iter()
        .find(|table| titles.iter().eq(table.columns.iter().copied()));
    let table = table.ok_or(Error::NoStudies)?;
    let mut study = table.study();
    for record in reader.records() {
        let record = record?;
        for measured in (table.measured)(&Row::new(table.columns, &record))? {
            study.add(measured);
        }
    }
    Ok(study)
}

impl Table {
    /// Its study, without contestants.
    fn study(&self) -> Study {
        Study {
            kind: self.kind,
            title: self.title.to_owned(),
            began_unix_ms: self.began_unix_ms,
            origin: Origin::Published {
                citation: self.citation.to_owned(),
            },
            state: State::Done,
            facts: facts(
                self.facts
                    .iter()
                    .map(|(name, value)| (*name, (*value).to_owned())),
            ),
            contestants: Vec::new(),
            runs: Vec::new(),
        }
    }
}

impl Study {
    /// Adds a contestant with one run.
    fn add(&mut self, measured: Measured) {
        self.runs.push(Run {
            contestant: self.contestants.len(),
            turn: 0,
            excluded: None,
            figures: figures(measured.run),
        });
        self.contestants.push(Contestant {
            name: measured.name,
            facts: facts(measured.facts),
            figures: figures(measured.own),
        });
    }
}

fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> Facts {
    facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn figures(figures: Vec<(&'static str, f64)>) -> Figures {
    figures
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests;
