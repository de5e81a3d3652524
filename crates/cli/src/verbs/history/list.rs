//! `coldpress history list`.

use std::io::Write as _;

use coldpress_history::{ListedStudy, study_list};
use coldpress_session::exit::Exit;
use coldpress_session::state;
use coldpress_session::ui::Ui;

pub(super) fn run(json: bool, ui: &Ui) -> anyhow::Result<Exit> {
    let listed = state::open()?.list()?;
    let studies = listed.iter();
    let studies = studies.map(|study| ListedStudy::new(study, super::state_of(study)));
    let studies: Vec<ListedStudy<'_>> = studies.collect();
    if json {
        ui.json(&studies)?;
        return Ok(Exit::Done);
    }
    if studies.is_empty() {
        ui.say("nothing was measured yet");
        return Ok(Exit::Done);
    }
    let mut out = ui.out();
    writeln!(out, "{}", study_list(&studies))?;
    out.flush()?;
    Ok(Exit::Done)
}
