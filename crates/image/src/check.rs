//! Checking everything that an image states against everything else.
//!
//! docs/check.md lists the rules.

mod bytes;
mod data;
mod options;
mod start_pack;
mod superblock;
mod tables;

use std::ops::ControlFlow;

use crate::error::Error;
use crate::findings::{Findings, Problem};
use crate::image::Image;
use crate::start_pack::StartPack;
use crate::survey::{Survey, survey};

/// Checks an image: superblock, options and tables as strictly as the kernel; every inode and
/// listing; numbers, counts, references and owners against each other; that every data and fragment
/// block decompresses to the length that the inodes give it; that every byte belongs to something;
/// and that the pages of a start pack are those of the files.
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
    let pack = image.start_pack();
    let pack_end = pack.iter().flatten().next().map(StartPack::end);
    let survey = check_metadata(image, pack_end, &mut findings, &mut || progress(0))?;
    data::check(image, &survey, &mut findings, progress)?;
    let area = image.data_area();
    start_pack::check(image, pack, &mut findings, &mut || {
        progress(area.end - area.start)
    })?;
    Ok(findings.into_problems())
}

/// Checks everything but data and fragment blocks, and what a start pack holds.
///
/// * `pack_end`: the image byte after the start pack, if there is one that can be read.
///
/// # Errors
///
/// [`Error::Interrupted`] only, if `poll` breaks.
pub(crate) fn check_metadata(
    image: &Image,
    pack_end: Option<u64>,
    findings: &mut Findings,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Survey, Error> {
    superblock::check(image, pack_end, findings);
    options::check(image, findings);
    let survey = survey(image, findings, poll)?;
    tables::check(image, &survey, findings);
    bytes::check(image, &survey, findings);
    Ok(survey)
}
