//! ARCHITECTURE.md says which crate may use which; `cargo metadata` says which does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
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

/// Lines of a source file; what is longer has more than one noun.
const LINES_MAX: usize = 400;

/// Rust files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The paths of a `use` tree without its braces: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((stem, rest)) = tree.split_once('{') else {
        return vec![tree.to_owned()];
    };
    let inner = rest.strip_suffix('}').expect("braces of a tree are closed");
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts
        .flat_map(leaves)
        .map(|leaf| format!("{stem}{leaf}"))
        .collect()
}

/// What a file uses of its crate: `session::ui::Ui` for `use crate::session::ui::Ui;`, and what
/// its code names by the whole path.
fn used(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut used = BTreeSet::new();
    let mut rest = code.as_str();
    while let Some((before, after)) = rest.split_once("crate::") {
        // `use crate::a::{b, c};` ends with a semicolon, a path in code with what is no part of it.
        let path: String = if before.trim_end().ends_with("use") {
            let tree = after.split(';').next().unwrap_or_default();
            tree.split_whitespace().collect()
        } else {
            let is_part = |c: &char| c.is_alphanumeric() || ['_', ':'].contains(c);
            after.chars().take_while(is_part).collect()
        };
        used.extend(leaves(&path));
        rest = after;
    }
    used
}

/// Modules of a folder of `cli`, each with those of the same folder that it uses.
///
/// * `folder`: as modules name it, such as `verbs`; empty for the whole crate.
fn modules(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let root = repository().join("crates/cli/src").join(folder);
    let prefix = if folder.is_empty() {
        String::new()
    } else {
        format!("{folder}::")
    };
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap().iter().next().unwrap();
        let module = inside.to_str().unwrap().trim_end_matches(".rs").to_owned();
        let uses = used(&fs::read_to_string(&path).unwrap());
        let others = uses.iter().filter_map(|used| {
            let other = used.strip_prefix(&prefix)?.split("::").next()?;
            (other != module).then(|| other.to_owned())
        });
        modules.entry(module.clone()).or_default().extend(others);
    }
    // What is no module is an item of the folder itself.
    let names: BTreeSet<String> = modules.keys().cloned().collect();
    for used in modules.values_mut() {
        used.retain(|name| names.contains(name));
    }
    modules
}

/// A way from a module to itself, if there is one.
fn cycle(modules: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut left = modules.clone();
    // What uses nothing that is left is in no cycle.
    while let Some(free) = left
        .iter()
        .find(|(_, used)| used.iter().all(|name| !left.contains_key(name)))
        .map(|(name, _)| name.clone())
    {
        left.remove(&free);
    }
    let mut way = vec![left.keys().next()?.clone()];
    loop {
        let next = left[way.last()?]
            .iter()
            .find(|name| left.contains_key(*name))?;
        if let Some(start) = way.iter().position(|name| name == next) {
            return Some(way.split_off(start));
        }
        way.push(next.clone());
    }
}

#[test]
fn modules_of_the_command_line_use_each_other_in_one_direction() {
    for folder in ["", "verbs", "flags"] {
        let found = cycle(&modules(folder));
        assert_eq!(found, None, "modules of `{folder}` use each other");
    }
    let modules = modules("");
    assert_eq!(modules["flags"], BTreeSet::new(), "flags use nothing");
    let mut others = modules.iter();
    let above = others.find(|(name, used)| *name != "main" && used.contains("verbs"));
    assert_eq!(above, None, "only `main` knows the verbs");
}

#[test]
fn no_source_file_is_long() {
    for path in sources(&repository().join("crates")) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let is_test = path
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        assert!(
            is_test || lines <= LINES_MAX,
            "{} has {lines} lines",
            path.display()
        );
    }
}

#[test]
fn cycles_and_paths_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in edges {
            graph.entry((*to).to_owned()).or_default();
            let used = graph.entry((*from).to_owned()).or_default();
            used.insert((*to).to_owned());
        }
        cycle(&graph)
    };
    assert_eq!(graph(&[("a", "b"), ("b", "c"), ("a", "c")]), None);
    let found = graph(&[("a", "b"), ("b", "c"), ("c", "b")]);
    assert_eq!(found, Some(vec!["b".to_owned(), "c".to_owned()]));
    let text = "use crate::a::{b, c::{self, d}}; // crate::no\nfn x() { crate::e::f(); }";
    let found: Vec<String> = used(text).into_iter().collect();
    assert_eq!(found, ["a::b", "a::c::d", "a::c::self", "e::f"]);
}
