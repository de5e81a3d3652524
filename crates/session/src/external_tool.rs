//! Programs of other projects that make images.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use coldpress_host::{Outcome, run_program};
use coldpress_report::text::printable;

use crate::ui::Ui;

/// Whether a program of this name is in PATH.
pub fn is_installed(program: &str) -> bool {
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths).any(|path| Path::new(&path).join(program).is_file())
}

/// `mksquashfs version 4.5.1 (2022/03/17)`, the first line of what it says when asked by `flag`.
///
/// # Errors
///
/// As [`run`].
pub fn version(program: &str, flag: &str, ui: &Ui) -> anyhow::Result<String> {
    let outcome = run(vec![program.into(), flag.into()], ui)?;
    let said = printable(&outcome.stdout_tail);
    Ok(said.lines().next().unwrap_or(program).to_owned())
}

/// Runs a program so that it ends when this process does, or when the user interrupts.
///
/// # Errors
///
/// If there is no such program, or the user interrupts.
pub fn run(args: Vec<OsString>, ui: &Ui) -> anyhow::Result<Outcome> {
    Ok(run_program(args, 0, &mut || ui.interrupt.is_pending())?)
}
