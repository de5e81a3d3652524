//! Flags that had another name, which is understood as before.
//!
//! A flag means one thing in every verb. Those that did not were renamed; clap knows the old names
//! as aliases, and does not say which one was typed.

use std::ffi::OsString;

use clap::ArgMatches;

/// A flag with a new name.
#[derive(Debug)]
pub(super) struct Renamed {
    /// The verb, with that which it stands below.
    pub(super) verb: &'static str,
    pub(super) old: &'static str,
    pub(super) new: &'static str,
}

/// All of them; a test compares them with the aliases.
pub(super) const RENAMED: [Renamed; 11] = [
    renamed("tune", "memory", "build-memory"),
    renamed("profile import", "device", "recorded-device"),
    renamed("run", "kernel", "kernel-mount"),
    renamed("prefetch", "memory", "max-read"),
    renamed("diff", "tree", "tree-only"),
    renamed("bench build", "blocks", "block-sizes"),
    renamed("bench boot", "ready", "ready-line"),
    renamed("bench boot", "memory", "guest-memory"),
    renamed("bench launch", "blocks", "block-sizes"),
    renamed("bench launch", "try", "from-source"),
    renamed("sqlite", "keep", "keep-old"),
];

const fn renamed(verb: &'static str, old: &'static str, new: &'static str) -> Renamed {
    Renamed { verb, old, new }
}

/// The verb of a command line, with that which it stands below: `bench boot`.
pub(super) fn verb_of(matches: &ArgMatches) -> String {
    let mut names = Vec::new();
    let mut matches = matches;
    while let Some((name, below)) = matches.subcommand() {
        names.push(name);
        matches = below;
    }
    names.join(" ")
}

/// What to say of the old names among the words of a command line.
pub(super) fn notes(verb: &str, words: &[OsString]) -> Vec<String> {
    let words = words.iter().take_while(|word| *word != "--");
    let typed: Vec<&str> = words
        .filter_map(|word| word.to_str()?.strip_prefix("--")?.split('=').next())
        .collect();
    let used = RENAMED
        .iter()
        .filter(|flag| flag.verb == verb && typed.contains(&flag.old));
    used.map(|Renamed { verb, old, new }| format!("`--{old}` of `{verb}` is now called `--{new}`"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_are_told_where_they_are_old() {
        let told = |verb: &str, words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            notes(verb, &words)
        };
        let note = "`--memory` of `tune` is now called `--build-memory`";
        for words in [&["tune", "--memory", "1G"][..], &["tune", "--memory=1G"]] {
            assert_eq!(told("tune", words), [note]);
        }
        for (verb, words) in [
            ("tune", &["tune", "--build-memory", "1G"][..]),
            ("tune", &["tune", "--", "--memory"]),
            ("build", &["build", "--memory", "1G"]),
        ] {
            assert_eq!(told(verb, words), [""; 0], "{words:?}");
        }
    }
}
