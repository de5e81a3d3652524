//! A line of strace: who and when, before the call.

use super::attached;
use super::clock::Stamp;
use crate::import::text::{decimal, seconds_us, split_digits, split_once};

/// More digits than a process has: the seconds of `--absolute-timestamps=format:unix,precision:s`.
const PID_DIGITS_MAX: usize = 8;
/// How many times, relative times, addresses and numbers of calls stand before a call at most.
const MARKS_MAX: usize = 4;

/// A line of strace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) pid: Option<u32>,
    pub(super) stamp: Option<Stamp>,
    pub(super) body: Body<'a>,
}

/// What the line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body<'a> {
    /// A call; `rest` begins behind the opening parenthesis.
    Call { name: &'a [u8], rest: &'a [u8] },
    /// The rest of a call that began in another line.
    Resumed { rest: &'a [u8] },
    /// strace tells of a new process in the middle of a line, or in one of its own.
    Attached { begun: &'a [u8], child: u32 },
    /// The process has ended.
    Exited,
    /// Signals, stacks, and what strace says of itself.
    Other,
}

impl<'a> Line<'a> {
    /// Reads a line; `None` if it is none of strace.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        if let Some((begun, child)) = attached(text) {
            let body = Body::Attached { begun, child };
            return Some(Self {
                pid: None,
                stamp: None,
                body,
            });
        }
        let (pid, rest) = split_pid(text);
        let (stamp, rest) = split_marks(rest);
        let body = Body::parse(rest)?;
        Some(Self { pid, stamp, body })
    }
}

impl<'a> Body<'a> {
    fn parse(text: &'a [u8]) -> Option<Self> {
        if let Some(resumed) = text.strip_prefix(b"<... ") {
            let (_, rest) = split_once(resumed, b" resumed>")?;
            return Some(Self::Resumed { rest });
        }
        if text.starts_with(b"+++ ") {
            return Some(Self::Exited);
        }
        let is_talk = [&b"--- "[..], b"strace: ", b"> ", b"<unfinished ...>"]
            .iter()
            .any(|begin| text.starts_with(begin));
        if is_talk {
            return Some(Self::Other);
        }
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?');
        let end = text.iter().position(|byte| !is_of_name(byte))?;
        let (name, rest) = text.split_at(end);
        let is_name = name.first().is_some_and(|byte| !byte.is_ascii_digit());
        let rest = rest.strip_prefix(b"(").filter(|_| is_name)?;
        Some(Self::Call { name, rest })
    }
}

/// `24190 `, `[pid 24190] `, and with `--decode-pids=comm` `24190<sh> `.
fn split_pid(text: &[u8]) -> (Option<u32>, &[u8]) {
    let bracketed = text.strip_prefix(b"[pid ");
    let (digits, rest) = split_digits(bracketed.unwrap_or(text).trim_ascii_start());
    let rest = match rest.strip_prefix(b"<") {
        Some(named) => split_once(named, b">").map_or(rest, |(_, rest)| rest),
        None => rest,
    };
    let end: &[u8] = if bracketed.is_some() { b"]" } else { b" " };
    let pid = decimal(digits).filter(|_| digits.len() <= PID_DIGITS_MAX);
    match (pid, rest.strip_prefix(end)) {
        (Some(pid), Some(rest)) => (Some(pid), rest),
        _ => (None, text),
    }
}

/// Times (`-t`, `-tt`, `-ttt`, `-r`), the address (`-i`) and the number (`-n`) of the call.
fn split_marks(text: &[u8]) -> (Option<Stamp>, &[u8]) {
    let (mut stamp, mut rest) = (None, text.trim_ascii_start());
    for _ in 0..MARKS_MAX {
        let (mark, behind) = match rest.first() {
            Some(b'(') => match split_once(rest, b") ") {
                Some((_, behind)) => (None, behind),
                None => break,
            },
            Some(b'[') => match split_once(rest, b"] ") {
                Some((_, behind)) => (None, behind),
                None => break,
            },
            Some(b'0'..=b'9') => match split_once(rest, b" ") {
                Some((time, behind)) => match Stamp::parse(time) {
                    Some(stamp) => (Some(stamp), behind),
                    None => break,
                },
                None => break,
            },
            _ => break,
        };
        stamp = stamp.or(mark);
        rest = behind.trim_ascii_start();
    }
    (stamp, rest)
}

impl Stamp {
    /// `19:36:40`, `19:36:40.609389`, `1795289800.589516`, `1795289800` or `0.000019`.
    fn parse(text: &[u8]) -> Option<Self> {
        /// What is less is a duration: it was 1973 then.
        const UNIX_MIN_S: u64 = 100_000_000;
        let whole = |text| decimal::<u64>(text)?.checked_mul(1_000_000);
        let micros = |text| seconds_us(text).or_else(|| whole(text));
        let Some((hours, rest)) = split_once(text, b":") else {
            let time_us = micros(text)?;
            let is_absolute = time_us >= UNIX_MIN_S * 1_000_000;
            return Some(if is_absolute {
                Self::Unix(time_us)
            } else {
                Self::Since(time_us)
            });
        };
        let (minutes, seconds) = split_once(rest, b":")?;
        let (hours, minutes) = (decimal::<u64>(hours)?, decimal::<u64>(minutes)?);
        let seconds_us = micros(seconds)?;
        let is_time = hours < 24 && minutes < 60 && seconds_us <= 60_999_999;
        is_time.then(|| Self::Day((hours * 60 + minutes) * 60_000_000 + seconds_us))
    }
}

/// What there is of a call that goes on in another line.
pub(super) fn unfinished(rest: &[u8]) -> Option<&[u8]> {
    rest.trim_ascii_end().strip_suffix(b"<unfinished ...>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call<'a>(name: &'a str, rest: &'a str) -> Body<'a> {
        Body::Call {
            name: name.as_bytes(),
            rest: rest.as_bytes(),
        }
    }

    #[test]
    fn every_layout_tells_who_and_when() {
        let day = Stamp::Day(70_600_000_000);
        let unix = |us: u64| Some(Stamp::Unix(1_795_289_800_000_000 + us));
        let cases = [
            ("brk(NULL) = 0", None, None),
            ("24218 brk(NULL) = 0", Some(24218), None),
            ("[pid 24218] brk(NULL) = 0", Some(24218), None),
            ("[pid    18] brk(NULL) = 0", Some(18), None),
            ("24218<sh> brk(NULL) = 0", Some(24218), None),
            ("[pid 24218<a b>] brk(NULL) = 0", Some(24218), None),
            ("24204 19:36:40 brk(NULL) = 0", Some(24204), Some(day)),
            (
                "19:36:40.609389 brk(NULL) = 0",
                None,
                Some(Stamp::Day(70_600_609_389)),
            ),
            (
                "24190 1795289800.589516 brk(NULL) = 0",
                Some(24190),
                unix(589_516),
            ),
            ("1795289800 brk(NULL) = 0", None, unix(0)),
            (
                "24211      0.000019 brk(NULL) = 0",
                Some(24211),
                Some(Stamp::Since(19)),
            ),
            ("     0.000000 brk(NULL) = 0", None, Some(Stamp::Since(0))),
            (
                "1795289800.5 (+     0.000281) brk(NULL) = 0",
                None,
                unix(500_000),
            ),
            ("[00007f7046480ca3] brk(NULL) = 0", None, None),
            (
                "7 1795289800.5 [  59] [00007f70] brk(NULL) = 0",
                Some(7),
                unix(500_000),
            ),
        ];
        for (text, pid, stamp) in cases {
            let line = Line::parse(text.as_bytes());
            let body = call("brk", "NULL) = 0");
            assert_eq!(line, Some(Line { pid, stamp, body }), "{text}");
        }
    }

    #[test]
    fn lines_that_are_no_calls_are_told_apart() {
        let resumed = Body::Resumed {
            rest: b"\"\", 1) = 0",
        };
        let attached = |begun: &'static str| {
            let begun = begun.as_bytes();
            Some(Body::Attached {
                begun,
                child: 26908,
            })
        };
        for (text, body) in [
            ("7 <... read resumed>\"\", 1) = 0", Some(resumed)),
            (
                "futex(0x1, FUTEX_WAITstrace: Process 26908 attached",
                attached("futex(0x1, FUTEX_WAIT"),
            ),
            ("strace: Process 26908 attached", attached("")),
            ("7 +++ exited with 0 +++", Some(Body::Exited)),
            ("7 --- SIGCHLD {si_signo=SIGCHLD} ---", Some(Body::Other)),
            (" > /usr/lib/libc.so.6(_start+0x1) [0x1]", Some(Body::Other)),
            (" <unfinished ...>", Some(Body::Other)),
            ("/usr/bin/git", None),
            ("usr/bin/git", None),
            ("hello world", None),
            ("12345", None),
            ("", None),
            ("(brk", None),
        ] {
            let line = Line::parse(text.as_bytes());
            assert_eq!(line.map(|line| line.body), body, "{text}");
        }
    }
}
