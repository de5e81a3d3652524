//! What the options that only print print.

use coldpress_host::memory;

use super::options::SECTIONS;
use super::request::Print;
use crate::squashfs_tools::{Tool, help as lines};

/// What an option asks to be printed.
///
/// # Errors
///
/// If it names something that is not there.
pub fn help(tool: Tool, print: &Print) -> anyhow::Result<String> {
    match print {
        Print::Help => Ok(lines::all(&SECTIONS, tool)),
        Print::Options(part) => lines::some(&SECTIONS, tool, |_, row| {
            row.names().any(|name| name.contains(part))
        }),
        Print::Sections(part) => lines::sections(&SECTIONS, tool, part),
        Print::Version => Ok(lines::version(tool)),
        Print::MemoryDefault => Ok(format!("{}\n", memory::default_bytes() >> 20)),
    }
}
