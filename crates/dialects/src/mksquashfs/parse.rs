//! Words of a command line to a [`Request`].
//!
//! mksquashfs takes sources and destination first, then options; sqfstar options first, then the
//! destination, then excludes. Names of options are never abbreviated, and behind `-e` everything
//! is a path.

use std::ffi::{OsStr, OsString};

use anyhow::{anyhow, bail};
use coldpress_report::failure::hint;
use coldpress_report::text;

use super::options::SECTIONS;
use super::request::{Excludes, Request};
use crate::squashfs_tools::Tool;
use crate::squashfs_tools::words::{is_option, missing, option};

/// Reads the words behind the name of the program.
///
/// # Errors
///
/// If an option is unknown, refused, lacks its value or cannot take it, or sources and destination
/// are missing.
pub fn parse(tool: Tool, words: &[OsString]) -> anyhow::Result<Request> {
    let mut request = Request::new(tool);
    if tool == Tool::Sqfstar {
        let left = options(&mut request, words)?;
        if request.print.is_some() {
            return Ok(request);
        }
        let Some((destination, excludes)) = left.split_first() else {
            return Err(missing(tool, "no destination is given"));
        };
        request.destination = destination.into();
        let excludes = excludes.iter().cloned().map(Excludes::One);
        request.excludes.extend(excludes);
        return Ok(request);
    }
    let paths = words.iter().take_while(|word| !is_option(word)).count();
    let (paths, words) = words.split_at(paths);
    let left = options(&mut request, words)?;
    if request.print.is_some() {
        return Ok(request);
    }
    if let Some(word) = left.first() {
        return Err(misplaced(word));
    }
    places(&mut request, paths)?;
    Ok(request)
}

/// Sources and destination of mksquashfs; `-` in front means that there are no sources.
fn places(request: &mut Request, paths: &[OsString]) -> anyhow::Result<()> {
    let tool = Tool::Mksquashfs;
    let Some((destination, sources)) = paths.split_last() else {
        return Err(missing(tool, "no source and no destination are given"));
    };
    let Some(first) = sources.first() else {
        return Err(missing(tool, "no destination is given"));
    };
    request.destination = destination.into();
    if first != "-" {
        request.sources = sources.iter().map(Into::into).collect();
    }
    Ok(())
}

/// Obeys options up to the first word that is none; returns it and what follows.
fn options<'a>(request: &mut Request, words: &'a [OsString]) -> anyhow::Result<&'a [OsString]> {
    let mut left = words;
    while let Some((word, rest)) = left.split_first().filter(|(word, _)| is_option(word)) {
        if request.tool == Tool::Mksquashfs && word == "-e" {
            if rest.is_empty() && request.print.is_none() {
                bail!("`-e` needs at least one path");
            }
            let excludes = rest.iter().cloned().map(Excludes::One);
            request.excludes.extend(excludes);
            return Ok(&[]);
        }
        let tool = request.tool;
        left = option(request, &SECTIONS, tool, word, rest)?;
    }
    Ok(left)
}

fn misplaced(word: &OsStr) -> anyhow::Error {
    let name = text::escaped(word.as_encoded_bytes());
    let error = anyhow!("`{name}` comes after options, where mksquashfs takes no paths");
    let order = "sources and destination come first; paths to leave out come last, after -e";
    hint(error, order)
}

#[cfg(test)]
mod tests;
