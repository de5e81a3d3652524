//! One line of a trace: a header field or an event, spelled and parsed.

use std::fmt::Write as _;

use crate::error::Rule;
use crate::event::{Access, Event, PAGE_COUNT_MAX};
use crate::excerpt::Excerpt;
use crate::path_text::{PathProblem, PathText, PathTextError, parse_path, unescape};

const PID: &str = "a decimal number below 4294967296";

/// Appends a header field as text.
pub(crate) fn spell_field(text: &mut String, key: &str, value: &str) {
    let space = if value.is_empty() { "" } else { " " };
    let _infallible = write!(text, "# {key}:{space}{}", PathText(value.as_bytes()));
}

/// Reads a header field; the value may be any text.
pub(crate) fn parse_field(text: &[u8]) -> Result<(String, String), Rule> {
    let unexpected = || Rule::Field {
        field: "header line",
        found: Excerpt::new(text),
        expected: "`# key: value`",
    };
    let field = text.strip_prefix(b"# ").ok_or_else(unexpected)?;
    let colon = field
        .iter()
        .position(|&byte| byte == b':')
        .ok_or_else(unexpected)?;
    let (key, rest) = (&field[..colon], &field[colon + 1..]);
    check_key(key)?;
    let value = match rest {
        [] => Vec::new(),
        [b' ', value @ ..] => unescape(value).map_err(|error| Rule::Text {
            field: "value",
            error,
        })?,
        _ => return Err(unexpected()),
    };
    let value = String::from_utf8(value).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        Rule::Text {
            field: "value",
            error: PathTextError {
                byte,
                problem: PathProblem::NotUtf8,
            },
        }
    })?;
    Ok((String::from_utf8_lossy(key).into_owned(), value))
}

/// Checks that a key is neither empty nor of characters that the grammar needs.
pub(crate) fn check_key(key: &[u8]) -> Result<(), Rule> {
    let is_legal = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if !key.is_empty() && key.iter().all(is_legal) {
        return Ok(());
    }
    let found = Excerpt::new(key);
    Err(Rule::Field {
        field: "key",
        found,
        expected: "one of `a`-`z`, `0`-`9` and `-` only",
    })
}

/// Appends an event as text.
pub(crate) fn spell_event(text: &mut String, event: &Event) {
    let Event {
        time_us,
        pid,
        access,
        path,
    } = event;
    let path = PathText(path);
    let _infallible = match access {
        Access::Read {
            first_page,
            last_page,
        } => {
            write!(text, "{time_us} {pid} R {first_page}-{last_page} {path}")
        }
        Access::Fault { page } => write!(text, "{time_us} {pid} F {page} {path}"),
        Access::Map {
            first_page,
            last_page,
        } => {
            write!(text, "{time_us} {pid} M {first_page}-{last_page} {path}")
        }
        Access::Lookup => write!(text, "{time_us} {pid} L {path}"),
        Access::List => write!(text, "{time_us} {pid} D {path}"),
    };
}

/// Reads an event that happened at or after `previous_us`.
pub(crate) fn parse_event(text: &[u8], previous_us: u64) -> Result<Event, Rule> {
    let mut rest = text;
    let time_us = parse_number(take_field(&mut rest), "time", "a decimal number of us")?;
    if time_us < previous_us {
        return Err(Rule::TimeDecreases {
            time_us,
            previous_us,
        });
    }
    let pid = take_field(&mut rest);
    let pid = parse_number(pid, "process", PID).and_then(|number| {
        let found = Excerpt::new(pid);
        u32::try_from(number).map_err(|_| Rule::Field {
            field: "process",
            found,
            expected: PID,
        })
    })?;
    let kind = take_field(&mut rest);
    let access = match kind {
        b"R" => {
            let (first_page, last_page) = parse_pages(take_field(&mut rest))?;
            Access::Read {
                first_page,
                last_page,
            }
        }
        b"M" => {
            let (first_page, last_page) = parse_pages(take_field(&mut rest))?;
            Access::Map {
                first_page,
                last_page,
            }
        }
        b"F" => {
            let page = parse_number(take_field(&mut rest), "page", "a decimal number")?;
            check_pages(page, page)?;
            Access::Fault { page }
        }
        b"L" => Access::Lookup,
        b"D" => Access::List,
        _ => {
            let found = Excerpt::new(kind);
            return Err(Rule::Field {
                field: "kind",
                found,
                expected: "R, F, M, L or D",
            });
        }
    };
    let path = parse_path(rest).map_err(|error| Rule::Text {
        field: "path",
        error,
    })?;
    Ok(Event {
        time_us,
        pid,
        access,
        path,
    })
}

/// Takes the text up to the next space, or all of it; an absent field is empty.
pub(crate) fn take_field<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let end = rest
        .iter()
        .position(|&byte| byte == b' ')
        .unwrap_or(rest.len());
    let field = &rest[..end];
    *rest = rest.get(end + 1..).unwrap_or_default();
    field
}

fn parse_pages(text: &[u8]) -> Result<(u64, u64), Rule> {
    let expected = "FIRST-LAST, two decimal numbers";
    let dash = text
        .iter()
        .position(|&byte| byte == b'-')
        .ok_or_else(|| Rule::Field {
            field: "pages",
            found: Excerpt::new(text),
            expected,
        })?;
    let first_page = parse_number(&text[..dash], "pages", expected)?;
    let last_page = parse_number(&text[dash + 1..], "pages", expected)?;
    check_pages(first_page, last_page)?;
    Ok((first_page, last_page))
}

pub(crate) fn check_pages(first_page: u64, last_page: u64) -> Result<(), Rule> {
    if first_page <= last_page && last_page < PAGE_COUNT_MAX {
        return Ok(());
    }
    Err(Rule::Pages {
        first_page,
        last_page,
    })
}

/// Reads a decimal number: digits only, no sign, no leading zero.
pub(crate) fn parse_number(
    text: &[u8],
    field: &'static str,
    expected: &'static str,
) -> Result<u64, Rule> {
    let is_canonical =
        text.iter().all(u8::is_ascii_digit) && (text.len() == 1 || text.first() != Some(&b'0'));
    str::from_utf8(text)
        .ok()
        .filter(|_| is_canonical)
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| Rule::Field {
            field,
            found: Excerpt::new(text),
            expected,
        })
}
