//! The programs squashfuse and `squashfuse_ll`, as which coldpress can be called.
//!
//! Their words and texts are those of [`coldpress_dialects::squashfuse`]; the work is that of
//! `coldpress mount`.

pub(crate) mod args;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{Args as _, Command, FromArgMatches as _};
use coldpress_dialects::squashfuse::{MountOption, Mounting, Program, Request, usage};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::flags::place::PlaceArgs;
use crate::image_file;
use crate::verbs::mount::{self, args::MountArgs};

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

/// Does what the words behind a program's name ask for, and tells how it ended as the program
/// would.
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
            if has_image(&mounting) {
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
    mount::run(&settings(mounting)?, ui)
}

/// To standard error, where the programs write it. If that is gone, there is nobody to tell.
fn print_usage(program: Program) {
    let _ = io::stderr().lock().write_all(usage(program).as_bytes());
}

/// The same for `coldpress mount`, whose defaults hold for all that is not asked for.
///
/// # Errors
///
/// None that is known.
fn settings(mounting: &Mounting) -> Result<MountArgs, clap::Error> {
    let words = ["mount", "--"].map(OsStr::new);
    let names = [mounting.image.as_os_str(), mounting.directory.as_os_str()];
    let command = MountArgs::augment_args(Command::new("mount"));
    let matches = command.try_get_matches_from(words.into_iter().chain(names))?;
    Ok(MountArgs {
        foreground: mounting.foreground,
        threads: mounting.single.then_some(NonZeroUsize::MIN),
        options: mounting.options.clone(),
        ..MountArgs::from_arg_matches(&matches)?
    })
}

/// Whether there is an image at the place.
fn has_image(mounting: &Mounting) -> bool {
    let offset = mounting.options.iter().find_map(|option| match option {
        MountOption::Offset(offset) => Some(*offset),
        _ => None,
    });
    image_file::open(&mounting.image, &PlaceArgs { offset }).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_becomes_one_of_the_mount() {
        for (words, foreground, threads) in [
            (&["-f", "-s", "a", "b"][..], true, NonZeroUsize::new(1)),
            (&["--", "a", "b"], false, None),
        ] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let Ok(Request::Mount(mounting)) = Request::parse(&words) else {
                panic!("{words:?}");
            };
            let args = settings(&mounting).unwrap();
            let names = (args.image.to_str(), args.directory.to_str());
            assert_eq!(names, (Some("a"), Some("b")));
            assert_eq!((args.foreground, args.threads), (foreground, threads));
        }
    }
}
