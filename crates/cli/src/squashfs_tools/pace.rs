//! How far the work is, for people and for programs, and how fast it may be.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::thread::sleep;
use std::time::{Duration, Instant};

use coldpress_build::Progress;

use crate::ui::{Step, Ui};

/// Rests shorter than this are saved up.
const REST_MIN: Duration = Duration::from_millis(10);

/// Follows the progress of a long step.
#[derive(Debug)]
pub(crate) struct Pace<'a> {
    ui: &'a Ui,
    step: Step,
    prints_percent: bool,
    /// The last percentage that was printed.
    percent: Option<u64>,
    rest_percent: u32,
    worked_since: Instant,
}

impl<'a> Pace<'a> {
    /// Begins a step.
    ///
    /// * `prints_percent`: whether whole percents go to standard output, each on a line.
    /// * `rest_percent`: the part of the time that is rested, below 100.
    pub(crate) fn new(
        label: &'static str,
        prints_percent: bool,
        rest_percent: u32,
        ui: &'a Ui,
    ) -> Self {
        Self {
            ui,
            step: ui.step(label, 0),
            prints_percent,
            percent: None,
            rest_percent,
            worked_since: Instant::now(),
        }
    }

    /// Tells how far it is, and rests if it should; breaks if the user wants it to end.
    pub(crate) fn advance(&mut self, progress: Progress) -> ControlFlow<()> {
        self.step.set_total(progress.total_bytes);
        self.step.set(progress.done_bytes);
        let percent = progress.done_bytes * 100 / progress.total_bytes.max(1);
        self.tell(percent.min(100));
        self.rest();
        self.ui.interrupt.poll()
    }

    /// Ends the step.
    pub(crate) fn finish(mut self) {
        self.tell(100);
        self.step.finish("");
    }

    fn tell(&mut self, percent: u64) {
        if self.prints_percent && self.percent != Some(percent) {
            self.percent = Some(percent);
            // Whoever reads it (a dialog, Apptainer) shows it at once. If it is gone, the image is
            // wanted all the same.
            let mut out = io::stdout().lock();
            let _ = writeln!(out, "{percent}").and_then(|()| out.flush());
        }
    }

    fn rest(&mut self) {
        if self.rest_percent == 0 {
            return;
        }
        let worked = self.worked_since.elapsed();
        let rest = worked * self.rest_percent / (100 - self.rest_percent).max(1);
        if rest >= REST_MIN {
            sleep(rest);
            self.worked_since = Instant::now();
        }
    }
}
