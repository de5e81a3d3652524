//! What the options that only print print.

use super::options::SECTIONS;
use super::request::Print;
use crate::memory;
use crate::squashfs_tools::{Tool, help};

/// What an option asks to be printed.
///
/// # Errors
///
/// If it names something that is not there.
pub(crate) fn text(tool: Tool, print: &Print) -> anyhow::Result<String> {
    match print {
        Print::Help => Ok(help::all(&SECTIONS, tool)),
        Print::Options(part) => help::some(&SECTIONS, tool, |_, row| {
            row.names().any(|name| name.contains(part))
        }),
        Print::Sections(part) => help::sections(&SECTIONS, tool, part),
        Print::Version => Ok(help::version(tool)),
        Print::MemoryDefault => Ok(format!("{}\n", memory::default_bytes() >> 20)),
    }
}
