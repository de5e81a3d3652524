//! What is wrong with an image, or only unusual, and where.

use std::fmt;

use coldpress_format::{Corrupt, Part, Rule};

use crate::error::{Error, PathText};

/// The most errors, and the most notices, that are listed; a last one tells how many more there
/// are.
pub const PROBLEMS_MAX: usize = 10_000;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A reader fails, or reads something wrong.
    Error,
    /// The format allows it, but writers do not do it: the image was made or changed in an unusual
    /// way.
    Notice,
}

/// Something that is wrong with an image.
#[derive(Debug)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The path that it was found at; very long ones begin with `...`.
    pub path: Option<Vec<u8>>,
    /// What is wrong.
    pub error: Error,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.severity == Severity::Notice {
            write!(formatter, "notice: ")?;
        }
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

/// Problems found so far, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Vec<Problem>,
    errors: Count,
    notices: Count,
}

#[derive(Debug, Default)]
struct Count {
    listed: usize,
    not_listed: u64,
}

impl Findings {
    /// How many errors there are, listed or not.
    pub(crate) fn error_count(&self) -> u64 {
        self.errors.not_listed + self.errors.listed as u64
    }

    /// Adds a problem; its path is made only if it is listed.
    pub(crate) fn add(
        &mut self,
        severity: Severity,
        path: impl FnOnce() -> Option<Vec<u8>>,
        error: impl Into<Error>,
    ) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Notice => &mut self.notices,
        };
        if count.listed == PROBLEMS_MAX {
            count.not_listed += 1;
            return;
        }
        count.listed += 1;
        self.problems.push(Problem {
            severity,
            path: path(),
            error: error.into(),
        });
    }

    /// Adds an error of the image as a whole.
    pub(crate) fn error(&mut self, error: impl Into<Error>) {
        self.add(Severity::Error, || None, error);
    }

    /// Adds a notice of the image as a whole.
    pub(crate) fn notice(&mut self, (part, start): (Part, u64), rule: Rule) {
        let corrupt = Corrupt::new(part, start, rule);
        self.add(Severity::Notice, || None, corrupt);
    }

    /// Adds an error of the image as a whole if a rule is broken.
    pub(crate) fn expect(&mut self, checked: Result<(), Corrupt>) {
        if let Err(corrupt) = checked {
            self.error(corrupt);
        }
    }

    /// Adds a notice of the image as a whole unless `found` is `usual`.
    pub(crate) fn expect_usual(
        &mut self,
        at: (Part, u64),
        field: &'static str,
        found: u64,
        usual: u64,
    ) {
        if let Err(corrupt) = expect_usual(at, field, found, usual) {
            self.add(Severity::Notice, || None, corrupt);
        }
    }

    /// All problems in the order in which they were found.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems;
        for (severity, counted) in [
            (Severity::Error, self.errors),
            (Severity::Notice, self.notices),
        ] {
            let count = counted.not_listed;
            if count > 0 {
                let (path, error) = (None, Error::NotListed { count });
                problems.push(Problem {
                    severity,
                    path,
                    error,
                });
            }
        }
        problems
    }
}

/// Fails unless `found` is `expected`.
pub(crate) fn equal(
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

/// Fails unless `found` lies between two bounds, both included.
pub(crate) fn within(
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

/// Fails, for a notice, unless `found` is `usual`.
pub(crate) fn expect_usual(
    (part, start): (Part, u64),
    field: &'static str,
    found: u64,
    usual: u64,
) -> Result<(), Corrupt> {
    if found == usual {
        return Ok(());
    }
    let rule = Rule::Unusual {
        field,
        found,
        usual,
    };
    Err(Corrupt::new(part, start, rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_over_the_limit_are_counted() {
        let mut findings = Findings::default();
        for severity in [Severity::Error, Severity::Notice] {
            for _ in 0..PROBLEMS_MAX + 3 {
                findings.add(severity, || None, Error::Interrupted);
            }
        }
        let problems = findings.into_problems();
        assert_eq!(problems.len(), 2 * PROBLEMS_MAX + 2);
        let texts = problems.iter().rev().take(2).map(ToString::to_string);
        assert_eq!(
            texts.collect::<Vec<_>>(),
            [
                "notice: 3 more problems are not listed",
                "3 more problems are not listed"
            ]
        );
    }
}
