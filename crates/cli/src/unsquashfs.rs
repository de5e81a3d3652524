//! The command lines of unsquashfs and sqfscat.
//!
//! ```text
//! parse      words to a request, by a table             parse.rs, options.rs, request.rs
//! image      opened, or refused by its version          image.rs
//! find       patterns to paths of the image             expand.rs, follow.rs, name_match.rs
//! select     those paths, and what is excluded          selection.rs, path_tree.rs, cursor.rs
//! print      superblock, names, contents                superblock.rs, listing.rs, cat.rs
//! dump       as pseudo definitions                      pseudo.rs, definition.rs, first_names.rs
//! extract    with the counts of unsquashfs              extract.rs, counts.rs
//! run        which of these                             run.rs
//! ```
//!
//! An option means what it means to squashfs-tools 4.7, has no effect for a stated reason, or is
//! refused by its name; `docs/unsquashfs.md` lists all. What is printed on standard output is what
//! unsquashfs prints, because programs read it; messages are coldpress's own.

mod cat;
mod counts;
mod cursor;
mod definition;
mod expand;
mod extract;
mod first_names;
mod follow;
mod help;
mod image;
mod listing;
mod name_match;
mod options;
mod owner_names;
mod parse;
mod path_tree;
mod pseudo;
mod request;
mod run;
mod selection;
mod superblock;
mod xattrs;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use request::Request;

use crate::exit::{self, Exit};
use crate::failure;
use crate::squashfs_tools::Tool;
use crate::ui::Ui;

/// Exit status of the tools for what ended the work.
const FATAL: u8 = 1;
/// Exit status of the tools for what was wrong without ending the work.
const WRONG: u8 = 2;

/// Does what the words behind a tool's name ask for, and tells how it ended.
pub(crate) fn main(tool: Tool, words: &[OsString]) -> ExitCode {
    let request = match parse::parse(tool, words) {
        Ok(request) => request,
        Err(error) => {
            Ui::new(false).fail(&error);
            return FATAL.into();
        }
    };
    let ui = Ui::new(!request.shows_bar());
    match ui.interrupt.install().and_then(|()| obey(&request, &ui)) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Wrong) => WRONG.into(),
        Ok(Exit::As(status)) => status.into(),
        Err(error) if failure::is_stdout_closed(&error) => ExitCode::SUCCESS,
        Err(_) if ui.interrupt.is_pending() => {
            ui.warn("interrupted; the files that were finished stay");
            exit::INTERRUPTED.into()
        }
        Err(error) => {
            ui.fail(&error);
            FATAL.into()
        }
    }
}

/// Does what the words behind a tool's name ask for where `coldpress` has read its own options
/// before the name.
///
/// # Errors
///
/// If they cannot be obeyed.
pub(crate) fn verb(tool: Tool, words: &[OsString], ui: &Ui) -> anyhow::Result<Exit> {
    obey(&parse::parse(tool, words)?, ui)
}

fn obey(request: &Request, ui: &Ui) -> anyhow::Result<Exit> {
    if let Some(print) = &request.print {
        let mut out = ui.out();
        out.write_all(help::text(request.tool, print)?.as_bytes())?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    run::run(request, ui)
}
