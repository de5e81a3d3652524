//! The programs as which coldpress can be called: those of squashfs-tools, and a plugin of pyxis.
//!
//! Their words and texts are those of [`coldpress_dialects`]; what a program does stands in
//! [`super::mksquashfs`] and [`super::unsquashfs`].

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use coldpress_dialects::Tool;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::verbs::{mksquashfs, unsquashfs};

/// The name by which pyxis calls its importer, and the verb for it.
const PYXIS_IMPORTER: &str = "pyxis-importer";

/// Puts the verb in front of the words if the name of this process is one.
pub(super) fn name_verb(words: &mut Vec<OsString>) {
    let program = words
        .first()
        .and_then(|program| Path::new(program).file_name());
    if program == Some(OsStr::new(PYXIS_IMPORTER)) {
        words.insert(1, PYXIS_IMPORTER.into());
    }
}

/// The tool whose command line this process was given, and the words behind its name: because it
/// was called by that name, or the name is the first word.
///
/// This comes before all other reading of the command line, which would take `-help` apart into
/// letters. Only `--help`, which the tools do not know, is left to it.
pub(crate) fn called_as_tool() -> Option<(Tool, Vec<OsString>)> {
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
pub(crate) fn main_of_tool(tool: Tool, words: &[OsString]) -> ExitCode {
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
pub(super) fn verb_of_tool(tool: Tool, words: &[OsString], ui: &Ui) -> anyhow::Result<Exit> {
    match tool {
        Tool::Mksquashfs | Tool::Sqfstar => mksquashfs::verb(tool, words, ui),
        Tool::Unsquashfs | Tool::Sqfscat => unsquashfs::verb(tool, words, ui),
    }
}
