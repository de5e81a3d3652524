//! A listing read back, by us or from snapd.

use super::layout::lay_out;
use super::row::{Line, Place, Row, line};
use crate::change::{Change, Status, Task};
use crate::study::Origin;

/// Bytes of the longest listing that is read.
const BYTES_MAX: usize = 8 << 20;
/// Tasks of the longest listing that is read: a snapd that installs everything has some hundreds.
const TASKS_MAX: usize = 20_000;
/// How deep tasks may be nested.
const LEVEL_MAX: usize = 64;
/// A terminal that broke lines was at least so wide, in characters.
const BROKEN_MIN: usize = 60;

/// Why a text is no listing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {rule}")]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    rule: Rule,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Rule {
    #[error("the listing is longer than {} MiB", BYTES_MAX >> 20)]
    TooLong,
    #[error("there are more than {TASKS_MAX} tasks")]
    TooManyTasks,
    #[error("it is not UTF-8")]
    Encoding,
    #[error("it holds a control character")]
    Control,
    #[error(
        "it lacks two times such as `27ms` or `-` after an ID and a status, and no terminal broke \
         the line before it; give what `snap debug timings` prints"
    )]
    NoRow,
    #[error("`{}` is no status; it is one of Do, Doing, Done, Wait, Abort, Undo, Undoing, Undone, \
    Hold, Error and Default", .0.escape_debug())]
    Status(String),
    #[error("a nested task has a status; only those with an ID have one")]
    NestedStatus,
    #[error("a nested task has no task above it")]
    NoParent,
    #[error("it is nested more than {LEVEL_MAX} levels deep")]
    TooDeep,
    #[error("a time is longer than a year")]
    TimeTooLong,
    #[error("the listing has no task")]
    Empty,
}

/// Reads what [`TaskList`](super::TaskList) or `snap debug timings` wrote, as one change.
///
/// Listings do not state when tasks began: they are laid one behind the other. Lines that a
/// terminal broke are put together again, and the titles may be missing.
///
/// * `origin`: whose figures they are.
/// * `began_unix_ms`: when it began, in milliseconds since 1970.
///
/// # Errors
///
/// The first line that breaks a rule.
pub fn parse(bytes: &[u8], origin: Origin, began_unix_ms: u64) -> Result<Change, Malformed> {
    let at = |line: usize| move |rule| Malformed { line, rule };
    if bytes.len() > BYTES_MAX {
        return Err(at(1)(Rule::TooLong));
    }
    let lines = lines(bytes)?;
    let mut rows: Vec<(usize, Row<'_>)> = Vec::new();
    let mut labels = false;
    for (number, text) in &lines {
        match line(text, labels).map_err(at(*number))? {
            Line::Titles(has_labels) => labels = has_labels,
            Line::Row(row) => rows.push((*number, row)),
            Line::Other => return Err(at(*number)(Rule::NoRow)),
        }
        if rows.len() > TASKS_MAX {
            return Err(at(*number)(Rule::TooManyTasks));
        }
    }
    let mut tasks = tasks(&rows).map_err(|(number, rule)| at(number)(rule))?;
    let Some(first) = tasks.first() else {
        return Err(at(1)(Rule::Empty));
    };
    // An activity bears a name; of a change only its tasks are listed.
    let verb = match first.status {
        None => first.name.clone(),
        Some(_) => "snap".to_owned(),
    };
    let took_us = lay_out(&mut tasks);
    let summary = format!("Imported timings of {verb}");
    let status = ended(&tasks);
    Ok(Change {
        verb,
        summary,
        began_unix_ms,
        took_us: Some(took_us),
        origin,
        status,
        tasks,
    })
}

/// The lines with their numbers, without empty ones, each with what a terminal broke off.
fn lines(bytes: &[u8]) -> Result<Vec<(usize, String)>, Malformed> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut longest = 0;
    for (bytes, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        let malformed = |rule| Malformed { line: number, rule };
        let text = str::from_utf8(bytes).map_err(|_| malformed(Rule::Encoding))?;
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.contains(char::is_control) {
            return Err(malformed(Rule::Control));
        }
        if !text.trim().is_empty() {
            longest = longest.max(text.chars().count());
            found.push((number, text.to_owned()));
        }
    }
    // A terminal breaks lines where it ends, so what it broke is as long as nothing else is longer.
    let is_full = |text: &str| longest >= BROKEN_MIN && text.chars().count() == longest;
    let mut whole: Vec<(usize, String)> = Vec::new();
    let mut may_go_on = false;
    for (number, text) in found {
        let is_rest = may_go_on && matches!(line(&text, false), Ok(Line::Other));
        may_go_on = is_full(&text);
        match whole.last_mut() {
            Some((_, before)) if is_rest => before.push_str(&text),
            _ => whole.push((number, text)),
        }
    }
    Ok(whole)
}

/// The rows as tasks, with the level that their marks say.
fn tasks(rows: &[(usize, Row<'_>)]) -> Result<Vec<Task>, (usize, Rule)> {
    // Some copies of listings lack the first blank of every line.
    let blanks = rows.iter().filter_map(|(_, row)| match row.place {
        Place::Outer(..) => None,
        Place::Nested(blanks) => Some(blanks),
    });
    let outermost = blanks.min().unwrap_or(1);
    let mut tasks: Vec<Task> = Vec::with_capacity(rows.len());
    for (number, row) in rows {
        let (level, name, status) = match row.place {
            Place::Outer(name, status) => (0, name, status),
            Place::Nested(_) if tasks.is_empty() => return Err((*number, Rule::NoParent)),
            Place::Nested(blanks) => (blanks - outermost + 1, "", None),
        };
        if level > LEVEL_MAX {
            return Err((*number, Rule::TooDeep));
        }
        tasks.push(Task {
            level: u16::try_from(level).unwrap_or(u16::MAX),
            name: name.to_owned(),
            label: row.label.to_owned(),
            summary: row.summary.to_owned(),
            status,
            began_us: 0,
            doing_us: row.doing_us,
            undoing_us: row.undoing_us,
            threads: None,
        });
    }
    Ok(tasks)
}

/// How a change ended by the states of its tasks: the first that is not done says it.
fn ended(tasks: &[Task]) -> Status {
    let mut states = tasks.iter().filter_map(|task| task.status);
    states
        .find(|status| *status != Status::Done)
        .unwrap_or(Status::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task_list::TaskList;

    fn read(text: &[u8]) -> Result<Change, Malformed> {
        parse(text, Origin::Measured, 0)
    }

    #[test]
    fn what_is_no_listing_is_refused_with_its_line() {
        let long = format!("{:65}^  1ms  -  deep\n", "");
        let deep = format!("1  Done  1ms  -  a\n ^  1ms  -  b\n{long}");
        let many = "1  Done  1ms  -  a\n".repeat(TASKS_MAX + 1);
        let huge = vec![b' '; BYTES_MAX + 1];
        let broken = format!("1  Done  1ms  -  {:60}\nrest\nmore\n", 'x');
        for (bytes, number, rule) in [
            (&b""[..], 1, Rule::Empty),
            (b"\n\nID  Status  Doing  Undoing  Summary\n", 1, Rule::Empty),
            (b"1  Done  1ms  -  a\n\xff\n", 2, Rule::Encoding),
            (b"1  Done  1ms  -  \x1b[31m\n", 1, Rule::Control),
            (b"\n^  1ms  -  a\n", 2, Rule::NoParent),
            (b"1  Done  1ms  -  a\nb\n", 2, Rule::NoRow),
            (broken.as_bytes(), 3, Rule::NoRow),
            (deep.as_bytes(), 3, Rule::TooDeep),
            (many.as_bytes(), TASKS_MAX + 1, Rule::TooManyTasks),
            (&huge, 1, Rule::TooLong),
        ] {
            let line = number;
            assert_eq!(read(bytes), Err(Malformed { line, rule }));
        }
    }

    #[test]
    fn the_longest_times_have_a_sum() {
        let year_ms = 365_u64 * 24 * 3600 * 1000;
        let text = format!("1  Done  {year_ms}ms  {year_ms}ms  a\n").repeat(TASKS_MAX);
        let change = read(text.as_bytes()).expect("a listing");
        let expected_us = 2 * year_ms * 1000 * TASKS_MAX as u64;
        assert_eq!(change.took_us, Some(expected_us));
        assert!(i64::try_from(expected_us).is_ok());
        assert!(serde_json::to_vec(&change.trace_events()).is_ok());
    }

    #[test]
    fn broken_lines_and_missing_blanks_are_mended() {
        let full = format!("1  Done  9ms  -  {}", "x".repeat(60));
        let text = format!("{full}\ny z\n^  5ms  -  a\n ^  2ms  -  b\n^  6ms  -  c\n");
        let change = read(text.as_bytes()).expect("a listing");
        let [outer, .., last] = change.tasks.as_slice() else {
            panic!("{change:?}");
        };
        assert_eq!(outer.summary, format!("{}y z", "x".repeat(60)));
        let levels: Vec<u16> = change.tasks.iter().map(|task| task.level).collect();
        assert_eq!(levels, [0, 1, 2, 1]);
        assert_eq!((last.began_us, change.took_us), (5_000, Some(11_000)));
        let all = TaskList {
            labels: true,
            brief: true,
        };
        let again = read(all.text(std::slice::from_ref(&change)).as_bytes());
        assert_eq!(again, Ok(change));
    }
}
