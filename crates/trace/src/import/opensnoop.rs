//! `opensnoop`, which prints a table of opens as they happen.
//!
//! ```text
//! PID    COMM               FD ERR PATH
//! 17326  sh                  3   0 /etc/ld.so.cache
//! ```
//!
//! bcc can put `TIME(s)` or `TIME` and `UID` before, `FLAGS` and `MODE` behind `ERR`.

use super::imported::Seen;
use super::notes::Notes;
use super::text::{decimal, lines, seconds_us, split_word};
use crate::event::Access;
use crate::working_set::parent;

/// Columns of the name of a process, which may have spaces.
const COMM_COLUMNS: usize = 16;
/// Errors after which the name was searched, but nothing was found: `ENOENT`, `ENOTDIR`.
const NOT_FOUND: [u32; 2] = [2, 20];

/// What stands in a line, by the headings.
struct Columns {
    before_comm: Vec<Heading>,
    /// Between the name of the process and the path.
    behind_comm: Vec<Heading>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heading {
    Time,
    Pid,
    Err,
    Other,
}

impl Columns {
    /// Reads the line of headings.
    fn parse(line: &[u8]) -> Option<Self> {
        let words = line.split(u8::is_ascii_whitespace);
        let mut words = words.filter(|word| !word.is_empty());
        let heading = |word: &[u8]| match word {
            b"TIME(s)" | b"TIME" => Heading::Time,
            b"PID" | b"TID" => Heading::Pid,
            b"ERR" => Heading::Err,
            _ => Heading::Other,
        };
        let before = words.by_ref().take_while(|word| *word != b"COMM");
        let before_comm: Vec<_> = before.map(heading).collect();
        let behind = words.by_ref().take_while(|word| *word != b"PATH");
        let behind_comm: Vec<_> = behind.map(heading).collect();
        let is_ours = before_comm.contains(&Heading::Pid) && behind_comm.contains(&Heading::Err);
        is_ours.then_some(Self {
            before_comm,
            behind_comm,
        })
    }

    /// Reads an open; `None` if the line is none.
    fn read<'line>(&self, line: &'line [u8]) -> Option<Open<'line>> {
        let mut open = Open::default();
        let mut rest = line;
        for heading in &self.before_comm {
            let word = take_word(&mut rest)?;
            match heading {
                Heading::Time => open.time_us = seconds_us(word),
                Heading::Pid => open.pid = decimal(word)?,
                _ => {}
            }
        }
        rest = rest.get(COMM_COLUMNS..)?;
        for heading in &self.behind_comm {
            let word = take_word(&mut rest)?;
            if *heading == Heading::Err {
                open.errno = decimal(word)?;
            }
        }
        open.path = rest;
        (!rest.is_empty()).then_some(open)
    }
}

#[derive(Debug, Default)]
struct Open<'line> {
    time_us: Option<u64>,
    pid: u32,
    errno: u32,
    path: &'line [u8],
}

fn take_word<'line>(rest: &mut &'line [u8]) -> Option<&'line [u8]> {
    let (word, behind) = split_word(rest);
    *rest = behind;
    (!word.is_empty()).then_some(word)
}

/// Whether the line is one of headings.
pub(super) fn is_heading(line: &[u8]) -> bool {
    Columns::parse(line).is_some()
}

/// Reads a table. What stands before the headings is talk.
pub(super) fn read(text: &[u8], notes: &mut Notes) {
    let mut columns = None;
    for (line, number) in lines(text) {
        notes.begin_line(number);
        if let Some(found) = Columns::parse(line) {
            columns = Some(found);
            continue;
        }
        let Some(columns) = &columns else { continue };
        match columns.read(line) {
            Some(open) if open.path.starts_with(b"/") => see(&open, notes),
            Some(_) => notes.cannot_read(
                line,
                "a relative path; opensnoop does not record the directory",
            ),
            None if line.is_empty() => {}
            None => notes.cannot_read(line, "not a line of the table"),
        }
    }
}

fn see(open: &Open<'_>, notes: &mut Notes) {
    let time_us = open.time_us.unwrap_or_else(|| notes.next_time_us());
    if NOT_FOUND.contains(&open.errno) {
        let directory = parent(open.path).unwrap_or(b"/");
        notes.see(time_us, open.pid, Seen::Access(Access::List), directory);
    } else if open.errno == 0 {
        let seen = Seen::File { size_bytes: None };
        notes.see(time_us, open.pid, seen, open.path);
    } else {
        notes.see(time_us, open.pid, Seen::Access(Access::Lookup), open.path);
    }
}
