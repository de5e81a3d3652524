//! The programs unsquashfs and sqfscat, as which coldpress can be called.
//!
//! Their words and texts are those of [`coldpress_dialects::unsquashfs`].

pub(crate) mod args;
mod extract;
mod image;
mod pseudo;
mod run;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use coldpress_dialects::Tool;
use coldpress_dialects::unsquashfs::{Request, help, parse};
use coldpress_session::exit::{self, Exit};
use coldpress_session::failure;
use coldpress_session::ui::Ui;

/// Exit status of the tools for what ended the work.
const FATAL: u8 = 1;
/// Exit status of the tools for what was wrong without ending the work.
const WRONG: u8 = 2;

/// Does what the words behind a tool's name ask for, and tells how it ended.
pub(crate) fn main(tool: Tool, words: &[OsString]) -> ExitCode {
    let request = match parse(tool, words) {
        Ok(request) => request,
        Err(error) => {
            Ui::new(false).fail(&error);
            return FATAL.into();
        }
    };
    let ui = Ui::new(!request.shows_bar());
    match ui.interrupt.install().and_then(|()| obey(&request, &ui)) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Partial) => WRONG.into(),
        Ok(Exit::As(status)) => status.into(),
        Err(error) if failure::is_stdout_closed(&error) => ExitCode::SUCCESS,
        Err(_) if ui.interrupt.is_pending() => {
            ui.warn("interrupted; finished files stay");
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
    obey(&parse(tool, words)?, ui)
}

fn obey(request: &Request, ui: &Ui) -> anyhow::Result<Exit> {
    if let Some(print) = &request.print {
        let mut out = ui.out();
        out.write_all(help(request.tool, print)?.as_bytes())?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    run::run(request, ui)
}
