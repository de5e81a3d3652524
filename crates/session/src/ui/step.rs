//! A long step and its progress bar.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::talk;
use crate::timing::{Running, Timing};

/// How often a bar without known progress moves.
const TICK: Duration = Duration::from_millis(120);
/// Drawings of the bar in a second: enough to look alive, too few to cost anything.
const DRAWS_PER_S: u8 = 10;

/// Label, bytes and time left take 60 columns at most.
const NARROW_COLUMNS: u16 = 72;

/// What a step counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    /// Things alike, such as runs.
    Things,
}

/// A step under way. It shows a bar on a terminal, nothing elsewhere; the bar goes when the step
/// is finished or dropped. How long it takes is noted; dropped unfinished, it has failed.
#[derive(Debug)]
pub struct Step {
    bars: MultiProgress,
    bar: ProgressBar,
    /// Bars of parts that are under way beside each other, by what the caller calls them.
    part_bars: BTreeMap<String, ProgressBar>,
    total: u64,
    unit: Unit,
    quiet: bool,
    // The part ends before the whole: fields are dropped in this order.
    part: RefCell<Option<Running>>,
    whole: Option<Running>,
    timing: Arc<Timing>,
}

impl Step {
    pub(super) fn new(
        label: &'static str,
        timing: &Arc<Timing>,
        total: u64,
        unit: Unit,
        visible: bool,
        quiet: bool,
    ) -> Self {
        let target = if visible {
            ProgressDrawTarget::stderr_with_hz(DRAWS_PER_S)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bars = MultiProgress::with_draw_target(target);
        let bar = bars.add(ProgressBar::new(total)).with_message(label);
        let mut step = Self {
            bars,
            bar,
            part_bars: BTreeMap::new(),
            total: 0,
            unit,
            quiet,
            part: RefCell::default(),
            whole: Some(Running::begin(timing, label, capitalized(label))),
            timing: Arc::clone(timing),
        };
        if total == 0 {
            // The template is a constant without errors; the default would do as well.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg:<14} {elapsed}") {
                step.bar.set_style(style.tick_chars("-\\|/ "));
            }
            step.bar.enable_steady_tick(TICK);
        }
        step.set_total(total);
        step
    }

    /// Shows how far the step is, in the unit of its total.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// States or corrects the total.
    pub fn set_total(&mut self, total: u64) {
        if total == self.total {
            return;
        }
        self.total = total;
        self.bar.disable_steady_tick();
        let template = match (self.unit, is_narrow()) {
            (Unit::Bytes, false) => {
                "{msg:<14} [{wide_bar}] {percent:>3}%  {bytes}/{total_bytes}  {eta} left"
            }
            (Unit::Things, false) => "{msg:<28} [{wide_bar}] {pos}/{len}  {eta} left",
            (Unit::Bytes, true) => "{msg} {percent}%",
            (Unit::Things, true) => "{msg}  {pos}/{len}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.set_length(total);
    }

    /// Shows how many bytes of a part there are, below the bar of the whole, until it has all.
    pub fn set_part(&mut self, name: &str, done_bytes: u64, total_bytes: u64) {
        if is_narrow() {
            return;
        }
        if done_bytes >= total_bytes {
            if let Some(bar) = self.part_bars.remove(name) {
                bar.finish_and_clear();
            }
            return;
        }
        let bar = self.part_bars.entry(name.to_owned()).or_insert_with(|| {
            let bar = self.bars.add(ProgressBar::new(total_bytes));
            let template = "  {msg:<19} [{wide_bar}] {percent:>3}%  {bytes}/{total_bytes}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.with_message(name.to_owned())
        });
        bar.set_position(done_bytes);
    }

    /// Says what the step is about, for listings of its time.
    #[must_use]
    pub fn about(self, what: &str) -> Self {
        if let Some(whole) = &self.whole {
            whole.describe(what);
        }
        self
    }

    /// Replaces the label, as for the turns of a measurement: each is a part of the step.
    pub fn relabel(&self, label: String) {
        let mut part = self.part.borrow_mut();
        if let Some(last) = part.take() {
            last.done();
        }
        *part = Some(Running::begin(&self.timing, "turn", label.clone()));
        self.bar.set_message(label);
    }

    /// Removes the bar and says what was done; an empty summary says nothing.
    pub fn finish(mut self, summary: &str) {
        self.clear();
        let running = [self.part.take(), self.whole.take()];
        running.into_iter().flatten().for_each(Running::done);
        if !self.quiet && !summary.is_empty() {
            talk(summary);
        }
    }
}

impl Step {
    fn clear(&self) {
        for bar in self.part_bars.values().chain([&self.bar]) {
            bar.finish_and_clear();
        }
    }
}

/// A label as a sentence.
fn capitalized(label: &str) -> String {
    let mut characters = label.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

/// Whether the terminal has no room for a bar: of a line that it breaks, a part would stay.
fn is_narrow() -> bool {
    rustix::termios::tcgetwinsize(io::stderr()).is_ok_and(|size| size.ws_col < NARROW_COLUMNS)
}

impl Drop for Step {
    fn drop(&mut self) {
        // Also when the step failed: an error must not stand behind half a bar.
        self.clear();
    }
}
