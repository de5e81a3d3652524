//! How far a long step is.

use std::ops::ControlFlow;

use crate::error::Error;

/// How much of the source's content a step has dealt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes dealt with.
    pub done_bytes: u64,
    /// Bytes there are.
    pub total_bytes: u64,
}

/// Counts bytes and asks the caller whether to go on.
pub(crate) struct Meter<'a> {
    progress: Progress,
    report: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(
        total_bytes: u64,
        report: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Self {
        Self {
            progress: Progress {
                done_bytes: 0,
                total_bytes,
            },
            report,
        }
    }

    pub(crate) fn add(&mut self, bytes: u64) -> Result<(), Error> {
        self.progress.done_bytes += bytes;
        match (self.report)(self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }
}
