//! What can go wrong with a history.

use std::path::PathBuf;

/// Why a history cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be opened, read or written.
    #[error("cannot {action} the history {}", .path.display())]
    Database {
        /// What was tried.
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A newer release of coldpress wrote the database.
    #[error(
        "the history {} has version {found} of its tables, and this release knows {known}; use a \
        newer release, or \
         another file",
        .path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The version of its tables.
        found: u32,
        /// The newest version that this release knows.
        known: u32,
    },
    /// A figure is infinite, or no number.
    #[error("the figure {figure} is {value}, must be a finite number")]
    NoNumber {
        /// Its name.
        figure: String,
        /// What it is.
        value: f64,
    },
    /// Neither an export nor a table that is known by its first line.
    #[error(
        "it is neither an export of a history as JSON, nor a published table with a first line \
        that is known"
    )]
    NoStudies,
    /// What looks like an export is none.
    #[error("it is not an export of a history")]
    NoExport(#[from] serde_json::Error),
    /// An export in a form that a newer release may know.
    #[error("it is an export of version {found}, and this release knows {known}")]
    OtherVersion {
        /// The version of the export.
        found: u64,
        /// The version that this release knows.
        known: u64,
    },
    /// A run of nobody.
    #[error("a run of the study `{title}` names contestant {contestant}, must be below {count}")]
    NoSuchContestant {
        /// The study.
        title: String,
        /// The index that was found.
        contestant: usize,
        /// How many there are.
        count: usize,
    },
    /// A published table is no CSV.
    #[error("the published table cannot be read")]
    Csv(#[from] csv::Error),
    /// A published table has something else where there must be a number.
    #[error("line {line}, column {column}: `{found}` must be a number of 0 or more")]
    NotInTable {
        /// Line of the file, from 1.
        line: u64,
        /// The column, as its title names it.
        column: &'static str,
        /// What was found.
        found: String,
    },
    /// A table of figures cannot be written.
    #[error("cannot write the figures")]
    Write(#[from] std::io::Error),
    /// A table of figures cannot be written as Parquet.
    #[error("cannot write the figures as Parquet")]
    Parquet(#[from] parquet::errors::ParquetError),
}
