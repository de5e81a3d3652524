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
        "the history {} has version {found} of its tables, and this release knows {known}; use a newer release, or \
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
}
