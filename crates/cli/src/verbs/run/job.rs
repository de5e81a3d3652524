//! The command, its signals and its end.
//!
//! It is in the same process group, so that the terminal reaches it by itself; what is sent to this
//! process alone is passed on. Nothing that comes ends this process before the command has ended.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use coldpress_host::{Error, Foreground, Status};
use coldpress_session::ui::Ui;
use rustix::process::{Signal, getpgrp};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

use crate::verbs::run::args::RunArgs;

/// What a shell says of a program that is not there, and of one that cannot be executed.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// What a shell adds to the number of the signal that killed a program.
const KILLED: u8 = 128;

/// Those that are passed on, and those that the terminal sends to both.
static PASSED: [(i32, Signal); 4] = [
    (SIGTERM, Signal::TERM),
    (SIGHUP, Signal::HUP),
    (SIGUSR1, Signal::USR1),
    (SIGUSR2, Signal::USR2),
];
static OF_TERMINAL: [(i32, Signal); 3] = [
    (SIGINT, Signal::INT),
    (SIGQUIT, Signal::QUIT),
    (SIGTSTP, Signal::TSTP),
];

/// Takes the signals over from here on.
///
/// # Errors
///
/// If the kernel refuses a signal handler.
pub(super) fn signals() -> anyhow::Result<Signals> {
    let numbers = PASSED.iter().chain(&OF_TERMINAL).map(|(number, _)| number);
    Signals::new(numbers).context("cannot install a signal handler")
}

/// Runs the command; returns its exit status as a shell states it.
///
/// # Errors
///
/// If it cannot be waited for. That it cannot be started is an exit status, too, and is said here.
pub(super) fn run(args: &RunArgs, root: &Path, signals: Signals, ui: &Ui) -> anyhow::Result<u8> {
    let started = Foreground::start(&args.command, root, args.chroot);
    let running = match started {
        Ok(running) => Arc::new(running),
        Err(error) => return not_started(error, ui),
    };
    pass_on(signals, Arc::clone(&running))?;
    Ok(as_a_shell_says(running.wait()?))
}

fn not_started(error: Error, ui: &Ui) -> anyhow::Result<u8> {
    let status = match &error {
        Error::CannotRun { source, .. } if source.kind() == io::ErrorKind::NotFound => NOT_FOUND,
        Error::CannotRun { .. } => NOT_EXECUTABLE,
        _ => return Err(error.into()),
    };
    ui.fail(&error.into());
    Ok(status)
}

fn as_a_shell_says(status: Status) -> u8 {
    let number = |number: Option<i32>| number.and_then(|number| u8::try_from(number).ok());
    match (number(status.code), number(status.signal)) {
        (Some(code), _) => code,
        (None, Some(signal)) => KILLED.saturating_add(signal),
        (None, None) => NOT_EXECUTABLE,
    }
}

fn pass_on(mut signals: Signals, running: Arc<Foreground>) -> anyhow::Result<()> {
    let pass = move || {
        for number in signals.forever() {
            let named = PASSED.iter().chain(&OF_TERMINAL);
            let signal = named.clone().find(|(other, _)| *other == number);
            let is_of_terminal = OF_TERMINAL.iter().any(|(other, _)| *other == number);
            match signal {
                Some((_, signal)) if !(is_of_terminal && has_terminal()) => running.signal(*signal),
                _ => {}
            }
        }
    };
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.spawn(pass).context("cannot start a thread")?;
    Ok(())
}

/// Whether the terminal sends its signals to this process's group, of which the command is.
fn has_terminal() -> bool {
    let terminal = File::open("/dev/tty");
    terminal.is_ok_and(|terminal| tcgetpgrp(terminal) == Ok(getpgrp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_status_is_that_of_a_shell() {
        for (code, signal, expected) in [
            (Some(0), None, 0),
            (Some(255), None, 255),
            (None, Some(9), 137),
            (None, Some(15), 143),
            (None, Some(64), 192),
        ] {
            assert_eq!(as_a_shell_says(Status { code, signal }), expected);
        }
    }
}
