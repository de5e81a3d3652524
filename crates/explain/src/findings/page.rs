//! What is told of a start, as a page.

use coldpress_bench::{Exhibit, Report, Section};
use coldpress_report::Table;
use coldpress_report::text::{escaped, escaped_path, plural, quoted};
use coldpress_report::units::bytes;

use super::{Findings, Origin, charts, facts, tables};
use crate::{ElfCost, Initializer};

/// Rows of a table: a page is searched, not read to its end.
const ROWS_MAX: usize = 100;
/// Programs whose sections are shown, and functions that are named for each.
const PROGRAMS_MAX: usize = 12;
const NAMED_MAX: usize = 30;

/// A start and all that was found out about it, as a page.
pub fn explained_page(findings: &Findings) -> Report {
    let mut sections = vec![
        overview(findings),
        over_time(findings),
        files(findings),
        repeats(findings),
    ];
    sections.extend(programs(findings));
    Report {
        title: title(findings),
        sections,
        notes: notes(findings),
        ..Report::default()
    }
}

/// Plain text: what a page is about has no marks around it.
fn title(findings: &Findings) -> String {
    let trace = findings.trace.map(escaped_path);
    match findings.origin {
        Origin::Start { words, .. } => {
            format!(
                "A cold start of {}",
                words.first().map_or("", String::as_str)
            )
        }
        Origin::Trace { .. } => format!("What {} would read", trace.unwrap_or_default()),
    }
}

fn overview(findings: &Findings) -> Section {
    let facts = facts(findings).into_iter();
    Section {
        title: "What it took".to_owned(),
        exhibits: vec![
            Exhibit::Facts(facts.map(|(name, fact)| (name.to_owned(), fact)).collect()),
            Exhibit::Hint(basis(findings).to_owned()),
        ],
    }
}

/// Where the figures come from.
fn basis(findings: &Findings) -> &'static str {
    match findings.origin {
        Origin::Start { .. } => {
            "Reads, bytes and pages are measured. Waiting is from a request to its arrival. \
            Decompressing is what a thread \
            did from then to its next event, at most three times what a program takes: an upper \
            bound."
        }
        Origin::Trace { .. } => {
            "Nothing was started: all is predicted, by a model of the kernel's reader and of the \
            medium."
        }
    }
}

fn over_time(findings: &Findings) -> Section {
    Section {
        title: "Reads of the image over time".to_owned(),
        exhibits: vec![
            Exhibit::Timeline(charts::timeline(findings)),
            Exhibit::HeatMap(charts::heat_map(findings)),
            Exhibit::Hint(
                "A spot is a read; a rectangle is darker the more reads it has. What is above each \
                other was read at the same \
                 time, what goes up from left to right lies in the order in which it was needed."
                    .to_owned(),
            ),
        ],
    }
}

fn files(findings: &Findings) -> Section {
    let mut exhibits = vec![
        Exhibit::Table(tables::files(findings, ROWS_MAX)),
        Exhibit::Hint(
            "Sorted by the time that was waited and decompressed. Perhaps used are pages that the \
            kernel mapped around a fault because \
             they were there. In vain came those into memory that were not even perhaps used."
                .to_owned(),
        ),
    ];
    exhibits.extend(more(findings.explanation.files.len()));
    if !findings.archives.is_empty() {
        exhibits.push(Exhibit::Table(tables::archives(findings, ROWS_MAX)));
        exhibits.extend(more(findings.archives.len()));
    }
    Section {
        title: "Files".to_owned(),
        exhibits,
    }
}

fn repeats(findings: &Findings) -> Section {
    let repeated = &findings.explanation.repeats.blocks;
    let mut exhibits = vec![Exhibit::Table(tables::metadata(findings))];
    if repeated.is_empty() {
        exhibits.push(Exhibit::Text(
            "No block was read more than once.".to_owned(),
        ));
    } else {
        exhibits.push(Exhibit::Heading("Blocks read more than once".to_owned()));
        exhibits.push(Exhibit::Table(tables::reasons(findings)));
        exhibits.push(Exhibit::Table(tables::repeated(findings, ROWS_MAX)));
        exhibits.extend(more(repeated.len()));
    }
    Section {
        title: "Metadata, and what was read again".to_owned(),
        exhibits,
    }
}

/// Says how much is left out of a table.
fn more(all: usize) -> Option<Exhibit> {
    let more = all.checked_sub(ROWS_MAX).filter(|more| *more > 0)?;
    Some(Exhibit::Hint(format!(
        "{more} more are in the JSON of --json."
    )))
}

fn programs(findings: &Findings) -> Option<Section> {
    let mut table = tables::programs(findings, ROWS_MAX);
    if table.rows.is_empty() {
        return None;
    }
    // Sections have tables of their own below.
    table.columns.pop();
    table.rows.iter_mut().for_each(|row| drop(row.pop()));
    let mut exhibits = vec![Exhibit::Table(table)];
    for (file, cost) in findings.known_programs().take(PROGRAMS_MAX) {
        exhibits.push(Exhibit::Heading(tables::path(findings.map, file)));
        exhibits.push(Exhibit::Table(sections(cost)));
        exhibits.extend(initializers(&cost.initializers));
    }
    Some(Section {
        title: "Programs and libraries".to_owned(),
        exhibits,
    })
}

fn sections(cost: &ElfCost) -> Table {
    let columns = [
        "section",
        "size",
        "pages",
        "touched",
        "perhaps",
        "touched with relocations",
    ];
    let sections = cost.sections.iter();
    let touched =
        sections.filter(|section| section.touched_pages + section.perhaps_touched_pages > 0);
    let rows = touched.map(|section| {
        vec![
            escaped(&section.name),
            bytes(section.size_bytes),
            section.pages.to_string(),
            section.touched_pages.to_string(),
            section.perhaps_touched_pages.to_string(),
            section.touched_relocated_pages.to_string(),
        ]
    });
    Table {
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

fn initializers(all: &[Initializer]) -> Option<Exhibit> {
    if all.is_empty() {
        return None;
    }
    let name = |initializer: &Initializer| match &initializer.name {
        Some(name) => escaped(name),
        None => format!("{:#x}", initializer.address),
    };
    let named: Vec<String> = all.iter().take(NAMED_MAX).map(name).collect();
    let rest = match all.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let count = plural(all.len() as u64, "function", "functions");
    Some(Exhibit::Hint(format!(
        "Before main run {count}: {}{rest}.",
        named.join(", ")
    )))
}

fn notes(findings: &Findings) -> Vec<(String, String)> {
    let mut notes = vec![
        ("image", quoted(findings.image)),
        ("image size", bytes(findings.map.image_bytes())),
        ("kernel", findings.kernel.clone()),
        (
            "made by",
            format!("coldpress {}", env!("CARGO_PKG_VERSION")),
        ),
    ];
    if let Origin::Start { words, .. } = findings.origin {
        notes.push(("command", words.join(" ")));
    }
    let notes = notes.into_iter();
    notes
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
