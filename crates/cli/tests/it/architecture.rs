//! ARCHITECTURE.md says which crate may use which; `cargo metadata` says which does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::run::{program, repository};

const PREFIX: &str = "coldpress-";

/// Rows of the table `crate | is | may use | invariant`: crate to the crates that it may use.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim().trim_start_matches('|').trim_end_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = text.lines().skip_while(|line| {
        !line.starts_with('|') || cells(line) != ["crate", "is", "may use", "invariant"]
    });
    lines
        .next()
        .expect("ARCHITECTURE.md has no table `crate | is | may use | invariant`");
    lines.next().expect("the table has no rows");
    lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let row = cells(line);
            (
                name(&row[0]),
                row[2]
                    .split(',')
                    .map(name)
                    .filter(|name| !name.is_empty())
                    .collect(),
            )
        })
        .collect()
}

/// A crate as the table names it, without backticks and prefix; `-` and `nothing` are no crate.
fn name(cell: &str) -> String {
    let name = cell.trim().trim_matches('`').trim_start_matches(PREFIX);
    if ["-", "nothing"].contains(&name) {
        String::new()
    } else {
        name.to_owned()
    }
}

/// Crates of the workspace as `cargo metadata` describes them.
pub(crate) fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]);
    let metadata = program(cargo.current_dir(repository())).json();
    metadata["packages"].as_array().unwrap().clone()
}

/// Crates of the workspace: crate to the crates of the workspace that it depends on.
fn actual() -> BTreeMap<String, BTreeSet<String>> {
    packages()
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap();
            // Tests may use what they like.
            let normal = dependencies
                .iter()
                .filter(|dependency| dependency["kind"].is_null());
            let names = normal.filter_map(|dependency| dependency["name"].as_str());
            let inner = names
                .filter_map(|name| name.strip_prefix(PREFIX))
                .map(str::to_owned);
            (name(package["name"].as_str().unwrap()), inner.collect())
        })
        .collect()
}

#[test]
fn crates_use_only_what_the_architecture_lets_them() {
    let (documented, actual) = (documented(), actual());
    assert_eq!(
        documented.keys().collect::<Vec<_>>(),
        actual.keys().collect::<Vec<_>>(),
        "ARCHITECTURE.md and the workspace name different crates"
    );
    for (name, used) in &actual {
        let mut allowed = documented[name].clone();
        if allowed.remove("all") {
            allowed.extend(actual.keys().cloned());
        }
        let unknown: Vec<_> = allowed
            .difference(&actual.keys().cloned().collect())
            .cloned()
            .collect();
        assert!(
            unknown.is_empty(),
            "the row of {name} names unknown crates: {unknown:?}"
        );
        let forbidden: Vec<_> = used.difference(&allowed).collect();
        assert!(
            forbidden.is_empty(),
            "{name} uses {forbidden:?}; ARCHITECTURE.md forbids it"
        );
    }
}
