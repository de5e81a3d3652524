//! Checking everything that an image states against everything else.
//!
//! docs/check.md lists the rules.

mod bytes;
mod data;
mod options;
mod superblock;
mod tables;

use std::ops::ControlFlow;

use crate::error::Error;
use crate::findings::{Findings, Problem};
use crate::image::Image;
use crate::survey::survey;

/// Checks an image: superblock, options and tables as strictly as the kernel; every inode and
/// listing; numbers, counts, references and owners against each other; that every data and fragment
/// block decompresses to the length that the inodes give it; and that every byte belongs to
/// something.
///
/// Damage does not end the check: what is beside and behind it is checked, too.
///
/// * `progress`: called with the bytes of the data area checked so far; `Break` ends the check.
///
/// Returns all problems: those of the superblock and of the tree in walking order, then those of
/// the tables, then those of the blocks by position.
///
/// # Errors
///
/// [`Error::Interrupted`] only; whatever is wrong with the image is a problem.
///
/// # Cost
///
/// Reads the whole image once and decompresses on all processors. Memory for each inode and data
/// block, some 150 and 32 bytes.
pub fn check(
    image: &Image,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Vec<Problem>, Error> {
    let mut findings = Findings::default();
    superblock::check(image, &mut findings);
    options::check(image, &mut findings);
    let survey = survey(image, &mut findings, &mut || progress(0))?;
    tables::check(image, &survey, &mut findings);
    bytes::check(image, &survey, &mut findings);
    data::check(image, &survey, &mut findings, progress)?;
    Ok(findings.into_problems())
}
