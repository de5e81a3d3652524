//! `coldpress history show`.

use std::io::Write as _;

use coldpress_bench::standings;
use coldpress_bench::text::{exclusions, standings_table, study_head};
use coldpress_session::exit::Exit;
use coldpress_session::state;
use coldpress_session::ui::Ui;

use crate::verbs::history::args::ShowArgs;

pub(super) fn run(args: &ShowArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let history = state::open()?;
    let study = super::find(&history, args.id)?;
    if args.json {
        ui.json(&study)?;
        return Ok(Exit::Done);
    }
    let listed = history.list()?;
    let listed = listed.iter().find(|listed| listed.id == args.id);
    let became = listed.map_or(study.state.name(), super::state_of);
    let mut out = ui.out();
    write!(out, "{}", study_head(&study, became))?;
    let standings = standings(&study);
    if !standings.is_empty() {
        writeln!(out, "\n{}", standings_table(&standings))?;
    }
    let exclusions = exclusions(&study);
    if !exclusions.is_empty() {
        writeln!(out)?;
    }
    for sentence in exclusions {
        writeln!(out, "{sentence}")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
