//! A study kept in the history, run by run, while it is made.

use coldpress_history::{History, Run, State, Study, StudyId};

use crate::state;

/// Where a study goes; nowhere if it is not to be kept.
#[derive(Debug)]
pub(super) struct Keeper {
    history: Option<History>,
    id: Option<StudyId>,
}

impl Keeper {
    /// Opens the history.
    ///
    /// * `is_off`: keep nothing; nor is anything kept if the user has turned the history off.
    ///
    /// # Errors
    ///
    /// If the history cannot be opened: better now than after an hour of measuring.
    pub(super) fn open(is_off: bool) -> anyhow::Result<Self> {
        let is_kept = !is_off && state::path()?.is_some();
        let history = is_kept.then(state::open).transpose()?;
        Ok(Self { history, id: None })
    }

    /// Keeps what is known when a study begins.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn begin(&mut self, study: &Study) -> anyhow::Result<()> {
        if let Some(history) = &mut self.history {
            self.id = Some(history.begin(study)?);
        }
        Ok(())
    }

    /// Keeps a finished run; it is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn append(&mut self, run: &Run) -> anyhow::Result<()> {
        if let (Some(history), Some(id)) = (&mut self.history, self.id) {
            history.append(id, run)?;
        }
        Ok(())
    }

    /// States how the study ended; returns its number, if it is kept.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn finish(&mut self, state: State) -> anyhow::Result<Option<StudyId>> {
        if let (Some(history), Some(id)) = (&mut self.history, self.id) {
            history.finish(id, state)?;
        }
        Ok(self.id)
    }
}
