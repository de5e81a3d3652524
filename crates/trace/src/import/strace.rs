//! `strace`: system calls, in every layout of its lines.
//!
//! A call names files by paths, which may be relative to a directory that an earlier call chose,
//! and by descriptors, which an earlier call opened. So the calls are followed: who forked whom,
//! what is open where, at which position, and which directories are current and root. With `strace
//! -y` much of that is told, and what is told counts.
//!
//! Page faults are not seen: of a mapping it is not known which pages were needed.

mod act;
mod arguments;
mod calls;
mod clock;
mod line;
mod lookups;
mod outcome;
mod processes;

use std::collections::HashMap;

use super::Part;
use super::notes::Notes;
use super::text::{decimal, lines, split_once};
use arguments::Call;
use calls::Follower;
use clock::Clock;
use line::{Body, Line};

/// Whether the line is one of strace, and of no other format.
pub(super) fn is_line(text: &[u8]) -> bool {
    Line::parse(text).is_some_and(|line| match line.body {
        Body::Call { rest, .. } => Call::parse(rest).is_some() || line::unfinished(rest).is_some(),
        _ => true,
    })
}

/// Reads the files of a recording.
pub(super) fn read(parts: &[Part<'_>], notes: &mut Notes) {
    let mut reader = Reader::default();
    if let [part] = parts {
        for line in Timed::of_part(0, part) {
            reader.take(&line, notes);
        }
        return;
    }
    let each = parts.iter().zip(0..);
    let mut all: Vec<Timed<'_>> = each
        .flat_map(|(part, index)| Timed::of_part(index, part))
        .collect();
    // Times that begin anew in each file, or that there are none of, cannot be compared.
    if all.iter().all(|line| line.is_absolute) {
        all.sort_by_key(|line| line.time_us);
    }
    for line in &all {
        reader.take(line, notes);
    }
}

/// A line, where it stands and when it was written.
struct Timed<'a> {
    part: usize,
    number: u64,
    text: &'a [u8],
    /// What it says; `None` if that is not understood.
    line: Option<Line<'a>>,
    /// The process that the name of the file tells.
    pid: Option<u32>,
    time_us: u64,
    is_absolute: bool,
}

impl<'a> Timed<'a> {
    fn of_part(part: usize, content: &Part<'a>) -> impl Iterator<Item = Self> {
        let mut clock = Clock::default();
        let pid = content.pid;
        lines(content.text).map(move |(text, number)| {
            let line = Line::parse(text);
            let stamp = line.as_ref().and_then(|line| line.stamp);
            let time_us = clock.read(stamp);
            Self {
                part,
                number,
                text,
                line,
                pid,
                time_us,
                is_absolute: clock.is_absolute,
            }
        })
    }
}

/// A call that began in one line and goes on in another.
struct Begun {
    time_us: u64,
    name: Vec<u8>,
    text: Vec<u8>,
}

/// Puts calls together and has them followed.
#[derive(Default)]
struct Reader {
    follower: Follower,
    begun: HashMap<u32, Begun>,
    /// The process whose lines had no number before there was a second one.
    first: Option<u32>,
    /// The process in whose call strace has just put a message: the next line may go on with it.
    cut: Option<u32>,
}

impl Reader {
    fn take(&mut self, line: &Timed<'_>, notes: &mut Notes) {
        notes.begin_part(line.part);
        notes.begin_line(line.number);
        let cut = self.cut.take();
        let Some(Line { pid, body, .. }) = &line.line else {
            match cut {
                Some(pid) => self.resume(pid, line, line.text, notes),
                None if line.text.is_empty() => {}
                None => notes.cannot_read(line.text, "not a line of strace"),
            }
            return;
        };
        let pid = self.process(pid.or(line.pid));
        match body {
            Body::Other => {}
            Body::Exited => self.follower.processes.end(pid),
            Body::Attached { begun, child } => {
                self.interrupted(line.time_us, begun);
                self.follower.processes.announce(*child);
            }
            Body::Call { name, rest } => self.call(pid, line, name, rest, notes),
            Body::Resumed { rest } => self.resume(pid, line, rest, notes),
        }
    }

    /// The number of the process that a line is about.
    ///
    /// While there is one process, `strace -f` on a terminal tells no number. The first number that
    /// nobody was forked as is then that of this process.
    fn process(&mut self, told: Option<u32>) -> u32 {
        let Some(pid) = told else {
            return self.first.unwrap_or(0);
        };
        let processes = &mut self.follower.processes;
        let is_first = self.first.is_none()
            && processes.is_known(0)
            && !processes.is_known(pid)
            && !processes.may_be_child(pid);
        if is_first {
            processes.rename(0, pid);
            if let Some(begun) = self.begun.remove(&0) {
                self.begun.insert(pid, begun);
            }
            self.first = Some(pid);
        }
        pid
    }

    fn call(&mut self, pid: u32, line: &Timed<'_>, name: &[u8], rest: &[u8], notes: &mut Notes) {
        if let Some(text) = line::unfinished(rest) {
            self.begin(pid, line.time_us, name, text);
            return;
        }
        match Call::parse(rest) {
            Some(call) => {
                self.follower
                    .follow((line.time_us, pid), name, &call, line.text, notes);
            }
            None => notes.cannot_read(line.text, "not a whole call"),
        }
    }

    fn begin(&mut self, pid: u32, time_us: u64, name: &[u8], text: &[u8]) {
        self.follower.processes.begin_call(pid, name, text);
        let (name, text) = (name.to_vec(), text.to_vec());
        let begun = Begun {
            time_us,
            name,
            text,
        };
        self.begun.insert(pid, begun);
    }

    /// strace wrote a message into a line on the terminal, and goes on in another line.
    fn interrupted(&mut self, time_us: u64, begun: &[u8]) {
        let line = Line::parse(begun);
        if let Some(Line {
            pid,
            body: Body::Call { name, rest },
            ..
        }) = line
        {
            let pid = self.process(pid);
            self.begin(pid, time_us, name, rest);
            self.cut = Some(pid);
        }
    }

    fn resume(&mut self, pid: u32, line: &Timed<'_>, rest: &[u8], notes: &mut Notes) {
        let Some(begun) = self.begun.remove(&pid) else {
            notes.cannot_read(line.text, "the beginning of the call is missing");
            return;
        };
        let Begun {
            time_us,
            name,
            mut text,
        } = begun;
        text.extend_from_slice(rest);
        match Call::parse(&text) {
            Some(call) => {
                self.follower
                    .follow((time_us, pid), &name, &call, line.text, notes);
            }
            None => notes.cannot_read(line.text, "not the end of the call that began"),
        }
    }
}

/// What stands before `strace: Process 26908 attached`, which strace writes wherever its line is,
/// and the process.
fn attached(text: &[u8]) -> Option<(&[u8], u32)> {
    let (begun, rest) = split_once(text, b"strace: Process ")?;
    Some((begun, decimal(rest.strip_suffix(b" attached")?)?))
}
