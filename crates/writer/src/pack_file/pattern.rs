//! Patterns of `glob` lines, as `fnmatch` of POSIX defines them for bytes.

use coldpress_glob::{Glob, Options};

use super::entry::PackPattern;

const OPTIONS: Options = Options {
    crosses_slashes: false,
    matches_leading_dots: true,
    has_literal_brackets: true,
};

/// A pattern, ready to be matched.
pub(super) struct Matcher {
    glob: Glob,
    /// Whether it is matched with the last name of a path.
    is_of_name: bool,
}

impl Matcher {
    pub(super) fn new(pattern: &PackPattern) -> Self {
        let (pattern, is_of_name) = match pattern {
            PackPattern::Name(pattern) => (pattern, true),
            PackPattern::Path(pattern) => (pattern, false),
        };
        Self {
            glob: Glob::new(pattern, OPTIONS),
            is_of_name,
        }
    }

    /// Whether a file of this path in the image, without its first slash, is meant.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let mut names = path.rsplit(|&byte| byte == b'/');
        let name = names.next().filter(|_| self.is_of_name);
        self.glob.matches(name.unwrap_or(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slashes_match_slashes_of_paths() {
        let cases = [
            ("lib/*.so", "lib/a.so", true),
            ("lib/*", "lib/a/b", false),
            ("*", "lib/a", false),
            ("*/?/b", "lib/a/b", true),
            ("lib[/]a", "lib/a", false),
        ];
        for (pattern, path, expected) in cases {
            let matcher = Matcher::new(&PackPattern::Path(pattern.into()));
            assert_eq!(
                matcher.matches(path.as_bytes()),
                expected,
                "{pattern:?} {path}"
            );
        }
        let matcher = Matcher::new(&PackPattern::Name(b"b*".into()));
        assert!(matcher.matches(b"lib/bc"));
    }
}
