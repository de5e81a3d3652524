//! Changes as `snap debug timings` lists them, written and read.
//!
//! ```text
//! ID      Status        Doing      Undoing  Label        Summary
//! 160165  Done         2177ms            -  mount-snap   Mount snap "chromium" (2556)
//!  ^                     27ms            -  check-snap   check snap "chromium"
//! ```

mod layout;
mod read;
mod row;

pub use read::{Malformed, parse};

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::change::{Change, Task};

/// Below this, snapd keeps no nested task, in microseconds.
pub const BRIEF_US: u64 = 5_000;

/// The width of times, in characters, as snapd has it: enough for a day in milliseconds.
const TIME_COLUMNS: usize = 11;
/// Blanks between columns.
const GAP: usize = 2;
/// The narrowest column with its gap, as snapd has it.
const COLUMN_MIN: usize = 5;

/// What of changes is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskList {
    /// Whether there is a column of labels. Then summaries are not indented.
    pub labels: bool,
    /// Whether nested tasks below [`BRIEF_US`] are listed, too.
    pub brief: bool,
}

impl TaskList {
    /// The changes one behind the other below one line of titles.
    ///
    /// Every line ends with a line feed. Times are cut to whole milliseconds; those that nobody
    /// stated are `-`. Control characters stand as U+FFFD.
    pub fn text(self, changes: &[Change]) -> String {
        let tasks = changes.iter().flat_map(|change| &change.tasks);
        let shown = tasks.filter(|task| self.brief || task.level == 0 || !is_brief(task));
        let rows: Vec<_> = shown.map(|task| self.cells(task)).collect();
        let titles = self.titles();
        let all = || std::iter::once(&titles).chain(&rows);
        let last = titles.len() - 1;
        let widths: Vec<usize> = (0..last)
            .map(|column| {
                let widths = all().filter_map(|row| Some(row.get(column)?.chars().count()));
                (widths.max().unwrap_or(0) + GAP).max(COLUMN_MIN)
            })
            .collect();
        let mut text = String::new();
        for row in all() {
            for (cell, width) in row.iter().zip(widths.iter().chain([&0])) {
                // Writing to a string does not fail.
                let _ = write!(text, "{cell:<width$}");
            }
            text.push('\n');
        }
        text
    }

    fn titles(self) -> Vec<String> {
        let time = |title| format!("{title:>TIME_COLUMNS$}");
        let mut titles = vec![
            "ID".to_owned(),
            "Status".to_owned(),
            time("Doing"),
            time("Undoing"),
        ];
        titles.extend(self.labels.then(|| "Label".to_owned()));
        titles.push("Summary".to_owned());
        titles
    }

    fn cells(self, task: &Task) -> Vec<String> {
        let level = usize::from(task.level);
        let name = if level > 0 {
            format!("{:>width$}", '^', width = level + 1)
        } else {
            printable(&task.name).into_owned()
        };
        let status = task.status.filter(|_| level == 0);
        let time = |time_us: Option<u64>| {
            let text = time_us.map_or("-".to_owned(), |time_us| format!("{}ms", time_us / 1000));
            format!("{text:>TIME_COLUMNS$}")
        };
        let mut cells = vec![
            name,
            status.map_or(String::new(), |status| status.to_string()),
            time(task.doing_us),
            time(task.undoing_us),
        ];
        let summary = printable(&task.summary);
        if self.labels {
            cells.push(printable(&task.label).into_owned());
            cells.push(summary.into_owned());
        } else {
            cells.push(format!("{:indent$}{summary}", "", indent = 2 * level));
        }
        cells
    }
}

/// Whether snapd would not have kept it.
fn is_brief(task: &Task) -> bool {
    let longest_us = task.doing_us.max(task.undoing_us);
    longest_us.is_some_and(|time_us| time_us < BRIEF_US)
}

fn printable(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        text.replace(char::is_control, "\u{fffd}").into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Status;
    use crate::study::Origin;

    fn change() -> Change {
        let task = |level, name: &str, label: &str, summary: &str, doing_us| Task {
            level,
            name: name.to_owned(),
            label: label.to_owned(),
            summary: summary.to_owned(),
            status: (level == 0).then_some(Status::Done),
            doing_us,
            ..Task::default()
        };
        Change {
            verb: "build".to_owned(),
            summary: "Build".to_owned(),
            began_unix_ms: 0,
            took_us: None,
            origin: Origin::Measured,
            status: Status::Done,
            tasks: vec![
                task(0, "1", "scanning", "Scan", Some(4_999)),
                task(1, "", "read", "Read a \x1b[31mname", Some(4_999)),
                task(1, "", "hash", "Hash", Some(5_000)),
                task(2, "", "wait", "Wait", None),
                task(0, "2", "", "", Some(1_234_567)),
            ],
        }
    }

    #[test]
    fn nested_tasks_are_marked_and_indented_and_brief_ones_left_out() {
        let text = TaskList::default().text(&[change()]);
        let expected = "\
ID   Status        Doing      Undoing  Summary
1    Done            4ms            -  Scan
 ^                   5ms            -    Hash
  ^                    -            -      Wait
2    Done         1234ms            -  \n";
        assert_eq!(text, expected);
        let all = TaskList {
            labels: true,
            brief: true,
        };
        let expected = "\
ID   Status        Doing      Undoing  Label     Summary
1    Done            4ms            -  scanning  Scan
 ^                   4ms            -  read      Read a \u{fffd}[31mname
 ^                   5ms            -  hash      Hash
  ^                    -            -  wait      Wait
2    Done         1234ms            -            \n";
        assert_eq!(all.text(&[change()]), expected);
    }
}
