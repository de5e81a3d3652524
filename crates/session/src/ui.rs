//! The terminal: standard output carries data, standard error carries talk.

mod stdout;
mod step;

use coldpress_report::failure::{hint_of, sentence};
pub use stdout::Stdout;
pub use step::Step;
use step::Unit;

use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use serde::Serialize;

use crate::interrupt::Interrupt;
use crate::timing::{Running, Timing};

/// What every command talks through.
#[derive(Debug)]
pub struct Ui {
    quiet: bool,
    color: bool,
    /// Ctrl-C and its kin.
    pub interrupt: Interrupt,
    /// How long what takes; steps are noted by themselves.
    pub timing: Arc<Timing>,
}

impl Ui {
    /// A user interface on this process's standard streams.
    ///
    /// * `quiet`: no progress and no summaries; warnings and errors remain.
    pub fn new(quiet: bool) -> Self {
        // https://no-color.org: set and not empty.
        let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = !no_color && io::stderr().is_terminal();
        Self {
            quiet,
            color,
            interrupt: Interrupt::default(),
            timing: Arc::new(Timing::new()),
        }
    }

    /// Standard output, buffered; the caller flushes it.
    pub fn out(&self) -> Stdout {
        Stdout::new()
    }

    /// Prints a value as JSON and a line end.
    ///
    /// # Errors
    ///
    /// If standard output cannot be written.
    pub fn json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut out = self.out();
        serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
        writeln!(out)?;
        out.flush()?;
        Ok(())
    }

    /// Says a line, unless quiet.
    pub fn say(&self, line: &str) {
        if !self.quiet {
            talk(line);
        }
    }

    /// Tells of something that needs no attention, unless quiet.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            talk(&format!("{}: {text}", self.label("note", "36")));
        }
    }

    /// Warns of something that the user may not expect.
    pub fn warn(&self, text: &str) {
        talk(&format!("{}: {text}", self.label("warning", "33")));
    }

    /// Tells of a part that failed while the rest goes on.
    pub fn error(&self, text: &str) {
        talk(&format!("{}: {text}", self.label("error", "31")));
    }

    /// Tells why the command could not run, with its hint.
    pub fn fail(&self, error: &anyhow::Error) {
        self.error(&sentence(error));
        if let Some(hint) = hint_of(error) {
            talk(&format!("\n{}: {hint}", self.label("hint", "36")));
        }
    }

    /// Begins a long step with a progress bar.
    ///
    /// * `total_bytes`: what [`Step::set`] will reach; 0 if it is not known yet.
    pub fn step(&self, label: &'static str, total_bytes: u64) -> Step {
        self.begin(label, total_bytes, Unit::Bytes)
    }

    /// Begins a long step of `total` things alike.
    pub fn count(&self, label: &'static str, total: u64) -> Step {
        self.begin(label, total, Unit::Things)
    }

    /// Notes how long something takes that shows no progress.
    ///
    /// * `label`: its kind, as a word.
    /// * `summary`: what it does, as a sentence.
    ///
    /// # Errors
    ///
    /// Those of the task.
    pub fn task<T, E>(
        &self,
        label: &str,
        summary: &str,
        act: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let running = Running::begin(&self.timing, label, summary.to_owned());
        let done = act()?;
        running.done();
        Ok(done)
    }

    /// The same for what cannot fail.
    pub fn timed<T>(&self, label: &str, summary: &str, act: impl FnOnce() -> T) -> T {
        let running = Running::begin(&self.timing, label, summary.to_owned());
        let done = act();
        running.done();
        done
    }

    fn begin(&self, label: &'static str, total: u64, unit: Unit) -> Step {
        Step::new(
            label,
            &self.timing,
            total,
            unit,
            !self.quiet && io::stderr().is_terminal(),
            self.quiet,
        )
    }

    /// A word in bold color; it means the same without.
    fn label(&self, word: &str, color: &str) -> String {
        if self.color {
            format!("\x1b[1;{color}m{word}\x1b[0m")
        } else {
            word.to_owned()
        }
    }
}

/// Writes a line to standard error. If that is gone, there is nobody to tell.
fn talk(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
