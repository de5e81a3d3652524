//! One line of a listing, taken apart.

use super::read::Rule;
use crate::change::Status;

/// A line of a listing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) place: Place<'a>,
    pub(super) doing_us: Option<u64>,
    pub(super) undoing_us: Option<u64>,
    pub(super) label: &'a str,
    pub(super) summary: &'a str,
}

/// Where a line stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// A task with its name.
    Outer(&'a str, Option<Status>),
    /// What a task consists of, with the blanks before its mark.
    Nested(usize),
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Row(Row<'a>),
    /// The titles, and whether there is a column of labels.
    Titles(bool),
    /// Something else: it has no two times.
    Other,
}

/// The longest time that is read, in milliseconds: a year. Sums of as many as a listing may have,
/// in microseconds, stay in 63 bits.
const TIME_MAX_MS: u64 = 365 * 24 * 3600 * 1000;

/// Takes a line apart.
///
/// * `labels`: whether there is a column of labels.
pub(super) fn line(text: &str, labels: bool) -> Result<Line<'_>, Rule> {
    let (blanks, first, rest) = word(text);
    let (_, second, behind_second) = word(rest);
    let (_, third, behind_third) = word(behind_second);
    if (first, second, third) == ("ID", "Status", "Doing") {
        let mut titles = behind_third.split_whitespace();
        return Ok(Line::Titles(titles.any(|title| title == "Label")));
    }
    let is_times = |left, right| is_time(left) && is_time(right);
    let (status, doing, undoing, rest) = if is_times(second, third) {
        (None, second, third, behind_third)
    } else {
        let (_, fourth, behind_fourth) = word(behind_third);
        if !is_times(third, fourth) {
            return Ok(Line::Other);
        }
        (Some(second), third, fourth, behind_fourth)
    };
    let status = match status {
        None => None,
        Some(word) => Some(word.parse().map_err(|_| Rule::Status(word.to_owned()))?),
    };
    let place = match (first, status) {
        ("^", None) => Place::Nested(blanks),
        ("^", Some(_)) => return Err(Rule::NestedStatus),
        (name, status) => Place::Outer(name, status),
    };
    let (label, summary) = if labels {
        split_label(rest)
    } else {
        ("", rest)
    };
    Ok(Line::Row(Row {
        place,
        doing_us: time_us(doing)?,
        undoing_us: time_us(undoing)?,
        label,
        summary: summary.trim(),
    }))
}

/// The blanks before the next word, the word, and what is behind it.
fn word(text: &str) -> (usize, &str, &str) {
    let trimmed = text.trim_start_matches(' ');
    let end = trimmed.find(' ').unwrap_or(trimmed.len());
    let (word, rest) = trimmed.split_at(end);
    (text.len() - trimmed.len(), word, rest)
}

/// The label, which begins behind exactly two blanks and ends before two, and what is behind it.
fn split_label(rest: &str) -> (&str, &str) {
    let Some(label) = rest.strip_prefix("  ").filter(|it| !it.starts_with(' ')) else {
        return ("", rest);
    };
    label.split_once("  ").unwrap_or((label.trim_end(), ""))
}

fn is_time(word: &str) -> bool {
    let digits = word.strip_suffix("ms").unwrap_or_default();
    word == "-" || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn time_us(word: &str) -> Result<Option<u64>, Rule> {
    let Some(digits) = word.strip_suffix("ms") else {
        return Ok(None);
    };
    let time_ms = digits
        .parse()
        .ok()
        .filter(|time_ms| *time_ms <= TIME_MAX_MS);
    let time_ms: u64 = time_ms.ok_or(Rule::TimeTooLong)?;
    Ok(Some(time_ms * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<'a>(place: Place<'a>, label: &'a str, summary: &'a str) -> Line<'a> {
        Line::Row(Row {
            place,
            doing_us: Some(27_000),
            undoing_us: None,
            label,
            summary,
        })
    }

    #[test]
    fn lines_are_taken_apart_by_their_times() {
        let done = || Place::Outer("160162", Some(Status::Done));
        for (text, labels, expected) in [
            (
                "160162  Done  27ms  -  a b",
                false,
                Ok(row(done(), "", "a b")),
            ),
            (
                "160162  Done  27ms  -  a  b c",
                true,
                Ok(row(done(), "a", "b c")),
            ),
            ("160162  Done  27ms  -  a", true, Ok(row(done(), "a", ""))),
            (
                "160162  Done  27ms  -      b  c",
                true,
                Ok(row(done(), "", "b  c")),
            ),
            ("160162  Done  27ms  -", true, Ok(row(done(), "", ""))),
            (" ^  27ms  -  a", false, Ok(row(Place::Nested(1), "", "a"))),
            ("^  27ms  -  a", false, Ok(row(Place::Nested(0), "", "a"))),
            (
                "ifacemgr  27ms  -  ",
                false,
                Ok(row(Place::Outer("ifacemgr", None), "", "")),
            ),
            (
                "5ms  27ms  -  ",
                false,
                Ok(row(Place::Outer("5ms", None), "", "")),
            ),
            (
                "ID  Status  Doing  Undoing  Label  Summary",
                false,
                Ok(Line::Titles(true)),
            ),
            (
                "ID  Status  Doing  Undoing  Summary",
                true,
                Ok(Line::Titles(false)),
            ),
            ("les", false, Ok(Line::Other)),
            ("a 27ms", false, Ok(Line::Other)),
            ("a b ms -", false, Ok(Line::Other)),
            ("a Gone 27ms -", false, Err(Rule::Status("Gone".to_owned()))),
            ("^ Done 27ms -", false, Err(Rule::NestedStatus)),
            ("a 99999999999999999999ms -", false, Err(Rule::TimeTooLong)),
            ("a 9999999999999ms -", false, Err(Rule::TimeTooLong)),
        ] {
            assert_eq!(line(text, labels), expected, "{text}");
        }
    }
}
