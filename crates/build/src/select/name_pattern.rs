//! A pattern for one name, in the dialects of mksquashfs and unsquashfs.

use regex::bytes::Regex;

use super::exclusions::Matching;
use super::posix;
use super::wildcard::{Dialect, Wildcard};
use crate::error::Error;

/// A pattern for one component of a path.
#[derive(Clone, Debug)]
pub struct NamePattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Wildcard(Wildcard),
    Regex(Regex),
}

impl NamePattern {
    /// Parses a pattern, which has no slash.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] or [`Error::Regex`] if it is no expression, or its groups are nested too
    /// deeply.
    pub fn parse(pattern: &[u8], matching: Matching) -> Result<Self, Error> {
        Ok(Self(match matching {
            Matching::Wildcards => Kind::Wildcard(Wildcard::parse(pattern, Dialect::Mksquashfs)?),
            Matching::Regex => Kind::Regex(posix::compile(pattern)?),
        }))
    }

    /// Whether a name matches: the whole of it with wildcards, any part of it with an expression.
    ///
    /// # Cost
    ///
    /// Length of the pattern times that of the name; wildcard groups within others multiply by the
    /// latter.
    pub fn matches(&self, name: &[u8]) -> bool {
        match &self.0 {
            Kind::Wildcard(wildcard) => wildcard.matches(name),
            Kind::Regex(regex) => regex.is_match(name),
        }
    }
}
