//! The programs of squashfs-tools, as which coldpress can be called.
//!
//! Their words and texts are those of [`coldpress_dialects`]; what a program does stands in
//! [`crate::mksquashfs`] and [`crate::unsquashfs`].

mod pace;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::process::ExitCode;

use coldpress_dialects::Tool;

pub(crate) use pace::{Pace, Shown};

use crate::exit::Exit;
use crate::ui::Ui;
use crate::{failure, mksquashfs, unsquashfs};

/// The tool whose command line this process was given, and the words behind its name: because it
/// was called by that name, or the name is the first word.
///
/// This comes before all other reading of the command line, which would take `-help` apart into
/// letters. Only `--help`, which the tools do not know, is left to it.
pub(crate) fn called() -> Option<(Tool, Vec<OsString>)> {
    let mut words = env::args_os();
    let program = words.next()?;
    if let Some(tool) = Tool::called_as(&program) {
        return Some((tool, words.collect()));
    }
    let tool = Tool::from_name(&words.next()?)?;
    let words: Vec<OsString> = words.collect();
    let asks_coldpress = words
        .first()
        .is_some_and(|word| word == OsStr::new("--help"));
    (!asks_coldpress).then_some((tool, words))
}

/// Does what the words behind a tool's name ask for, and tells how it ended as the tool would.
pub(crate) fn main(tool: Tool, words: &[OsString]) -> ExitCode {
    match tool {
        Tool::Mksquashfs | Tool::Sqfstar => mksquashfs::main(tool, words),
        Tool::Unsquashfs | Tool::Sqfscat => unsquashfs::main(tool, words),
    }
}

/// The same where `coldpress` has read its own options before the name; it ends as its verbs do.
///
/// # Errors
///
/// If the words cannot be obeyed.
pub(crate) fn verb(tool: Tool, words: &[OsString], ui: &Ui) -> anyhow::Result<Exit> {
    match tool {
        Tool::Mksquashfs | Tool::Sqfstar => mksquashfs::verb(tool, words, ui),
        Tool::Unsquashfs | Tool::Sqfscat => unsquashfs::verb(tool, words, ui),
    }
}

/// Prints lines beside the work, such as a summary.
///
/// # Errors
///
/// If standard output cannot be written; nobody has to read it.
pub(crate) fn print(ui: &Ui, text: &str) -> anyhow::Result<()> {
    let mut out = ui.out();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    failure::unless_stdout_closed(printed.map_err(anyhow::Error::from))
}
