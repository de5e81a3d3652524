//! `coldpress plan lint`.

use std::fs;
use std::io::Write as _;

use anyhow::Context as _;
use coldpress_dialects::sort_file;
use coldpress_layout::{Dialect, Finding, Plan, SortFile};
use coldpress_report::text::{escaped, plural, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use serde::Serialize;

use super::{Names, dialect};
use crate::verbs::plan::args::LintArgs;

/// The result for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    findings: Vec<Row>,
}

/// A finding for `--json`.
#[derive(Debug, Serialize)]
struct Row {
    line: u64,
    /// With escapes; empty if the line could not be read.
    path: String,
    reason: String,
}

pub(super) fn run(args: &LintArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let text = fs::read(&args.input);
    let text = text.with_context(|| format!("cannot read {}", quoted(&args.input)))?;
    let names = Names::read(&args.tree, ui)?;
    let findings = match dialect(args.from) {
        None => Plan::lint(&text, &names.tree)
            .with_context(|| format!("cannot use {}", quoted(&args.input)))?,
        Some(dialect) => of_sort_file(&text, dialect, &names),
    };
    let file = args.input.display().to_string();
    let count = plural(findings.len() as u64, "finding", "findings");
    if args.json {
        let row = |finding: &Finding| Row {
            line: finding.line,
            path: escaped(&finding.path),
            reason: finding.flaw.to_string(),
        };
        ui.json(&Report {
            file: file.clone(),
            findings: findings.iter().map(row).collect(),
        })?;
    } else {
        let mut out = ui.out();
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        out.flush()?;
    }
    ui.say(&format!("{file}: {count}"));
    Ok(Exit::partial_if(!findings.is_empty()))
}

/// The lines that cannot be read, and those that do nothing, in the order of the file.
fn of_sort_file(text: &[u8], dialect: Dialect, names: &Names) -> Vec<Finding> {
    let (mut file, mut findings) = SortFile::parse_all(text, dialect);
    sort_file::bring_inside(&mut file, &names.inputs);
    let sources = sort_file::sources(&names.tree, &names.inputs);
    findings.extend(file.lint(&names.tree, &sources));
    findings.sort_by_key(|finding| finding.line);
    findings
}
