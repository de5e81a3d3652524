//! Documents that name files and sections which are there.

use std::fs;
use std::path::{Path, PathBuf};

use coldpress_writer::{SourceLine, Warning};

use crate::run::repository;

/// README.md, ARCHITECTURE.md and their like, and everything in docs/.
fn documents() -> Vec<PathBuf> {
    let mut documents: Vec<PathBuf> = [repository().to_path_buf(), repository().join("docs")]
        .iter()
        .flat_map(|directory| fs::read_dir(directory).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    documents.sort();
    documents
}

#[test]
fn limits_that_documents_tell_are_those_of_the_code() {
    let recording = fs::read_to_string(repository().join("docs/recording.md")).unwrap();
    let thousands = coldpress_trace::SEARCHES_IN_VAIN_MAX / 1000;
    assert!(recording.contains(&format!(
        "event `D`, at most {thousands},000 in a recording"
    )));
}

/// Text in single backticks, outside code blocks.
fn quoted(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block && !line.starts_with("    ") {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// Whether a quotation is meant as a file of the repository: it begins with one of its
/// directories, or is a document of its root, and stands for one path.
fn is_path(text: &str) -> bool {
    const DIRECTORIES: [&str; 8] = [
        "crates/",
        "docs/",
        "benchsuite/",
        "fixtures/",
        "fuzz/",
        "scripts/",
        ".ci/",
        "tests/",
    ];
    let is_one = !text.contains(['*', '<', '{', ' ', '$']);
    let has_directory = DIRECTORIES
        .iter()
        .any(|directory| text.starts_with(directory));
    let is_markdown = Path::new(text)
        .extension()
        .is_some_and(|extension| extension == "md");
    let is_document = !text.contains('/') && is_markdown;
    is_one && (has_directory || is_document)
}

#[test]
fn every_path_that_a_document_names_exists() {
    let documents = documents();
    assert!(
        documents.iter().any(|path| path.ends_with("README.md")),
        "{documents:?}"
    );
    let mut missing = Vec::new();
    let mut count = 0;
    for document in &documents {
        for path in quoted(&fs::read_to_string(document).unwrap()) {
            if is_path(&path) {
                count += 1;
                if !repository().join(&path).exists() {
                    missing.push(format!("{}: `{path}`", document.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 0, "no document names any path");
}

#[test]
fn every_section_that_a_source_names_exists() {
    let mut missing = Vec::new();
    let mut count = 0;
    for source in sources(&repository().join("crates")) {
        let text = fs::read_to_string(&source).unwrap();
        // docs/format.md, "Data blocks"
        for piece in text.split("docs/").skip(1) {
            let Some((name, rest)) = piece.split_once(".md, \"") else {
                continue;
            };
            let Some((section, _)) = rest.split_once('"') else {
                continue;
            };
            if name.contains(char::is_whitespace) || section.contains('\n') {
                continue;
            }
            count += 1;
            let document = repository().join("docs").join(format!("{name}.md"));
            let headings = fs::read_to_string(&document).unwrap_or_default();
            let is_heading = |line: &str| {
                line.starts_with('#') && line.trim_start_matches('#').trim() == section
            };
            if !headings.lines().any(is_heading) {
                missing.push(format!(
                    "{}: docs/{name}.md, \"{section}\"",
                    source.display()
                ));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 0, "no source names any section");
}

/// All Rust files in `src` directories below.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && path
                    .components()
                    .any(|component| component.as_os_str() == "src")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// One of each kind, with what makes it known in the table.
fn warnings() -> Vec<Warning> {
    let path = || PathBuf::from("it");
    vec![
        Warning::Xattr {
            path: path(),
            name: b"system.posix_acl_access".to_vec(),
        },
        Warning::Time {
            path: path(),
            found_s: -1,
        },
        Warning::Unreadable {
            action: "open",
            path: path(),
            reason: "Permission denied".to_owned(),
        },
        Warning::Tar {
            archive: path(),
            at_bytes: 512,
            path: path(),
            text: "is left out".to_owned(),
        },
        Warning::Bookkeeping {
            archive: path(),
            at_bytes: 512,
            path: path(),
        },
        Warning::Changed {
            path: path(),
            expected_bytes: 1,
            stored_bytes: 0,
        },
        Warning::Definition {
            place: SourceLine::Argument { number: 1 },
            path: path(),
            reason: "it is there",
        },
    ]
}

#[test]
fn the_exit_status_of_each_warning_of_a_source_is_the_documented_one() {
    let semantics = fs::read_to_string(repository().join("docs/semantics.md")).unwrap();
    let (_, section) = semantics.split_once("\n## Warnings and notes\n").unwrap();
    let (_, table) = section.split_once("|---|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
    let mut found = 0;
    for warning in warnings() {
        let text = warning.to_string();
        let said = |row: &&Vec<&str>| text.contains(row[0].split('`').nth(1).unwrap());
        let rows: Vec<_> = rows.iter().filter(said).collect();
        let [row] = rows[..] else {
            panic!("{} rows for: {text}", rows.len());
        };
        let expected = if warning.is_note() { "0, a note" } else { "1" };
        assert_eq!(row[1], expected, "{text}");
        found += 1;
    }
    assert_eq!(
        found,
        rows.len(),
        "a row of the table stands for no warning"
    );
}
