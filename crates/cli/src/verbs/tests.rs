//! What holds for the whole command line.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, Command, CommandFactory as _};

use super::Cli;
use super::renamed::RENAMED;

/// Flags whose help differs from verb to verb: a word that each has, because each means it.
///
/// A name that is not here has the same help, and the same name of its value, in every verb.
const MEANINGS: [(&str, &[&str]); 40] = [
    ("align", &["same byte as in old", "align the data"]),
    ("all", &["all", "every"]),
    ("block-size", &["bytes of a data block"]),
    ("block-sizes", &["block sizes"]),
    ("compressors", &["compressors"]),
    ("device", &["medium", "device of `coldpress press`"]),
    ("exclude-syntax", &["patterns to exclude"]),
    ("fail-stale", &["percentage of the profile is stale"]),
    ("for", &["seconds"]),
    ("format", &["format"]),
    ("from", &["format"]),
    ("image", &["image"]),
    ("include", &["what matches even if it is excluded"]),
    ("json", &["json"]),
    ("min-share", &["leave out what a smaller share"]),
    ("no-xattrs", &["extended attributes"]),
    ("offset", &["the image", "its image"]),
    ("output", &["write", "archive"]),
    ("plan", &["order the image by this plan"]),
    ("plan-out", &["write the plan"]),
    ("profile", &["profile"]),
    (
        "readahead",
        &["reads ahead in the mount", "readaheads of the mount"],
    ),
    ("roothash", &["root hash"]),
    ("runs", &["starts", "recordings", "boots", "how often"]),
    ("samples", &["sample", "studies in this file"]),
    ("source", &["directory"]),
    ("store", &["to store uncompressed"]),
    ("systemd", &["a systemd unit"]),
    ("tails", &["tail ends that share blocks"]),
    ("target", &["will be read"]),
    ("threads", &["threads"]),
    ("timeout", &["seconds after which"]),
    ("top", &["files"]),
    ("trace", &["trace"]),
    ("trace-out", &["write the trace of"]),
    ("tree", &["the directory or image that"]),
    ("verity", &["hash tree"]),
    ("work-dir", &["directory for temporary images"]),
    ("verify", &["back and compare"]),
    ("xattr-include", &["extended attributes whose names match"]),
];

/// Flags whose value is called after what it is in each verb.
///
/// * `output`: what the verb writes, an image, a trace or a plan.
/// * `image`, `source`, `threads`: one of them, or several, or only a directory.
/// * `roothash`: a file that is written, or the digits themselves.
/// * `target`: only `doctor` lists all.
const NAMED_BY_VERB: [&str; 6] = ["output", "image", "source", "threads", "target", "roothash"];

/// Flags that have no common meaning and may: the tests of `find` are those of find(1).
const OF_FIND: &str = "find";

/// A flag of a verb.
struct Flag {
    /// The verb, with that which it stands below.
    verb: String,
    /// What its value is called; empty for a switch.
    value: String,
    /// The first sentence of its help, without what is the default.
    help: String,
}

impl Flag {
    fn new(verb: &str, arg: &Arg) -> Self {
        let takes_value = arg.get_action().takes_values();
        let names = arg.get_value_names().filter(|_| takes_value);
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.split(" [default").next().unwrap_or_default();
        Self {
            verb: verb.to_owned(),
            value: names.unwrap_or_default().join(" "),
            help: help.to_lowercase(),
        }
    }

    fn text(&self) -> String {
        format!("{} <{}>: {}", self.verb, self.value, self.help)
    }
}

/// Shows each flag of the command line with its verb, those of nested verbs and hidden ones too.
fn visit(command: &Command, verb: &str, visit_flag: &mut dyn FnMut(&str, &Arg)) {
    for arg in command.get_arguments() {
        visit_flag(verb, arg);
    }
    for below in command.get_subcommands() {
        let verb = format!("{verb} {}", below.get_name());
        visit(below, verb.trim(), visit_flag);
    }
}

#[test]
fn the_command_line_has_no_contradictions() {
    Cli::command().debug_assert();
}

#[test]
fn a_flag_means_one_thing_in_every_verb() {
    let mut flags: BTreeMap<String, Vec<Flag>> = BTreeMap::new();
    visit(&Cli::command(), "", &mut |verb, arg| {
        if let Some(name) = arg.get_long().filter(|_| verb != OF_FIND) {
            let same = flags.entry(name.to_owned()).or_default();
            same.push(Flag::new(verb, arg));
        }
    });
    for (name, same) in &flags {
        let values: BTreeSet<&str> = same.iter().map(|flag| flag.value.as_str()).collect();
        let is_switch = values.contains("");
        let differs = values.len() > 1 && (is_switch || !NAMED_BY_VERB.contains(&name.as_str()));
        let listed: Vec<String> = same.iter().map(Flag::text).collect();
        assert!(!differs, "--{name} takes {values:?}: {listed:#?}");
        let meaning = MEANINGS.iter().find(|(other, _)| other == name);
        let fits = |flag: &Flag| match meaning {
            Some((_, words)) => words.iter().any(|word| flag.help.contains(word)),
            None => flag.help == same[0].help,
        };
        assert!(
            same.iter().all(fits),
            "--{name} means several things: {listed:#?}"
        );
    }
}

#[test]
fn old_names_are_aliases_and_all_aliases_are_old_names() {
    let mut aliases = BTreeSet::new();
    visit(&Cli::command(), "", &mut |verb, arg| {
        let new = arg.get_long().unwrap_or_default();
        let old = arg.get_all_aliases().unwrap_or_default();
        aliases.extend(old.iter().map(|old| format!("{verb} {old} {new}")));
    });
    let renamed = RENAMED.map(|flag| format!("{} {} {}", flag.verb, flag.old, flag.new));
    assert_eq!(aliases, BTreeSet::from(renamed));
}
