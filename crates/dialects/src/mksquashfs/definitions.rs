//! Pseudo definitions of a command line.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::Context as _;
use coldpress_report::text::quoted;
use coldpress_writer::pseudo::{Commands, Pseudo, parse_directory};

use super::request::{Definitions, Request};
use crate::{LOOKUP, directory_of};

/// Reads the definitions; `None` if there are none.
///
/// Commands of `f` definitions run, as with mksquashfs: whoever writes its command line could as
/// well run them.
///
/// # Errors
///
/// If a file cannot be read or a definition breaks a rule.
pub(crate) fn pseudo(request: &Request) -> anyhow::Result<Option<Pseudo>> {
    if request.pseudo.is_empty() && request.pseudo_directory.is_none() {
        return Ok(None);
    }
    let scratch = directory_of(&request.destination).to_path_buf();
    let mut pseudo = Pseudo::new(scratch);
    pseudo.commands = Commands::Allowed;
    for (definitions, number) in request.pseudo.iter().zip(1..) {
        match definitions {
            Definitions::Line(text) => {
                let added = pseudo.add(text.as_bytes(), number, &LOOKUP);
                added.context("cannot use `-p`")?;
            }
            Definitions::File(path) => pseudo.read(open(path)?, path, &LOOKUP)?,
        }
    }
    if let Some(text) = &request.pseudo_directory {
        let attributes = parse_directory(text.as_bytes(), &LOOKUP);
        pseudo.missing_directory = Some(attributes.context("cannot use `-pd`")?);
    }
    Ok(Some(pseudo))
}

fn open(path: &Path) -> anyhow::Result<File> {
    let file = if path == Path::new("-") {
        let stdin = std::io::stdin();
        stdin.as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(path)
    };
    file.with_context(|| format!("cannot open {}", quoted(path)))
}
