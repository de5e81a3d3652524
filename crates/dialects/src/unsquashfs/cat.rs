//! Contents of files, as sqfscat prints them.

use std::io::Write;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::bail;
use coldpress_format::{Body, InodeKind};
use coldpress_image::{Image, ReadLimits, write_content};
use coldpress_report::failure::sentence;
use coldpress_report::text::quoted_bytes;

use super::expand::{Finder, LastLink, Match};
use super::image::read_limits;
use super::request::Request;
use crate::Warn;

/// Writes the files that the paths lead to, one after the other; symbolic links are followed.
///
/// * `out`: is flushed before a problem is told.
/// * `is_unwritable`: whether an error is one of `out`.
/// * `tell`: takes what is wrong with a path while the rest goes on.
///
/// Returns whether all was right.
///
/// # Errors
///
/// If the image is damaged, unless errors are to be ignored, `out` cannot be written, or something
/// else is wrong and all errors are to be strict.
pub fn write_contents(
    image: &Image,
    request: &Request,
    out: &mut dyn Write,
    is_unwritable: &dyn Fn(&anyhow::Error) -> bool,
    tell: Warn<'_>,
) -> anyhow::Result<bool> {
    let mut printing = Printing {
        image,
        request,
        limits: read_limits(request)?,
        out,
        is_unwritable,
        tell,
        is_wrong: false,
    };
    let finder = Finder::new(image, request.patterns(), LastLink::Target);
    let mut problems = Vec::new();
    for path in &request.paths {
        let path = path.as_bytes();
        let all_lead = finder.find(path, &mut |found| printing.file(&found), &mut |problem| {
            problems.push(problem.to_owned());
        })?;
        printing.out.flush()?;
        for problem in problems.drain(..) {
            printing.problem(&problem)?;
        }
        printing.is_wrong |= !all_lead;
    }
    printing.out.flush()?;
    Ok(!printing.is_wrong)
}

/// Printing under way.
struct Printing<'a> {
    image: &'a Image,
    request: &'a Request,
    limits: ReadLimits,
    out: &'a mut dyn Write,
    is_unwritable: &'a dyn Fn(&anyhow::Error) -> bool,
    tell: Warn<'a>,
    is_wrong: bool,
}

impl Printing<'_> {
    fn file(&mut self, found: &Match) -> anyhow::Result<()> {
        let shown = quoted_bytes(&found.shown);
        if found.place.kind != InodeKind::File {
            return self.problem(&match (found.is_link, found.place.kind) {
                (true, _) => {
                    format!("{shown}: the symbolic link does not resolve to a regular file")
                }
                (false, InodeKind::Directory) => format!("{shown} is a directory"),
                (false, _) => format!("{shown} is not a regular file"),
            });
        }
        let printed = match self.image.inode(found.place.at)?.body {
            Body::File(file) => {
                write_content(self.image, &file, 0..u64::MAX, &self.limits, self.out)
            }
            _ => Ok(()),
        };
        let Err(error): anyhow::Result<()> = printed else {
            return Ok(());
        };
        if (self.is_unwritable)(&error) {
            return Err(error);
        }
        let error = error.context(format!("cannot print {shown}"));
        if !self.request.errors.ignore {
            self.out.flush()?;
            return Err(error);
        }
        self.problem(&sentence(&error))
    }

    /// Tells what is wrong, behind what was printed before.
    fn problem(&mut self, text: &str) -> anyhow::Result<()> {
        self.out.flush()?;
        if self.request.errors.strict {
            bail!("{text}");
        }
        (self.tell)(text);
        self.is_wrong = true;
        Ok(())
    }
}
