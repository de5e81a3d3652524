//! Patterns as in `.gitignore` files.
//!
//! A pattern without a slash, or with one only at its end, is tried in every directory; any other
//! is anchored. `**` stands for any directories, a slash at the end for directories only, and `!`
//! at the beginning turns the meaning round. The last pattern that matches decides.
//!
//! Patterns are matched component by component during the descent: [`Progress`] is how far each has
//! come at one directory.
//!
//! Source: gitignore(5), and git's `dir.c` for what it leaves open.

use coldpress_glob::Glob;

use super::check_length;
use super::wildcard;
use crate::error::Error;

/// A list of patterns.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    text: Vec<u8>,
    steps: Vec<Step>,
    is_negated: bool,
    directories_only: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// One name.
    Name(Glob),
    /// `**`: any number of directories.
    Any,
}

/// How far patterns have come at a directory: rule and step, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress(Vec<(usize, usize)>);

impl Progress {
    /// Whether nothing below can match.
    pub(super) fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

impl Rules {
    /// Adds the patterns of a file: one in each line, comments begin with `#`.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] never for what git accepts, only if a pattern is longer than 16 KiB.
    pub fn add_file(&mut self, text: &[u8]) -> Result<(), Error> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        for line in text.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.starts_with(b"#") {
                self.add(line)?;
            }
        }
        Ok(())
    }

    /// Adds one pattern; an empty one changes nothing.
    ///
    /// # Errors
    ///
    /// As [`Rules::add_file`].
    pub fn add(&mut self, pattern: &[u8]) -> Result<(), Error> {
        check_length("pattern", pattern)?;
        let text = pattern;
        let is_negated = pattern.starts_with(b"!");
        let pattern = trim_end(&pattern[usize::from(is_negated)..]);
        let (pattern, directories_only) = match pattern.strip_suffix(b"/") {
            Some(pattern) => (pattern, true),
            None => (pattern, false),
        };
        if pattern.is_empty() {
            return Ok(());
        }
        let mut steps = Vec::new();
        if !pattern.contains(&b'/') {
            steps.push(Step::Any);
        }
        let is_anchored = steps.is_empty();
        let pattern = pattern.strip_prefix(b"/").unwrap_or(pattern);
        for component in pattern.split(|&byte| byte == b'/') {
            if component == b"**" && is_anchored {
                if steps.last() != Some(&Step::Any) {
                    steps.push(Step::Any);
                }
            } else {
                steps.push(Step::Name(wildcard::git(component)));
            }
        }
        // What is below, not the directory itself.
        if steps.last() == Some(&Step::Any) {
            steps.push(Step::Name(wildcard::git(b"*")));
        }
        steps.shrink_to_fit();
        self.rules.push(Rule {
            text: text.to_vec(),
            steps,
            is_negated,
            directories_only,
        });
        Ok(())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The patterns as they were given.
    pub(super) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.rules.iter().map(|rule| rule.text.as_slice())
    }

    /// Which patterns match an entry, whether or not another has the last word.
    pub(super) fn matching(
        &self,
        progress: &Progress,
        name: &[u8],
        is_directory: bool,
    ) -> impl Iterator<Item = usize> {
        let matches = move |&(index, step): &(usize, usize)| {
            let rule = &self.rules[index];
            let step = step + usize::from(rule.steps[step] == Step::Any);
            step + 1 == rule.steps.len()
                && (is_directory || !rule.directories_only)
                && matches!(&rule.steps[step], Step::Name(wildcard) if wildcard.matches(name))
        };
        let places = progress.0.iter().copied().filter(matches);
        places.map(|(index, _)| index)
    }

    /// The progress at the directory in which the patterns are anchored.
    pub(super) fn start(&self) -> Progress {
        Progress((0..self.rules.len()).map(|rule| (rule, 0)).collect())
    }

    /// What the patterns say of an entry of the directory that has `progress`: `Some(true)` if it
    /// matches, `Some(false)` if a negated pattern does; and the progress at that entry.
    pub(super) fn enter(
        &self,
        progress: &Progress,
        name: &[u8],
        is_directory: bool,
    ) -> (Option<bool>, Progress) {
        let mut decision = None;
        let mut below = Vec::new();
        for &(index, step) in &progress.0 {
            let rule = &self.rules[index];
            let mut step = step;
            if rule.steps[step] == Step::Any {
                below.push((index, step));
                step += 1;
            }
            let Step::Name(wildcard) = &rule.steps[step] else {
                unreachable!("a name follows `**`");
            };
            if !wildcard.matches(name) {
                continue;
            }
            if step + 1 < rule.steps.len() {
                below.push((index, step + 1));
            } else if is_directory || !rule.directories_only {
                decision = Some(!rule.is_negated);
            }
        }
        if !is_directory {
            below.clear();
        }
        // `**` is reached both from itself and from the name before it.
        below.sort_unstable();
        below.dedup();
        (decision, Progress(below))
    }
}

/// Without spaces at the end, unless a backslash stands before them.
fn trim_end(mut pattern: &[u8]) -> &[u8] {
    while let Some(shorter) = pattern.strip_suffix(b" ") {
        let backslashes = shorter
            .iter()
            .rev()
            .take_while(|&&byte| byte == b'\\')
            .count();
        if backslashes % 2 == 1 {
            break;
        }
        pattern = shorter;
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the rules say of a path, which is a directory if it ends with a slash.
    fn decide(rules: &Rules, path: &str) -> Option<bool> {
        let is_directory = path.ends_with('/');
        let names: Vec<_> = path.trim_end_matches('/').split('/').collect();
        let mut progress = rules.start();
        let mut decision = None;
        for (index, name) in names.iter().enumerate() {
            let is_directory = is_directory || index + 1 < names.len();
            (decision, progress) = rules.enter(&progress, name.as_bytes(), is_directory);
        }
        decision
    }

    #[test]
    fn patterns_match_as_git_says() {
        // Patterns, what they match themselves, what not.
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("a", &["a", "x/a", "x/y/a/"], &["ab", "a/b"]),
            ("/a", &["a"], &["x/a"]),
            ("a/b", &["a/b"], &["x/a/b"]),
            ("a/", &["a/", "x/a/"], &["a", "x/a"]),
            ("*.o", &["x.o", ".o", "a/b.o"], &["o"]),
            ("**/a/b", &["a/b", "x/y/a/b"], &["b"]),
            ("a/**", &["a/b", "a/b/c"], &["a", "a/"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["a", "x/a/b"]),
            ("/**", &["a", "a/b"], &[]),
            ("**", &["a", "a/b"], &[]),
            ("a**b", &["ab", "axb", "x/axb"], &["a/b"]),
            ("/a/*/c", &["a/b/c"], &["a/c", "a/b/b/c"]),
            ("\\!a", &["!a"], &["a"]),
            ("\\#a", &["#a"], &[]),
            ("a\\ ", &["a "], &["a"]),
            ("a  ", &["a"], &["a  "]),
            ("[ab", &[], &["[ab", "a"]),
            ("#a", &[], &["#a", "a"]),
        ];
        for &(pattern, matched, other) in cases {
            let mut rules = Rules::default();
            rules.add_file(pattern.as_bytes()).unwrap();
            for path in matched {
                assert_eq!(decide(&rules, path), Some(true), "{pattern} {path}");
            }
            for path in other {
                assert_eq!(decide(&rules, path), None, "{pattern} {path}");
            }
        }
    }

    #[test]
    fn the_last_pattern_that_matches_decides() {
        let mut rules = Rules::default();
        rules.add_file(b"*.o\n!keep.o\n/x/keep.o\r\n\n").unwrap();
        assert_eq!(decide(&rules, "a.o"), Some(true));
        assert_eq!(decide(&rules, "keep.o"), Some(false));
        assert_eq!(decide(&rules, "x/keep.o"), Some(true));
        assert_eq!(decide(&rules, "a.c"), None);
    }
}
