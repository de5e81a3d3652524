//! Wildcards for one name, in the dialect of who asks.

use coldpress_glob::{Glob, Options};

use crate::error::Error;

/// Wildcards of `.gitignore`: no groups, dots are nothing special, a bracket that is not closed
/// matches nothing.
pub(super) fn git(pattern: &[u8]) -> Glob {
    let options = Options {
        crosses_slashes: true,
        matches_leading_dots: true,
        has_literal_brackets: false,
    };
    Glob::new(pattern, options)
}

/// Wildcards of mksquashfs's `-wildcards`: `FNM_PATHNAME | FNM_PERIOD | FNM_EXTMATCH` of glibc. A
/// dot at the beginning of a name must be written, there are groups, and a bracket that is not
/// closed is itself.
///
/// # Errors
///
/// [`Error::Value`] if there are too many groups, or they are nested too deeply.
pub(super) fn mksquashfs(pattern: &[u8]) -> Result<Glob, Error> {
    let options = Options {
        crosses_slashes: false,
        matches_leading_dots: false,
        has_literal_brackets: true,
    };
    Glob::with_groups(pattern, options)
        .map_err(|error| Error::value("pattern", pattern, error.rule()))
}
