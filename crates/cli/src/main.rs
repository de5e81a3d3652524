//! The coldpress command line.
//!
//! ```text
//! verbs      one folder for each verb: its command line, and what it does
//!   (the modules named below: what several verbs do)
//! flags      flags of several verbs, one file for each
//! ```
//!
//! A module uses only those of its line and below; a test reads the imports.
//!
//! What a command runs in is [`coldpress_session`]; no other crate prints or reads the environment,
//! and only this one exits.

mod calibration;
mod containers;
mod flags;
mod image_file;
mod inputs;
mod losses;
mod ordering;
mod profiles;
mod program;
mod pseudo_files;
mod recording;
#[cfg(feature = "http")]
mod registries;
mod resolve;
mod start;
mod start_pack;
mod steps;
mod study;
mod tuning;
mod verbs;

use std::process::ExitCode;

use coldpress_session::ui::Ui;
use coldpress_session::{exit, failure, page_reader};

use crate::verbs::Cli;

fn main() -> ExitCode {
    if let Some(code) = page_reader::run_if_asked() {
        return code;
    }
    if let Some((tool, words)) = verbs::called_as_tool() {
        return verbs::main_of_tool(tool, &words);
    }
    if let Some((program, words)) = verbs::called_as_squashfuse() {
        return verbs::main_of_squashfuse(program, &words);
    }
    let (cli, notes) = Cli::read();
    let ui = Ui::new(cli.quiet);
    for note in notes {
        ui.note(&note);
    }
    match ui
        .interrupt
        .install()
        .and_then(|()| verbs::traced(cli.timings.as_deref(), &ui, || verbs::run(&cli.verb, &ui)))
    {
        Ok(exit) => exit.into(),
        Err(error) if failure::is_stdout_closed(&error) => ExitCode::SUCCESS,
        Err(_) if ui.interrupt.is_pending() => {
            ui.say("interrupted; nothing unfinished remains");
            exit::INTERRUPTED.into()
        }
        Err(error) => {
            ui.fail(&error);
            exit::CANNOT_RUN.into()
        }
    }
}
