//! `coldpress profile show`.

use std::collections::HashMap;
use std::io::Write as _;

use coldpress_report::text::{escaped, fields, hex};
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_trace::{FileAccess, PAGE_SIZE_BYTES, Profile, WorkingSet};
use serde::Serialize;

use crate::steps;
use crate::verbs::profile::args::ProfileShowArgs;

/// A profile for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    recordings: u32,
    /// Lines of the header, in their order.
    header: Vec<(String, String)>,
    files: Vec<Row>,
    lookups: usize,
    directories: usize,
    read_bytes: u64,
    maybe_bytes: u64,
}

/// A file that was read.
#[derive(Debug, Serialize)]
struct Row {
    /// With escapes.
    path: String,
    /// How many recordings read it.
    recordings: u32,
    /// Bytes of pages that were surely needed.
    read_bytes: u64,
    /// Bytes of pages that may have been.
    maybe_bytes: u64,
    /// `null` if not known.
    size_bytes: Option<u64>,
    /// The first half of its BLAKE3 hash; `null` if not known.
    hash: Option<String>,
}

pub(super) fn run(args: &ProfileShowArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let profile = steps::read_profile(&args.profile)?;
    let report = report(&profile, &profile.working_set(0.0));
    if args.json {
        ui.json(&report)?;
        return Ok(Exit::Done);
    }
    let mut out = ui.out();
    write!(out, "{}", fields(&head(&report)))?;
    if !report.files.is_empty() {
        writeln!(
            out,
            "\n{:>9}  {:>9}  {:>10}  file",
            "read", "maybe", "recordings"
        )?;
    }
    for row in &report.files {
        let [read, maybe] = [row.read_bytes, row.maybe_bytes].map(units::bytes);
        let share = format!("{} of {}", row.recordings, report.recordings);
        writeln!(out, "{read:>9}  {maybe:>9}  {share:>10}  {}", row.path)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn report(profile: &Profile, set: &WorkingSet) -> Report {
    let mut recordings: HashMap<&[u8], u32> = HashMap::new();
    for step in profile
        .steps
        .iter()
        .filter(|step| step.access.pages().is_some())
    {
        let most = recordings.entry(&step.path).or_default();
        *most = step.recordings.max(*most);
    }
    let row = |file: &FileAccess| {
        let known = profile.files.get(&file.path);
        Row {
            path: escaped(&file.path),
            recordings: recordings
                .get(file.path.as_slice())
                .copied()
                .unwrap_or_default(),
            read_bytes: touched_bytes(file, true),
            maybe_bytes: touched_bytes(file, false),
            size_bytes: known.map(|known| known.size_bytes),
            hash: known.and_then(|known| Some(hex(&known.hash?))),
        }
    };
    let mut files: Vec<_> = set.files.iter().map(row).collect();
    files.sort_by_key(|row| std::cmp::Reverse(row.read_bytes.saturating_add(row.maybe_bytes)));
    let sum = |bytes: fn(&Row) -> u64| files.iter().map(bytes).fold(0, u64::saturating_add);
    Report {
        recordings: profile.recordings,
        header: profile.header.fields.clone(),
        lookups: set.lookups.len(),
        directories: set.lists.len(),
        read_bytes: sum(|row| row.read_bytes),
        maybe_bytes: sum(|row| row.maybe_bytes),
        files,
    }
}

/// Bytes of the pages of a kind.
fn touched_bytes(file: &FileAccess, certain: bool) -> u64 {
    let runs = file.pages.iter().filter(|run| run.certain == certain);
    let pages = runs.map(|run| run.last_page - run.first_page + 1);
    pages
        .fold(0, u64::saturating_add)
        .saturating_mul(PAGE_SIZE_BYTES)
}

/// The lines above the files.
fn head(report: &Report) -> Vec<(&str, String)> {
    let count = |count: usize| units::count(count as u64);
    let bytes = format!(
        "{}, and maybe {}",
        units::bytes(report.read_bytes),
        units::bytes(report.maybe_bytes)
    );
    let mut rows = vec![("recordings", report.recordings.to_string())];
    let header = report.header.iter();
    rows.extend(header.map(|(key, value)| (key.as_str(), escaped(value.as_bytes()))));
    rows.extend([
        ("files", count(report.files.len())),
        ("bytes", bytes),
        ("lookups", count(report.lookups)),
        ("directories", count(report.directories)),
    ]);
    rows
}
