//! Recordings of other tools become traces.

mod formats;
mod hostile;
mod strace;

use coldpress_trace::import::{Format, Imported, Part, Settled, Unread, read};
use coldpress_trace::{Error, Trace};

/// Reads one file, which has no inode numbers.
fn import(format: Format, text: &[u8]) -> Result<Imported, Error> {
    read(&[Part { text, pid: None }], format, None)
}

/// The trace without knowing anything of the image.
fn trace(imported: Imported) -> Trace {
    imported.into_trace(|path, _| Settled {
        path: path.to_vec(),
        ..Settled::default()
    })
}

/// The events of a trace as text, without the first line.
fn events(trace: &Trace) -> String {
    let mut text = Vec::new();
    trace.write(&mut text).expect("the trace keeps the rules");
    let text = String::from_utf8(text).expect("a trace is text");
    text.split_once('\n').expect("a first line").1.to_owned()
}

/// The events without their times: process, kind, pages and path.
fn timeless(trace: &Trace) -> String {
    let events = events(trace);
    let lines = events.lines().filter_map(|line| line.split_once(' '));
    lines.flat_map(|(_, rest)| [rest, "\n"]).collect()
}

/// The lines that were not understood, and why.
fn unread(imported: &Imported) -> Vec<(u64, &'static str)> {
    let told = |unread: &Unread| (unread.line, unread.why);
    imported.unread.iter().map(told).collect()
}
