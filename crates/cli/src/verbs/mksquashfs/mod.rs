//! The programs mksquashfs and sqfstar, as which coldpress can be called.
//!
//! Their words and texts are those of [`coldpress_dialects::mksquashfs`]; the steps are those of
//! `coldpress build`.

pub(crate) mod args;
mod destination;
mod run;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use coldpress_dialects::Tool;
use coldpress_dialects::mksquashfs::{Request, help, parse};
use coldpress_session::exit::Exit;
use coldpress_session::failure;
use coldpress_session::ui::Ui;

use crate::resolve;

/// Exit status of mksquashfs and sqfstar for everything that went wrong.
const FAILED: u8 = 1;

/// Does what the words behind a tool's name ask for, and tells how it ended.
pub(crate) fn main(tool: Tool, words: &[OsString]) -> ExitCode {
    let mut request = match parse(tool, words) {
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
            ui.warn("interrupted; nothing unfinished remains");
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
    obey(&mut parse(tool, words)?, ui)?;
    Ok(Exit::Done)
}

fn obey(request: &mut Request, ui: &Ui) -> anyhow::Result<()> {
    if let Some(print) = &request.print {
        let mut out = ui.out();
        out.write_all(help(request, print)?.as_bytes())?;
        out.flush()?;
        return Ok(());
    }
    run::run(request, resolve::epoch_s()?, ui)
}
