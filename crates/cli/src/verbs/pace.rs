//! How far the work is, for people and for programs, and how fast it may be.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::thread::sleep;
use std::time::{Duration, Instant};

use coldpress_dialects::progress_bar;
use coldpress_session::failure;
use coldpress_session::ui::{Step, Ui};
use coldpress_writer::Progress;

/// Rests shorter than this are saved up.
const REST_MIN: Duration = Duration::from_millis(10);

/// What programs read on standard output while a long step goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Nothing.
    Nothing,
    /// Whole percents, each on a line.
    Percents,
    /// A bar for each whole percent, behind a carriage return.
    Bar {
        /// Data blocks, which the bar counts.
        blocks: u64,
    },
}

impl Shown {
    /// Percents if they are asked for.
    pub(crate) fn percents(is_asked: bool) -> Self {
        if is_asked {
            Self::Percents
        } else {
            Self::Nothing
        }
    }
}

/// Follows the progress of a long step.
#[derive(Debug)]
pub(crate) struct Pace<'a> {
    ui: &'a Ui,
    step: Step,
    shown: Shown,
    /// The last percentage that was printed.
    percent: Option<u64>,
    /// How far it is.
    progress: Progress,
    rest_percent: u32,
    worked_since: Instant,
}

impl<'a> Pace<'a> {
    /// Begins a step.
    ///
    /// * `rest_percent`: the part of the time that is rested, below 100.
    pub(crate) fn new(label: &'static str, shown: Shown, rest_percent: u32, ui: &'a Ui) -> Self {
        Self {
            ui,
            step: ui.step(label, 0),
            shown,
            percent: None,
            progress: Progress::default(),
            rest_percent,
            worked_since: Instant::now(),
        }
    }

    /// Tells how far it is, and rests if it should; breaks if the user wants it to end.
    pub(crate) fn advance(&mut self, progress: Progress) -> ControlFlow<()> {
        self.step.set_total(progress.total_bytes);
        self.step.set(progress.done_bytes);
        self.progress = progress;
        let percent = progress.done_bytes * 100 / progress.total_bytes.max(1);
        self.tell(percent.min(100));
        self.rest();
        self.ui.interrupt.poll()
    }

    /// Ends the step.
    pub(crate) fn finish(mut self) {
        self.progress.done_bytes = self.progress.total_bytes;
        self.tell(100);
        if self.shown != Shown::Nothing {
            show("\n");
        }
        self.step.finish("");
    }

    fn tell(&mut self, percent: u64) {
        if self.percent == Some(percent) {
            return;
        }
        self.percent = Some(percent);
        match self.shown {
            Shown::Nothing => {}
            Shown::Percents => show(&format!("{percent}\n")),
            Shown::Bar { blocks } => show(&progress_bar(self.progress, blocks, percent)),
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

/// Whoever reads it (a dialog, Apptainer) shows it at once. If it is gone, the image is wanted all
/// the same.
fn show(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints lines beside the work, such as a summary.
///
/// # Errors
///
/// If standard output cannot be written; nobody has to read it.
pub(crate) fn print(ui: &Ui, text: &str) -> anyhow::Result<()> {
    let mut out = ui.out();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    failure::unless_stdout_closed(printed.map_err(anyhow::Error::from))
}
