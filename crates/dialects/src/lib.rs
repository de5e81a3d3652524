//! The command lines of other tools: their words to a request, and the texts that they print.
//!
//! ```text
//! squashfs_tools   tables of options, and what all of squashfs-tools have in common
//! mksquashfs       mksquashfs and sqfstar: a request, settled in the terms of `build`
//! unsquashfs       unsquashfs and sqfscat: a request, and what of an image it chooses
//! remake           the command line that makes an image like one that is there
//! sort_file        sort files of mksquashfs and gensquashfs, beside sources
//! squashfuse       squashfuse and squashfuse_ll: options of a mount
//! ```
//!
//! An option means what it means to the tool, has no effect for a stated reason, or is refused by
//! its name. Only what users see was taken over: the facts are those of the manuals and of the
//! behavior of the programs.
//!
//! This crate prints nothing and ends no process: texts go to a caller's [`std::io::Write`] or are
//! returned, warnings go to a caller's function. An error is a sentence for whoever typed the
//! command line, with a hint; no caller tells one from another, so it is an [`anyhow::Error`].

mod date;
pub mod mksquashfs;
mod place;
pub mod remake;
pub mod sort_file;
mod squashfs_tools;
pub mod squashfuse;
pub mod unsquashfs;

pub use date::LOOKUP;
pub use place::parse_offset;
pub use squashfs_tools::{Tool, progress_bar};

use std::path::Path;

/// Whom a user is told through of what may surprise.
pub type Warn<'a> = &'a dyn Fn(&str);

/// The directory in which `path` stands.
fn directory_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
