//! The verb `sqlite`.

use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::parse_size_bytes;

/// Check SQLite databases that a start reads, and rewrite them
///
/// Prints page size, pages and free pages, journal mode, encoding and extents of each database, and
/// whether it is sound (`PRAGMA quick_check`). A start reads free pages, and seeks to additional
/// extents, without need.
///
/// With --fix, vacuums a database that nobody has open into a new file of reserved space. The new
/// file replaces the old one after both were found sound and their content was compared row by row.
/// Until then, and whatever happens, the old file stays.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exit status: 0 all are sound, and rewritten if asked, 1 one is not

Example:
  coldpress sqlite --fix --page-size 4096 --chunk 1M ~/.mozilla/firefox/*/places.sqlite")]
pub(crate) struct SqliteArgs {
    /// Databases
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Rewrite them
    #[arg(long)]
    pub(crate) fix: bool,

    /// Bytes of a page, a power of two from 512 to 64K [default: as it was]
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes, requires = "fix")]
    pub(crate) page_size: Option<u64>,

    /// Reserve space for growth up to the next multiple of this; 0: none [default: 1M]
    ///
    /// This does not change the length of the file. How far an application lets a database grow at
    /// once (`SQLITE_FCNTL_CHUNK_SIZE`) is not stored in the file, so sqlite cannot set it.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes, requires = "fix")]
    pub(crate) chunk: Option<u64>,

    /// Keep the old file as FILE.bak
    #[arg(long = "keep-old", alias = "keep", requires = "fix")]
    pub(crate) keep: bool,

    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
