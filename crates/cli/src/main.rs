//! The coldpress command line.
//!
//! ```text
//! parse    the command line as typed                    args.rs, args/
//! resolve  flags and environment to settings            resolve.rs
//! act      one file for each verb                       commands/
//! end      an exit status, and a sentence if it failed  exit.rs, failure.rs
//! ```
//!
//! This is the only crate that prints, exits or reads the environment.

mod args;
mod calibration;
mod clock;
mod commands;
mod described;
mod device;
mod exit;
mod failure;
mod image_file;
mod inputs;
mod interrupt;
mod mksquashfs;
mod ordering;
mod peer;
mod privileges;
mod profiles;
mod program;
mod recording;
mod remake;
mod resolve;
mod squashfs_tools;
mod squashfuse;
mod start;
mod state;
mod steps;
mod study;
mod timing;
mod tuning;
mod ui;
mod unsquashfs;
mod work_dir;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::Cli;
use crate::ui::Ui;

fn main() -> ExitCode {
    if let Some((tool, words)) = squashfs_tools::called() {
        return squashfs_tools::main(tool, &words);
    }
    if let Some((program, words)) = squashfuse::called() {
        return squashfuse::main(program, &words);
    }
    let cli = Cli::parse();
    let ui = Ui::new(cli.quiet);
    match ui.interrupt.install().and_then(|()| {
        timing::traced(cli.timings.as_deref(), &ui, || {
            commands::run(&cli.verb, &ui)
        })
    }) {
        Ok(exit) => exit.into(),
        Err(error) if failure::is_stdout_closed(&error) => ExitCode::SUCCESS,
        Err(_) if ui.interrupt.is_pending() => {
            ui.say("interrupted; nothing unfinished is left behind");
            exit::INTERRUPTED.into()
        }
        Err(error) => {
            ui.fail(&error);
            exit::CANNOT_RUN.into()
        }
    }
}
