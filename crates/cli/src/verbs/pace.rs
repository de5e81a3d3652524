//! How far the work is, for people and for programs, and how fast it may be.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::thread::sleep;
use std::time::{Duration, Instant};

use coldpress_session::failure;
use coldpress_session::ui::{Step, Ui};
use coldpress_writer::Progress;

/// Rests shorter than this are saved up.
const REST_MIN: Duration = Duration::from_millis(10);

/// Columns of a progress bar that a program reads, as squashfs-tools draw it without a terminal.
const BAR_COLUMNS: u64 = 80;

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
            Shown::Bar { blocks } => show(&bar(self.progress, blocks, percent)),
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

/// `[====/    ] 12/30  40%` behind a carriage return.
fn bar(progress: Progress, total: u64, percent: u64) -> String {
    let Progress {
        done_bytes,
        total_bytes,
    } = progress;
    let done = u128::from(total) * u128::from(done_bytes);
    let done = done.checked_div(total_bytes.into()).unwrap_or(0);
    let done = u64::try_from(done).unwrap_or(total);
    let digits = total.max(1).ilog10() as usize + 1;
    let room = BAR_COLUMNS.saturating_sub(2 * digits as u64 + 11);
    let full = (done * room).checked_div(total).unwrap_or(0);
    let full = usize::try_from(full).unwrap_or(0);
    let empty = usize::try_from(room).unwrap_or(0).saturating_sub(full);
    let turning = match percent % 4 {
        0 => '|',
        1 => '/',
        2 => '-',
        _ => '\\',
    };
    format!(
        "\r[{:=<full$}{turning}{:empty$}] {done:digits$}/{total:digits$} {percent:3}%",
        "", ""
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_wide_as_a_line() {
        let total_bytes = 30 << 17;
        for (done_bytes, percent, expected) in [
            (
                0,
                0,
                "\r[|                                                                 ]  0/30   0%",
            ),
            (
                15 << 17,
                50,
                "\r[================================-                                 ] 15/30  50%",
            ),
            (
                30 << 17,
                100,
                "\r[=================================================================|] 30/30 100%",
            ),
        ] {
            let progress = Progress {
                done_bytes,
                total_bytes,
            };
            assert_eq!(bar(progress, 30, percent), expected);
        }
        let nothing = bar(Progress::default(), 0, 100);
        assert!(nothing.starts_with("\r[| "), "{nothing}");
        assert!(nothing.ends_with("] 0/0 100%"), "{nothing}");
    }
}
