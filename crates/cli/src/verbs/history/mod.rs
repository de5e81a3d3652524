//! `coldpress history`: what was measured, kept.

pub(crate) mod args;
mod export;
mod import;
mod list;
mod show;

use anyhow::anyhow;
use coldpress_history::{History, Listed, State, Study, StudyId};
use coldpress_host::ProcessId;
use coldpress_report::failure::hint;
use coldpress_report::text::plural;
use coldpress_session::exit::Exit;
use coldpress_session::state;
use coldpress_session::ui::Ui;

use crate::verbs::history::args::{ForgetArgs, HistoryArgs, HistoryVerb};

pub(super) fn run(args: &HistoryArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        None => list::run(args.json, ui),
        Some(HistoryVerb::List(args)) => list::run(args.json, ui),
        Some(HistoryVerb::Show(args)) => show::run(args, ui),
        Some(HistoryVerb::Export(args)) => export::run(args, ui),
        Some(HistoryVerb::Import(args)) => import::run(args, ui),
        Some(HistoryVerb::Forget(args)) => forget(args, ui),
    }
}

/// Removes all studies that are there, and fails if one is not.
fn forget(args: &ForgetArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let mut history = state::open()?;
    let mut count = 0;
    let mut wrong = false;
    for &id in &args.ids {
        if history.forget(id)? {
            count += 1;
        } else {
            ui.error(&format!("there is no study {id} in the history"));
            wrong = true;
        }
    }
    ui.say(&format!("{} removed", plural(count, "study", "studies")));
    Ok(Exit::partial_if(wrong))
}

/// The study of this number.
pub(super) fn find(history: &History, id: StudyId) -> anyhow::Result<Study> {
    history.study(id)?.ok_or_else(|| {
        let error = anyhow!("there is no study {id} in the history");
        hint(error, "`coldpress history` lists the studies")
    })
}

/// What became of a study, also of one whose process can no longer say so.
fn state_of(listed: &Listed) -> &'static str {
    let writer = listed.writer.as_deref().map(str::parse::<ProcessId>);
    match (listed.state, writer) {
        (State::Running, Some(Ok(process))) if process.has_ended() => "killed",
        // Taken in from elsewhere as it was there.
        (State::Running, None) => "unfinished",
        (state, _) => state.name(),
    }
}
