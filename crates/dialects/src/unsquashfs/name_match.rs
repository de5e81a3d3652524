//! Components of paths and patterns.

use coldpress_writer::{Matching, Pattern};

use super::request::Patterns;

/// One component of a path that is compared with names.
#[derive(Clone, Debug)]
pub(crate) enum NameMatch {
    Name(Vec<u8>),
    Pattern(Pattern),
}

impl NameMatch {
    /// Reads a component.
    ///
    /// # Errors
    ///
    /// If it is a regular expression that is none.
    pub(crate) fn parse(text: &[u8], patterns: Patterns) -> anyhow::Result<Self> {
        let matching = match patterns {
            Patterns::Names => return Ok(Self::Name(text.to_vec())),
            Patterns::Wildcards => Matching::Wildcards,
            Patterns::Regex => Matching::Regex,
        };
        Ok(Self::Pattern(Pattern::name(text, matching)?))
    }

    /// Whether a name is meant.
    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Name(own) => own == name,
            Self::Pattern(pattern) => pattern.matches(name),
        }
    }
}
