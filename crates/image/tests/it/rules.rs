//! Every rule of the format that is checked, broken alone.
//!
//! docs/check.md has the same rules in its tables, and a test compares them.

mod cases;

use std::fs;
use std::path::Path;

use coldpress_image::{Image, Severity};

use crate::defects::found;
use crate::handmade::{self, Handmade};

/// A rule, and how to break it.
pub(crate) struct Case {
    /// What docs/check.md calls it.
    pub(crate) rule: &'static str,
    pub(crate) severity: Severity,
    /// What the problem says.
    pub(crate) text: &'static str,
    pub(crate) image: fn() -> Vec<u8>,
}

/// Rules whose tests stand beside the code that checks them.
const ELSEWHERE: [(&str, Severity); 1] = [("directory index", Severity::Error)];

/// What opening and checking an image finds.
fn problems(bytes: Vec<u8>) -> Vec<(Severity, String)> {
    match Image::new_damaged(Box::new(bytes)) {
        Err(error) => vec![(Severity::Error, error.to_string())],
        Ok((image, errors)) => {
            let errors = errors.into_iter();
            let mut problems: Vec<_> = errors
                .map(|error| (Severity::Error, error.to_string()))
                .collect();
            let found = found(&image).into_iter();
            problems.extend(found.map(|problem| (problem.severity, problem.to_string())));
            problems
        }
    }
}

#[test]
fn a_broken_rule_is_found_and_as_severe_as_stated() {
    for case in cases::all() {
        let problems = problems((case.image)());
        let is_it = |(severity, text): &(Severity, String)| {
            *severity == case.severity && text.contains(case.text)
        };
        assert!(problems.iter().any(is_it), "{}: {problems:#?}", case.rule);
        if case.severity == Severity::Notice {
            let errors = problems
                .iter()
                .filter(|(severity, _)| *severity == Severity::Error);
            let errors: Vec<_> = errors.collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", case.rule);
        }
    }
}

/// The rules that the tables of docs/check.md state, with their severity.
fn documented() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/check.md");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = rows.map(|row| row.trim_end_matches(" |").split(" | ").collect::<Vec<_>>());
    let rules = cells.filter(|cells| cells.len() == 3 && matches!(cells[1], "error" | "notice"));
    let mut rules: Vec<_> = rules
        .map(|cells| (cells[0].to_owned(), cells[1].to_owned()))
        .collect();
    rules.sort();
    rules
}

#[test]
fn the_document_has_the_rules_that_are_tested() {
    let severity = |severity| match severity {
        Severity::Error => "error".to_owned(),
        Severity::Notice => "notice".to_owned(),
    };
    let cases = cases::all().map(|case| (case.rule, case.severity));
    let mut tested: Vec<_> = cases
        .chain(ELSEWHERE)
        .map(|(rule, found)| (rule.to_owned(), severity(found)))
        .collect();
    tested.sort();
    tested.dedup();
    assert_eq!(documented(), tested);
}

/// Damage does not hide what is beside it.
#[test]
fn all_problems_are_found_at_once() {
    let handmade = handmade::image(false);
    let Handmade {
        mut bytes,
        inode_at,
        listing_at,
        ..
    } = handmade;
    // The type of `/fifo`, the mode of `/link`, the name of `/dir`, and a block of `/dir/file`.
    bytes[inode_at[4]] = 99;
    bytes[inode_at[5] + 3] |= 0x80;
    bytes[listing_at + 12 + 8] = b'/';
    bytes[inode_at[2] + 35] = 0xff;
    let problems = problems(bytes);
    for text in [
        "`/fifo`: inode at byte",
        "`/link`: inode at byte",
        "`/`: directory entry at byte",
        "`//ir/file`: inode at byte",
    ] {
        let is_it = |(severity, found): &(Severity, String)| {
            *severity == Severity::Error && found.contains(text)
        };
        assert!(problems.iter().any(is_it), "{text}: {problems:#?}");
    }
}

/// What a damaged listing named is found in the inode table.
#[test]
fn inodes_behind_a_damaged_listing_are_found_in_the_inode_table() {
    let handmade = handmade::image(false);
    let mut bytes = handmade.bytes;
    // The size of the name of `/fifo`, the second entry: 12 bytes of header, 11 of `dir`.
    bytes[handmade.listing_at + 12 + 11 + 6] = 0xff;
    bytes[handmade.listing_at + 12 + 11 + 7] = 0xff;
    let problems = problems(bytes);
    for text in [
        "`/`: directory entry at byte",
        "no directory names inode 5",
        "no directory names inode 6",
        "no directory names inode 7",
        "no directory names inode 8",
    ] {
        assert!(
            problems.iter().any(|(_, found)| found.contains(text)),
            "{text}: {problems:#?}"
        );
    }
}
