//! A pattern for a name or a whole path, in the dialect of who asks.

use coldpress_glob::Glob;
use regex::bytes::Regex;

use super::exclusions::Matching;
use super::posix;
use super::wildcard;
use crate::error::Error;

/// A pattern for a name or a path.
#[derive(Clone, Debug)]
pub struct Pattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Wildcard(Glob),
    Regex(Regex),
}

impl Pattern {
    /// Wildcards `*`, `?` and `[...]` that must match the whole of a text; they match slashes and
    /// leading dots, as those of `find -name` and `find -path`. Nothing matches a bracket that is
    /// not closed.
    pub fn glob(pattern: &[u8]) -> Self {
        Self(Kind::Wildcard(wildcard::git(pattern)))
    }

    /// An extended regular expression of POSIX that matches anywhere in a text.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] or [`Error::Regex`] if it is none, or has back references.
    pub fn regex(pattern: &[u8]) -> Result<Self, Error> {
        Ok(Self(Kind::Regex(posix::compile(pattern)?)))
    }

    /// One component of a path, without a slash, as mksquashfs and unsquashfs read it.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] or [`Error::Regex`] if it is no expression, or its groups are nested too
    /// deeply.
    pub fn name(pattern: &[u8], matching: Matching) -> Result<Self, Error> {
        match matching {
            Matching::Wildcards => {
                let wildcard = wildcard::mksquashfs(pattern)?;
                Ok(Self(Kind::Wildcard(wildcard)))
            }
            Matching::Regex => Self::regex(pattern),
        }
    }

    /// Whether a text matches: the whole of it with wildcards, any part of it with an expression.
    ///
    /// # Cost
    ///
    /// Linear in the text; for wildcards that of [`Glob::matches`].
    pub fn matches(&self, text: &[u8]) -> bool {
        match &self.0 {
            Kind::Wildcard(wildcard) => wildcard.matches(text),
            Kind::Regex(regex) => regex.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_whole_texts_and_expressions_a_part() {
        for (pattern, text, by_glob, by_regex) in [
            ("/usr/*.so", "/usr/lib/libc.so", true, false),
            ("/usr/*", "/usr/lib/.hidden", true, true),
            ("lib", "lib", true, true),
            ("lib", "libc", false, true),
            ("^.usr.*so$", "/usr/lib/libc.so", false, true),
            ("[a-c]?", "b\n", true, true),
        ] {
            let glob = Pattern::glob(pattern.as_bytes());
            assert_eq!(glob.matches(text.as_bytes()), by_glob, "{pattern} {text}");
            let regex = Pattern::regex(pattern.as_bytes()).unwrap();
            assert_eq!(regex.matches(text.as_bytes()), by_regex, "{pattern} {text}");
        }
        assert!(Pattern::regex(b"(").is_err());
    }
}
