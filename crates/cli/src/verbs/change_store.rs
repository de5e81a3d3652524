//! Changes in the history: stated before they begin, so that a kill leaves a trace of them.

use coldpress_history::{ChangeId, History, Status};
use coldpress_report::failure::sentence;
use coldpress_session::state;
use coldpress_session::timing::{Operation, status};
use coldpress_session::ui::Ui;

/// Does something and keeps how long what of it took.
///
/// That it cannot be kept is a warning, and no reason not to do it.
///
/// # Errors
///
/// Those of the operation.
pub(crate) fn with_change<T>(
    operation: Operation,
    ui: &Ui,
    act: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let warn = |error: anyhow::Error| {
        let sentence = sentence(&error);
        ui.warn(&format!(
            "the timings are not kept: {sentence} (`COLDPRESS_HISTORY=off` keeps none)"
        ));
    };
    let is_told = operation.is_told;
    ui.timing.name(operation);
    let begun = begin(ui).unwrap_or_else(|error| {
        if is_told {
            warn(error);
        }
        None
    });
    let outcome = act();
    if let Some((mut history, id)) = begun {
        let change = ui
            .timing
            .change(status(&outcome, ui.interrupt.is_pending()));
        if let Err(error) = history.end_change(id, &change) {
            warn(error.into());
        }
    }
    outcome
}

/// Opens the history and states what is under way; `None` if no history is wanted.
fn begin(ui: &Ui) -> anyhow::Result<Option<(History, ChangeId)>> {
    if state::path()?.is_none() {
        return Ok(None);
    }
    let mut history = state::open()?;
    let id = history.begin_change(&ui.timing.change(Status::Doing))?;
    Ok(Some((history, id)))
}
