//! The command lines of mksquashfs and sqfstar.
//!
//! ```text
//! parse    words to options, by a table                     parse.rs, options.rs
//! request  what is asked for, a field for each meaning      request.rs, contradictions.rs
//! settle   the same in the terms of the other crates        settle.rs, inputs.rs, compression.rs, definitions.rs, sort.rs
//! run      the steps of `coldpress build` with other words  run.rs, appending.rs, report.rs
//! ```
//!
//! An option means what it means to squashfs-tools 4.7, has no effect for a stated reason, or is
//! refused by its name; `docs/mksquashfs.md` lists all. Only what users see was taken over: the
//! facts are those of USAGE-MKSQUASHFS and of the behavior of the programs.

mod appending;
mod compression;
mod contradictions;
mod definitions;
mod help;
mod inputs;
mod options;
mod parse;
mod report;
mod request;
mod run;
mod settle;
mod sort;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use request::Request;

use crate::exit::Exit;
use crate::failure;
use crate::resolve;
use crate::squashfs_tools::Tool;
use crate::ui::Ui;

/// Exit status of mksquashfs and sqfstar for everything that went wrong.
const FAILED: u8 = 1;

/// Does what the words behind a tool's name ask for, and tells how it ended.
pub(crate) fn main(tool: Tool, words: &[OsString]) -> ExitCode {
    let mut request = match parse::parse(tool, words) {
        Ok(request) => request,
        Err(error) => {
            Ui::new(false).fail(&error);
            return FAILED.into();
        }
    };
    let ui = Ui::new(!request.talk.shows_bar());
    match ui
        .interrupt
        .install()
        .and_then(|()| obey(&mut request, &ui))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if failure::is_stdout_closed(&error) => ExitCode::SUCCESS,
        Err(_) if ui.interrupt.is_pending() => {
            ui.warn("interrupted; nothing unfinished is left behind");
            FAILED.into()
        }
        Err(error) => {
            ui.fail(&error);
            FAILED.into()
        }
    }
}

/// Does what the words behind a tool's name ask for where `coldpress` has read its own options
/// before the name.
///
/// # Errors
///
/// If they cannot be obeyed, or the image not be written.
pub(crate) fn verb(tool: Tool, words: &[OsString], ui: &Ui) -> anyhow::Result<Exit> {
    obey(&mut parse::parse(tool, words)?, ui)?;
    Ok(Exit::Done)
}

fn obey(request: &mut Request, ui: &Ui) -> anyhow::Result<()> {
    if let Some(print) = &request.print {
        let mut out = ui.out();
        out.write_all(help::text(request, print)?.as_bytes())?;
        out.flush()?;
        return Ok(());
    }
    run::run(request, resolve::epoch_s()?, ui)
}
