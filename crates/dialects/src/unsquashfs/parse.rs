//! Words of a command line to a [`Request`].
//!
//! Options stand first, then the image; what follows it are paths, also what looks like an option.
//! Names of options are never abbreviated.

use std::ffi::OsString;

use anyhow::bail;

use super::options::SECTIONS;
use super::request::Request;
use crate::squashfs_tools::Tool;
use crate::squashfs_tools::words::{missing, option};

/// Reads the words behind the name of the program.
///
/// # Errors
///
/// If an option is unknown, lacks its value or cannot take it, contradicts another, or the image
/// is missing.
pub fn parse(tool: Tool, words: &[OsString]) -> anyhow::Result<Request> {
    let mut request = Request::new(tool);
    let mut left = words;
    while let Some((word, rest)) = left
        .split_first()
        .filter(|(word, _)| word.as_encoded_bytes().starts_with(b"-"))
    {
        left = option(&mut request, &SECTIONS, tool, word, rest)?;
    }
    if request.print.is_some() {
        return Ok(request);
    }
    check(&request)?;
    let Some((image, paths)) = left.split_first() else {
        return Err(missing(tool, "no image is given"));
    };
    if tool == Tool::Sqfscat && paths.is_empty() {
        return Err(missing(tool, "no files are given"));
    }
    if paths.iter().any(|path| path.is_empty()) {
        bail!("a path is empty; `/` is the root directory");
    }
    request.image = image.into();
    request.paths = paths.to_vec();
    Ok(request)
}

/// Checks what no single option can.
fn check(request: &Request) -> anyhow::Result<()> {
    let errors = &request.errors;
    if errors.strict && errors.ignore {
        bail!("`-strict-errors` and `-ignore-errors` contradict each other");
    }
    if errors.strict && errors.no_exit_code {
        bail!("`-strict-errors` and `-no-exit-code` contradict each other");
    }
    if request.no_wildcards && request.regex {
        bail!("`-no-wildcards` and `-regex` contradict each other");
    }
    if request.listing.only && request.pseudo.is_some() {
        bail!("`-pf` and the options that list contradict each other");
    }
    if request.destination.as_os_str().is_empty() && !request.listing.only {
        bail!("the directory of `-dest` is empty; `.` is the current one");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
