//! The command lines of squashfuse and `squashfuse_ll`.
//!
//! ```text
//! program  which of the two was called, and how it ends    program.rs
//! request  words to what is asked for                      request.rs
//! options  lists of options behind `-o`                   options.rs
//! table    these options, each with its treatment          table.rs
//! usage    what `-h` prints                                usage.rs
//! ```
//!
//! The work is that of `coldpress mount`; what differs is told in `docs/squashfuse.md`. Only what users
//! see was taken over: the facts are those of the manual pages and of the behavior of the programs.

mod options;
mod program;
mod request;
mod table;
mod usage;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::process::ExitCode;

pub(crate) use program::Program;
use request::{Mounting, Request};

use crate::commands;
use crate::exit::Exit;
use crate::ui::Ui;

/// Exit status of both if the image cannot be opened.
const NO_IMAGE: u8 = 255;

/// The program whose command line this process was given, and the words behind its name: because
/// it was called by that name, or the name is the first word.
pub(crate) fn called() -> Option<(Program, Vec<OsString>)> {
    let mut words = env::args_os();
    let name = words.next()?;
    if let Some(program) = Program::called_as(&name) {
        return Some((program, words.collect()));
    }
    let program = Program::from_name(&words.next()?)?;
    let words: Vec<OsString> = words.collect();
    // The programs would print the same for `-h`, which is left to them.
    let asks_coldpress = words.first().is_some_and(|word| word == "--help");
    (!asks_coldpress).then_some((program, words))
}

/// Does what the words behind a program's name ask for, and tells how it ended as the program would.
pub(crate) fn main(program: Program, words: &[OsString]) -> ExitCode {
    let ui = Ui::new(true);
    let mounting = match Request::parse(words) {
        Ok(Request::Mount(mounting)) => mounting,
        Ok(Request::Usage) => {
            print_usage(program);
            return program.misused().into();
        }
        Err(error) => {
            ui.fail(&error);
            return program.misused().into();
        }
    };
    match ui.interrupt.install().and_then(|()| obey(&mounting, &ui)) {
        Ok(exit) => exit.into(),
        Err(error) => {
            ui.fail(&error);
            if mounting.has_image() {
                program.not_mounted().into()
            } else {
                NO_IMAGE.into()
            }
        }
    }
}

/// The same where `coldpress` has read its own options before the name; it ends as its verbs do.
///
/// # Errors
///
/// If the words cannot be obeyed.
pub(crate) fn verb(program: Program, words: &[OsString], ui: &Ui) -> anyhow::Result<Exit> {
    match Request::parse(words)? {
        Request::Mount(mounting) => obey(&mounting, ui),
        Request::Usage => {
            print_usage(program);
            Ok(Exit::Done)
        }
    }
}

fn obey(mounting: &Mounting, ui: &Ui) -> anyhow::Result<Exit> {
    commands::run(&mounting.verb()?, ui)
}

/// To standard error, where the programs write it. If that is gone, there is nobody to tell.
fn print_usage(program: Program) {
    let _ = io::stderr()
        .lock()
        .write_all(usage::text(program).as_bytes());
}

/// Whether a word is an option: begins with a dash and is more than that.
fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}
