//! Checking everything that an image states against everything else.

mod data;
mod listing;
mod survey;
mod tables;

use std::fmt;
use std::ops::ControlFlow;

use coldpress_format::{Corrupt, Part, Rule};

use crate::error::{Error, PathText};
use crate::image::Image;

/// The most problems that a check lists; a last one tells how many more there are.
pub const PROBLEMS_MAX: usize = 10_000;

/// Something that is wrong with an image.
#[derive(Debug)]
pub struct Problem {
    /// The path that it was found at; very long ones begin with `...`.
    pub path: Option<Vec<u8>>,
    /// What is wrong.
    pub error: Error,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(formatter, "`{}`: ", PathText(path))?;
        }
        write!(formatter, "{}", self.error)?;
        if let Error::Read { source, .. } = &self.error {
            write!(formatter, ": {source}")?;
        }
        Ok(())
    }
}

/// Checks an image: superblock, options and tables as strictly as the kernel; every inode and
/// listing that can be reached; numbers, counts, references and owners against each other; and
/// that every data and fragment block decompresses to the length that the inodes give it.
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
/// block, some 100 and 32 bytes.
pub fn check(
    image: &Image,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Vec<Problem>, Error> {
    let mut findings = Findings::default();
    tables::check_superblock(image, &mut findings);
    let survey = survey::survey(image, &mut findings, progress)?;
    tables::check_references(image, &survey, &mut findings);
    data::check_blocks(image, survey, &mut findings, progress)?;
    Ok(findings.into_problems())
}

/// Problems found so far, up to a limit.
#[derive(Debug, Default)]
struct Findings {
    problems: Vec<Problem>,
    not_listed: u64,
}

impl Findings {
    /// Adds a problem; its path is made only if it is listed.
    fn add(&mut self, path: impl FnOnce() -> Option<Vec<u8>>, error: Error) {
        if self.problems.len() < PROBLEMS_MAX {
            let path = path();
            self.problems.push(Problem { path, error });
        } else {
            self.not_listed += 1;
        }
    }

    /// Adds a problem of the image as a whole.
    fn add_global(&mut self, error: impl Into<Error>) {
        self.add(|| None, error.into());
    }

    /// Adds a problem of the image as a whole unless `found` is `expected`.
    fn expect_equal(
        &mut self,
        (part, start): (Part, u64),
        field: &'static str,
        found: u64,
        expected: u64,
    ) {
        if let Err(corrupt) = equal((part, start), field, found, expected) {
            self.add_global(corrupt);
        }
    }

    fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems;
        if self.not_listed > 0 {
            let (path, count) = (None, self.not_listed);
            let error = Error::NotListed { count };
            problems.push(Problem { path, error });
        }
        problems
    }
}

fn equal(
    (part, start): (Part, u64),
    field: &'static str,
    found: u64,
    expected: u64,
) -> Result<(), Corrupt> {
    if found == expected {
        return Ok(());
    }
    let rule = Rule::Mismatch {
        field,
        found,
        expected,
    };
    Err(Corrupt::new(part, start, rule))
}

fn within(
    (part, start): (Part, u64),
    field: &'static str,
    found: u64,
    (low, high): (u64, u64),
) -> Result<(), Corrupt> {
    if (low..=high).contains(&found) {
        return Ok(());
    }
    let rule = Rule::OutOfRange {
        field,
        found,
        low,
        high,
    };
    Err(Corrupt::new(part, start, rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_over_the_limit_are_counted() {
        let mut findings = Findings::default();
        for _ in 0..PROBLEMS_MAX + 3 {
            findings.add(|| None, Error::Interrupted);
        }
        let problems = findings.into_problems();
        assert_eq!(problems.len(), PROBLEMS_MAX + 1);
        let last = problems.last().map(ToString::to_string);
        assert_eq!(last.as_deref(), Some("3 more problems are not listed"));
    }
}
