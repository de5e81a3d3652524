//! `coldpress history import`.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use coldpress_history::{Imported, Study, read_studies};
use coldpress_report::text::{escaped, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::state;
use coldpress_session::ui::Ui;
use serde::Serialize;

use crate::verbs::history::args::ImportArgs;

/// What became of a study, for `--json`.
#[derive(Debug, Serialize)]
struct Line {
    file: String,
    title: String,
    id: i64,
    /// `new`, `known` or `completed`.
    became: &'static str,
}

pub(super) fn run(args: &ImportArgs, ui: &Ui) -> anyhow::Result<Exit> {
    // All files are read before anything is written.
    let files: Vec<(&Path, Vec<Study>)> = args
        .files
        .iter()
        .map(|file| Ok((file.as_path(), read(file)?)))
        .collect::<anyhow::Result<_>>()?;
    let mut history = state::open()?;
    let mut lines = Vec::new();
    for (file, studies) in files {
        for study in studies {
            let (id, became, told) = match history.import(&study)? {
                Imported::New(id) => (id, "new", "is"),
                Imported::Known(id) => (id, "known", "was already"),
                Imported::Completed(id) => (id, "completed", "has more runs than before and is"),
            };
            let title = escaped(study.title.as_bytes());
            ui.say(&format!("{}: {title} {told} study {id}", quoted(file)));
            lines.push(Line {
                file: file.display().to_string(),
                title: study.title,
                id,
                became,
            });
        }
    }
    if args.json {
        ui.json(&lines)?;
    }
    Ok(Exit::Done)
}

fn read(file: &Path) -> anyhow::Result<Vec<Study>> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", quoted(file)))?;
    read_studies(&bytes).with_context(|| format!("cannot use {}", quoted(file)))
}
