//! Changes as a list, a line each.

use std::fmt::Write as _;

use coldpress_report::text::iso_utc;
use coldpress_report::units;
use serde::Serialize;

use crate::change::Change;
use crate::changes::ChangeId;

/// A change and its number; one that could not be kept has none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedChange {
    /// Its number.
    pub id: Option<ChangeId>,
    /// What was done.
    #[serde(flatten)]
    pub change: Change,
}

impl ListedChange {
    /// `change 12, 2026-01-31T23:59:59Z: Build `rootfs.sqfs`; 3.52 s; Done`
    pub fn headline(&self) -> String {
        let change = &self.change;
        let id = self.id.map_or(String::new(), |id| format!(" {id}"));
        let time = took(change).map_or(String::new(), |time| format!("; {time}"));
        format!(
            "change{id}, {}: {}{time}; {}",
            began(change),
            one_line(&change.summary),
            change.status
        )
    }
}

/// A summary of ours has its names escaped already; an imported one may hold anything.
fn one_line(summary: &str) -> String {
    summary.replace(char::is_control, "?")
}

/// The changes in the columns of `snap changes`, and how long they took; the last one first.
pub fn change_list(rows: &[ListedChange]) -> String {
    let mut text = format!(
        "{:<6} {:<7} {:<20} {:>10}  Summary\n",
        "ID", "Status", "Began", "Took"
    );
    for ListedChange { id, change } in rows.iter().rev() {
        let id = id.map_or(String::new(), |id| id.to_string());
        let time = took(change).unwrap_or("-".to_owned());
        let status = change.status.name();
        let summary = one_line(&change.summary);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{id:<6} {status:<7} {} {time:>10}  {summary}",
            began(change)
        );
    }
    text
}

fn began(change: &Change) -> String {
    iso_utc(u32::try_from(change.began_unix_ms / 1000).unwrap_or(u32::MAX))
}

fn took(change: &Change) -> Option<String> {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
    let seconds = change.took_us.map(|took_us| took_us as f64 / 1e6);
    seconds.map(units::seconds)
}
