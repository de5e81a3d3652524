//! What mksquashfs's `-e` and `-ef` leave out, in its three dialects.
//!
//! With `-wildcards` and `-regex`, patterns are split at slashes, and each component is matched
//! with one name while the tree is descended: `a/b` excludes only the `b` of `a`. A pattern is
//! anchored at the root of the image unless it begins with `... `, which tries it in every
//! directory. Without these options a pattern names one file of the source, by path, and excludes
//! it wherever it is met: mksquashfs compares inodes, so that other names of a file go with it.
//!
//! Source: squashfs-tools 4.7.6, `USAGE-MKSQUASHFS` section 11, and what `mksquashfs.c` does. 4.5.1
//! differs in one thing: there, `... a/b` excludes every `a`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::check_length;
use super::pattern::Pattern;
use crate::error::Error;

/// Names that mksquashfs would leave out.
#[derive(Clone, Debug, Default)]
pub struct Exclusions {
    /// Device and inode numbers.
    inodes: BTreeSet<(u64, u64)>,
    /// Components that are tried in one directory. The first two are [`ANCHORED`] and [`FLOATING`].
    levels: Vec<Level>,
    /// The patterns as they were given.
    texts: Vec<Vec<u8>>,
}

type Level = Vec<Component>;

#[derive(Clone, Debug)]
struct Component {
    text: Vec<u8>,
    pattern: Pattern,
    /// The level for the entries of what it matches; `None` excludes that.
    below: Option<usize>,
    /// The index of the first pattern that ends here.
    ends: Option<usize>,
}

/// How the components of patterns are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// `-wildcards`: shell wildcards with groups (`fnmatch(3)` of glibc, flags `FNM_PATHNAME`,
    /// `FNM_PERIOD`, `FNM_EXTMATCH`), of the whole name.
    Wildcards,
    /// `-regex`: POSIX extended regular expressions, anywhere in the name.
    Regex,
}

/// The level that is tried in the root directory.
const ANCHORED: usize = 0;
/// The level that is tried in every directory.
const FLOATING: usize = 1;

impl Exclusions {
    /// Excludes by path.
    ///
    /// A path that begins with `/`, `./` or `../` is one of the file system; any other is looked up
    /// in each of the `sources`. Returns also what could not be looked up, which mksquashfs ignores
    /// with a warning; paths that a source does not have are none of these.
    pub fn by_path(
        sources: &[PathBuf],
        paths: &[impl AsRef<[u8]>],
    ) -> (Self, Vec<(PathBuf, io::Error)>) {
        let mut exclusions = Self::default();
        let mut failures = Vec::new();
        for path in paths.iter().map(AsRef::as_ref) {
            let is_own = is_own_path(path);
            let path = Path::new(OsStr::from_bytes(path));
            let places = if is_own {
                vec![path.to_path_buf()]
            } else {
                sources.iter().map(|source| source.join(path)).collect()
            };
            for place in places {
                match fs::symlink_metadata(&place) {
                    Ok(metadata) => {
                        exclusions.inodes.insert((metadata.dev(), metadata.ino()));
                    }
                    Err(error) if !is_own && is_missing(&error) => {}
                    Err(error) => failures.push((place, error)),
                }
            }
        }
        (exclusions, failures)
    }

    /// Excludes by patterns.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] or [`Error::Regex`] if a pattern is empty, longer than 16 KiB, begins with
    /// `/`, `./` or `../`, or is no expression.
    pub fn by_pattern(patterns: &[impl AsRef<[u8]>], matching: Matching) -> Result<Self, Error> {
        let mut exclusions = Self::default();
        for pattern in patterns.iter().map(AsRef::as_ref) {
            exclusions.add(pattern, matching)?;
        }
        Ok(exclusions)
    }

    /// Excludes files by device and inode number.
    pub fn by_inode(inodes: impl IntoIterator<Item = (u64, u64)>) -> Self {
        Self {
            inodes: inodes.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The patterns as they were given.
    pub(super) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.texts.iter().map(Vec::as_slice)
    }

    /// Which patterns match an entry of the directory with these levels; of several that are
    /// equal the first.
    pub(super) fn matching(&self, levels: &[usize], name: &[u8]) -> impl Iterator<Item = usize> {
        let floating = (!self.levels.is_empty()).then_some(&FLOATING);
        let components = floating
            .into_iter()
            .chain(levels)
            .flat_map(|&level| &self.levels[level]);
        components
            .filter(|component| component.pattern.matches(name))
            .filter_map(|component| component.ends)
    }

    /// Whether nothing is excluded.
    pub fn is_empty(&self) -> bool {
        self.inodes.is_empty() && self.levels.is_empty()
    }

    /// The levels for the entries of the root directory.
    pub(super) fn root(&self) -> Vec<usize> {
        if self.levels.is_empty() {
            Vec::new()
        } else {
            vec![ANCHORED]
        }
    }

    /// The levels for what is below `name`; `None` if it is excluded.
    ///
    /// * `levels`: those of the directory that has it.
    pub(super) fn enter(&self, levels: &[usize], name: &[u8]) -> Option<Vec<usize>> {
        let mut below = Vec::new();
        let floating = (!self.levels.is_empty()).then_some(FLOATING);
        for &level in floating.iter().chain(levels) {
            for component in &self.levels[level] {
                if component.pattern.matches(name) {
                    below.push(component.below?);
                }
            }
        }
        Some(below)
    }

    /// Whether a file is excluded under any name.
    pub(super) fn has_inode(&self, inode: (u64, u64)) -> bool {
        !self.inodes.is_empty() && self.inodes.contains(&inode)
    }

    fn add(&mut self, pattern: &[u8], matching: Matching) -> Result<(), Error> {
        check_length("pattern", pattern)?;
        let wrong = |rule| Error::value("pattern", pattern, rule);
        if is_own_path(pattern) {
            return Err(wrong(
                "it begins with `/`, `./` or `../`, but is matched with paths in the image",
            ));
        }
        let (mut level, rest) = match pattern.strip_prefix(b"... ") {
            Some(rest) => (FLOATING, rest),
            None => (ANCHORED, pattern),
        };
        let components = rest.split(|&byte| byte == b'/');
        let mut components = components.filter(|text| !text.is_empty()).peekable();
        if components.peek().is_none() {
            return Err(wrong("it names nothing"));
        }
        if self.levels.is_empty() {
            self.levels = vec![Level::new(), Level::new()];
        }
        while let Some(text) = components.next() {
            let is_last = components.peek().is_none();
            let place = self.levels[level]
                .iter()
                .position(|known| known.text == text);
            let place = match place {
                Some(place) => place,
                None => self.add_component(level, text, matching, is_last)?,
            };
            let component = &mut self.levels[level][place];
            if is_last {
                component.below = None;
                component.ends.get_or_insert(self.texts.len());
            }
            match component.below {
                Some(below) => level = below,
                // All of it is excluded already.
                None => break,
            }
        }
        self.texts.push(pattern.to_vec());
        Ok(())
    }

    fn add_component(
        &mut self,
        level: usize,
        text: &[u8],
        matching: Matching,
        is_last: bool,
    ) -> Result<usize, Error> {
        let pattern = Pattern::name(text, matching)?;
        let below = (!is_last).then_some(self.levels.len());
        self.levels[level].push(Component {
            text: text.to_vec(),
            pattern,
            below,
            ends: None,
        });
        if !is_last {
            self.levels.push(Level::new());
        }
        Ok(self.levels[level].len() - 1)
    }
}

/// Whether mksquashfs takes a path as one of the file system, not of the sources.
fn is_own_path(path: &[u8]) -> bool {
    [&b"/"[..], b"./", b"../"]
        .iter()
        .any(|start| path.starts_with(start))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The exclusions of a file for `-ef`: one in each line, without white space before it. Lines
/// that are empty or begin with `#` are left out; a backslash at the beginning is dropped, for
/// names that begin with white space, `#` or a backslash.
pub fn exclude_file_lines(text: &[u8]) -> Vec<Vec<u8>> {
    let lines = text.split(|&byte| byte == b'\n').filter_map(|line| {
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t'..=b'\r');
        let line = &line[line.iter().take_while(is_space).count()..];
        if line.starts_with(b"#") {
            return None;
        }
        let line = line.strip_prefix(b"\\").unwrap_or(line);
        (!line.is_empty()).then(|| line.to_vec())
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a path is excluded, itself or with a directory above it.
    fn is_excluded(exclusions: &Exclusions, path: &str) -> bool {
        let mut levels = exclusions.root();
        for name in path.split('/') {
            match exclusions.enter(&levels, name.as_bytes()) {
                Some(below) => levels = below,
                None => return true,
            }
        }
        false
    }

    #[test]
    fn examples_of_the_manual_hold() {
        // Pattern, what it excludes, what it leaves.
        let cases: &[(&str, &[&str], &[&str])] = &[
            (
                "test/*.gz",
                &["test/a.gz"],
                &["a.gz", "x/test/a.gz", "test", "test/.a.gz"],
            ),
            (
                "*/[Tt]est/example*",
                &["x/test/example1", "y/Test/example"],
                &["test/example1", "x/y/test/example", "x/test"],
            ),
            (
                "test/!(*data*).gz",
                &["test/a.gz"],
                &["test/mydata.gz", "a.gz"],
            ),
            (
                "... *.gz",
                &["a.gz", "test/a.gz", "test/test/a.gz"],
                &["a.gzip"],
            ),
            (
                "... [Tt]est/*.gz",
                &["test/a.gz", "x/Test/a.gz", "test/test/a.gz"],
                &["a.gz", "x/a.gz"],
            ),
            (
                "... !(*data*).gz",
                &["a.gz", "x/a.gz"],
                &["data.gz", "x/data.gz"],
            ),
            ("a/b", &["a/b", "a/b/c"], &["a", "a/c", "c/a/b"]),
            ("... a/b", &["a/b", "c/a/b", "a/a/b"], &["a", "b", "c/a"]),
            ("a/", &["a"], &["b"]),
        ];
        for &(pattern, excluded, left) in cases {
            let exclusions = Exclusions::by_pattern(&[pattern], Matching::Wildcards).unwrap();
            for path in excluded {
                assert!(is_excluded(&exclusions, path), "{pattern} {path}");
            }
            for path in left {
                assert!(!is_excluded(&exclusions, path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn a_shorter_pattern_takes_the_longer_ones_in() {
        for patterns in [["a/b/c", "a/b"], ["a/b", "a/b/c"]] {
            let exclusions = Exclusions::by_pattern(&patterns, Matching::Wildcards).unwrap();
            assert!(is_excluded(&exclusions, "a/b"), "{patterns:?}");
            assert!(!is_excluded(&exclusions, "a"), "{patterns:?}");
        }
    }

    #[test]
    fn regular_expressions_match_anywhere_in_a_name() {
        let patterns = ["^a$/b", "... \\.gz$"];
        let exclusions = Exclusions::by_pattern(&patterns, Matching::Regex).unwrap();
        for (path, excluded) in [
            ("a/abba", true),
            ("aa/b", false),
            ("a/a", false),
            ("x/y.gz", true),
            ("x/ygz", false),
        ] {
            assert_eq!(is_excluded(&exclusions, path), excluded, "{path}");
        }
    }

    #[test]
    fn patterns_that_cannot_be_meant_are_refused() {
        for pattern in ["/a", "./a", "../a", "", "... ", "... /"] {
            let parsed = Exclusions::by_pattern(&[pattern], Matching::Wildcards);
            assert!(parsed.is_err(), "{pattern}");
        }
        assert!(Exclusions::by_pattern(&["a/(b"], Matching::Regex).is_err());
    }

    #[test]
    fn exclude_files_have_comments_and_escapes() {
        let text = b"a\n# no\n  \t b c \n\n   # no\n\\#x\n\\ y\n\\\\z\n\\\nlast";
        let expected: [&[u8]; 6] = [b"a", b"b c ", b"#x", b" y", b"\\z", b"last"];
        assert_eq!(exclude_file_lines(text), expected);
    }
}
