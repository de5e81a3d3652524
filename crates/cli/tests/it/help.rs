//! Help is read before anything else: every page is kept as a snapshot and reviewed as a diff.

use crate::run::done;

/// Those of coldpress itself.
pub(crate) const VERBS: &[&str] = &[
    "press",
    "retrofit",
    "tune",
    "record",
    "explain",
    "predict",
    "build",
    "plan",
    "profile",
    "variants",
    "pick",
    "extract",
    "tar",
    "ls",
    "tree",
    "find",
    "stat",
    "cat",
    "info",
    "mount",
    "run",
    "prefetch",
    "readahead",
    "hooks",
    "check",
    "verity",
    "doctor",
    "dump",
    "diff",
    "identify",
    "inspect",
    "push",
    "cache",
    "resquash",
    "bench",
    "calibrate",
    "history",
    "timings",
    "report",
    "extents",
    "defrag",
    "sqlite",
    "jar",
    "man",
    "completions",
];
/// Lines and columns of a terminal that is not the smallest.
const SCREEN: (usize, usize) = (40, 100);
/// The overview has a line for each verb.
const OVERVIEW_LINES: usize = 60;

#[test]
fn short_help_of_every_verb_is_as_reviewed_and_fits_a_screen() {
    let pages = VERBS.iter().map(|verb| (*verb, done([verb, "-h"]).text()));
    for (name, text) in [("coldpress", done(["-h"]).text())]
        .into_iter()
        .chain(pages)
    {
        let lines = if name == "coldpress" {
            OVERVIEW_LINES
        } else {
            SCREEN.0
        };
        assert!(
            text.lines().count() <= lines,
            "{name} -h has {} lines",
            text.lines().count()
        );
        let longest = text.lines().map(str::len).max().unwrap_or(0);
        assert!(
            longest <= SCREEN.1,
            "{name} -h has a line of {longest} columns"
        );
        insta::assert_snapshot!(format!("{name}_short"), text);
    }
}

#[test]
fn long_help_of_every_verb_is_as_reviewed_and_has_an_example() {
    insta::assert_snapshot!("coldpress_long", done(["--help"]).text());
    for verb in VERBS {
        let text = done([verb, "--help"]).text();
        assert!(
            text.contains(&format!("Example:\n  coldpress {verb} ")),
            "{verb}"
        );
        insta::assert_snapshot!(format!("{verb}_long"), text);
    }
}

#[test]
fn long_help_of_the_verbs_of_plan_is_as_reviewed() {
    for verb in ["convert", "lint"] {
        let text = done(["plan", verb, "--help"]).text();
        assert!(
            text.contains(&format!("Example:\n  coldpress plan {verb} ")),
            "{verb}"
        );
        insta::assert_snapshot!(format!("plan_{verb}_long"), text);
    }
}

#[test]
fn long_help_of_the_verbs_of_profile_is_as_reviewed() {
    for verb in ["merge", "show", "check", "plan"] {
        let text = done(["profile", verb, "--help"]).text();
        assert!(
            text.contains(&format!("Example:\n  coldpress profile {verb} ")),
            "{verb}"
        );
        insta::assert_snapshot!(format!("profile_{verb}_long"), text);
    }
}

#[test]
fn long_help_of_the_verbs_of_bench_and_history_is_as_reviewed() {
    let pages = [
        ("bench", &["boot", "build", "compare", "launch"][..]),
        ("history", &["list", "show", "export", "import", "forget"]),
    ];
    for (verb, inner) in pages
        .iter()
        .flat_map(|(verb, inner)| inner.iter().map(move |it| (verb, it)))
    {
        let text = done([verb, inner, "--help"]).text();
        assert!(
            text.contains(&format!("Example:\n  coldpress {verb} {inner} ")),
            "{verb} {inner}"
        );
        insta::assert_snapshot!(format!("{verb}_{inner}_long"), text);
    }
}

#[test]
fn a_flag_has_the_same_short_form_and_value_in_every_verb() {
    let mut seen = std::collections::BTreeMap::new();
    for verb in VERBS {
        for line in done([verb, "-h"])
            .text()
            .lines()
            .filter(|line| line.contains("  --") || line.contains(", --"))
        {
            // `  -j, --threads <N>   what it is`
            let flag = line.trim_start().split("  ").next().unwrap().to_owned();
            let long = flag
                .split("--")
                .nth(1)
                .unwrap()
                .split(' ')
                .next()
                .unwrap()
                .to_owned();
            // `-o` names what the verb writes.
            if long == "output" {
                continue;
            }
            let (first_verb, first) = seen.entry(long).or_insert_with(|| (verb, flag.clone()));
            assert_eq!(*first, flag, "in {first_verb} and in {verb}");
        }
    }
    assert!(seen.len() > 20, "{seen:?}");
}
